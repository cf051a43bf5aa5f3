package hiera

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Source is a file that had a key.
type Source struct {
	Level string // "level common"
	File  string
	Line  int // of the key; 0 if it is not known
}

func (s Source) place() string {
	if s.Line == 0 {
		return s.File
	}
	return s.File + ":" + strconv.Itoa(s.Line)
}

// Sentence is where the value of the key was found that was looked up last: in one
// level, or in several whose values were merged. It is "" if nothing was found.
func (r *Record) Sentence(from int) string {
	sources, merged := r.sources(from)
	levels := make([]string, len(sources))
	for i, s := range sources {
		levels[i] = s.Level
	}
	switch {
	case len(sources) == 0:
		return ""
	case merged == "":
		return fmt.Sprintf("%s has it: %s", levels[0], sources[0].place())
	}
	return fmt.Sprintf("%d files have it, merged (%s): %s", len(sources), merged, strings.Join(slices.Compact(levels), ", "))
}

// Origin is where the value of the key was found that was looked up last: the level and
// the place of the file, or a text of all of them if they were merged. It is empty if
// nothing was found. What answered elsewhere stands for a level.
func (r *Record) Origin(from int) Source {
	switch {
	case r.Elsewhere != "":
		return Source{Level: r.Elsewhere}
	case r.answer != nil:
		return r.answer.origin
	}
	sources, merged := r.sources(from)
	switch {
	case len(sources) == 0:
		return Source{}
	case merged == "":
		return sources[0]
	}
	places := make([]string, len(sources))
	for i, s := range sources {
		places[i] = s.Level + " " + s.place()
	}
	return Source{Level: "merged (" + merged + "): " + strings.Join(places, ", ")}
}

// sources returns the files that had the key that was looked up last, and how their
// values were merged; of a single one "".
func (r *Record) sources(from int) (sources []Source, merged string) {
	t, root := tracer{record: r}, int32(-1)
	for i := int32(from); i < int32(len(r.nodes)); i = r.nodes[i].end {
		if r.nodes[i].kind == rootNode && r.nodes[i].name != lookupOptions {
			root = i
		}
	}
	if root < 0 {
		return nil, ""
	}
	for i := root + 1; i < r.nodes[root].end; i++ {
		n := &r.nodes[i]
		switch {
		case n.kind == rootNode: // another key, that an interpolation asked for
			i = n.end - 1
		case n.kind == mergeNode && n.event == resultEvent && merged == "":
			merged = n.of.(*strategy).name
		case n.kind == locationNode && n.event == foundEvent:
			sources = append(sources, t.source(i))
		}
	}
	if len(sources) == 1 {
		merged = ""
	}
	return sources, merged
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

// source is the level and file of a location, and the line of the key in it.
func (t tracer) source(i int32) Source {
	l := t.record.nodes[i].of.(*location)
	s := Source{Level: t.levelOf(i), File: l.where}
	for _, a := range t.line(i, l) {
		s.Line, _ = strconv.Atoi(a.Value)
	}
	return s
}
