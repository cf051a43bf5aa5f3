package psych

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// A parser builds values out of the tokens of one document, following the
// productions of libyaml and the conversions of Psych's ToRuby.
type parser struct {
	scanner
	limits  Limits
	doc     *Document
	depth   int
	nodes   int
	aliased int

	anchors map[string]anchor
	tags    map[string]string // handles of %TAG directives

	stack  []data.Value // elements, or keys and values, of the open collections
	frames []frame
	merges []merge
	lists  []data.Value // unused room for elements
	pairs  []data.Pair  // unused room for pairs

	late error // the first error of the conversion; syntax errors win over it
}

// An anchor is a named value and the cost of an alias to it.
type anchor struct {
	value data.Value
	nodes int
	open  bool // still being read
}

// A frame is an open collection, for the paths of foreign things.
type frame struct {
	base    int // in stack
	mapping bool
}

// A merge is a key << in the stack.
type merge struct {
	at    int // of the key
	shape nodeShape
}

// nodeShape is the written form of a node, where Psych asks for it.
type nodeShape uint8

const (
	shapeScalar nodeShape = iota
	shapeMapping
	shapeSequence
	shapeAlias
	shapeStr // a scalar with the tag !!str
)

// maxForeign bounds Document.Foreign.
const maxForeign = 100

func newParser(b []byte, l Limits, d *Document) *parser {
	p := &parser{limits: l, doc: d}
	p.scanner.init(b)
	return p
}

// run reads the document and turns the panics of the scanner into errors.
func (p *parser) run() (err error) {
	defer func() {
		if x := recover(); x != nil {
			e, ok := x.(error)
			if _, runtime := x.(interface{ RuntimeError() }); !ok || runtime {
				panic(x)
			}
			err = e
		}
		// Invalid bytes follow the scanned text; libyaml finds them when it
		// reads that far.
		if p.bad != nil && p.pos+len(padding) > p.n {
			err = p.bad
		}
	}()
	p.document()
	return p.late
}

func (p *parser) document() {
	t := p.peek()
	switch t.kind {
	case tokStreamEnd:
		p.doc.Empty = true
		return
	case tokVersion, tokTagDirective, tokDocumentStart:
		p.directives()
		if t = p.peek(); t.kind != tokDocumentStart {
			p.failParse("did not find expected <document start>", t.mark)
		}
		p.skip()
		switch p.peek().kind {
		case tokVersion, tokTagDirective, tokDocumentStart, tokDocumentEnd, tokStreamEnd:
			return
		}
	}
	p.doc.Value, _ = p.node(true, false)
	p.peek()
}

// failParse is fail for the errors of libyaml's parser that have no context.
// Ruby reports them at the start of the text.
func (p *parser) failParse(problem string, at mark) {
	p.fail("", mark{}, problem, at)
}

func (p *parser) directives() {
	version := false
	for {
		t := p.peek()
		switch t.kind {
		case tokVersion:
			if version {
				p.failParse("found duplicate %YAML directive", t.mark)
			}
			if t.major != 1 || t.minor != 1 && t.minor != 2 {
				p.failParse("found incompatible YAML document", t.mark)
			}
			version = true
		case tokTagDirective:
			if _, ok := p.tags[t.handle]; ok {
				p.failParse("found duplicate %TAG directive", t.mark)
			}
			if p.tags == nil {
				p.tags = map[string]string{}
			}
			p.tags[t.handle] = t.text
		default:
			return
		}
		p.skip()
	}
}

func (p *parser) tagOf(t *token, start mark) string {
	if t.handle == "" {
		return t.text
	}
	if prefix, ok := p.tags[t.handle]; ok {
		return prefix + t.text
	}
	switch t.handle {
	case "!":
		return "!" + t.text
	case "!!":
		return "tag:yaml.org,2002:" + t.text
	}
	p.fail("while parsing a node", start, "found undefined tag handle", t.mark)
	return ""
}

const (
	portion  = 8 << 10 // nodes that Limits.Grow is asked for at once
	nodeSize = 64      // bytes of a node, on the average
)

