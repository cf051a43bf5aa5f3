package transaction

import "strings"

// appendDot appends vertices and edges as Puppet writes them for Graphviz. Rule
// RES-GRAPH-10.
func appendDot(b []byte, name string, vertices []*Resource, edges []*Edge) []byte {
	b = append(b, "digraph "+name+" {\n    label = \""+name+"\"\n"...)
	for i, v := range vertices {
		if i > 0 {
			b = append(b, '\n')
		}
		ref := dotQuote(v.Ref())
		b = append(b, "    "+ref+" [\n        fontsize = 8,\n        label = "+ref+"\n    ]\n"...)
	}
	for i, e := range edges {
		if i > 0 || len(vertices) > 0 {
			b = append(b, '\n')
		}
		b = append(b, "    "+dotQuote(e.From.Ref())+" -> "+dotQuote(e.To.Ref())+" [\n        fontsize = 8\n    ]\n"...)
	}
	return append(b, "\n}\n"...)
}

func dotQuote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }
