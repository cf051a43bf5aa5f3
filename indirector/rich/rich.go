// Package rich reads rich data: the values of catalogs that JSON has no
// notation for, written as hashes with the key __ptype.
//
//	{"__ptype": "Timespan", "__pvalue": "90.5"}
//
// Read checks them as Puppet does and returns them as Puppet would write them
// again. They stay encoded, so that a catalog holds nothing but data; the
// language finds here what its values are made of: [ParseTimespan],
// [ParseTimestamp], [ParseVersion], [ParseVersionRange], [ParseURI],
// [CheckRegexp]. [Text] is what stores get of them, which keep texts only.
package rich

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

const (
	typeKey  = "__ptype"
	valueKey = "__pvalue"

	// maxCopies bounds the values that references repeat: a few of them, nested,
	// could otherwise stand for more than any memory holds.
	maxCopies = 1 << 20
)

// Read returns the parameters of a resource with their rich data read and
// written again by Puppet's rules, and what Puppet may see differently, one
// sentence each. Without rich data it returns parameters as they are. An error
// is in Puppet's words. Rule: rich data, 4.1.
func Read(parameters data.Value) (data.Value, []string, error) {
	if !isRich(parameters) {
		return parameters, nil, nil
	}
	var c converter
	n, err := c.convert(parameters, nil, 0)
	if err != nil {
		return parameters, nil, err
	}
	return n.value, c.notes, nil
}

func isRich(v data.Value) bool {
	switch v.Kind() {
	case data.List:
		return slices.ContainsFunc(v.List(), isRich)
	case data.Hash:
		for _, p := range v.Hash() {
			if k, _ := p.Key.AsStr(); k == typeKey || isRich(p.Value) {
				return true
			}
		}
	}
	return false
}

// A node is a value that is being read. References find their target in what
// was read so far, as they do in Puppet: a later one is nil.
type node struct {
	value data.Value // once it is done
	done  bool
	isMap bool
	keys  []data.Value // of a hash
	items []*node      // of a list, or the values of a hash
}

type converter struct {
	root   *node
	notes  []string
	copies int
	opaque int // within Sensitive and objects, where the symbol undef is a text
}

func (c *converter) note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(c.notes, note) && len(c.notes) < 100 {
		c.notes = append(c.notes, note)
	}
}

// convert reads a value and makes it the item of parent at slot.
func (c *converter) convert(v data.Value, parent *node, slot int) (*node, error) {
	switch v.Kind() {
	case data.List:
		n := c.begin(&node{}, parent, slot)
		for i, x := range v.List() {
			if _, err := c.convert(x, n, i); err != nil {
				return nil, err
			}
		}
		return n.end(data.OfList(n.values())), nil
	case data.Hash:
		switch t := v.Get(typeKey); t.Kind() {
		case data.String:
			return c.typed(t.Str(), v, parent, slot)
		case data.Hash:
			return c.ofType(t, v, parent, slot)
		}
		n := c.begin(&node{isMap: true}, parent, slot)
		if err := c.fields(n, v); err != nil {
			return nil, err
		}
		return n.end(n.hash()), nil
	}
	return c.scalar(v, parent, slot), nil
}