// count counts one node.
func (p *parser) count() {
	if p.nodes%portion == 0 && p.limits.Grow != nil {
		if err := p.limits.Grow(portion * nodeSize); err != nil {
			panic(err)
		}
	}
	p.nodes++
	if p.nodes > p.limits.Nodes {
		panic(fmt.Errorf("line %d: more than %d values: %w", p.line+1, p.limits.Nodes, ErrLimit))
	}
}

// node reads one node and returns its value and its written form. In a block,
// collections may be in block style; if indentless, a sequence may be in the
// column of its key.
func (p *parser) node(block, indentless bool) (data.Value, nodeShape) {
	p.count()
	t := p.peek()
	start := t.mark
	var name, tag string
	properties := false
	switch t.kind {
	case tokAnchor, tokTag:
		properties = true
		name, tag = p.properties()
		t = p.peek()
	case tokAlias:
		v := p.alias(t.text, t.mark)
		p.skip()
		return v, shapeAlias
	}
	before := p.nodes + p.aliased
	var v data.Value
	shape := shapeScalar
	switch {
	case indentless && t.kind == tokBlockEntry:
		v, shape = p.sequence(tag, name, start, p.indentlessEntries), shapeSequence
	case t.kind == tokScalar:
		v = p.scalarNode(t, tag, start)
		if tag == "tag:yaml.org,2002:str" {
			shape = shapeStr
		}
		p.skip()
	case t.kind == tokFlowSequence:
		v, shape = p.sequence(tag, name, start, p.flowEntries), shapeSequence
	case t.kind == tokFlowMapping:
		v, shape = p.mapping(tag, name, start, p.flowPairs), shapeMapping
	case block && t.kind == tokBlockSequence:
		v, shape = p.sequence(tag, name, start, p.blockEntries), shapeSequence
	case block && t.kind == tokBlockMapping:
		v, shape = p.mapping(tag, name, start, p.blockPairs), shapeMapping
	case properties:
		empty := token{kind: tokScalar, mark: t.mark}
		v = p.scalarNode(&empty, tag, start)
		if tag == "tag:yaml.org,2002:str" {
			shape = shapeStr
		}
	case block:
		p.fail("while parsing a block node", start, "did not find expected node content", t.mark)
	default:
		p.fail("while parsing a flow node", start, "did not find expected node content", t.mark)
	}
	if name != "" {
		p.anchor(name, anchor{value: v, nodes: p.nodes + p.aliased - before + 1})
	}
	return v, shape
}

// properties reads an anchor and a tag, in any order, one of which is next.
func (p *parser) properties() (name, tag string) {
	var anchor, found token
	start := p.peek().mark
	for {
		t := p.peek()
		switch {
		case t.kind == tokAnchor && anchor.kind != tokAnchor:
			anchor = *t
		case t.kind == tokTag && found.kind != tokTag:
			found = *t
		default:
			if found.kind == tokTag {
				tag = p.tagOf(&found, start)
			}
			return anchor.text, tag
		}
		p.skip()
	}
}

func (p *parser) anchor(name string, a anchor) {
	if p.anchors == nil {
		p.anchors = map[string]anchor{}
	}
	p.anchors[name] = a
}

func (p *parser) alias(name string, at mark) data.Value {
	a, ok := p.anchors[name]
	if !ok || a.open {
		p.setLate(&AliasError{Name: name, Line: int(at.line) + 1, Column: int(at.column) + 1, self: a.open})
		return data.Value{}
	}
	p.aliased += a.nodes
	if p.aliased > p.limits.Aliases {
		panic(fmt.Errorf("line %d column %d: the aliases stand for more than %d values: %w",
			at.line+1, at.column+1, p.limits.Aliases, ErrLimit))
	}
	return a.value
}

func (p *parser) setLate(err error) {
	if p.late == nil {
		p.late = err
	}
}

func (p *parser) scalarNode(t *token, tag string, at mark) data.Value {
	if tag == "" && t.quoted {
		return data.OfString(t.text)
	}
	if tag == "!" {
		tag = ""
	}
	v, class, err := scalar(t.text, tag, false)
	if class != "" {
		p.load(class, at, class != classSymbol)
	}
	if err != nil {
		p.conversion(err, at)
	}
	return v
}

