package hiera

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// trace adds what was recorded from a node on to the trace of the request that ctx
// belongs to.
func (r *Record) trace(ctx context.Context, from int) {
	if traces.FromContext(ctx) != nil {
		traces.AddLater(ctx, maker{r.spans(from, nil), nil})
	}
}

// spans are what a trace shows of the record, from a node on: a span for every key, layer,
// level and location, in order, those that were not asked included. Values are left out.
// If the layers are given, spans leave out how those show their locations. Rules
// HIERA-TRACE-01, HIERA-TRACE-04.
func (r *Record) spans(from int, layers *layerViews) *spans {
	t := tracer{r, &spans{viewed: layers != nil, all: make([]traces.Span, 0, len(r.nodes)-from)}}
	for i := int32(from); i < int32(len(r.nodes)); i = r.nodes[i].end {
		t.node(i)
	}
	return t.out
}

type tracer struct {
	record *Record
	out    *spans
}

// spans are those of a lookup.
type spans struct {
	all    []traces.Span
	viewed bool    // what places have is left out
	places []place // where spans have neither name nor attributes but the line
	open   []int   // while they are made: the numbers of those that are open
}

// A place is where a span of a location belongs.
type place struct {
	span     int // its index
	layer    layerKind
	location int // its index among those of the layer
}

// A maker makes the spans of a lookup that saw these layers.
type maker struct {
	*spans
	layers *layerViews // nil if the spans have no places
}

var _ traces.Maker = maker{}

// Len implements traces.Maker.
func (m maker) Len() int { return len(m.all) }

// AppendSpans implements traces.Maker.
func (m maker) AppendSpans(to []traces.Span) []traces.Span {
	n := len(to)
	to = append(to, m.all...)
	for _, p := range m.places {
		at, shown := &to[n+p.span], m.layers[p.layer].locations[p.location]
		at.Name = shown.name
		if at.Answer != answerNotAsked {
			at.Attrs = append(shown.attrs, at.Attrs...)
		}
	}
	return to
}

// begin opens a span below the one that is open.
func (s *spans) begin(name string, attrs []traces.Attr) {
	span := traces.Span{ID: len(s.all) + 1, Kind: traces.Note, Name: name, Attrs: attrs}
	if n := len(s.open); n > 0 {
		span.Parent = s.open[n-1]
	}
	s.all, s.open = append(s.all, span), append(s.open, span.ID)
}

// end closes the span that is open.
func (s *spans) end(answer string, because traces.Because) {
	last := len(s.open) - 1
	at := &s.all[s.open[last]-1]
	at.Answer, at.Because = answer, because
	s.open = s.open[:last]
}

// at reports whether a view of the layer shows the location of the span that is begun next.
func (s *spans) at(l *layer, location *location) bool {
	if !s.viewed {
		return false
	}
	s.places = append(s.places, place{len(s.all), l.kind, location.index})
	return true
}

func (t tracer) all(i int32) {
	t.record.below(i, func(c int32) { t.node(c) })
}

// What spans answer.
const (
	answerFound    = "found"
	answerNone     = "no such key"
	answerNoPath   = "path not found"
	answerNotAsked = "not asked"
)

func (t tracer) node(i int32) {
	n := &t.record.nodes[i]
	switch n.kind {
	case rootNode:
		t.span(i, "look up "+n.name, nil, tracer.layers)
	case layerNode:
		l := n.of.(*layer)
		s := &shown{name: l.short()}
		if l.config != nil {
			s = l.shown.as(func() shown { return shown{s.name, attr("configuration", l.config.path)} })
		}
		t.span(i, s.name, s.attrs, tracer.levels)
	case levelNode:
		l := n.of.(*level)
		s := l.shown.as(func() shown { return shown{"level " + l.name, attr("function", l.function)} })
		t.span(i, s.name, s.attrs, tracer.locations)
	case locationNode:
		l, line := n.of.(*location), t.line(i, n.of.(*location))
		if layer := t.above(i); t.out.at(layer, l) {
			t.span(i, "", line, tracer.all)
		} else {
			s := l.shows(layer)
			t.span(i, s.name, append(s.attrs, line...), tracer.all)
		}
	case mergeNode:
		s := n.of.(*strategy)
		if len(t.record.children(i)) < 2 {
			t.all(i)
			return
		}
		t.span(i, "merge "+s.name, t.decided(i, s), tracer.all)
	case moduleNode:
		about := "it has no hiera.yaml"
		if n.event == noModuleEvent {
			about = "it is not in the environment"
		}
		t.skipped("module "+n.name, traces.Because{Reason: traces.NotFound, About: about})
	case globalNode:
		t.span(i, "ask data binding "+n.name, nil, tracer.all)
	case scopeNode:
		t.scope(i)
	case invalidKeyNode:
		t.skipped("look up "+n.name, traces.Because{Reason: traces.NotFound, About: "this key is never found"})
	case mergeSourceNode, segmentNode:
	case subKeyNode:
		t.span(i, "dig "+n.name, nil, tracer.all)
	case interpolateNode:
		t.all(i)
	default:
		panic(n.kind)
	}
}

