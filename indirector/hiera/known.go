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

	origin Source
	spans  *spans
}

// Find is [Compile.Search], and adds what happened to the trace of the request that ctx
// belongs to, and to the record of the query, which there must be.
//
// If the record is for origins only, what another lookup has found counts that saw the
// same: hiera.yaml and files of the same content in the same places of the hierarchies,
// and a value without expressions. Paths that do not exist may have other names, as those
// of another node have. So most of the lookups of a compile are known before.
func (c *Compile) Find(ctx context.Context, key string, q Query) (*Answer, error) {
	r := q.Record
	from := len(r.nodes)
	var v *view
	if r.OriginOnly {
		v = c.invoke(q).view(key)
	}
	if a := v.answer(key, q.Merge); a != nil {
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
	traces.AddLater(ctx, maker{a.spans, v.layers})
	v.remember(key, q.Merge, a)
	return a, nil
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

// view returns what the lookup of a key sees, or nil if that is not known, or depends on
// more than files and the variables in their paths.
func (in *invocation) view(text string) *view {
	c := in.c
	if c.calling != nil || c.o.Binding != "" && c.o.Binding != "hiera" || strings.HasPrefix(text, lookupOptions) {
		return nil
	}
	k, err := parseKey(text)
	if err != nil {
		return nil
	}
	if _, ok := c.options[k.module]; !ok { // the layers may not have been read
		return nil
	}
	layers := layerViews{noLayer, noLayer, noLayer}
	for i, l := range [...]*layer{c.global, c.environment, c.modules[k.module]} {
		if l == nil {
			continue
		}
		if layers[i] = l.seen(in); layers[i] == nil {
			return nil
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
	return v
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

type question struct{ key, merge string }

// questionOf is a key with its merge, which must be a name or nothing.
func questionOf(key string, merge data.Value) (question, bool) {
	return question{key, merge.Text()}, merge.IsNil() || merge.Kind() == data.String
}

func (v *view) answer(key string, merge data.Value) *Answer {
	q, ok := questionOf(key, merge)
	if v == nil || !ok {
		return nil
	}
	v.answers.mu.Lock()
	defer v.answers.mu.Unlock()
	return v.answers.by[q]
}

func (v *view) remember(key string, merge data.Value, a *Answer) {
	q, ok := questionOf(key, merge)
	if !ok || !v.answers.cache.room(len(a.spans.all)) {
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
