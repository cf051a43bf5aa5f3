package model

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// A Resource is one thing that is managed. Rule FMT-CAT-02.
type Resource struct {
	Envelope
	Type, Title string // "File", "/etc/motd"; the type is capitalised
	Tags        []string
	File        string // "" is unset
	Line        int64  // 0 is unset
	Exported    bool
	Virtual     bool       // never written
	Kind        string     // class, defined_type, compilable_type, unknown; "" before format 2
	Parameters  data.Value // a hash; rich values are encoded (see FMT 4.1); nil if there are none
	Sensitive   []string   // names of parameters that are not to be shown
	Extra       []data.Pair
	odd         odd
	Exporter    string // the node that exports it, where it was collected; never written
	// Produced and Stored are when the catalog of the Exporter was made, and when the
	// store took it; zero if unknown. They are never written.
	Produced, Stored time.Time
	// Queued is when this process queued a catalog of the Exporter that the store did not
	// have yet; zero if it did not. It is never written.
	Queued   time.Time
	noString bool // the title is no string in Puppet: a number, or :main of the class without one
}

var _ indirector.Expirer = (*Resource)(nil)

// Key returns type and title as Puppet's resource indirection does: "File//etc/motd".
func (r *Resource) Key() string { return r.Type + "/" + r.Title }

// Ref returns the reference of r: "File[/etc/motd]".
func (r *Resource) Ref() string { return r.Type + "[" + r.Title + "]" }

// String returns the reference.
func (r *Resource) String() string { return r.Ref() }

func (r *Resource) WithExpiration(t time.Time) indirector.Instance { return expiring(*r, t) }

func resourceFromData(v data.Value) (*Resource, error) {
	r := new(Resource)
	var a arena
	return r, r.read(v, &a)
}

// An arena hands out slices from larger ones: a catalog has a thousand short
// ones.
type arena struct {
	free   []string
	values []data.Value
}

func (a *arena) strings(n int) []string {
	if n > len(a.free) {
		a.free = make([]string, max(n, 256))
	}
	s := a.free[:0:n]
	a.free = a.free[n:]
	return s
}

// list returns the list of the strings s.
func (a *arena) list(s []string) data.Value {
	n := len(s)
	if n > len(a.values) {
		a.values = make([]data.Value, max(n, 256))
	}
	l := a.values[:n:n]
	a.values = a.values[n:]
	for i := range s {
		l[i] = data.OfString(s[i])
	}
	return data.OfList(l)
}

func (r *Resource) read(v data.Value, a *arena) error {
	pairs, err := hashOf(v)
	if err != nil {
		return err
	}
	var typ, title, tags, sensitive data.Value
	exported := false
	for i := range pairs {
		p := &pairs[i]
		switch key(*p) {
		case "type":
			typ = p.Value
		case "title":
			title = p.Value
		case "tags":
			tags = p.Value
		case "file":
			r.File = r.odd.text("file", p.Value)
		case "line":
			r.Line = r.odd.number("line", p.Value)
		case "exported":
			exported = !p.Value.IsNil()
			r.Exported = r.odd.flag("exported", p.Value)
		case "virtual": // never written, so it means nothing. Rule FMT-CAT-02
		case "kind":
			r.Kind = r.odd.text("kind", p.Value)
		case "parameters":
			r.Parameters = p.Value
		case "sensitive_parameters":
			sensitive = p.Value
		default:
			r.Extra = append(r.Extra, *p)
		}
	}
	if !exported {
		r.odd = append(r.odd, data.P("exported", data.Value{}))
	}
	if err := r.name(typ, title); err != nil {
		return err
	}
	switch p := r.Parameters; {
	case p.Kind() == data.List:
		r.Parameters = namesOnly(p)
	case !p.Truthy():
		r.Parameters = data.Value{}
	case p.Kind() != data.Hash:
		return undefined("each", p)
	}
	if r.Sensitive, err = symbols(sensitive); err != nil {
		return err
	}
	r.Tags, err = readTags(tags, a)
	return err
}

// namesOnly returns parameters that were a list as Ruby reads them: names
// without values.
func namesOnly(v data.Value) data.Value {
	h := make([]data.Pair, v.Len())
	for i, x := range v.List() {
		h[i] = data.P(x.Text(), data.Value{})
	}
	return data.OfHash(h)
}

// listed reports whether Ruby can walk v as a list: a list, nothing, or the
// empty hash.
func listed(v data.Value) bool {
	return !v.Truthy() || v.Kind() == data.List || v.Kind() == data.Hash && v.Len() == 0
}