// conversion notes an error of the conversion of the node at a mark.
func (p *parser) conversion(err error, at mark) {
	var e *conversionError
	if !errors.As(err, &e) {
		err = fmt.Errorf("line %d column %d: %w", at.line+1, at.column+1, err)
	} else {
		e.line, e.column = int(at.line)+1, int(at.column)+1
	}
	p.setLate(err)
}

// load notes that Ruby must load class for what stands at m, and whether that
// is foreign: neither a symbol nor the root's own tag.
func (p *parser) load(class string, m mark, foreign bool) {
	if p.late != nil {
		return // Ruby would not come this far
	}
	foreign = foreign && len(p.doc.Foreign) < maxForeign
	first := len(p.doc.loads) < maxForeign && !slices.ContainsFunc(p.doc.loads, func(f Foreign) bool { return f.Class == class })
	if !foreign && !first {
		return
	}
	f := Foreign{Class: class, Line: int(m.line) + 1, Column: int(m.column) + 1, Path: p.path()}
	if first {
		p.doc.loads = append(p.doc.loads, f)
	}
	if foreign {
		p.doc.Foreign = append(p.doc.Foreign, f)
	}
}

// fill notes that the pairs of the mapping at m are put into an instance of a
// class.
func (p *parser) fill(class string, m mark) {
	if p.late == nil && len(p.doc.loads) < maxForeign {
		f := Foreign{Class: class, Line: int(m.line) + 1, Column: int(m.column) + 1, Path: p.path(), filled: true}
		p.doc.loads = append(p.doc.loads, f)
	}
}

// path returns where the node is that is being read.
func (p *parser) path() string {
	var b strings.Builder
	for i, f := range p.frames {
		end := len(p.stack)
		if i+1 < len(p.frames) {
			end = p.frames[i+1].base
		}
		n := end - f.base
		if !f.mapping {
			b.WriteString("[" + strconv.Itoa(n) + "]")
			continue
		}
		if n%2 == 1 { // a value, its key is last
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p.stack[end-1].Text())
		}
	}
	return b.String()
}

// open begins a collection and returns what close needs.
func (p *parser) open(mapping bool, name string) int {
	if p.depth >= p.limits.Depth {
		panic(fmt.Errorf("line %d column %d: collections are nested deeper than %d: %w",
			p.line+1, p.column()+1, p.limits.Depth, ErrLimit))
	}
	p.depth++
	if name != "" {
		p.anchor(name, anchor{open: true})
	}
	base := len(p.stack)
	p.frames = append(p.frames, frame{base: base, mapping: mapping})
	return base
}

// close ends a collection.
func (p *parser) close(base int) {
	p.depth--
	p.frames = p.frames[:len(p.frames)-1]
	p.stack = p.stack[:base]
}

func (p *parser) push(v data.Value) { p.stack = append(p.stack, v) }

// pushNode reads a node and pushes it.
func (p *parser) pushNode(block, indentless bool) nodeShape {
	v, shape := p.node(block, indentless)
	p.push(v)
	return shape
}

// pushEmpty pushes nil for a node that is not there.
func (p *parser) pushEmpty() nodeShape {
	p.count()
	p.push(data.Value{})
	return shapeScalar
}

func (p *parser) sequence(tag, name string, start mark, entries func()) data.Value {
	if tag != "" {
		for _, prefix := range [...]string{"!seq:", "!ruby/array:"} {
			if class, ok := strings.CutPrefix(tag, prefix); ok && class != "" {
				p.load(class, start, true)
			}
		}
	}
	base := p.open(false, name)
	entries()
	v := data.OfList(p.takeList(p.stack[base:]))
	p.close(base)
	if tag == "!omap" || tag == "tag:yaml.org,2002:omap" {
		return omap(v)
	}
	return v
}

// omap turns a list of mappings of one pair each into one hash.
func omap(v data.Value) data.Value {
	var h []data.Pair
	for _, x := range v.List() {
		if pairs := x.Hash(); len(pairs) > 0 {
			h = set(h, pairs[0].Key, pairs[len(pairs)-1].Value)
		}
	}
	return data.OfHash(h)
}

