package hiera

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// maxKnown bounds what a Cache remembers of lookups, in spans. When there are more it
// begins anew.
const maxKnown = 20_000

// An Answer is what one key has, and where it was found.
type Answer struct {
	Result
	Sentence string // see [Record.Sentence]

	origin  Source
	spans   *spans
	options optionsFound // if they were collected first
}

// An optionsFound is what a compile has of lookup_options once they were collected for a
// module.
type optionsFound struct {
	global, environment collected
	all, own            *keyOptions // of no module, and of the module
}

// Find is [Compile.Search], and adds what happened to the trace of the request that ctx
// belongs to, and to the record of the query, which there must be.
//
// If the record is for origins only, what another lookup has found counts that saw the
// same: hiera.yaml and files of the same content in the same places of the hierarchies,
// and a value without expressions. Paths that do not exist may have other names, as those
// of another node have. So most of the lookups of a compile are known before, those that
// collect lookup_options included.
func (c *Compile) Find(ctx context.Context, key string, q Query) (*Answer, error) {
	r := q.Record
	from := len(r.nodes)
	var v *view
	var asked question
	if r.OriginOnly {
		v, asked = c.invoke(q).view(key, q.Merge)
	}
	if a := v.answer(asked); a != nil {
		if asked.collects != 0 {
			c.collected(asked.module, a.options)
		}
		r.answer = a
		traces.AddLater(ctx, maker{a.spans, v.layers})
		return a, nil
	}
	c.unlike = false
	found, err := c.Search(key, q)
	if err != nil {
		r.trace(ctx, from)
		return nil, err
	}
	a := &Answer{Result: found, Sentence: r.Sentence(from)}
	if v == nil || c.unlike {
		r.trace(ctx, from)
		return a, nil
	}
	a.origin, a.spans = r.Origin(from), r.spans(from, v.layers)
	if asked.collects != 0 {
		a.options = optionsFound{c.globalOptions, c.environmentOptions, c.options[""], c.options[asked.module]}
	}
	traces.AddLater(ctx, maker{a.spans, v.layers})
	v.remember(asked, a)
	return a, nil
}

// collected takes over what another compile has collected of lookup_options.
func (c *Compile) collected(module string, o optionsFound) {
	c.globalOptions, c.environmentOptions = o.global, o.environment
	c.options[""], c.options[module] = o.all, o.own
}

// A view is what the lookups of a module's keys see: of each layer, what its files hold.
type view struct {
	layers  *layerViews // apart, as traces keep them
	answers *answers
}

type layerViews [moduleLayer + 1]*layerView

// A layerView is what a lookup sees of a layer.
type layerView struct {
	content   string  // names its hiera.yaml, and which of its locations has which content
	locations []shown // how they are shown
}

// The views of what is not there.
var (
	noLayer  = &layerView{content: "no layer"}
	noModule = &layerView{content: "no module"}
)

// view returns what the lookup of a key sees, and what it asks; or nil if that is not known, or
// depends on more than files and the variables in their paths.
func (in *invocation) view(text string, merge data.Value) (*view, question) {
	c := in.c
	named := merge.IsNil() || merge.Kind() == data.String
	if !named || c.calling != nil || c.o.Binding != "" && c.o.Binding != "hiera" || strings.HasPrefix(text, lookupOptions) {
		return nil, question{}
	}
	k, err := parseKey(text)
	if err != nil {
		return nil, question{}
	}
	asked := question{key: text, merge: merge.Text(), module: k.module}
	if _, ok := c.options[k.module]; !ok {
		if asked.collects = c.toCollect(); !in.ready(k) {
			return nil, question{}
		}
	}
	layers := layerViews{noLayer, noLayer, noLayer}
	for i, l := range [...]*layer{c.global, c.environment, c.modules[k.module]} {
		if l == nil {
			continue
		}
		if layers[i] = l.seen(in); layers[i] == nil {
			return nil, question{}
		}
	}
	if c.missing[k.module] {
		layers[moduleLayer] = noModule
	}
	v := c.views[k.module]
	if v == nil || *v.layers != layers {
		v = &view{&layers, c.cache.answersOf(&layers)}
		c.views[k.module] = v
	}
	return v, asked
}