// symbols reads a list of names.
func symbols(v data.Value) ([]string, error) {
	if !listed(v) {
		return nil, undefined("map", v)
	}
	for _, x := range v.List() {
		if k := x.Kind(); k != data.String && k != data.Symbol {
			return nil, undefined("to_sym", x)
		}
	}
	return texts(v), nil
}

func (r *Resource) name(typ, title data.Value) error {
	if !typ.Truthy() {
		return errorf(noType)
	}
	if !title.Truthy() {
		return errorf(noTitle)
	}
	r.Type, r.Title = typeAndTitle(typ.Text(), title.Text())
	r.noString = title.Kind() != data.String && r.Type != "Class" || r.Type == "Class" && r.Title == "main"
	return nil
}

// typeAndTitle writes a reference the way Puppet compares it: types and the
// titles of classes have capitals.
func typeAndTitle(typ, title string) (string, string) {
	typ = capitalize(typ)
	if typ != "Class" {
		return typ, title
	}
	if title == "" {
		return typ, "main"
	}
	return typ, capitalize(title)
}

// splitRef splits "File[/etc/motd]".
func splitRef(ref string) (typ, title string, ok bool) {
	i := strings.IndexByte(ref, '[')
	if i <= 0 || len(ref) < i+3 || ref[len(ref)-1] != ']' || strings.IndexByte(ref[:i], ']') >= 0 {
		return "", "", false
	}
	return ref[:i], ref[i+1 : len(ref)-1], true
}

// capitalize gives every segment of a type name its capital. A name that
// begins with one is taken to have the others.
func capitalize(name string) string {
	if name == "" || strings.EqualFold(name, "component") {
		return "Class"
	}
	if name[0] >= 'A' && name[0] <= 'Z' {
		return name
	}
	for strings.HasSuffix(name, "::") { // as Ruby splits
		name = strings.TrimSuffix(name, "::")
	}
	segments := strings.Split(name, "::")
	for i, s := range segments {
		if s != "" {
			r, n := utf8.DecodeRuneInString(s)
			segments[i] = string(unicode.ToUpper(r)) + strings.ToLower(s[n:])
		}
	}
	return strings.Join(segments, "::")
}

// readTags reads a list of tags.
func readTags(v data.Value, a *arena) ([]string, error) {
	l := v.List()
	if v.Truthy() && v.Kind() != data.List && v.Kind() != data.Hash {
		l = []data.Value{v}
	}
	for _, p := range v.Hash() { // which Ruby flattens
		l = append(l, p.Key, p.Value)
	}
	if len(l) == 0 {
		return nil, nil
	}
	t := tagger{tags: a.strings(len(l))}
	err := t.addAll(l)
	return t.tags, err
}

// A tagger collects tags without repetition.
type tagger struct {
	tags []string
	seen map[string]bool // nil while there are few: a look at all is faster then
}

const fewTags = 32

func (t *tagger) has(tag string) bool {
	if t.seen != nil {
		return t.seen[tag]
	}
	return slices.Contains(t.tags, tag)
}

func (t *tagger) add(tag string) {
	if t.has(tag) {
		return
	}
	t.tags = append(t.tags, tag)
	if t.seen == nil && len(t.tags) < fewTags {
		return
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
		for _, x := range t.tags {
			t.seen[x] = true
		}
	}
	t.seen[tag] = true
}

func (t *tagger) addAll(l []data.Value) (err error) {
	for i := range l {
		switch l[i].Kind() {
		case data.Nil:
		case data.List:
			err = t.addAll(l[i].List())
		default:
			err = t.addText(l[i].Text())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addText adds a tag in lower case and the segments of a qualified one.
func (t *tagger) addText(tag string) error {
	tag = strings.ToLower(tag)
	if t.has(tag) {
		return nil
	}
	if !ValidTag(tag) {
		return errorf(badTag, tag)
	}
	t.add(tag)
	if strings.Contains(tag, "::") {
		for segment := range strings.SplitSeq(strings.TrimRight(tag, ":"), "::") {
			t.add(segment)
		}
	}
	return nil
}

// ValidTag reports whether Puppet takes a text as a tag.
func ValidTag(tag string) bool {
	for i, r := range tag {
		switch {
		case r < utf8.RuneSelf && tagBytes[r], r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) && r != utf8.RuneError:
		case i > 0 && (r == ':' || r == '.' || r == '-'), i > 0 && r == '\n' && i == len(tag)-1:
		default:
			return false
		}
	}
	return tag != ""
}

var tagBytes = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = isDigit(byte(c)) || isLetter(byte(c)) || c == '_'
	}
	return t
}()