// fields reads the pairs of a hash into the hash n.
func (c *converter) fields(n *node, v data.Value) error {
	for i, p := range v.Hash() {
		n.keys = append(n.keys, p.Key)
		if _, err := c.convert(p.Value, n, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *converter) scalar(v data.Value, parent *node, slot int) *node {
	n := &node{}
	n.attach(parent, slot)
	return n.end(v)
}

// begin makes a list or hash known before its contents are read.
func (c *converter) begin(n, parent *node, slot int) *node {
	n.attach(parent, slot)
	if c.root == nil {
		c.root = n
	}
	return n
}

func (n *node) attach(parent *node, slot int) {
	switch {
	case parent == nil:
	case slot < len(parent.items):
		parent.items[slot] = n
	default:
		parent.items = append(parent.items, n)
	}
}

func (n *node) end(v data.Value) *node {
	n.value, n.done = v, true
	return n
}

func (n *node) values() []data.Value {
	l := make([]data.Value, len(n.items))
	for i, x := range n.items {
		l[i] = x.value
	}
	return l
}

// hash returns the hash as it is written: as a list of keys and values if a key
// is no string.
func (n *node) hash() data.Value {
	h := make([]data.Pair, len(n.items))
	plain := true
	for i, x := range n.items {
		h[i] = data.Pair{Key: n.keys[i], Value: x.value}
		plain = plain && h[i].Key.Kind() == data.String && h[i].Key.Str() != typeKey
	}
	if plain {
		return data.OfHash(h)
	}
	l := make([]data.Value, 0, 2*len(h))
	for _, p := range h {
		l = append(l, p.Key, p.Value)
	}
	return encoded("Hash", data.OfList(l))
}

func encoded(name string, v data.Value) data.Value {
	return data.OfHash([]data.Pair{data.P(typeKey, data.OfString(name)), data.P(valueKey, v)})
}

func ofDefault() data.Value {
	return data.OfHash([]data.Pair{data.P(typeKey, data.OfString("Default"))})
}

func (c *converter) typed(name string, v data.Value, parent *node, slot int) (*node, error) {
	value, given := v.Lookup(valueKey)
	switch name {
	case "Hash":
		return c.pairs(value, parent, slot)
	case "Sensitive":
		c.opaque++
		inner, err := c.convert(value, parent, slot)
		c.opaque--
		if err != nil {
			return nil, err
		}
		return c.scalar(encoded(name, inner.value), parent, slot), nil
	case "Default":
		return c.scalar(ofDefault(), parent, slot), nil
	case "Symbol":
		return c.scalar(c.symbol(value.Text()), parent, slot), nil
	case "LocalRef":
		return c.reference(value, parent, slot)
	}
	if !given {
		value = v.Without(typeKey)
	}
	if class, ok := classes[name]; ok {
		return c.object(name, class, value, parent, slot)
	}
	if name == "Timestamp" && value.Kind() == data.Hash && value.Len() == 0 {
		c.note("real Puppet reads a Timestamp without a value as the present time")
		return c.scalar(v, parent, slot), nil
	}
	if s, ok := scalars[name]; ok {
		text, err := s.read(name, value)
		if err != nil {
			return nil, err
		}
		return c.scalar(encoded(name, data.OfString(text)), parent, slot), nil
	}
	if open, ok := strings.CutSuffix(name, "::"); ok && isTypeName(open) {
		return nil, errorf(openName, len(name))
	}
	if !isTypeName(name) {
		return nil, errorf(badType, name)
	}
	if name == "String" && value.Kind() == data.String {
		return c.scalar(value, parent, slot), nil
	}
	switch {
	case builtin(name):
		c.note("real Puppet converts this value by the type %s", name)
	case slices.Contains(described, name):
		c.note("real Puppet describes this %s anew", name)
	case strings.HasPrefix(name, "Pcore::"):
		return nil, errorf(noMapping, name)
	default:
		c.note("real Puppet refuses this unless a module defines it: "+noMapping, name)
	}
	return c.scalar(v, parent, slot), nil
}

// described are the types that Puppet writes by a description of themselves.
var described = []string{"Pcore::ObjectType", "Pcore::ObjectTypeExtenType", "Pcore::TypeSetType", "Pcore::URIType"}

func (c *converter) symbol(name string) data.Value {
	switch {
	case name == "default":
		return ofDefault()
	case name == "undef" && c.opaque == 0:
		return data.Value{}
	}
	return data.OfString(name)
}

// pairs reads a hash whose keys may be anything. A text is a list of letters to
// Ruby, and a number a list of bits.
func (c *converter) pairs(v data.Value, parent *node, slot int) (*node, error) {
	l, err := elements(v)
	if err != nil {
		return nil, err
	}
	n := c.begin(&node{isMap: true}, parent, slot)
	at := map[string]int{}
	for i := 0; i < len(l); i += 2 {
		key, err := c.convert(l[i], nil, 0)
		if err != nil {
			return nil, err
		}
		k := key.value
		if l[i].Get(typeKey).Str() == "Symbol" && k.Kind() == data.String {
			k = data.OfSymbol(k.Str())
		}
		id := string(data.AppendBinary(nil, k))
		at0, ok := at[id]
		if !ok {
			at0 = len(n.keys)
			at[id] = at0
			n.keys = append(n.keys, k)
		}
		var x data.Value
		if i+1 < len(l) {
			x = l[i+1]
		}
		if _, err := c.convert(x, n, at0); err != nil {
			return nil, err
		}
	}
	return n.end(n.hash()), nil
}

func elements(v data.Value) ([]data.Value, error) {
	switch v.Kind() {
	case data.List:
		return v.List(), nil
	case data.Hash: // which is asked for its keys 0, 1, …
		return make([]data.Value, v.Len()), nil
	case data.String:
		var l []data.Value
		for _, r := range v.Str() {
			l = append(l, data.OfString(string(r)))
		}
		return l, nil
	case data.Int:
		l := make([]data.Value, 8)
		for i := range l {
			l[i] = data.OfInt(v.Int() >> i & 1)
		}
		return l, nil
	}
	return nil, undefined("size", v)
}

// ofType reads a value whose type is itself encoded.
func (c *converter) ofType(t, v data.Value, parent *node, slot int) (*node, error) {
	n, err := c.convert(t, nil, 0)
	if err != nil {
		return nil, err
	}
	if n.value.Get(typeKey).Kind() != data.String {
		return nil, errorf(noType, n.value.Inspect())
	}
	c.note("real Puppet converts this value by the type %s", n.value.Get(typeKey).Str())
	return c.scalar(v, parent, slot), nil
}

// object reads an instance of a class. Puppet takes the attributes by their
// position, whatever they are called.
func (c *converter) object(name string, class class, value data.Value, parent *node, slot int) (*node, error) {
	n := c.begin(&node{isMap: true}, parent, slot)
	switch value.Kind() {
	case data.Hash:
		c.opaque++
		err := c.fields(n, value)
		c.opaque--
		if err != nil {
			return nil, err
		}
	case data.String:
		if class.noCreate != "" {
			return nil, errorf(noMethod, "create", class.noCreate+":Class")
		}
		n.keys, n.items = []data.Value{{}}, []*node{{value: value, done: true}}
	default:
		return nil, errorf(badScalar, name, rubyClass(value))
	}
	args := n.values()
	n.isMap = len(args) > 0
	if len(args) == 0 && class.noCreate != "" {
		return nil, errorf(noMethod, "create", class.noCreate+":Class")
	}
	if len(args) > 0 || !class.isType {
		if len(args) < class.min || len(args) > class.max {
			return nil, errorf(wrongArguments, len(args), class.arity())
		}
	}
	args, err := class.init(args)
	if err != nil {
		return nil, err
	}
	h := []data.Pair{data.P(typeKey, data.OfString(name))}
	for i, x := range args {
		h = append(h, data.P(class.attributes[i].name, x))
	}
	return n.end(data.OfHash(h)), nil
}

// reference returns the value that a path leads to.
func (c *converter) reference(path data.Value, parent *node, slot int) (*node, error) {
	if path.Kind() != data.String {
		return nil, undefined("getbyte", path)
	}
	target, err := c.follow(path.Str())
	if err != nil {
		return nil, err
	}
	if !target.done {
		return nil, errorf(endless)
	}
	if c.copies += size(target.value); c.copies > maxCopies {
		return nil, errorf(tooManyCopies, maxCopies)
	}
	n := *target
	n.attach(parent, slot)
	return &n, nil
}

func size(v data.Value) int {
	n := 1
	for _, x := range v.List() {
		n += size(x)
	}
	for _, p := range v.Hash() {
		n += size(p.Value)
	}
	return n
}

func rubyClass(v data.Value) string {
	if v.Kind() == data.Bool {
		return map[bool]string{true: "TrueClass", false: "FalseClass"}[v.Bool()]
	}
	return [...]string{
		data.Nil: "NilClass", data.Int: "Integer", data.Big: "Integer", data.Float: "Float",
		data.String: "String", data.Symbol: "Symbol", data.List: "Array", data.Hash: "Hash",
	}[v.Kind()]
}

// undefined returns Ruby's error for a method that a value lacks.
func undefined(method string, v data.Value) error {
	return errorf(noMethod, method, v.Inspect()+":"+rubyClass(v))
}

// isTypeName reports whether a text begins as the name of a type: what follows
// in brackets is not read.
func isTypeName(s string) bool {
	name, rest, bracketed := strings.Cut(s, "[")
	if bracketed && !strings.HasSuffix(rest, "]") {
		return false
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(name, "::"), "::") {
		if part == "" || part[0] < 'A' || part[0] > 'Z' {
			return false
		}
		for i := range len(part) {
			if c := part[i]; c != '_' && !isDigit(c) && !isLetter(c) {
				return false
			}
		}
	}
	return true
}

// builtin reports whether the language has a type of that name itself.
func builtin(name string) bool {
	name, _, _ = strings.Cut(name, "[")
	return slices.Contains(builtins, name)
}

var builtins = strings.Fields(`Any Array Boolean Callable CatalogEntry Class Collection Data Default Enum Float Hash Init Integer
	Iterable Iterator Object Numeric NotUndef Optional Pattern Resource RichData RichDataKey Runtime Scalar ScalarData String Struct
	Tuple Type TypeAlias TypeReference TypeSet Undef Unit Variant Timestamp File Notify Exec Package Service User Group`)

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