// ready reads the layers that a key is about to be looked for in, with all their files, as
// the lookup of its lookup_options does, and reports whether each may have a view. What is
// wrong with them is left to the lookup.
func (in *invocation) ready(k key) bool {
	if !in.c.globalLayer().ready(in) {
		return false
	}
	l, err := in.c.environmentLayer()
	if err != nil || l != nil && !l.ready(in) {
		return false
	}
	if !k.one {
		return true
	}
	l, err = in.c.moduleLayer(k.module)
	return err == nil && (l == nil || l.ready(in))
}

func (l *layer) ready(in *invocation) bool {
	if l.read() != nil || l.config == nil || l.config.version < 5 || l.config.hasDefault || !l.resolved && l.resolve(in) != nil {
		return false
	}
	for _, level := range l.levels {
		if level.everywhere || level.kind != "data_hash" || builtin[level.function] == nil {
			return false
		}
		for i, at := range level.locations {
			if at.exists && level.context(i, at).load(fileReader(level.function)) != nil {
				return false
			}
		}
	}
	return true
}

// seen returns the view of a layer, which must have been read with the variables of now;
// else nil. Levels that are functions have none: what they answer may depend on anything.
func (l *layer) seen(in *invocation) *layerView {
	if !l.resolved || !l.stable(in) {
		return nil
	}
	if l.view != nil {
		return l.view
	}
	if l.config.version < 5 || l.config.hasDefault {
		return nil
	}
	v := &layerView{}
	content := []byte(strconv.FormatUint(l.config.file, 36))
	for _, level := range l.levels {
		if level.everywhere || level.kind != "data_hash" || builtin[level.function] == nil {
			return nil
		}
		content = append(content, '/')
		for i, at := range level.locations {
			file := uint64(0)
			if at.exists {
				if file = level.file(i); file == 0 {
					return nil
				}
			}
			at.index = len(v.locations)
			v.locations = append(v.locations, *at.shows(l))
			content = strconv.AppendUint(append(content, ' '), file, 36)
		}
	}
	v.content = string(content)
	l.view = v
	return v
}

// file is the number of the file that a location has; 0 if it was not read.
func (l *level) file(location int) uint64 {
	if l.contexts == nil || l.contexts[location] == nil || l.contexts[location].file == nil {
		return 0
	}
	return l.contexts[location].file.number
}

// An answers remembers what lookups with one view have found. It is safe for concurrent use.
type answers struct {
	cache *Cache
	mu    sync.Mutex
	by    map[question]*Answer
}

// A question is a key with its merge, which is a name or nothing.
type question struct {
	key, merge string
	module     string // of the key
	collects   collects
}

// A collects is how much of lookup_options a lookup collects first, as its spans have that,
// too; 0 is nothing.
type collects uint8

const (
	ofModule collects = iota + 1
	ofEnvironment
	ofAll
)

func (c *Compile) toCollect() collects {
	switch {
	case c.environmentOptions.done:
		return ofModule
	case c.globalOptions.done:
		return ofEnvironment
	}
	return ofAll
}

func (v *view) answer(q question) *Answer {
	if v == nil {
		return nil
	}
	v.answers.mu.Lock()
	defer v.answers.mu.Unlock()
	return v.answers.by[q]
}

func (v *view) remember(q question, a *Answer) {
	if !v.answers.cache.room(len(a.spans.all)) {
		return
	}
	v.answers.mu.Lock()
	defer v.answers.mu.Unlock()
	v.answers.by[q] = a
}

// room makes room for the spans of a lookup, or reports that they are too many.
func (c *Cache) room(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known += n; c.known > maxKnown {
		c.known = n
		clear(c.answers)
	}
	return n <= maxKnown/10
}

// answersOf returns what is remembered of lookups that see the same layers.
func (c *Cache) answersOf(layers *layerViews) *answers {
	content := layers[globalLayer].content + "\n" + layers[environmentLayer].content + "\n" + layers[moduleLayer].content
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answers[content]
	if a == nil {
		a = &answers{cache: c, by: map[question]*Answer{}}
		c.answers[content] = a
	}
	return a
}
