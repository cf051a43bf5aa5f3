package types

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"indirtui/indirector/data"
)

// formatText is Puppet's expression for a format, which messages show.
const formatText = `^%([\s\[+#0{<(|-]*)([1-9][0-9]*)?(?:\.([0-9]+))?([a-zA-Z])$`

var formatPattern = regexp.MustCompile(formatText)

// A format is how a value becomes a text. Rule LANG-NEW-10.
type format struct {
	text       string
	flags      string
	width      int // -1 if it is not given
	precision  int // -1 if it is not given
	letter     byte
	separators [2]*string // between elements, and between key and value; nil is the usual one
	elements   formats    // of the scalars in a collection; nil is the usual one
}

// formats are the formats of types, the most specific first.
type formats []formatOf

type formatOf struct {
	t Type
	f format
}

func parseFormat(s string) (format, error) {
	groups := formatPattern.FindStringSubmatch(s)
	if groups == nil {
		return format{}, errorf("The format '%s' is not a valid format on the form '%%<flags><width>.<prec><format>'", s)
	}
	f := format{text: s, flags: groups[1], width: -1, precision: -1, letter: groups[4][0]}
	for i, flag := range f.flags {
		if strings.ContainsRune(f.flags[:i], flag) {
			return f, errorf("The same flag can only be used once, got '%s'", s)
		}
	}
	if strings.Count(f.flags, "[")+strings.Count(f.flags, "{")+strings.Count(f.flags, "(")+strings.Count(f.flags, "<")+strings.Count(f.flags, "|") > 1 {
		return f, errorf("Only one of the delimiters [ { ( < | can be given in the format flags, got '%s'", s)
	}
	if groups[2] != "" {
		f.width, _ = strconv.Atoi(groups[2])
	}
	if groups[3] != "" {
		f.precision, _ = strconv.Atoi(groups[3])
	}
	// What pads more than this is an attack, not a table.
	if f.width > maxElements || f.precision > maxElements {
		return f, errorf("The format '%s' is wider than %d", s, maxElements)
	}
	return f, nil
}

func (f format) has(flag string) bool { return strings.Contains(f.flags, flag) }

// alt reports whether the alternative form is asked for.
func (f format) alt() bool { return f.has("#") }

// delimiters returns what stands around a collection.
func (f format) delimiters(usual string) (first, last string) {
	for _, pair := range []string{"[]", "{}", "()", "<>", "||"} {
		if f.has(pair[:1]) {
			return pair[:1], pair[1:]
		}
	}
	if f.has(" ") {
		return "", ""
	}
	return usual[:1], usual[1:]
}

// separator returns one of the separators.
func (f format) separator(i int, usual string) string {
	if s := f.separators[i]; s != nil {
		return *s
	}
	return usual
}

func mustFormat(s string) format {
	f, err := parseFormat(s)
	if err != nil {
		panic("types: " + err.Error())
	}
	return f
}

// usualElements are the formats of scalars within collections.
var usualElements = formats{{anyType, mustFormat("%p")}}

// usual returns the formats that hold where none is given.
var usual = sync.OnceValue(func() formats {
	return formats{
		{objectType, mustFormat("%p")},
		{standard()["float"], mustFormat("%f")},
		{numericType, mustFormat("%d")},
		{newArray(nil, nil), collections("%a")},
		{newHash(nil, nil, nil), collections("%h")},
		{binaryType, mustFormat("%B")},
		{anyType, mustFormat("%s")},
	}
})

// collections returns a format of collections that leaves their elements as they are.
func collections(s string) format {
	f := mustFormat(s)
	f.elements = usualElements
	return f
}

// find returns the format of a type; that of an object is found by its type alone.
func (fs formats) find(t Type) format {
	if x, ok := t.(extendedType); ok {
		t = x.base
	}
	for _, x := range fs {
		if assignable(x.t, t) {
			return x.f
		}
	}
	return mustFormat("%s")
}

