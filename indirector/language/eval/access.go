package eval

import (
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// access compiles x[…]. Rules LANG-ACC-01 to LANG-ACC-05.
func (c *compiler) access(n *syntax.Access) code {
	if beginsWithType(n) {
		if v, err := types.Constant(n, nil); err == nil {
			return constant(v)
		}
	}
	s, path, quiet := c.site(n), "", c.quiet
	if !quiet {
		path = c.pathOf(n)
	}
	c.quiet = quiet || path != ""
	left := c.node(n.Left)
	c.quiet = quiet
	keys := c.parts(n.Keys)
	for i, k := range n.Keys {
		keys[i].unfold = false // Puppet makes a list of it, which is flattened
		if name, ok := k.(*syntax.TypeName); ok && isClassName(n.Left) {
			keys[i].code = c.className(name)
		}
	}
	return func(f *frame) (data.Value, error) {
		v, err := left(f)
		if err != nil {
			return v, err
		}
		args, err := appendParts(f, make([]data.Value, 0, len(keys)), keys)
		if err != nil {
			return v, err
		}
		if v, err = s.index(f, n, v, args); err != nil {
			return v, s.fail(f, err)
		}
		if path != "" {
			s.read(f, path, false)
		}
		return v, nil
	}
}

func beginsWithType(n syntax.Node) bool {
	for {
		a, ok := n.(*syntax.Access)
		if !ok {
			break
		}
		n = a.Left
	}
	_, ok := n.(*syntax.TypeName)
	return ok
}

func isClassName(n syntax.Node) bool {
	name, ok := n.(*syntax.TypeName)
	return ok && typeKey(name.Value) == "class"
}

// className compiles a name within Class[…], which need not be known.
func (c *compiler) className(n *syntax.TypeName) code {
	return func(f *frame) (data.Value, error) {
		if t, err := f.thread.named(typeKey(n.Value)); err == nil && t != nil {
			return types.OfType(t), nil
		}
		v, err := types.Constant(n, types.Unresolved)
		if err != nil {
			return data.OfString(n.Value), nil
		}
		return v, nil
	}
}

func (s site) index(f *frame, n *syntax.Access, v data.Value, keys []data.Value) (data.Value, error) {
	switch v.Kind() {
	case data.Hash:
		return indexHash(v, keys), nil
	case data.List:
		return s.indexList(f, n, v.List(), Flatten(keys))
	case data.String:
		return indexString(n, v.Str(), Flatten(keys))
	}
	if t, ok := types.AsType(v); ok {
		if x, known, err := s.attribute(f, n, t, keys); known {
			return x, err
		}
		return parametrized(n, t, keys)
	}
	if kindOf(v) == isBinary {
		return indexBinary(n, v, Flatten(keys))
	}
	return v, issueAt(n.Left, "Operator '[]' is not applicable to %s.", withArticle(Label(v)))
}

// Flatten returns the elements of lists within lists.
func Flatten(l []data.Value) []data.Value {
	deep := false
	for _, v := range l {
		deep = deep || v.Kind() == data.List
	}
	if !deep {
		return l
	}
	var out []data.Value
	for _, v := range l {
		if v.Kind() == data.List {
			out = append(out, Flatten(v.List())...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// indexHash returns the value of a key, or the values of several that are there.
func indexHash(h data.Value, keys []data.Value) data.Value {
	if len(keys) == 1 {
		v, _ := Lookup(h, keys[0])
		return v
	}
	found := make([]data.Value, 0, len(keys))
	for _, k := range keys {
		if v, _ := Lookup(h, k); !v.IsNil() {
			found = append(found, v)
		}
	}
	return data.OfList(found)
}

// span returns the part of a sequence of so many elements that begins at from; a
// negative length is counted from the end. It is empty if it lies outside.
func span(size, from, length int64) (begin, end int64) {
	if from < 0 {
		from += size
	}
	if length < 0 {
		length += size - from + 1
	}
	if from < 0 {
		length += from
		from = 0
	}
	if length <= 0 || from >= size {
		return 0, 0
	}
	return from, min(size, from+min(length, size))
}

// one is span of a single element.
func one(size, at int64) (begin, end int64) {
	if at < 0 {
		at += size
	}
	if at < 0 || at >= size {
		return 0, 0
	}
	return at, at + 1
}

func (s site) indexList(f *frame, n *syntax.Access, l, keys []data.Value) (data.Value, error) {
	if len(keys) < 1 || len(keys) > 2 {
		return data.Value{}, issueAt(n.Left, "Array supports [] with one or two arguments. Got %d", len(keys))
	}
	var at [2]int64
	var numbers [2]data.Value
	for i, k := range keys {
		number, err := s.numeric(f, k, keyNode(n, i))
		if err != nil {
			return k, err
		}
		numbers[i] = number
	}
	for i, number := range numbers[:len(keys)] { // once all are numbers
		if number.Kind() != data.Int {
			return number, issueAt(keyNode(n, i), "An Array[] cannot use %s where Integer is expected", types.Generalized(number))
		}
		at[i] = number.Int()
	}
	if len(keys) == 2 {
		begin, end := span(int64(len(l)), at[0], at[1])
		return data.OfList(l[begin:end:end]), nil
	}
	begin, end := one(int64(len(l)), at[0])
	if begin == end {
		return data.Value{}, nil
	}
	return l[begin], nil
}

// keyNode returns the node of a key; what was flattened has that of the last one.
func keyNode(n *syntax.Access, i int) syntax.Node { return n.Keys[min(i, len(n.Keys)-1)] }

// stringKeys are the keys of a string or binary value, which may be numbers in strings.
func stringKeys(n *syntax.Access, keys []data.Value) (at [2]int64, err error) {
	if len(keys) < 1 || len(keys) > 2 {
		return at, issueAt(n.Left, "String supports [] with one or two arguments. Got %d", len(keys))
	}
	for i, k := range keys {
		if number, ok := ToNumber(k.Str()); ok && k.Kind() == data.String {
			k = number
		}
		if k.Kind() != data.Int {
			return at, issueAt(keyNode(n, i), "A substring operation does not accept %s as a character index. Expected an Integer", withArticle(types.Generalized(k).String()))
		}
		at[i] = k.Int()
	}
	return at, nil
}

func indexString(n *syntax.Access, s string, keys []data.Value) (data.Value, error) {
	at, err := stringKeys(n, keys)
	if err != nil {
		return data.Value{}, err
	}
	size := int64(utf8.RuneCountInString(s))
	begin, end := one(size, at[0])
	if len(keys) == 2 {
		begin, end = span(size, at[0], at[1])
	}
	if size == int64(len(s)) {
		return data.OfString(s[begin:end]), nil
	}
	return data.OfString(string([]rune(s)[begin:end])), nil
}

func indexBinary(n *syntax.Access, v data.Value, keys []data.Value) (data.Value, error) {
	at, err := stringKeys(n, keys)
	if err != nil {
		return data.Value{}, err
	}
	bytes := Bytes(v)
	begin, end := one(int64(len(bytes)), at[0])
	if len(keys) == 2 {
		begin, end = span(int64(len(bytes)), at[0], at[1])
	}
	return BinaryOf(string(bytes[begin:end]))
}

// blame is where Puppet sees an error of parameters of a type, by the words of the error.
var blame = []struct {
	words string
	at    func(n *syntax.Access) syntax.Node
}{
	{"'from' must be", nil}, // which is none of its own
	{"Unable to parse", nil},
	{"bad URI", nil},
	{"Illegal Struct member", nil},
	{"Resource not found", func(n *syntax.Access) syntax.Node { return n.Left }},
	{"Operator '[]'", func(n *syntax.Access) syntax.Node { return n.Left }},
	{"Resource type not found", func(n *syntax.Access) syntax.Node { return n.Left }},
	{"Error creating type", keyOf},
	{"A Type's size", keyOf},
	{"First argument to", keyOf},
	{"Illegal ", keyOf},
	{" must be types", keyOf},
	{" must be a Type", keyOf},
	{" requires all arguments", keyOf},
	{"Regexp-Type[] accepts", func(n *syntax.Access) syntax.Node { return n.Keys[1] }},
	{"supports []", func(n *syntax.Access) syntax.Node { return n }},
	{"[] accepts", func(n *syntax.Access) syntax.Node { return n }},
}

func keyOf(n *syntax.Access) syntax.Node { return n.Keys[0] }

// parametrized returns a type with parameters. Rule LANG-TYPE-24.
func parametrized(n *syntax.Access, t types.Type, keys []data.Value) (data.Value, error) {
	if len(keys) == 1 && t.Equal(richTypes()["Resource"]) {
		if inner, ok := types.AsType(keys[0]); ok && types.Assignable(t, inner) {
			return keys[0], nil
		}
	}
	v, err := types.Parametrize(t, keys)
	if err == nil {
		return v, nil
	}
	for _, b := range blame {
		if !strings.Contains(err.Error(), b.words) {
			continue
		}
		if b.at == nil {
			return v, err
		}
		at := b.at(n)
		if at == n.Keys[0] {
			i := blamedKey(err.Error(), Flatten(keys))
			if t.Equal(richTypes()["Resource"]) && strings.HasSuffix(b.words, "creating type") {
				i = max(i-1, 0) // Puppet has taken the first from the keys
			}
			at = keyNode(n, i)
		}
		return v, &issue{err.Error(), at}
	}
	return v, err
}

// blamedKey returns which key an error is about: the first whose type or class it names.
func blamedKey(text string, keys []data.Value) int {
	for i, k := range keys {
		if strings.Contains(text, "Cannot use "+types.Generalized(k).String()+" where") || strings.HasSuffix(text, " Got "+ClassName(k)) {
			return i
		}
	}
	return 0
}
