package hiera

import (
	"strings"

	"indirtui/indirector/data"
)

// Text returns the record as puppet lookup --explain prints it. Rules
// HIERA-EXP-01, HIERA-EXP-02.
func (r *Record) Text() string {
	t := &explainer{record: r}
	t.all(-1, "")
	t.lines("", r.texts)
	return t.out.String()
}

// AddText adds a text to the end, such as the error of the lookup.
func (r *Record) AddText(s string) { r.texts = append(r.texts, s) }

type explainer struct {
	record *Record
	out    strings.Builder
}

func (t *explainer) all(i int32, indent string) {
	t.record.below(i, func(c int32) { t.node(c, indent) })
}

func (t *explainer) line(indent string, parts ...string) {
	t.out.WriteString(indent)
	for _, p := range parts {
		t.out.WriteString(p)
	}
	t.out.WriteByte('\n')
}

func (t *explainer) lines(indent string, texts []string) {
	for _, s := range texts {
		t.line(indent, s)
	}
}

func (t *explainer) node(i int32, indent string) {
	n, inner := &t.record.nodes[i], indent+"  "
	switch n.kind {
	case rootNode:
		t.line(indent, `Searching for "`, n.name, `"`)
		t.all(i, inner)
	case invalidKeyNode:
		t.line(indent, `Invalid key "`, n.name, `"`)
	case mergeSourceNode:
		t.line(indent, `Using merge options from "`, n.name, `" hash`)
	case moduleNode:
		if n.event == noModuleEvent {
			t.line(indent, `Module "`, n.name, `" not found`)
		} else {
			t.line(indent, `Module data provider for module "`, n.name, `" not found`)
		}
	case interpolateNode:
		t.line(indent, `Interpolation on "`, n.name, `"`)
		t.all(i, inner)
	case mergeNode:
		t.merge(i, indent)
	case globalNode:
		t.line(indent, `Data Binding "`, n.name, `"`)
		t.rest(i, inner)
	case layerNode:
		l := n.of.(*layer)
		t.line(indent, l.title())
		if path := l.configPath(); path != "" {
			t.line(inner, `Using configuration "`, path, `"`)
		}
		t.rest(i, inner)
	case levelNode:
		t.line(indent, n.of.(*level).title())
		t.rest(i, inner)
	case locationNode:
		t.location(i, indent)
	case subKeyNode:
		t.line(indent, `Sub key: "`, n.name, `"`)
		t.rest(i, inner)
	case segmentNode:
		t.outcome(n, indent)
	case scopeNode:
		t.line(indent, n.name)
		t.rest(i, inner)
	default:
		panic(n.kind)
	}
}

// rest writes what is below a node, then what became of it.
func (t *explainer) rest(i int32, indent string) {
	t.all(i, indent)
	t.outcome(&t.record.nodes[i], indent)
}

func (t *explainer) location(i int32, indent string) {
	n, inner := &t.record.nodes[i], indent+"  "
	l := n.of.(*location)
	kind := "Path"
	if l.uri {
		kind = "URI"
	}
	t.line(indent, kind, ` "`, l.where, `"`)
	t.line(inner, "Original ", strings.ToLower(kind), `: "`, l.original, `"`)
	t.all(i, inner)
	if n.event == noLocationEvent {
		t.line(inner, kind, " not found")
	}
	t.outcome(n, inner)
}

// merge writes a merge, of which there is nothing to show if only one variant was
// asked.
func (t *explainer) merge(i int32, indent string) {
	n, inner := &t.record.nodes[i], indent+"  "
	below := t.record.children(i)
	if len(below) < 2 {
		t.all(i, indent)
		return
	}
	s := n.of.(*strategy)
	t.line(indent, "Merge strategy ", s.name)
	if o, ok := s.shown(); ok {
		t.out.WriteString(inner + "Options: ")
		t.value(o, inner)
		t.out.WriteByte('\n')
	}
	t.all(i, inner)
	if n.event == resultEvent {
		t.out.WriteString(inner + "Merged result: ")
		t.value(n.value, inner)
		t.out.WriteByte('\n')
	}
}

func (t *explainer) outcome(n *node, indent string) {
	switch n.event {
	case notFoundEvent:
		t.line(indent, `No such key: "`, n.key, `"`)
	case foundEvent, overrideEvent, defaultEvent:
		t.out.WriteString(indent + `Found key: "` + n.key + `" value: `)
		t.value(n.value, indent)
		switch n.event {
		case overrideEvent:
			t.out.WriteString(" in overrides")
		case defaultEvent:
			t.out.WriteString(" in defaults")
		}
		t.out.WriteByte('\n')
	}
	t.lines(indent, n.texts)
}

// value writes a value as Ruby inspects it, hashes and arrays in several lines.
func (t *explainer) value(v data.Value, indent string) {
	inner := indent + "  "
	switch v.Kind() {
	case data.Hash:
		switch v.Get("__ptype").Text() { // of a function that is a backend
		case "Sensitive":
			t.out.WriteString("#<Sensitive [value redacted]>")
			return
		case "Default":
			t.out.WriteString(":default")
			return
		}
		t.out.WriteByte('{')
		for i, p := range v.Hash() {
			t.separate(i, inner)
			t.value(p.Key, inner)
			t.out.WriteString(" => ")
			t.value(p.Value, inner)
		}
		t.close(v.Len(), indent, '}')
	case data.List:
		t.out.WriteByte('[')
		for i, e := range v.List() {
			t.separate(i, inner)
			t.value(e, inner)
		}
		t.close(v.Len(), indent, ']')
	default:
		t.out.WriteString(v.Inspect())
	}
}

func (t *explainer) separate(i int, indent string) {
	if i > 0 {
		t.out.WriteByte(',')
	}
	t.out.WriteString("\n" + indent)
}

func (t *explainer) close(n int, indent string, with byte) {
	if n > 0 {
		t.out.WriteString("\n" + indent)
	}
	t.out.WriteByte(with)
}