// takeList copies l to room that is taken from large pieces.
func (p *parser) takeList(l []data.Value) []data.Value {
	n := len(l)
	if n == 0 {
		return nil
	}
	if n > len(p.lists) {
		if n > 64 {
			return append(make([]data.Value, 0, n), l...)
		}
		p.lists = make([]data.Value, p.room())
	}
	got := p.lists[:n:n]
	p.lists = p.lists[n:]
	copy(got, l)
	return got
}

func (p *parser) takePairs(n int) []data.Pair {
	if n == 0 {
		return nil
	}
	if n > len(p.pairs) {
		if n > 64 {
			return make([]data.Pair, n)
		}
		p.pairs = make([]data.Pair, p.room())
	}
	got := p.pairs[:n:n]
	p.pairs = p.pairs[n:]
	return got
}

// room is the number of values or pairs to allocate at once: enough for the
// rest of a small text, a fixed piece of a large one.
func (p *parser) room() int { return max(64, min(512, (p.n-p.pos)/24)) }

func (p *parser) blockEntries() {
	start := p.peek().mark
	p.skip()
	for {
		t := p.peek()
		switch t.kind {
		case tokBlockEntry:
			p.skip()
			if k := p.peek().kind; k != tokBlockEntry && k != tokBlockEnd {
				p.pushNode(true, false)
			} else {
				p.pushEmpty()
			}
		case tokBlockEnd:
			p.skip()
			return
		default:
			p.fail("while parsing a block collection", start, "did not find expected '-' indicator", t.mark)
		}
	}
}

func (p *parser) indentlessEntries() {
	for p.peek().kind == tokBlockEntry {
		p.skip()
		switch p.peek().kind {
		case tokBlockEntry, tokKey, tokValue, tokBlockEnd:
			p.pushEmpty()
		default:
			p.pushNode(true, false)
		}
	}
}

func (p *parser) flowEntries() {
	start := p.peek().mark
	p.skip()
	for first := true; ; first = false {
		t := p.peek()
		if t.kind == tokFlowSequenceEnd {
			break
		}
		if !first {
			if t.kind != tokFlowEntry {
				p.fail("while parsing a flow sequence", start, "did not find expected ',' or ']'", t.mark)
			}
			p.skip()
			t = p.peek()
		}
		if t.kind == tokKey {
			p.push(p.mapping("", "", t.mark, p.singlePair))
		} else if t.kind != tokFlowSequenceEnd {
			p.pushNode(false, false)
		} else {
			break
		}
	}
	p.skip()
}

// singlePair reads a pair that stands in a flow sequence without braces.
func (p *parser) singlePair() {
	p.count()
	p.skip()
	var k nodeShape
	switch p.peek().kind {
	case tokValue, tokFlowEntry, tokFlowSequenceEnd:
		p.skip() // so does libyaml, which loses the value
		k = p.pushEmpty()
	default:
		k = p.pushNode(false, false)
	}
	v := shapeScalar
	if p.peek().kind == tokValue {
		p.skip()
		if t := p.peek().kind; t != tokFlowEntry && t != tokFlowSequenceEnd {
			v = p.pushNode(false, false)
			p.noteMerge(k, v)
			return
		}
	}
	p.pushEmpty()
	p.noteMerge(k, v)
}

func (p *parser) mapping(tag, name string, start mark, pairs func()) data.Value {
	if tag != "" {
		if class := mappingClass(tag); class != "" {
			p.load(class, start, p.depth > 0)
		}
	}
	if p.depth == 0 {
		if class, ok := objectClass(tag); ok {
			p.doc.Tag = class
		}
	}
	base, merges := p.open(true, name), len(p.merges)
	pairs()
	h := p.hash(p.stack[base:], base, p.merges[merges:])
	p.merges = p.merges[:merges]
	if len(h) > 0 && (strings.HasPrefix(tag, "!ruby/hash:") || strings.HasPrefix(tag, "!map:")) {
		p.fill(mappingClass(tag), start)
	}
	p.close(base)
	v := unwrap(tag, data.OfHash(h))
	if v.IsNil() && isStringTag(tag) && len(h) > 0 {
		p.conversion(&conversionError{what: "can't modify frozen NilClass: nil"}, start)
	}
	return v
}