// over returns the formats fs, with those of a lower list for what they leave open: a
// lower format goes where fs has one for more types, and fills in where it has one for the
// same.
func (fs formats) over(lower formats) formats {
	switch {
	case lower == nil:
		return fs
	case fs == nil:
		return lower
	}
	var out formats
	own := slices.Clone(fs)
	for _, x := range lower {
		if slices.ContainsFunc(fs, func(o formatOf) bool { return !equal(o.t, x.t) && assignable(o.t, x.t) }) {
			continue
		}
		if same := slices.IndexFunc(own, func(o formatOf) bool { return equal(o.t, x.t) }); same >= 0 {
			x.f = own[same].f.over(x.f)
			own = slices.Delete(own, same, same+1)
		}
		out = append(out, x)
	}
	out = append(out, own...)
	slices.SortStableFunc(out, func(a, b formatOf) int { return compareSpecific(a.t, b.t) })
	return out
}

// over fills in what a format leaves open.
func (f format) over(lower format) format {
	for i, s := range lower.separators {
		if f.separators[i] == nil {
			f.separators[i] = s
		}
	}
	f.elements = f.elements.over(lower.elements)
	return f
}

// compareSpecific orders types so that the one that accepts less comes first. Rule
// LANG-NEW-11.
func compareSpecific(a, b Type) int {
	if equal(a, b) {
		return 0
	}
	switch ab, ba := assignable(b, a), assignable(a, b); {
	case ab && !ba:
		return -1
	case ba && !ab:
		return 1
	}
	if x, y := rank(a), rank(b); x > 0 && y > 0 {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a.String(), b.String())
}

func rank(t Type) int {
	return map[string]int{"Struct": 1, "Hash": 2, "Tuple": 3, "Array": 4, "Pattern": 10, "Enum": 11, "String": 12}[simpleName(t)]
}

// readFormats reads a hash of types and formats.
func readFormats(v data.Value) (formats, error) {
	out := formats{}
	for _, p := range v.Hash() {
		t, ok := AsType(p.Key)
		if !ok {
			return nil, errorf("top level keys in the format hash must be data types, got instance of '%s'", rubyClass(p.Key))
		}
		f, err := readFormat(p.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, formatOf{t, f})
	}
	return out, nil
}

func readFormat(v data.Value) (format, error) {
	if v.Kind() != data.Hash {
		return parseFormat(v.Str())
	}
	f, err := parseFormat(v.Get("format").Str())
	if err != nil {
		return f, err
	}
	for i, key := range []string{"separator", "separator2"} {
		if s, ok := v.Lookup(key); ok {
			text := s.Str()
			f.separators[i] = &text
		}
	}
	if x, ok := v.Lookup("string_formats"); ok {
		f.elements, err = readFormats(x)
	}
	return f, err
}

func stringConstructor() *constructor {
	return &constructor{
		name: "new_string",
		aliases: "Format = Pattern[/" + formatText + "/]\n" +
			"ContainerFormat = Struct[{Optional[format] => Format, Optional[separator] => String, Optional[separator2] => String, Optional[string_formats] => Hash[Type, Format]}]\n" +
			"TypeMap = Hash[Type, Variant[Format, ContainerFormat]]\n" +
			"Convertible = Any\n" +
			"Formats = Variant[Default, String[1], TypeMap]",
		ways: []way{{params: "Convertible from; Formats string_formats?", make: func(args []data.Value) (data.Value, error) {
			return toString(args[0], argument(args, 1))
		}}},
	}
}

// toString formats a value. A text as format is that of the value's own type.
func toString(v, given data.Value) (data.Value, error) {
	t := Infer(v)
	fs := usual()
	var own formats
	var err error
	switch given.Kind() {
	case data.Hash:
		own, err = readFormats(given)
	case data.String:
		var f format
		f, err = parseFormat(given.Str())
		switch {
		case assignable(newArray(nil, nil), t):
			t = newArray(nil, nil)
		case assignable(newHash(nil, nil, nil), t):
			t = newHash(nil, nil, nil)
		}
		own = formats{{t, f}}
	}
	if err != nil {
		return data.Value{}, err
	}
	p, err := pieceOf(v, own.over(fs))
	if err != nil {
		return data.Value{}, err
	}
	var w page
	w.write(p, 0, false, false)
	return data.OfString(string(w.b)), nil
}
