package hiera

import "indirtui/indirector/data"

// typeNames are the names of kinds in the structure; of locations it depends.
var typeNames = [...]string{
	rootNode: "root", invalidKeyNode: "invalid_key", mergeSourceNode: "merge_source", moduleNode: "module",
	interpolateNode: "interpolate", mergeNode: "merge", globalNode: "global", layerNode: "data_provider",
	levelNode: "data_provider", subKeyNode: "sub_key", segmentNode: "segment", scopeNode: "scope",
}

// Data returns the structure of the record, with symbols as Ruby has them: they
// are strings in JSON. Rule HIERA-EXP-03.
func (r *Record) Data() data.Value {
	below := r.children(-1)
	switch len(below) {
	case 0:
		return data.OfHash(nil)
	case 1:
		return r.structure(below[0])
	}
	return data.OfHash(r.branches(nil, below))
}

func (r *Record) branches(h []data.Pair, below []int32) []data.Pair {
	if len(below) == 0 {
		return h
	}
	list := make([]data.Value, len(below))
	for i, c := range below {
		list[i] = r.structure(c)
	}
	return append(h, pair("branches", data.OfList(list)))
}

func pair(name string, v data.Value) data.Pair { return data.Pair{Key: data.OfSymbol(name), Value: v} }

func text(name, s string) data.Pair { return pair(name, data.OfString(s)) }

func (r *Record) structure(i int32) data.Value {
	n := &r.nodes[i]
	below := r.children(i)
	if n.kind == mergeSourceNode {
		return data.OfHash([]data.Pair{pair("type", data.OfSymbol("merge_source")), text("merge_source", n.name)})
	}
	if n.kind == mergeNode && len(below) == 1 {
		return r.structure(below[0])
	}
	h := r.branches(nil, below)
	switch {
	case n.keyed:
		h = append(h, text("key", n.key))
	case n.kind == rootNode, n.kind == invalidKeyNode:
		h = append(h, text("key", n.name))
	}
	if n.event.hasValue() {
		h = append(h, pair("value", n.value))
	}
	if n.event != noEvent {
		h = append(h, pair("event", data.OfSymbol(events[n.event])))
	}
	if len(n.texts) > 0 {
		h = append(h, pair("texts", data.OfStrings(n.texts)))
	}
	return data.OfHash(r.details(n, h))
}

// details adds what nodes of a kind have besides.
func (r *Record) details(n *node, h []data.Pair) []data.Pair {
	if n.kind == locationNode {
		l := n.of.(*location)
		kind := "path"
		if l.uri {
			kind = "uri"
		}
		return append(h, pair("type", data.OfSymbol(kind)), text("original_"+kind, l.original), text(kind, l.where))
	}
	h = append(h, pair("type", data.OfSymbol(typeNames[n.kind])))
	switch n.kind {
	case interpolateNode:
		h = append(h, text("expression", n.name))
	case mergeNode:
		s := n.of.(*strategy)
		h = append(h, pair("merge", data.OfSymbol(s.name)))
		if o, ok := s.shown(); ok {
			h = append(h, pair("options", o))
		}
	case globalNode, scopeNode:
		h = append(h, text("name", n.name))
	case layerNode:
		l := n.of.(*layer)
		h = append(h, text("name", l.title()))
		if path := l.configPath(); path != "" {
			h = append(h, text("configuration_path", path))
		}
		if l.kind == moduleLayer {
			h = append(h, text("module", l.module))
		}
	case levelNode:
		h = append(h, text("name", n.of.(*level).title()))
	}
	return h
}
