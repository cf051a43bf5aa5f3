package model

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/origins"
)

// A Catalog is the desired state of a node. Rules FMT-CAT-01 to FMT-CAT-07.
type Catalog struct {
	Envelope
	Name              string
	Tags              []string
	Version           data.Value // text of config_version, or Unix seconds
	CodeID            string
	CatalogUUID       string
	Format            int64 // catalog_format
	Environment       string
	Resources         []Resource
	Edges             []Edge // of containment
	Classes           []string
	Metadata          []NamedMetadata // of files, by title
	RecursiveMetadata data.Value      // title to source to list of metadata; nil if there is none
	Extra             []data.Pair
	Origins           *origins.Table // where everything in it is from, never written; nil if that is not known
	// Types are those that modules bring, by their names in the resources: "Vcsrepo".
	// They are never written; a type that is not there is built in, or not known.
	Types map[string]ResourceType
	odd   odd
	made  *made // see Share
}

// made is the data of a catalog, made once.
type made struct {
	of   *Catalog
	once sync.Once
	data data.Value
}

// Share lets all calls of Data return one value, which takes longer to make than to write:
// the answer to a node and the recording both have it. The catalog must not change from
// then on. A copy of it makes its own.
func (c *Catalog) Share() { c.made = &made{of: c} }

// A ResourceType is what names resources of a type.
type ResourceType struct {
	Keys []string // the attributes that name a resource; none is "name"
	Many bool     // equal names may be different resources: not isomorphic
}

// An Edge is the containment of the target in the source. Rule FMT-CAT-04.
type Edge struct {
	Source, Target  string // references: "Class[Web]"
	Event, Callback string // "" is unset
	Extra           []data.Pair
}

// NamedMetadata is the metadata of the file resource with that title, for
// static catalogs. Rule FMT-CAT-06.
type NamedMetadata struct {
	Title    string
	Metadata *FileMetadata
}

var _ indirector.Expirer = (*Catalog)(nil)

func (c *Catalog) Key() string { return c.Name }

func (c *Catalog) WithExpiration(t time.Time) indirector.Instance {
	out := expiring(*c, t)
	if c.made != nil {
		out.(*Catalog).Share()
	}
	return out
}

// Resource returns the resource of a reference, or nil. It looks at all of
// them.
func (c *Catalog) Resource(ref string) *Resource {
	typ, title, ok := splitRef(ref)
	if !ok {
		return nil
	}
	typ, title = typeAndTitle(typ, title)
	for i := range c.Resources {
		if r := &c.Resources[i]; r.Title == title && r.Type == typ {
			return r
		}
	}
	return nil
}

func catalogFromData(v data.Value) (*Catalog, error) {
	pairs, err := hashOf(v)
	if err != nil {
		return nil, err
	}
	c := &Catalog{Environment: "none"} // what Puppet calls the lack of one
	var tags, environment, resources, edges, classes, metadata data.Value
	for i := range pairs {
		p := &pairs[i]
		switch key(*p) {
		case "tags":
			tags = p.Value
		case "name":
			c.Name = c.odd.text("name", p.Value)
		case "version":
			if p.Value.Truthy() {
				c.Version = p.Value
			}
		case "code_id":
			if p.Value.Truthy() {
				c.CodeID = c.odd.text("code_id", p.Value)
			}
		case "catalog_uuid":
			if p.Value.Truthy() {
				c.CatalogUUID = c.odd.text("catalog_uuid", p.Value)
			}
		case "catalog_format":
			if p.Value.Truthy() {
				c.Format = c.odd.number("catalog_format", p.Value)
			}
		case "environment":
			environment = p.Value
		case "resources":
			resources = p.Value
		case "edges":
			edges = p.Value
		case "classes":
			classes = p.Value
		case "metadata":
			metadata = p.Value
		case "recursive_metadata":
			c.RecursiveMetadata = p.Value
		default:
			c.Extra = append(c.Extra, *p)
		}
	}
	var a arena
	if c.Tags, err = readTags(tags, &a); err != nil {
		return nil, err
	}
	if k := environment.Kind(); k == data.String || k == data.Symbol {
		c.Environment = environment.Str()
	} else if environment.Truthy() {
		return nil, undefined("to_sym", environment)
	}
	// Puppet reads in this order, which decides the error that is reported.
	index, err := c.readResources(resources, &a)
	if err != nil {
		return nil, err
	}
	if err := c.readEdges(edges, index); err != nil {
		return nil, err
	}
	if err := c.readClasses(classes); err != nil {
		return nil, err
	}
	return c, c.readMetadata(metadata)
}

