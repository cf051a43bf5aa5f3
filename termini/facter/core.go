package facter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// core returns the core facts, and the legacy ones if they are wanted.
func (c *collector) core() hash {
	var all hash
	for _, g := range c.groups() {
		if c.ctx.Err() != nil {
			return nil
		}
		_, span := traces.Start(c.ctx, traces.File, "core facts: "+g.name)
		h, legacy, answer := c.group(g)
		if c.o.Legacy {
			h = append(h, legacy...)
		}
		if answer == "" {
			answer = counted(len(h))
		}
		span.End(answer, traces.Because{}, nil)
		all = append(all, h...)
	}
	return all
}

func counted(n int) string {
	if n == 1 {
		return "1 fact"
	}
	return fmt.Sprintf("%d facts", n)
}

// group returns the facts of a group, and a word if nothing was found out for
// that: all of them are blocked or cached. Rules RES-FACT-02, RES-FACT-03.
func (c *collector) group(g group) (h, legacy hash, word string) {
	if !c.o.Config.rules() {
		g.collect(&h, &legacy)
		return h, legacy, ""
	}
	names := g.all()
	wanted, hits := c.wanted(names)
	if wanted > hits {
		g.collect(&h, &legacy)
	}
	structure, flat := data.OfHash(h), data.OfHash(legacy)
	for _, n := range names {
		c.settle(&structure, &flat, n, wanted > hits)
	}
	switch {
	case wanted == 0:
		word = "blocked"
	case wanted == hits:
		word = counted(hits) + " of the cache"
	}
	return structure.Hash(), flat.Hash(), word
}

// wanted counts the facts that are not blocked, and those of them that are cached.
func (c *collector) wanted(names []coreName) (wanted, hits int) {
	count := func(name string) {
		wanted++
		if _, ok := c.hit(name); ok && !isPattern(name) {
			hits++
		}
	}
	for _, n := range names {
		isHidden := n.core != "" && c.o.Config.hides(n.core)
		if n.core != "" && !isHidden {
			count(n.core)
		}
		for _, alias := range n.aliases {
			if c.o.Legacy && !isHidden && !c.o.Config.hidesLegacy(alias) {
				count(alias)
			}
		}
	}
	return wanted, hits
}

// settle takes what is blocked of one fact and its aliases away, and puts in what is
// cached. What was found out is noted for the cache.
func (c *collector) settle(structure, flat *data.Value, n coreName, isNew bool) {
	isHidden := n.core != "" && c.o.Config.hides(n.core)
	if n.core != "" {
		c.settleOne(structure, n.core, strings.Split(n.core, "."), isHidden, isNew)
	}
	for _, alias := range n.aliases {
		if !isPattern(alias) {
			c.settleOne(flat, alias, []string{alias}, isHidden || c.o.Config.hidesLegacy(alias), isNew)
			continue
		}
		matches := regexp.MustCompile("^" + alias + "$") // one of ours
		for _, p := range slices.Clone(flat.Hash()) {
			name := p.Key.Str()
			if !matches.MatchString(name) {
				continue
			}
			if isHidden || c.o.Config.hidesLegacy(name) || c.o.Config.hides(alias) {
				*flat = flat.Without(name)
				continue
			}
			c.keep(name, p.Value)
		}
	}
}

func (c *collector) settleOne(in *data.Value, name string, path []string, isHidden, isNew bool) {
	if isHidden {
		*in = put(*in, path, data.Value{})
	} else if v, ok := c.hit(name); ok {
		*in = put(*in, path, v)
	} else if isNew {
		c.keep(name, in.Dig(path...))
	}
}

// put sets what a path leads to, or removes it if x is nil; a hash that is empty
// then goes, too.
func put(v data.Value, path []string, x data.Value) data.Value {
	if len(path) > 1 {
		x = put(v.Get(path[0]), path[1:], x)
		if x.Len() == 0 {
			x = data.Value{}
		}
	}
	if x.IsNil() {
		return v.Without(path[0])
	}
	return v.With(path[0], x)
}

// override puts custom or external facts over others. One without a value is
// none. With dots, points in a name lead into hashes. Rules RES-FACT-04, RES-FACT-05.
func (c *collector) override(facts *hash, with hash) {
	at := make(map[string]int, len(*facts))
	for i, p := range *facts {
		at[p.Key.Str()] = i
	}
	for _, p := range with {
		name := p.Key.Str()
		i, ok := at[name]
		switch {
		case p.Value.IsNil():
		case c.o.Config.dots && strings.Contains(name, "."):
			c.bury(facts, name, p.Value)
		case ok:
			(*facts)[i].Value = p.Value
		default:
			*facts = append(*facts, p)
		}
	}
}

// bury sets a fact that points in its name lead to. What is no hash on the way is
// not replaced.
func (c *collector) bury(facts *hash, name string, v data.Value) {
	path := strings.Split(name, ".")
	all := data.OfHash(*facts)
	for i := range path[1:] {
		if on := all.Dig(path[:i+1]...); !on.IsNil() && on.Kind() != data.Hash {
			c.sentence(name, "Custom fact `%s` cannot be added to collection. The format of this fact is incompatible with other facts that belong to `%s` group", name, path[0])
			return
		}
	}
	*facts = put(all, path, v).Hash()
}
