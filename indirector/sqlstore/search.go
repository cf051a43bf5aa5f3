package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// A Condition is one of a search of facts.
type Condition struct {
	Fact  string
	Op    string     // eq, ne, gt, lt, ge, le
	Value data.Value // for eq and ne a scalar, else a number
}

// maxConditions is how many a search may have.
const maxConditions = 100

// FactSearch returns the active nodes whose facts meet all conditions, by certname. What a
// value is compared with is what JSON has: "4" is not the number 4. Rules PDB-QRY-05,
// PDB-SEM-05.
func (s *Store) FactSearch(ctx context.Context, all []Condition) (certnames []string, err error) {
	if len(all) == 0 {
		return nil, errors.New("'and' takes at least one argument, but none were supplied") // as PuppetDB
	}
	if len(all) > maxConditions {
		return nil, fmt.Errorf("a search may have %d conditions, and this one has %d", maxConditions, len(all))
	}
	ctx, end := s.asks(ctx, "nodes by facts")
	defer func() { end(fmt.Sprintf("%d nodes", len(certnames)), err) }()
	text := "SELECT n.id, n.certname FROM nodes n WHERE n.deactivated IS NULL AND n.expired IS NULL"
	var args []any
	for _, c := range all {
		if err := c.check(); err != nil {
			return nil, err
		}
		if c.Op == "eq" || c.Op == "ne" {
			part, values := s.equality(c)
			text, args = text+part, append(args, values...)
		}
	}
	err = s.look(ctx, func(c *conn) error {
		sets, err := c.ordered(ctx, all)
		if err != nil {
			return err
		}
		return c.each(ctx, func(scan func(...any) error) error {
			var id int64
			var certname string
			err := scan(&id, &certname)
			if !slices.ContainsFunc(sets, func(set map[int64]bool) bool { return !set[id] }) {
				certnames = append(certnames, certname)
			}
			return err
		}, text+" ORDER BY n.certname", args...)
	})
	return certnames, s.failed("search facts", err)
}

// check refuses what PuppetDB refuses, in its words.
func (c Condition) check() error {
	sign := map[string]string{"eq": "=", "ne": "=", "gt": ">", "lt": "<", "ge": ">=", "le": "<="}[c.Op]
	switch {
	case c.Fact == "":
		return errors.New("a condition of a search for facts has no name of a fact")
	case sign == "":
		return fmt.Errorf("%q is no operator of a search for facts: there are eq, ne, gt, lt, ge and le", c.Op)
	}
	kind := c.Value.Kind()
	number := kind == data.Int || kind == data.Float || kind == data.Big
	if number || sign == "=" && (kind == data.String || kind == data.Bool) {
		return nil
	}
	text := c.Value.Text()
	if c.Value.IsNil() {
		text = "null"
	}
	return &indirector.Failure{Message: fmt.Sprintf("Operator '%s' not allowed on value '%s'", sign, text)}
}

// equality returns the condition in SQL, by the index of values.
func (s *Store) equality(c Condition) (text string, args []any) {
	args = []any{valid(c.Fact)}
	texts := spellings(c.Value)
	for range 2 {
		for _, t := range texts {
			args = append(args, t)
		}
	}
	d := s.d
	parts := strings.Repeat(", "+fmt.Sprintf(d.indexed, "?"), len(texts))[2:]
	same := fmt.Sprintf(d.indexed, strings.TrimPrefix(d.factText, "+")) + " IN (" + parts + ") AND " + d.factText + " IN " + marks(1, len(texts))
	in := " AND n.id IN ("
	if c.Op == "ne" {
		in = " AND n.id NOT IN ("
	}
	return in + "SELECT f.node FROM facts f WHERE f.name = ? AND " + same + ")", args
}

// spellings returns the JSON of a scalar: of a whole number with and without a point,
// which are equal in facts.
func spellings(v data.Value) []string {
	all := []data.Value{v}
	switch n := decimal(v); {
	case n == nil:
	case v.Kind() == data.Float && n.IsInt():
		i, _ := n.Int(nil)
		all = append(all, data.OfBig(i))
	case v.Kind() != data.Float:
		if f, accuracy := n.Float64(); accuracy == big.Exact {
			all = append(all, data.OfFloat(f))
		}
	}
	texts := make([]string, 0, 2)
	for _, v := range all {
		if text, err := appendJSON(nil, v); err == nil {
			texts = append(texts, string(text))
		}
	}
	if len(texts) == 0 {
		texts = append(texts, "") // what is no JSON equals nothing
	}
	return texts
}

// decimal returns a number, or nil for what is none.
func decimal(v data.Value) *big.Float {
	switch v.Kind() {
	case data.Int:
		return new(big.Float).SetPrec(64).SetInt64(v.Int())
	case data.Float:
		return big.NewFloat(v.Float())
	case data.Big:
		return new(big.Float).SetInt(v.Big())
	}
	return nil
}

// ordered returns for each condition of an order the nodes that meet it.
func (c *conn) ordered(ctx context.Context, all []Condition) (sets []map[int64]bool, err error) {
	for _, cond := range all {
		if cond.Op == "eq" || cond.Op == "ne" {
			continue
		}
		set := make(map[int64]bool)
		limit := decimal(cond.Value)
		err := c.each(ctx, func(scan func(...any) error) error {
			var id int64
			var text string
			if err := scan(&id, &text); err != nil {
				return err
			}
			v, err := decode(text)
			if err == nil && meets(cond.Op, compare(v, limit)) {
				set[id] = true
			}
			return err
		}, "SELECT f.node, f.value FROM facts f WHERE f.name = ?", valid(cond.Fact))
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// compare orders a value and a number as PostgreSQL orders JSON: null, texts and the empty
// list come before all numbers; truths, lists and hashes behind them. Rule PDB-SEM-05.
func compare(v data.Value, limit *big.Float) int {
	switch v.Kind() {
	case data.Nil, data.String:
		return -1
	case data.Int, data.Float, data.Big:
		return decimal(v).Cmp(limit)
	case data.List:
		if v.Len() == 0 {
			return -1
		}
	}
	return 1
}

func meets(op string, order int) bool {
	switch op {
	case "gt":
		return order > 0
	case "lt":
		return order < 0
	case "ge":
		return order >= 0
	}
	return order <= 0
}
