package hiera

import (
	"fmt"
	"slices"
	"strings"
)

// Sentence is where the value of the key was found that was looked up last: in one
// level, or in several whose values were merged. It is "" if nothing was found.
func (r *Record) Sentence(from int) string {
	t, root := tracer{r}, int32(-1)
	for i := int32(from); i < int32(len(r.nodes)); i = r.nodes[i].end {
		if r.nodes[i].kind == rootNode && r.nodes[i].name != lookupOptions {
			root = i
		}
	}
	if root < 0 {
		return ""
	}
	var levels, places []string
	merged := ""
	for i := root + 1; i < r.nodes[root].end; i++ {
		n := &r.nodes[i]
		switch {
		case n.kind == rootNode: // another key, that an interpolation asked for
			i = n.end - 1
		case n.kind == mergeNode && n.event == resultEvent && merged == "":
			merged = n.of.(*strategy).name
		case n.kind == locationNode && n.event == foundEvent:
			levels, places = append(levels, t.levelOf(i)), append(places, t.written(i))
		}
	}
	switch levels = slices.Compact(levels); {
	case len(places) == 0:
		return ""
	case len(places) == 1 || merged == "":
		return fmt.Sprintf("%s has it: %s", levels[0], places[0])
	}
	return fmt.Sprintf("%d files have it, merged (%s): %s", len(places), merged, strings.Join(levels, ", "))
}

// levelOf names the level that a location belongs to, and its layer.
func (t tracer) levelOf(i int32) string {
	name := ""
	for at := i; at >= 0; at = t.record.nodes[at].parent {
		switch of := t.record.nodes[at].of.(type) {
		case *level:
			name = "level " + of.name
		case *layer:
			if of.kind == moduleLayer {
				return name + " of module " + of.module
			}
			return name
		}
	}
	return name
}

// written is the file of a location, and the line of the key in it.
func (t tracer) written(i int32) string {
	l := t.record.nodes[i].of.(*location)
	for _, a := range t.line(i, l) {
		return l.where + ":" + a.Value
	}
	return l.where
}
