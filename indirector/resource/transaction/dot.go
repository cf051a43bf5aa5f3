package transaction

import (
	"os"
	"path/filepath"
	"strings"

	"indirtui/indirector/host/files"
)

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

// writeGraph writes a graph if the setting graph wants it. Rule RES-GRAPH-10.
func (t *transaction) writeGraph(kind string, vertices []*Resource, edges []*Edge) error {
	if !t.Graph || t.plan != nil {
		return nil
	}
	return t.writeDot(kind, appendDot(nil, dotName(kind), vertices, edges))
}

func dotName(kind string) string { return strings.ToUpper(kind[:1]) + kind[1:] }

func (t *transaction) writeDot(kind string, text []byte) error {
	if err := os.MkdirAll(t.GraphDir, 0o755); err != nil {
		return err
	}
	return files.Write(filepath.Join(t.GraphDir, kind+".dot"), text, files.Options{Mode: 0o644})
}

// writeCycles writes up to ten ways around each cycle.
func (t *transaction) writeCycles(cycles [][]*Resource) error {
	text := "digraph Resource_Cycles {\n  label = \"Resource Cycles\"\n"
	for _, cycle := range cycles {
		for _, path := range CyclePaths(cycle, 10) {
			way := make([]string, len(path))
			for i, r := range path {
				way[i] = dotQuote(r.String())
			}
			text += strings.Join(way, " -> ") + "\n"
		}
	}
	return t.writeDot("cycles", []byte(text+"}\n"))
}