// scope adds a variable, or what is below a title.
func (t tracer) scope(i int32) {
	n := &t.record.nodes[i]
	if len(t.record.children(i)) > 0 {
		t.span(i, strings.ToLower(n.name[:1])+n.name[1:], nil, tracer.all)
		return
	}
	if n.event == foundEvent && n.name == "Global Scope" {
		t.span(i, "variable "+n.key, nil, tracer.all)
	}
}

// shown is the name of the span of a layer, level or location, and its attributes that are
// the same for all keys. They are made once in a compile: a compile with much data has a
// thousand such spans.
type shown struct {
	name  string
	attrs []traces.Attr // without capacity for more, as spans share them
}

// as returns what is shown, which is made the first time.
func (s *shown) as(made func() shown) *shown {
	if s.name == "" {
		*s = made()
		s.attrs = slices.Clip(s.attrs)
	}
	return s
}

// span adds one node with what is below it.
func (t tracer) span(i int32, name string, attrs []traces.Attr, below func(tracer, int32)) {
	t.out.begin(name, attrs)
	below(t, i)
	answer, because := answerNone, traces.Because{Reason: traces.NotFound}
	switch {
	case t.record.nodes[i].event == noLocationEvent:
		answer = answerNoPath
	case t.has(i):
		answer, because = answerFound, traces.Because{Reason: traces.Returned}
	}
	t.out.end(answer, because)
}

func (t tracer) skipped(name string, because traces.Because) {
	t.out.begin(name, nil)
	t.out.end(answerNotAsked, because)
}

func attr(key, value string) []traces.Attr {
	if value == "" {
		return nil
	}
	return []traces.Attr{{Key: key, Value: value}}
}

// has reports whether a node, or one that it answers with, has a value.
func (t tracer) has(i int32) bool {
	n := &t.record.nodes[i]
	if n.event.hasValue() {
		return true
	}
	if n.event != noEvent {
		return false
	}
	found := false
	t.record.below(i, func(c int32) {
		if k := t.record.nodes[c].kind; k != interpolateNode && k != subKeyNode {
			found = found || t.has(c)
		}
	})
	return found
}

// asked are the nodes of a kind that a node consists of, also within a merge: how many
// there are, the first and the last one.
type asked struct {
	n           int
	first, last int32
}

func (t tracer) asked(i int32, kind nodeKind) (all asked) {
	t.record.below(i, func(c int32) {
		more := asked{1, c, c}
		switch t.record.nodes[c].kind {
		case kind:
		case mergeNode:
			more = t.asked(c, kind)
		default:
			return
		}
		if more.n == 0 {
			return
		}
		if all.n == 0 {
			all.first = more.first
		}
		all.n, all.last = all.n+more.n, more.last
	})
	return all
}

var higher = traces.Because{Reason: traces.EarlierStepAnswered, About: "a higher one had the key"}

// layers adds the layers, and those that were not asked.
func (t tracer) layers(i int32) {
	t.all(i)
	asked := t.asked(i, layerNode)
	if asked.n == 0 {
		return
	}
	found, last := t.has(i), layerOf(&t.record.nodes[asked.last]).kind // they are asked in order
	if last < environmentLayer {
		because := higher
		if !found {
			because = traces.Because{Reason: traces.NotFound, About: "the environment has no hiera.yaml"}
		}
		t.skipped("environment layer", because)
	}
	k, err := parseKey(t.record.nodes[i].name)
	if err == nil && k.one && last < moduleLayer && found {
		t.skipped("layer of module "+k.module, higher)
	}
}

// levels adds the levels of a layer, and those that were not asked.
func (t tracer) levels(i int32) {
	t.all(i)
	asked := t.asked(i, levelNode)
	if asked.n == 0 || !t.has(i) {
		return
	}
	last := t.record.nodes[asked.last].of.(*level)
	after := false
	for _, level := range layerOf(&t.record.nodes[i]).levels {
		if after {
			t.skipped("level "+level.name, higher)
		}
		after = after || level == last
	}
}

