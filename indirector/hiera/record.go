package hiera

import "indirtui/indirector/data"

// A Record is what happened in lookups, in order: one node for each key, layer,
// level, location, merge and interpolation. It is written by [Compile.Lookup] and
// read by [Record.Text], [Record.Data] and [Record.Spans]. The zero value is empty.
// It must be read only after its lookup, and may be used for several.
//
// Nodes are small records in one slice, each followed by all nodes below it. Values
// are referred to, not copied. Rules HIERA-TRACE-02, HIERA-TRACE-05.
type Record struct {
	// OptionsOnly makes a lookup search for lookup_options only, as
	// --explain-options does.
	OptionsOnly bool
	// OriginOnly makes a lookup record no more than [Record.Origin] needs where that is
	// known. Its explanation may be empty then.
	OriginOnly bool
	// Elsewhere is what answered in place of the levels; "" if they did.
	Elsewhere string

	nodes  []node
	answer *Answer  // in place of nodes; nil if those were recorded
	texts  []string // of the root
	at     int32    // one more than the index of the node that is open; 0 is the root
}

// Reset empties the record and keeps its memory.
func (r *Record) Reset() {
	clear(r.nodes)
	r.nodes, r.answer, r.texts, r.at, r.Elsewhere = r.nodes[:0], nil, nil, 0, ""
}

// Empty reports whether nothing was looked up.
func (r *Record) Empty() bool { return len(r.nodes) == 0 && r.answer == nil }

type nodeKind uint8

// The kinds of nodes, by their names in the structure.
const (
	rootNode        nodeKind = iota // a key is searched for
	invalidKeyNode                  // a key that is never found
	mergeSourceNode                 // where the options of a merge are from
	moduleNode                      // a module that is missing
	interpolateNode                 // a text
	mergeNode                       // several variants
	globalNode                      // another data binding
	layerNode                       // a data provider: a layer
	levelNode                       // a data provider: a level of a hierarchy
	locationNode                    // a path or URI
	subKeyNode                      // digging into a value
	segmentNode                     // one step of that
	scopeNode                       // variables, or a title
)

type event uint8

// What became of a node.
const (
	noEvent event = iota
	foundEvent
	overrideEvent
	defaultEvent
	resultEvent // of a merge
	notFoundEvent
	noLocationEvent
	noModuleEvent
	noProviderEvent
)

// events are their names in the structure.
var events = [...]string{
	foundEvent: "found", overrideEvent: "found_in_overrides", defaultEvent: "found_in_defaults", resultEvent: "result",
	notFoundEvent: "not_found", noLocationEvent: "location_not_found",
	noModuleEvent: "module_not_found", noProviderEvent: "module_provider_not_found",
}

// hasValue reports whether a value belongs to the event.
func (e event) hasValue() bool {
	return e == foundEvent || e == overrideEvent || e == defaultEvent || e == resultEvent
}

type node struct {
	kind   nodeKind
	event  event
	keyed  bool  // key is set
	parent int32 // -1 is the root
	end    int32 // the index after the last node below
	key    string
	name   string // key, title, text, terminus or module, by kind
	value  data.Value
	of     any // *layer, *level, *location or *strategy, by kind
	texts  []string
}

// An invocation is one lookup, or one within another, on its way through the
// layers.
type invocation struct {
	c         *Compile
	scope     Scope
	overrides data.Value // a hash; nil is none
	defaults  data.Value // a hash; nil is none
	record    *Record    // nil records nothing
	names     []string   // keys that are being looked up; a repetition is a cycle
	top       string     // the key as it was given
	module    string     // whose layer is asked; "" is none
	one       bool       // there is a module, perhaps one without a name
	only      bool       // the global layer alone, as for version 3
	depth     int
	used      *[]variable // collects the variables that a hierarchy depends on; may be nil
}

// into opens a node, which pop closes.
func (in *invocation) into(n node) *Record {
	if in.record != nil {
		in.record.push(n)
	}
	return in.record
}

func (r *Record) push(n node) {
	n.parent = r.at - 1
	r.nodes = append(r.nodes, n)
	r.at = int32(len(r.nodes))
}

// pop closes the node that is open. A nil Record has none.
func (r *Record) pop() {
	if r == nil {
		return
	}
	n := &r.nodes[r.at-1]
	n.end = int32(len(r.nodes))
	r.at = n.parent + 1
}

// current is the node that is open, or nil at the root.
func (r *Record) current() *node {
	if r == nil || r.at == 0 {
		return nil
	}
	return &r.nodes[r.at-1]
}

func (in *invocation) event(e event, key string, v data.Value) {
	if n := in.record.current(); n != nil {
		n.event, n.key, n.keyed, n.value = e, key, true, v
	}
}

func (in *invocation) found(key string, v data.Value) { in.event(foundEvent, key, v) }
func (in *invocation) notFound(key string)            { in.event(notFoundEvent, key, data.Value{}) }

// happened notes an event that has no key.
func (in *invocation) happened(e event, v data.Value) {
	if n := in.record.current(); n != nil {
		n.event, n.value = e, v
	}
}

// text notes a free text.
func (in *invocation) text(s string) {
	if in.record == nil {
		return
	}
	if n := in.record.current(); n != nil {
		n.texts = append(n.texts, s)
		return
	}
	in.record.texts = append(in.record.texts, s)
}

// leaf adds a node without anything below it.
func (in *invocation) leaf(n node) {
	if in.record != nil {
		in.record.push(n)
		in.record.pop()
	}
}

// below calls f for each child of a node, by index; -1 is the root.
func (r *Record) below(i int32, f func(i int32)) {
	end := int32(len(r.nodes))
	if i >= 0 {
		end = r.nodes[i].end
	}
	for c := i + 1; c < end; c = r.nodes[c].end {
		f(c)
	}
}

func (r *Record) children(i int32) []int32 {
	var all []int32
	r.below(i, func(c int32) { all = append(all, c) })
	return all
}