// mappingClass returns the class that Ruby loads for a mapping with this tag.
func mappingClass(tag string) string {
	if class, ok := objectClass(tag); ok {
		switch class {
		case "Hash":
			return ""
		case "":
			return "Object"
		}
		return class
	}
	switch tag {
	case "!ruby/range":
		return "Range"
	case "!set", "tag:yaml.org,2002:set":
		return "Psych::Set"
	case "!omap", "tag:yaml.org,2002:omap":
		return "Psych::Omap"
	}
	for _, k := range [...]struct{ prefix, otherwise string }{
		{"!ruby/struct", "Struct"},
		{"!ruby/exception", "Exception"},
		{"!ruby/array:", ""},
		{"!ruby/hash-with-ivars:", ""},
		{"!map:", ""},
		{"!ruby/hash:", ""},
		{"!ruby/marshalable:", ""},
		{"!str:", ""},
		{"!ruby/string:", ""},
	} {
		if class, ok := strings.CutPrefix(tag, k.prefix); ok {
			if class = strings.TrimPrefix(class, ":"); class != "" {
				return class
			}
			return k.otherwise
		}
	}
	return ""
}

// unwrap returns the value of a mapping that only wraps a string, list or hash
// with instance variables.
func unwrap(tag string, v data.Value) data.Value {
	switch {
	case tag == "":
		return v
	case isStringTag(tag):
		return v.Get("str")
	case strings.HasPrefix(tag, "!ruby/array:"):
		return v.Get("internal")
	case strings.HasPrefix(tag, "!ruby/hash-with-ivars"):
		return v.Get("elements")
	}
	return v
}

func isStringTag(tag string) bool {
	return tag == "tag:yaml.org,2002:str" || tag == "!str" || strings.HasPrefix(tag, "!str:") || strings.HasPrefix(tag, "!ruby/string")
}

func (p *parser) blockPairs() {
	start := p.peek().mark
	p.skip()
	for {
		t := p.peek()
		switch t.kind {
		case tokKey:
			p.skip()
			k := p.blockNodeOrEmpty()
			v := shapeScalar
			if p.peek().kind == tokValue {
				p.skip()
				v = p.blockNodeOrEmpty()
			} else {
				p.pushEmpty()
			}
			p.noteMerge(k, v)
		case tokBlockEnd:
			p.skip()
			return
		default:
			p.fail("while parsing a block mapping", start, "did not find expected key", t.mark)
		}
	}
}

func (p *parser) blockNodeOrEmpty() nodeShape {
	switch p.peek().kind {
	case tokKey, tokValue, tokBlockEnd:
		return p.pushEmpty()
	}
	return p.pushNode(true, true)
}

func (p *parser) flowPairs() {
	start := p.peek().mark
	p.skip()
	for first := true; ; first = false {
		t := p.peek()
		if t.kind == tokFlowMappingEnd {
			break
		}
		if !first {
			if t.kind != tokFlowEntry {
				p.fail("while parsing a flow mapping", start, "did not find expected ',' or '}'", t.mark)
			}
			p.skip()
			t = p.peek()
		}
		if t.kind == tokFlowMappingEnd {
			break
		}
		if t.kind != tokKey {
			k := p.pushNode(false, false)
			p.pushEmpty()
			p.noteMerge(k, shapeScalar)
			continue
		}
		p.skip()
		k := p.flowNodeOrEmpty(tokValue)
		v := shapeScalar
		if p.peek().kind == tokValue {
			p.skip()
			v = p.flowNodeOrEmpty(tokFlowEntry)
		} else {
			p.pushEmpty()
		}
		p.noteMerge(k, v)
	}
	p.skip()
}