// locations adds the locations of a level, and those that were not asked.
func (t tracer) locations(i int32) {
	t.all(i)
	asked, l := t.asked(i, locationNode), t.record.nodes[i].of.(*level)
	switch {
	case len(l.locations) == 0 && !l.everywhere:
		t.skipped("no location", traces.Because{Reason: traces.NotFound, About: "its variable is empty, or no file matches"})
	case asked.n > 0 && t.has(i):
		for _, rest := range l.locations[asked.n:] {
			name := ""
			if !t.out.at(l.layer, rest) {
				name = rest.shows(l.layer).name
			}
			t.skipped(name, higher)
		}
	}
}

// shows is how a location of a layer is shown.
func (l *location) shows(of *layer) *shown {
	return l.shown.as(func() shown { return shown{"look in " + l.where, l.from(of)} })
}

// from is where a location is from: its text, and the variables in it with their values.
func (l *location) from(of *layer) []traces.Attr {
	if l.original == l.where || strings.HasSuffix(l.where, "/"+l.original) {
		return nil
	}
	attrs := attr("written", l.original)
	if of == nil {
		return attrs
	}
	for _, u := range of.used {
		if strings.Contains(l.original, u.name) {
			value := u.value.Text()
			if u.value.IsNil() {
				value = "undefined"
			}
			attrs = append(attrs, traces.Attr{Key: "%{" + u.name + "}", Value: value})
		}
	}
	return attrs
}

// line is the line of the key that was found in a location.
func (t tracer) line(i int32, l *location) []traces.Attr {
	n := &t.record.nodes[i]
	layer := t.above(i)
	if n.event != foundEvent || l.uri || layer == nil {
		return nil
	}
	if line := layer.c.cache.line(l.where, n.key); line > 0 {
		return attr("line", strconv.Itoa(line))
	}
	return nil
}

// above is the layer that a node belongs to.
func (t tracer) above(i int32) *layer {
	for ; i >= 0; i = t.record.nodes[i].parent {
		if l, ok := t.record.nodes[i].of.(*layer); ok {
			return l
		}
	}
	return nil
}

// decided is what chose a merge: the lookup_options, with file and line, or the
// caller.
func (t tracer) decided(i int32, s *strategy) []traces.Attr {
	attrs := []traces.Attr(nil)
	if o, ok := s.shown(); ok {
		attrs = attr("options", o.Inspect())
	}
	root := i
	for root >= 0 && t.record.nodes[root].kind != rootNode {
		root = t.record.nodes[root].parent
	}
	below := t.asked(i, layerNode)
	layer := t.above(i)
	if layer == nil && below.n > 0 {
		layer = layerOf(&t.record.nodes[below.first])
	}
	if root < 0 || layer == nil || t.record.nodes[root].name == lookupOptions {
		return attrs
	}
	if !t.fromOptions(root) {
		return append(attrs, traces.Attr{Key: "decided", Value: "the caller"})
	}
	if where := layer.c.decided(t.record.nodes[root].name); where != "" {
		attrs = append(attrs, traces.Attr{Key: "decided", Value: "lookup_options, " + where})
	}
	return attrs
}

// fromOptions reports whether lookup_options chose the merge of a key, which is
// noted right before it.
func (t tracer) fromOptions(root int32) bool {
	before := int32(-1)
	t.record.below(t.record.nodes[root].parent, func(c int32) {
		if c < root {
			before = c
		}
	})
	return before >= 0 && t.record.nodes[before].kind == mergeSourceNode
}

// decided returns file and line of the entry of lookup_options that counts for a
// key: that of the highest location that has one.
func (c *Compile) decided(name string) string {
	k, err := parseKey(name)
	if err != nil {
		return ""
	}
	for _, l := range []*layer{c.global, c.environment, c.modules[k.module]} {
		if l == nil {
			continue
		}
		for _, level := range l.levels {
			for _, at := range level.contexts {
				if at == nil || at.location == nil {
					continue
				}
				if entry := entryFor(at.hash[lookupOptions], k.root); entry != "" {
					line := c.cache.line(at.location.where, lookupOptions, entry)
					return at.location.where + ":" + strconv.Itoa(line) + " " + entry
				}
			}
		}
	}
	return ""
}

// entryFor is the key of lookup_options that counts for a root: itself, or the
// first pattern.
func entryFor(options data.Value, root string) string {
	if _, ok := options.Lookup(root); ok {
		return root
	}
	for _, p := range options.Hash() {
		if text := p.Key.Text(); strings.HasPrefix(text, "^") {
			re, err := rubyRegexp(text)
			if err != nil {
				continue
			}
			if ok, err := re.Match(root); ok && err == nil {
				return text
			}
		}
	}
	return ""
}

// short names the layer in a trace.
func (l *layer) short() string {
	switch l.kind {
	case globalLayer:
		return "global layer"
	case environmentLayer:
		return "environment layer"
	}
	return "layer of module " + l.module
}

func layerOf(n *node) *layer { return n.of.(*layer) }