// readClasses also tags the catalog with them.
func (c *Catalog) readClasses(v data.Value) (err error) {
	if !v.Truthy() {
		return nil
	}
	switch v.Kind() {
	case data.List:
	case data.Hash: // Ruby walks its pairs
		var pairs []data.Value
		for _, p := range v.Hash() {
			pairs = append(pairs, data.OfList([]data.Value{p.Key, p.Value}))
		}
		v = data.OfList(pairs)
	default:
		v = data.OfList([]data.Value{v})
	}
	c.Classes = c.odd.list("classes", v)
	tags := tagger{tags: c.Tags}
	err = tags.addAll(v.List())
	c.Tags = tags.tags
	return err
}

func (c *Catalog) readMetadata(v data.Value) error {
	if !v.Truthy() {
		return nil
	}
	if v.Kind() != data.Hash {
		return undefined("inject", v)
	}
	pairs := v.Hash()
	c.Metadata = make([]NamedMetadata, len(pairs))
	for i, p := range pairs {
		m, err := metadataFromData(p.Value)
		if err != nil {
			return err
		}
		c.Metadata[i] = NamedMetadata{p.Key.Text(), m}
	}
	return nil
}

// A refIndex finds resources by type and title. It is an open hash table of
// positions; a map of strings took three times as long.
type refIndex struct {
	resources []Resource
	slots     []int32 // position plus one
	seed      maphash.Seed
}

func newRefIndex(resources []Resource) *refIndex {
	n := 16
	for n < 2*len(resources) {
		n *= 2
	}
	return &refIndex{resources, make([]int32, n), maphash.MakeSeed()}
}

// slot returns the slot of a reference: its own, or the free one it would get.
func (x *refIndex) slot(typ, title string) *int32 {
	last := uint64(len(x.slots) - 1)
	for i := (maphash.String(x.seed, title) + maphash.String(x.seed, typ)) & last; ; i = (i + 1) & last {
		s := &x.slots[i]
		if *s == 0 {
			return s
		}
		if r := &x.resources[*s-1]; r.Title == title && r.Type == typ {
			return s
		}
	}
}

func (c *Catalog) readResources(v data.Value, a *arena) (*refIndex, error) {
	l := v.List()
	if !listed(v) {
		return nil, undefined("collect", v)
	}
	c.Resources = make([]Resource, len(l))
	for i := range l {
		if err := c.Resources[i].read(l[i], a); err != nil {
			return nil, err
		}
	}
	index := newRefIndex(c.Resources)
	aliases := map[[2]string]*Resource{}
	for i := range c.Resources {
		r := &c.Resources[i]
		s, first := index.slot(r.Type, r.Title), aliases[[2]string{r.Type, r.Title}]
		if *s != 0 {
			first = &c.Resources[*s-1]
		}
		if first != nil {
			return nil, duplicate(first, r)
		}
		*s = int32(i + 1)
		for _, alias := range aliasesIn(r.Parameters.Get("alias")) {
			switch first := index.known(r.Type, alias, aliases); {
			case first == nil:
				aliases[[2]string{r.Type, alias}] = r
			case first != r:
				taken := data.OfStrings([]string{r.Type, alias}).Inspect()
				return nil, errorf(aliasTaken, r.Ref(), data.InspectString(alias), declaredAt(r), taken, location(first))
			}
		}
	}
	return index, nil
}

// known is the resource that has a title, or an alias like it; nil if there is none.
func (x *refIndex) known(typ, title string, aliases map[[2]string]*Resource) *Resource {
	if s := *x.slot(typ, title); s != 0 {
		return &x.resources[s-1]
	}
	return aliases[[2]string{typ, title}]
}

