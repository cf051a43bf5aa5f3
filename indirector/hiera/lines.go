package hiera

import (
	"os"
	"strings"

	"gopkg.in/yaml.v3"
)

// line returns the line of a key in a YAML or JSON file, counted from 1, or of a
// key below it; 0 if that is not known. Rule HIERA-TRACE-03.
func (c *Cache) line(path string, keys ...string) int {
	c.mu.Lock()
	f := c.files[path]
	c.mu.Unlock()
	if f == nil {
		return 0
	}
	f.positions.Do(func() {
		f.lines = linesOf(path)
	})
	return f.lines[strings.Join(keys, "\x00")]
}

// linesOf are the lines of the keys of a file, and of the keys of lookup_options.
// What yaml.v3 cannot read has none.
func linesOf(path string) map[string]int {
	content, err := os.ReadFile(path)
	if err != nil || len(content) > maxFile {
		return nil
	}
	var doc yaml.Node
	if yaml.Unmarshal(content, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	lines := map[string]int{}
	keysOf(doc.Content[0], "", lines)
	return lines
}

func keysOf(n *yaml.Node, prefix string, lines map[string]int) {
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		lines[prefix+k.Value] = k.Line
		if prefix == "" && k.Value == lookupOptions {
			keysOf(n.Content[i+1], lookupOptions+"\x00", lines)
		}
	}
}
