package query

import (
	"fmt"
	"strings"
	"time"

	"indirtui/traces"
)

// A Table is where requests are kept as rows of SQL.
type Table struct {
	// Columns are expressions by the names of fields and flags; a text may have
	// several values. Texts are "" where a field is missing, and never NULL;
	// enumerations are their names, durations nanoseconds, times timestamps, flags
	// booleans.
	Columns map[string][]string
	// Also returns what a value of a field stands for besides itself; may be nil.
	Also func(field, value string) []string
	// Arg takes a value, and returns what stands for it: "$1".
	Arg func(value any) string
}

// SQL returns a condition that holds for every request of t that e means. Exact is
// whether it holds for no other: what has no column is left out. Rule FLEET-05.
func (e *Expr) SQL(t Table) (condition string, exact bool) {
	if e == nil || e.root == nil {
		return "TRUE", true
	}
	condition, exact = t.of(e.root)
	if condition == "" {
		return "TRUE", false
	}
	return condition, exact
}

// of returns the condition of a node; "" if it has none, which holds for all.
func (t Table) of(n node) (sql string, exact bool) {
	switch n := n.(type) {
	case andNode:
		var parts []string
		exact = true
		for _, of := range n {
			part, whole := t.of(of)
			exact = exact && whole
			if part != "" {
				parts = append(parts, part)
			}
		}
		return joined(parts, " AND "), exact
	case orNode:
		var parts []string
		exact = true
		for _, of := range n {
			part, whole := t.of(of)
			if part == "" {
				return "", false
			}
			parts, exact = append(parts, part), exact && whole
		}
		return joined(parts, " OR "), exact
	case notNode:
		if part, whole := t.of(n.of); whole {
			return "NOT " + part, true
		}
		return "", false
	case nameNode:
		return "TRUE", n == "all"
	case hasNode:
		return t.has(n.field)
	case flagNode:
		if column := t.Columns[n.flag.Name]; len(column) > 0 {
			return "(" + column[0] + ")", true
		}
	case *testNode:
		return t.test(n)
	}
	return "", false
}

func joined(parts []string, by string) string {
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, by) + ")"
}

func (t Table) has(f *field) (string, bool) {
	columns := t.Columns[f.Name]
	switch {
	case len(columns) == 0:
		return "", false
	case f.Kind == yesNoKind:
		return "(" + columns[0] + ")", true
	case f.texts != nil, f.Kind == closedKind:
		return "(" + columns[0] + " <> '')", true
	}
	return "TRUE", true
}

func (t Table) test(n *testNode) (string, bool) {
	columns := t.Columns[n.field.Name]
	if len(columns) == 0 {
		return "", false
	}
	column := columns[0]
	switch {
	case n.field.texts != nil:
		return t.texts(n, columns)
	case n.field.Kind == closedKind:
		var names []string
		for i, name := range n.field.Values {
			if n.ints(int64(i)) != (n.op[0] == '!') {
				names = append(names, name)
			}
		}
		return fmt.Sprintf("(%s = ANY (%s))", column, t.Arg(names)), true
	case n.field.Kind == durationKind || n.field.Kind == timeKind:
		return t.ranges(n, column)
	}
	return "", false
}

// texts compares with patterns. Case is ignored as PostgreSQL does it, which knows
// ASCII alone for columns of the collation C: other patterns have no condition.
func (t Table) texts(n *testNode, columns []string) (string, bool) {
	if strings.HasSuffix(n.op, "~") {
		return "", false
	}
	var parts []string
	for _, v := range n.values {
		if !isASCII(v) || strings.ContainsRune(v, 0) {
			return "", false
		}
		for _, column := range columns {
			parts = append(parts, t.like(column, v))
		}
		if t.Also != nil {
			if more := t.Also(n.field.Name, v); len(more) > 0 {
				parts = append(parts, fmt.Sprintf("%s = ANY (%s)", columns[0], t.Arg(more)))
			}
		}
	}
	any := joined(parts, " OR ")
	if n.op[0] == '!' {
		return fmt.Sprintf("(%s <> '' AND NOT %s)", columns[0], any), true
	}
	return fmt.Sprintf("(%s <> '' AND %s)", columns[0], any), true
}

// like compares a column with a pattern.
func (t Table) like(column, value string) string {
	p := newPattern(value)
	if p.fold {
		column = "lower(" + column + ")"
	}
	if len(p.parts) == 1 {
		return column + " = " + t.Arg(p.parts[0])
	}
	parts := make([]string, len(p.parts))
	for i, part := range p.parts {
		parts[i] = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(part)
	}
	return column + " LIKE " + t.Arg(strings.Join(parts, "%"))
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7f }) < 0
}

// ranges compares with amounts. A time of day has no condition.
func (t Table) ranges(n *testNode, column string) (string, bool) {
	bound := func(i int64) string {
		if n.field.Kind == timeKind {
			return t.Arg(time.Unix(0, i).UTC())
		}
		return t.Arg(i)
	}
	var parts []string
	for _, s := range n.ranges {
		if s.clock != nil {
			return "", false
		}
		switch n.op {
		case "<":
			parts = append(parts, column+" < "+bound(s.lo))
		case "<=":
			parts = append(parts, column+" < "+bound(s.hi))
		case ">":
			parts = append(parts, column+" >= "+bound(s.hi))
		case ">=":
			parts = append(parts, column+" >= "+bound(s.lo))
		default:
			and := " AND "
			if s.hi <= s.lo { // as span.holds has it
				and = " OR "
			}
			parts = append(parts, "("+column+" >= "+bound(s.lo)+and+column+" < "+bound(s.hi)+")")
		}
		if n.op[0] == '<' || n.op[0] == '>' {
			break
		}
	}
	any := joined(parts, " OR ")
	if n.op[0] == '!' {
		return "NOT " + any, any != ""
	}
	return any, any != ""
}

// Failures are the outcomes by which something went wrong.
func Failures() (names []string) {
	for o := range traces.OutcomeCount {
		if o.Failed() {
			names = append(names, o.String())
		}
	}
	return names
}