// aliasesIn are the texts in a value and its lists.
func aliasesIn(v data.Value) []string {
	var all []string
	switch v.Kind() {
	case data.String:
		all = append(all, v.Str())
	case data.List:
		for _, x := range v.List() {
			all = append(all, aliasesIn(x)...)
		}
	}
	return all
}

// duplicate returns Puppet's error for a second resource of one reference. Rule
// FMT-CAT-05.
func duplicate(first, second *Resource) error {
	return errorf(declaredTwice, first.Ref(), declaredAt(first), location(second))
}

// declaredAt is location after " at"; "" if it is unknown.
func declaredAt(r *Resource) string {
	if where := location(r); where != "" {
		return " at" + where
	}
	return ""
}

// location returns the declaration's position, after a space; "" if unknown.
func location(r *Resource) string {
	switch {
	case r.File != "" && r.Line != 0:
		return fmt.Sprintf(" (file: %s, line: %d)", r.File, r.Line)
	case r.File != "":
		return fmt.Sprintf(" (file: %s)", r.File)
	case r.Line != 0:
		return fmt.Sprintf(" (line: %d)", r.Line)
	}
	return ""
}

// readEdges reads the edges and puts them in Puppet's order: by target in the
// order of resources, then as read.
func (c *Catalog) readEdges(v data.Value, index *refIndex) error {
	l := v.List()
	if !listed(v) {
		return undefined("each", v)
	}
	if len(l) == 0 {
		return nil
	}
	c.Edges = make([]Edge, len(l))
	ends := make([]int32, 2*len(l)) // positions of source and target
	sorted := true
	for i := range l {
		e := &c.Edges[i]
		source, target, err := e.read(l[i])
		if err != nil {
			return err
		}
		s, err := index.find(source)
		if err != nil {
			return err
		}
		if s < 0 {
			return errorf(noSource, source.Inspect(), target.Text())
		}
		t, err := index.find(target)
		if err != nil {
			return err
		}
		if t < 0 {
			return errorf(noTarget, target.Inspect(), c.Resources[s].Ref())
		}
		e.Source, e.Target = c.ref(s, source), c.ref(t, target)
		ends[2*i], ends[2*i+1] = s, t
		sorted = sorted && (i == 0 || ends[2*i-1] < t)
	}
	if !sorted {
		c.sortEdges(ends)
	}
	return nil
}

// ref returns the reference of a resource, as read if that is the same.
func (c *Catalog) ref(i int32, read data.Value) string {
	r, s := &c.Resources[i], read.Str()
	if len(s) == len(r.Type)+len(r.Title)+2 && s[:len(r.Type)] == r.Type && s[len(r.Type)+1:len(s)-1] == r.Title {
		return s
	}
	return r.Ref()
}

func (c *Catalog) sortEdges(ends []int32) {
	type key struct{ target, first, i int }
	keys := make([]key, len(c.Edges))
	first := map[[2]int32]int{} // of each pair of source and target
	for i := range keys {
		pair := [2]int32{ends[2*i], ends[2*i+1]}
		if _, ok := first[pair]; !ok {
			first[pair] = i
		}
		keys[i] = key{int(pair[1]), first[pair], i}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.target != b.target {
			return a.target - b.target
		}
		if a.first != b.first {
			return a.first - b.first
		}
		return a.i - b.i
	})
	edges := make([]Edge, len(keys))
	for i, k := range keys {
		edges[i] = c.Edges[k.i]
	}
	c.Edges = edges
}

// find returns the position of a reference, or -1.
func (x *refIndex) find(ref data.Value) (int32, error) {
	typ, title, ok := splitRef(ref.Str())
	if !ok {
		return 0, errorf(badReference, ref.Inspect())
	}
	typ, title = typeAndTitle(typ, title)
	return *x.slot(typ, title) - 1, nil
}

