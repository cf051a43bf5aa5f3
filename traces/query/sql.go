package query

import (
	"cmp"
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
	// Present are conditions by which a field is there, where "" is no such value.
	Present map[string]string
	// Also returns what a value of a field stands for besides itself; may be nil.
	Also func(field, value string) []string
	// Arg takes a value, and returns what stands for it: "$1". It is called in the
	// order in which these stand in the condition.
	Arg func(value any) string
}

// SQL returns a condition that holds for every request of t that e means. Exact is
// whether it holds for no other: what has no column is left out. Rule FLEET-05.
func (e *Expr) SQL(t Table) (condition string, exact bool) {
	if e == nil || e.root == nil {
		return "TRUE", true
	}
	c, exact := t.of(e.root)
	if c.text == "" {
		return "TRUE", false
	}
	for _, v := range c.args {
		condition, c.text = condition+c.text[:strings.IndexByte(c.text, 0)]+t.Arg(v), c.text[strings.IndexByte(c.text, 0)+1:]
	}
	return condition + c.text, exact
}

// A sqlPart is a condition in which a NUL stands for each of its values. An empty
// one holds for all.
type sqlPart struct {
	text string
	args []any
}

func sqlOf(format string, column string, args ...any) sqlPart {
	return sqlPart{fmt.Sprintf(format, column), args}
}

// joined puts parts in parentheses.
func joined(parts []sqlPart, by string) (all sqlPart) {
	for i, p := range parts {
		if i > 0 {
			all.text += by
		}
		all.text += p.text
		all.args = append(all.args, p.args...)
	}
	if len(parts) > 0 {
		all.text = "(" + all.text + ")"
	}
	return all
}

// of returns the condition of a node.
func (t Table) of(n node) (c sqlPart, exact bool) {
	switch n := n.(type) {
	case andNode:
		return t.every(n)
	case orNode:
		return t.some(n)
	case notNode:
		if part, whole := t.of(n.of); whole {
			return sqlPart{"NOT " + part.text, part.args}, true
		}
	case nameNode:
		return sqlPart{text: "TRUE"}, n == "all"
	case hasNode:
		return t.has(n.field)
	case flagNode:
		if column := t.Columns[n.flag.Name]; len(column) > 0 {
			return sqlPart{text: "(" + column[0] + ")"}, true
		}
	case *testNode:
		return t.test(n)
	}
	return sqlPart{}, false
}

func (t Table) every(of []node) (sqlPart, bool) {
	var parts []sqlPart
	exact := true
	for _, n := range of {
		part, whole := t.of(n)
		exact = exact && whole
		if part.text != "" {
			parts = append(parts, part)
		}
	}
	return joined(parts, " AND "), exact
}

func (t Table) some(of []node) (sqlPart, bool) {
	var parts []sqlPart
	exact := true
	for _, n := range of {
		part, whole := t.of(n)
		if part.text == "" {
			return sqlPart{}, false
		}
		parts, exact = append(parts, part), exact && whole
	}
	return joined(parts, " OR "), exact
}

func (t Table) has(f *field) (sqlPart, bool) {
	columns := t.Columns[f.Name]
	switch {
	case len(columns) == 0:
		return sqlPart{}, false
	case f.Kind == yesNoKind:
		return sqlPart{text: "(" + columns[0] + ")"}, true
	case f.texts != nil, f.Kind == closedKind:
		return sqlPart{text: "(" + t.present(f.Name) + ")"}, true
	}
	return sqlPart{text: "TRUE"}, true
}

// present is the condition by which a field is there.
func (t Table) present(field string) string {
	return cmp.Or(t.Present[field], t.Columns[field][0]+" <> ''")
}

func (t Table) test(n *testNode) (sqlPart, bool) {
	columns := t.Columns[n.field.Name]
	switch {
	case len(columns) == 0:
	case n.field.texts != nil:
		return t.texts(n, columns)
	case n.field.Kind == closedKind:
		names := []string{} // which is not NULL
		for i, name := range n.field.Values {
			if n.ints(int64(i)) != (n.op[0] == '!') {
				names = append(names, name)
			}
		}
		return sqlOf("(%s = ANY (\x00))", columns[0], names), true
	case n.field.Kind == durationKind || n.field.Kind == timeKind:
		return n.amounts(columns[0])
	}
	return sqlPart{}, false
}

// texts compares with patterns. Case is ignored as PostgreSQL does it, which knows
// ASCII alone for columns of the collation C: other patterns have no condition.
func (t Table) texts(n *testNode, columns []string) (sqlPart, bool) {
	if strings.HasSuffix(n.op, "~") {
		return sqlPart{}, false
	}
	var parts []sqlPart
	for _, v := range n.values {
		if strings.IndexFunc(v, func(r rune) bool { return r > 0x7f || r == 0 }) >= 0 {
			return sqlPart{}, false
		}
		for i, column := range columns {
			part := matching(column, v)
			if i > 0 {
				part.text = "(" + column + " <> '' AND " + part.text + ")"
			}
			parts = append(parts, part)
		}
		if t.Also == nil {
			continue
		}
		if more := t.Also(n.field.Name, v); len(more) > 0 {
			for i := range more {
				more[i] = strings.ToLower(more[i])
			}
			parts = append(parts, sqlOf("lower(%s) = ANY (\x00)", columns[0], more))
		}
	}
	any := joined(parts, " OR ")
	if n.op[0] == '!' {
		any.text = "NOT " + any.text
	}
	any.text = "(" + t.present(n.field.Name) + " AND " + any.text + ")"
	return any, true
}

// matching compares a column with a pattern.
func matching(column, value string) sqlPart {
	p := newPattern(value)
	if p.fold {
		column = "lower(" + column + ")"
	}
	if len(p.parts) == 1 {
		return sqlOf("%s = \x00", column, p.parts[0])
	}
	parts := make([]string, len(p.parts))
	for i, part := range p.parts {
		parts[i] = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(part)
	}
	return sqlOf("%s LIKE \x00", column, strings.Join(parts, "%"))
}

// amounts compares durations and times. A time of day has no condition.
func (n *testNode) amounts(column string) (sqlPart, bool) {
	bound := func(i int64) any {
		if n.field.Kind == timeKind {
			return time.Unix(0, i).UTC()
		}
		return i
	}
	var parts []sqlPart
	for _, s := range n.ranges {
		if s.clock != nil {
			return sqlPart{}, false
		}
		least, end := sqlOf("%s >= \x00", column, bound(s.lo)), sqlOf("%s < \x00", column, bound(s.hi))
		switch {
		case n.op == "<":
			return sqlOf("(%s < \x00)", column, bound(s.lo)), true
		case n.op == "<=":
			return end, true
		case n.op == ">":
			return sqlOf("(%s >= \x00)", column, bound(s.hi)), true
		case n.op == ">=":
			return least, true
		case s.hi <= s.lo: // as span.holds has it
			parts = append(parts, joined([]sqlPart{least, end}, " OR "))
		default:
			parts = append(parts, joined([]sqlPart{least, end}, " AND "))
		}
	}
	any := joined(parts, " OR ")
	if n.op[0] == '!' {
		any.text = "NOT " + any.text
	}
	return any, any.text != ""
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