// flowNodeOrEmpty pushes a node of a flow mapping, or nil before end.
func (p *parser) flowNodeOrEmpty(end tokenKind) nodeShape {
	switch p.peek().kind {
	case end, tokFlowEntry, tokFlowMappingEnd:
		return p.pushEmpty()
	}
	return p.pushNode(false, false)
}

// noteMerge notes a pair whose key is <<, quoted or not, but not !!str.
func (p *parser) noteMerge(key, value nodeShape) {
	at := len(p.stack) - 2
	if k := p.stack[at]; key != shapeStr && k.Len() == 2 && k.Kind() == data.String && k.Str() == "<<" {
		p.merges = append(p.merges, merge{at: at, shape: value})
	}
}

// hash makes the pairs of a mapping out of its keys and values. The last of
// equal keys wins, at the position of the first.
func (p *parser) hash(kv []data.Value, base int, merges []merge) []data.Pair {
	n := len(kv) / 2
	if len(merges) > 0 || duplicates(kv) {
		return slowHash(kv, base, merges)
	}
	h := p.takePairs(n)
	for i := range h {
		h[i] = data.Pair{Key: kv[2*i], Value: kv[2*i+1]}
	}
	return h
}

// duplicates reports whether two of the keys in kv are equal.
func duplicates(kv []data.Value) bool {
	const few = 12
	if len(kv) > 2*few {
		return manyDuplicates(kv)
	}
	for i := 2; i < len(kv); i += 2 {
		for j := 0; j < i; j += 2 {
			if sameKey(kv[i], kv[j]) {
				return true
			}
		}
	}
	return false
}

func sameKey(a, b data.Value) bool {
	return a.Len() == b.Len() && data.Equal(a, b)
}

func manyDuplicates(kv []data.Value) bool {
	seen := make(map[string]struct{}, len(kv)/2)
	for i := 0; i < len(kv); i += 2 {
		s := keyText(kv[i])
		if _, ok := seen[s]; ok {
			return true
		}
		seen[s] = struct{}{}
	}
	return false
}

// slowHash builds a hash pair by pair, as Ruby does, with merge keys.
func slowHash(kv []data.Value, base int, merges []merge) []data.Pair {
	var b builder
	for i := 0; i < len(kv); i += 2 {
		key, value := kv[i], kv[i+1]
		if len(merges) == 0 || merges[0].at != base+i {
			b.set(key, value)
			continue
		}
		shape := merges[0].shape
		merges = merges[1:]
		switch {
		case (shape == shapeMapping || shape == shapeAlias) && value.Kind() == data.Hash:
			for _, p := range value.Hash() {
				b.set(p.Key, p.Value)
			}
		case shape == shapeSequence && allHashes(value.List()):
			var all builder
			l := value.List()
			for j := len(l) - 1; j >= 0; j-- {
				for _, p := range l[j].Hash() {
					all.set(p.Key, p.Value)
				}
			}
			for _, p := range all.pairs {
				b.set(p.Key, p.Value)
			}
		default:
			b.set(key, value)
		}
	}
	return b.pairs
}

func allHashes(l []data.Value) bool {
	for _, v := range l {
		if v.Kind() != data.Hash {
			return false
		}
	}
	return true
}

// set sets key in h as a Ruby hash does.
func set(h []data.Pair, key, value data.Value) []data.Pair {
	b := builder{pairs: h}
	for i, p := range h {
		b.index(p.Key, i)
	}
	b.set(key, value)
	return b.pairs
}

// A builder is a hash to which pairs are added one by one.
type builder struct {
	pairs []data.Pair
	at    map[string]int
}

func (b *builder) index(key data.Value, i int) {
	if b.at == nil {
		b.at = map[string]int{}
	}
	b.at[keyText(key)] = i
}

func (b *builder) set(key, value data.Value) {
	if i, ok := b.at[keyText(key)]; ok {
		b.pairs[i].Value = value
		return
	}
	b.index(key, len(b.pairs))
	b.pairs = append(b.pairs, data.Pair{Key: key, Value: value})
}

// keyText is the same for equal keys only.
func keyText(k data.Value) string {
	if k.Kind() == data.String {
		return k.Str()
	}
	return "\x00" + k.Kind().String() + k.Inspect()
}