// CheckGraph refuses what Ruby cannot walk as vertices and edges, the one part of
// a catalog in YAML that Puppet looks at.
func CheckGraph(v data.Value) error {
	for _, part := range []string{"vertices", "edges"} {
		switch all := v.Get(part); all.Kind() {
		case data.Nil, data.List, data.Hash:
		default:
			return undefined("each", all)
		}
	}
	for _, pair := range v.Get("edges").Hash() {
		return undefined("source", data.OfList([]data.Value{pair.Key, pair.Value}))
	}
	for _, x := range v.Get("edges").List() {
		if x.Kind() != data.Hash {
			return undefined("source", x)
		}
		if _, _, err := new(Edge).read(x); err != nil {
			return err
		}
	}
	return nil
}

func (e *Edge) read(v data.Value) (source, target data.Value, err error) {
	pairs, err := hashOf(v)
	if err != nil {
		return source, target, err
	}
	var subscribes, called bool
	for i := range pairs {
		p := &pairs[i]
		switch k := key(*p); {
		case k == "source":
			source = p.Value
		case k == "target":
			target = p.Value
		case k == "event" && p.Value.Truthy():
			e.Event = p.Value.Text()
			subscribes = e.Event != "NONE"
		case k == "callback" && p.Value.Truthy():
			e.Callback = p.Value.Text()
			called = true
		default:
			e.Extra = append(e.Extra, *p)
		}
	}
	if subscribes && !called {
		return source, target, errorf(noCallback)
	}
	return source, target, nil
}

func (c *Catalog) Data() data.Value {
	if m := c.made; m != nil && m.of == c {
		m.once.Do(func() { m.data = c.makeData() })
		return m.data
	}
	return c.makeData()
}

func (c *Catalog) makeData() data.Value {
	h := make([]data.Pair, 0, 12+len(c.Extra))
	h = append(h,
		data.P("tags", data.OfStrings(c.Tags)),
		data.P("name", c.odd.ofText("name", c.Name)),
		data.P("version", c.Version),
		data.P("code_id", c.odd.ofText("code_id", c.CodeID)),
		data.P("catalog_uuid", c.odd.ofText("catalog_uuid", c.CatalogUUID)),
		data.P("catalog_format", c.odd.ofNumber("catalog_format", c.Format)),
		data.P("environment", data.OfString(c.Environment)),
		data.P("resources", c.resourceData()),
		data.P("edges", c.edgeData()),
		data.P("classes", c.odd.ofList("classes", c.Classes)),
	)
	if len(c.Metadata) > 0 {
		m := make([]data.Pair, len(c.Metadata))
		for i, n := range c.Metadata {
			m[i] = data.P(n.Title, n.Metadata.Data())
		}
		h = append(h, data.P("metadata", data.OfHash(m)))
	}
	if c.RecursiveMetadata.Len() > 0 {
		h = append(h, data.P("recursive_metadata", c.RecursiveMetadata))
	}
	return data.OfHash(append(h, c.Extra...))
}

func (c *Catalog) resourceData() data.Value {
	var a arena
	l := make([]data.Value, len(c.Resources))
	n := 0
	for i := range l {
		n += c.Resources[i].mostPairs()
	}
	pairs := make([]data.Pair, 0, n)
	for i := range l {
		start := len(pairs)
		pairs = c.Resources[i].appendPairs(pairs, &a)
		l[i] = data.OfHash(pairs[start:len(pairs):len(pairs)])
	}
	return data.OfList(l)
}

func (c *Catalog) edgeData() data.Value {
	l := make([]data.Value, len(c.Edges))
	pairs := make([]data.Pair, 0, 2*len(l))
	for i := range l {
		e := &c.Edges[i]
		start := len(pairs)
		pairs = append(pairs, data.P("source", data.OfString(e.Source)), data.P("target", data.OfString(e.Target)))
		if e.Event != "" {
			pairs = append(pairs, data.P("event", data.OfString(e.Event)))
		}
		if e.Callback != "" {
			pairs = append(pairs, data.P("callback", data.OfString(e.Callback)))
		}
		pairs = append(pairs, e.Extra...)
		l[i] = data.OfHash(pairs[start:len(pairs):len(pairs)])
	}
	return data.OfList(l)
}
