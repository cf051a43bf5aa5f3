package format

import (
	"errors"
	"sort"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// appendDot draws a catalog for GraphViz. Rule FMT-CAT-09.
func appendDot(b []byte, i indirector.Instance) ([]byte, error) {
	c, ok := i.(*model.Catalog)
	if !ok {
		return nil, errors.New("only catalogs can be rendered to text/dot")
	}
	b = append(b, "digraph Puppet__Resource__Catalog {\n    label = \"Puppet__Resource__Catalog\"\n"...)
	for i := range c.Resources {
		ref := dotQuote(c.Resources[i].Ref())
		b = append(b, "    "+ref+" [\n        fontsize = 8,\n        label = "+ref+"\n    ]\n\n"...)
	}
	for i := range c.Edges {
		b = append(b, "    "+dotQuote(c.Edges[i].Source)+" -> "+dotQuote(c.Edges[i].Target)+" [\n        fontsize = 8\n    ]\n\n"...)
	}
	if len(c.Resources)+len(c.Edges) == 0 {
		b = append(b, '\n')
	}
	return append(b, "}\n"...), nil
}

func dotQuote(s string) string {
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}

// appendConsole writes what Puppet's faces print: scalars as they are, lists
// one element a line, hashes as a table, the rest as indented JSON.
func appendConsole(b []byte, v data.Value) ([]byte, error) {
	switch v.Kind() {
	case data.String, data.Int, data.Big, data.Float:
		return append(b, v.Text()...), nil
	case data.List:
		for _, x := range v.List() {
			b = append(append(b, x.Text()...), '\n')
		}
		return b, nil
	case data.Hash:
		if table, ok, err := consoleTable(v); ok {
			return append(b, table...), err
		}
	}
	return appendPretty(b, v, "")
}

func consoleTable(v data.Value) (string, bool, error) {
	rows := append([]data.Pair(nil), v.Hash()...)
	width := 2
	for _, p := range rows {
		if k := p.Key.Kind(); k == data.Symbol || k == data.Nil || k == data.Bool {
			return "", false, nil
		}
		width = max(width, len([]rune(p.Key.Text()))+2)
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Key.Text() < rows[j].Key.Text() })
	var s strings.Builder
	for _, p := range rows {
		cell, err := AppendJSON(nil, p.Value)
		if err != nil {
			return "", true, err
		}
		key := p.Key.Text()
		s.WriteString(key + strings.Repeat(" ", width-len([]rune(key))) + string(cell) + "\n")
	}
	return s.String(), true, nil
}

// appendPretty writes JSON with an indentation of two.
func appendPretty(b []byte, v data.Value, indent string) ([]byte, error) {
	inner := indent + "  "
	var err error
	switch {
	case v.Kind() == data.List && v.Len() == 0:
		return append(b, "[\n\n"+indent+"]"...), nil
	case v.Kind() == data.Hash && v.Len() == 0:
		return append(b, "{\n"+indent+"}"...), nil
	case v.Kind() == data.List:
		for i, x := range v.List() {
			b = append(b, ",["[first(i)], '\n')
			if b, err = appendPretty(append(b, inner...), x, inner); err != nil {
				return nil, err
			}
		}
		return append(append(append(b, '\n'), indent...), ']'), nil
	case v.Kind() == data.Hash:
		for i, p := range v.Hash() {
			b = append(b, ",{"[first(i)], '\n')
			b, err = AppendJSON(append(b, inner...), data.OfString(p.Key.Text()))
			if err != nil {
				return nil, err
			}
			if b, err = appendPretty(append(b, ": "...), p.Value, inner); err != nil {
				return nil, err
			}
		}
		return append(append(append(b, '\n'), indent...), '}'), nil
	}
	return AppendJSON(b, v)
}

// first is 1 for the first element, else 0.
func first(i int) int {
	if i == 0 {
		return 1
	}
	return 0
}

// appendFlat writes a hash or list as lines of path=value.
func appendFlat(b []byte, v data.Value) ([]byte, error) {
	switch v.Kind() {
	case data.String, data.Int, data.Big, data.Float:
		return append(b, v.Text()...), nil
	case data.Hash, data.List:
		return flatten(b, "", v), nil
	}
	return appendPretty(b, v, "")
}

func flatten(b []byte, path string, v data.Value) []byte {
	for _, p := range v.Hash() {
		b = flattenOne(b, join(path, p.Key.Text()), p.Value)
	}
	for i, x := range v.List() {
		key := join(path, strconv.Itoa(i))
		if x.Kind() == data.List { // Puppet goes no deeper into lists of lists
			b = append(b, key+"="+x.Text()+"\n"...)
			continue
		}
		b = flattenOne(b, key, x)
	}
	return b
}

func flattenOne(b []byte, path string, v data.Value) []byte {
	if k := v.Kind(); k == data.Hash || k == data.List {
		return flatten(b, path, v)
	}
	return append(b, path+"="+v.Text()+"\n"...)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