// namevar returns the parameter that names a resource of the type: name for all
// types that Puppet does not know.
func namevar(typ string) string {
	switch typ {
	case "File", "Tidy":
		return "path"
	case "Exec":
		return "command"
	}
	return "name"
}

// Data returns the data hash. The parameter that only repeats the title is
// left out. Rule FMT-CAT-02.
func (r *Resource) Data() data.Value {
	a := arena{values: make([]data.Value, len(r.Tags)+len(r.Sensitive))}
	return data.OfHash(r.appendPairs(make([]data.Pair, 0, r.mostPairs()), &a))
}

// mostPairs returns how many pairs appendPairs appends at the most, but for odd ones.
func (r *Resource) mostPairs() int {
	n := 5 + len(r.Extra) // with exported and parameters
	for _, has := range [...]bool{r.File != "", r.Line != 0, r.Kind != "", len(r.Sensitive) > 0} {
		if has {
			n++
		}
	}
	return n
}

func (r *Resource) appendPairs(h []data.Pair, a *arena) []data.Pair {
	h = append(h, data.P("type", data.OfString(r.Type)), data.P("title", data.OfString(r.Title)), data.P("tags", a.list(r.Tags)))
	if v := r.odd.ofText("file", r.File); !v.IsNil() {
		h = append(h, data.P("file", v))
	}
	if v := r.odd.ofLine(r.Line); !v.IsNil() {
		h = append(h, data.P("line", v))
	}
	exported := r.odd.ofFlag("exported", r.Exported)
	if !exported.IsNil() {
		h = append(h, data.P("exported", exported))
	}
	if v := r.odd.ofText("kind", r.Kind); !v.IsNil() {
		h = append(h, data.P("kind", v))
	}
	if exported.IsNil() { // Puppet adds an unset one last
		h = append(h, data.P("exported", data.OfBool(false)))
	}
	if p := r.parameters(); p.Len() > 0 {
		h = append(h, data.P("parameters", p))
	}
	if len(r.Sensitive) > 0 {
		h = append(h, data.P("sensitive_parameters", a.list(r.Sensitive)))
	}
	return append(h, r.Extra...)
}

// parameters returns the parameters to write, under Puppet's names, and those
// of the title first.
func (r *Resource) parameters() data.Value {
	name := namevar(r.Type)
	title := r.titleValue()
	plain := title == r.Title && !r.noString
	for i, p := range r.Parameters.Hash() {
		switch k := key(p); {
		case k == name:
			plain = plain && (i == 0 || p.Value.Kind() == data.String && p.Value.Str() == r.Title)
		case k == "name", strings.ToLower(k) != k:
			plain = false
		}
	}
	if !plain {
		return r.renamed(name, title)
	}
	for _, p := range r.Parameters.Hash() {
		if key(p) == name && p.Value.Kind() == data.String && p.Value.Str() == r.Title {
			return r.Parameters.Without(name)
		}
	}
	return r.Parameters
}

// titleValue returns the naming parameter's value by the title: that of a file
// loses its last slashes.
func (r *Resource) titleValue() string {
	if r.Type != "File" || !strings.HasSuffix(r.Title, "/") {
		return r.Title
	}
	path := strings.TrimRight(r.Title, "/")
	if path == "" || strings.HasSuffix(path, ":") && len(path) > 1 {
		return path + "/"
	}
	return path
}

// renamed returns the parameters under Puppet's names. Rule FMT-CAT-02.
func (r *Resource) renamed(name, title string) data.Value {
	h := []data.Pair{data.P(name, data.OfString(title))}
	at := map[string]int{name: 0}
	for _, p := range r.Parameters.Hash() {
		k := strings.ToLower(key(p))
		if k == "name" {
			k = name
		}
		if i, ok := at[k]; ok {
			h[i].Value = p.Value
			continue
		}
		at[k] = len(h)
		h = append(h, data.P(k, p.Value))
	}
	if v := h[0].Value; v.Kind() == data.String && v.Str() == r.Title && !r.noString {
		h = h[1:]
	}
	return data.OfHash(h)
}

// UnsetExported marks a resource of which it was never determined whether it is exported,
// as Puppet's function create_resources leaves it.
func (r *Resource) UnsetExported() { r.odd = append(r.odd, data.P("exported", data.Value{})) }

// KeepName marks a resource whose title is no string in Puppet: the parameter that names
// it is written although it only repeats the title.
func (r *Resource) KeepName() { r.noString = true }
