package stdlib

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

// A toml writes a hash as the module does: values first, then tables, then lists of
// tables, each sorted by their keys.
type toml struct{ strings.Builder }

func (t *toml) table(h data.Value, path []string) error {
	values, tables, lists, err := sortedPairs(h)
	if err != nil {
		return err
	}
	if len(path) > 0 && (len(values) > 0 || h.Len() == 0) {
		t.WriteString("[" + strings.Join(path, ".") + "]\n")
	}
	return t.pairs(values, tables, lists, path)
}

func (t *toml) pairs(values, tables, lists []data.Pair, path []string) error {
	for _, p := range values {
		t.WriteString(tomlKey(p.Key) + " = " + tomlValue(p.Value) + "\n")
	}
	for _, p := range tables {
		if err := t.table(p.Value, append(path[:len(path):len(path)], tomlKey(p.Key))); err != nil {
			return err
		}
	}
	for _, p := range lists {
		below := append(path[:len(path):len(path)], tomlKey(p.Key))
		for _, child := range p.Value.List() {
			if !isHash(child) {
				return noMethod("keys", child)
			}
			t.WriteString("[[" + strings.Join(below, ".") + "]]\n")
			v, tb, l, err := sortedPairs(child)
			if err == nil {
				err = t.pairs(v, tb, l, below)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func sortedPairs(h data.Value) (values, tables, lists []data.Pair, err error) {
	all := slices.Clone(h.Hash())
	slices.SortFunc(all, func(a, b data.Pair) int {
		if isString(a.Key) && isString(b.Key) {
			return strings.Compare(a.Key.Str(), b.Key.Str())
		}
		order, failed := eval.Compare(a.Key, b.Key)
		if failed != nil {
			err = eval.Errorf("comparison of %s with %s failed", eval.RubyClass(a.Key), eval.RubyClass(b.Key))
		}
		return order
	})
	for _, p := range all {
		switch {
		case isHash(p.Value):
			tables = append(tables, p)
		case isList(p.Value) && p.Value.Len() > 0 && isHash(p.Value.List()[0]):
			lists = append(lists, p)
		default:
			values = append(values, p)
		}
	}
	return values, tables, lists, err
}

func tomlKey(key data.Value) string {
	s := key.Text()
	if matches(`^[a-zA-Z0-9_-]*$`, s) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}

// tomlValue writes a value as Ruby inspects it; in a string, what Ruby would interpolate
// has no backslash.
func tomlValue(v data.Value) string {
	if isString(v) {
		return strings.NewReplacer(`\#$`, "#$", `\#@`, "#@", `\#{`, "#{").Replace(v.Inspect())
	}
	return v.Inspect()
}
