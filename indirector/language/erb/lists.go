package erb

import (
	"math"
	"slices"
	"strings"
)

// items returns the elements of the receiver: of a list, a hash or a range.
func (c *send) items() []value {
	l, _ := c.r.elements(c.self)
	return l
}

// each calls the block with each element; without one, it returns an enumerator.
func (c *send) each(l []value, name string) (value, error) {
	if c.block == nil {
		return &list{l: l, isLazy: true, method: name, subject: c.self}, nil
	}
	for _, v := range l {
		if _, err := c.yield(v); err != nil {
			return nil, err
		}
	}
	return c.self, nil
}

// collected returns a method that keeps something of each element and what the block
// returns for it.
func collected(name string, keep func(v, result value) (value, bool)) method {
	return func(c *send) (value, error) {
		l := c.items()
		if c.block == nil {
			return &list{l: l, isLazy: true, method: name, subject: c.self}, nil
		}
		out := &list{}
		for _, v := range l {
			x, err := c.yield(v)
			if err != nil {
				return nil, err
			}
			if x, ok := keep(v, x); ok {
				out.l = append(out.l, x)
			}
		}
		return c.made(out)
	}
}

// quantified returns a method that counts hits, of a block, a value, or the truth, until
// there is a decisive one.
func quantified(decisive func(hit bool) bool, decide func(hits, all int) value) method {
	return func(c *send) (value, error) {
		hits, l := 0, c.items()
		for _, v := range l {
			hit := truthy(v)
			var err error
			switch {
			case len(c.args) > 0:
				var x value
				x, err = c.r.call(c.args[0], "===", []value{v}, nil)
				hit = truthy(x)
			case c.block != nil:
				var x value
				x, err = c.yield(v)
				hit = truthy(x)
			}
			if err != nil {
				return nil, err
			}
			if hit {
				hits++
			}
			if decisive(hit) {
				break
			}
		}
		return decide(hits, len(l)), nil
	}
}

func isHit(hit bool) bool  { return hit }
func isMiss(hit bool) bool { return !hit }
func never(bool) bool      { return false }

// listMethods are those of lists; hashes and ranges share what only needs elements.
func listMethods() map[string]method {
	out := enumerable()
	for name, m := range map[string]method{
		"[]": listAt, "slice": listAt, "[]=": listPut,
		"<<": func(c *send) (value, error) {
			l := c.self.(*list)
			l.l = append(l.l, c.arg(0))
			return l, c.r.spend(16)
		},
		"push": func(c *send) (value, error) {
			l := c.self.(*list)
			l.l = append(l.l, c.args...)
			return l, c.r.spend(16 * len(c.args))
		},
		"unshift": func(c *send) (value, error) {
			l := c.self.(*list)
			l.l = append(slices.Clone(c.args), l.l...)
			return l, c.r.spend(16 * len(l.l))
		},
		"concat": func(c *send) (value, error) {
			l := c.self.(*list)
			for _, v := range c.args {
				o, ok := v.(*list)
				if !ok {
					return nil, noArray(v)
				}
				if err := c.r.refuseCircle(l, o.l...); err != nil {
					return nil, err
				}
				l.l = append(l.l, o.l...)
			}
			return l, c.r.spend(16 * len(l.l))
		},
		"pop": func(c *send) (value, error) {
			l := c.self.(*list)
			if len(l.l) == 0 {
				return nil, nil
			}
			v := l.l[len(l.l)-1]
			l.l = l.l[:len(l.l)-1]
			return v, nil
		},
		"shift": func(c *send) (value, error) {
			l := c.self.(*list)
			if len(l.l) == 0 {
				return nil, nil
			}
			v := l.l[0]
			l.l = l.l[1:]
			return v, nil
		},
		"delete": func(c *send) (value, error) {
			l := c.self.(*list)
			n := len(l.l)
			l.l = slices.DeleteFunc(slices.Clone(l.l), func(v value) bool { return equal(v, c.arg(0)) })
			if len(l.l) == n {
				return nil, nil
			}
			return c.arg(0), nil
		},
		"delete_if": func(c *send) (value, error) {
			v, err := collected("reject", func(v, x value) (value, bool) { return v, !truthy(x) })(c)
			if err == nil {
				c.self.(*list).l = v.(*list).l
			}
			return c.self, err
		},
		"+": combined(func(a, b []value) []value { return append(slices.Clone(a), b...) }),
		"-": combined(func(a, b []value) []value { return without(a, b, true) }),
		"&": combined(func(a, b []value) []value { return distinct(without(a, b, false)) }),
		"|": combined(func(a, b []value) []value { return distinct(append(slices.Clone(a), b...)) }),
		"*": func(c *send) (value, error) {
			if s, ok := c.arg(0).(*text); ok {
				return c.r.call(c.self, "join", []value{s}, nil)
			}
			n, err := c.integer(0, 0)
			if err == nil && n < 0 {
				err = fail("ArgumentError", "argument must be non-negative")
			}
			if err == nil {
				err = c.r.spendTimes(16*len(c.items()), n)
			}
			if err != nil {
				return nil, err
			}
			return &list{l: slices.Repeat(c.items(), n)}, nil
		},
		"join": joined,
		"flatten": func(c *send) (value, error) {
			depth, err := c.integer(0, -1)
			if err != nil {
				return nil, err
			}
			return c.made(&list{l: flat(nil, c.items(), depth, 0)})
		},
		"compact": func(c *send) (value, error) {
			return c.made(&list{l: slices.DeleteFunc(slices.Clone(c.items()), func(v value) bool { return v == nil })})
		},
		"rotate": rotated,
		"reverse": func(c *send) (value, error) {
			l := slices.Clone(c.items())
			slices.Reverse(l)
			return c.made(&list{l: l})
		},
		"last": func(c *send) (value, error) {
			l := c.items()
			if len(c.args) == 0 {
				if len(l) == 0 {
					return nil, nil
				}
				return l[len(l)-1], nil
			}
			n, err := c.integer(0, 0)
			return &list{l: slices.Clone(l[len(l)-min(max(n, 0), len(l)):])}, err
		},
		"length":    func(c *send) (value, error) { return int64(len(c.items())), nil },
		"empty?":    func(c *send) (value, error) { return len(c.items()) == 0, nil },
		"index":     listIndex,
		"at":        listAt,
		"fetch":     listFetch,
		"dig":       dig,
		"transpose": transposed,
		"values_at": func(c *send) (value, error) {
			out := &list{}
			for i := range c.args {
				if _, isRange := c.args[i].(*span); isRange {
					return nil, c.r.unsupported("values_at of a range")
				}
				v, err := listAt(&send{c.r, c.self, c.args[i : i+1], nil})
				if err != nil {
					return nil, err
				}
				out.l = append(out.l, v)
			}
			return out, nil
		},
		"product": product,
		"each_index": func(c *send) (value, error) {
			var l []value
			for i := range c.items() {
				l = append(l, int64(i))
			}
			return c.each(l, "each")
		},
		"insert": func(c *send) (value, error) {
			l := c.self.(*list)
			at, err := c.integer(0, 0)
			if err != nil || at < 0 || at > len(l.l) {
				return nil, c.r.unsupported("insert at such a place")
			}
			l.l = slices.Insert(l.l, at, c.args[1:]...)
			return l, nil
		},
		"assoc": assoc,
		"clear": func(c *send) (value, error) { c.self.(*list).l = nil; return c.self, nil },
	} {
		out[name] = m
	}
	out["size"], out["find_index"], out["append"], out["prepend"] = out["length"], out["index"], out["push"], out["unshift"]
	for _, name := range []string{"map", "collect", "select", "reject", "sort", "sort_by", "uniq", "compact", "flatten", "reverse"} {
		plain := out[name]
		out[name+"!"] = func(c *send) (value, error) {
			v, err := plain(c)
			if err != nil {
				return nil, err
			}
			l := c.self.(*list)
			if err := c.kept(v); err != nil {
				return nil, err
			}
			changed := len(v.(*list).l) != len(l.l)
			l.l = v.(*list).l
			if !changed && slices.Contains([]string{"uniq", "compact", "reject", "select"}, name) {
				return nil, nil
			}
			return l, nil
		}
	}
	return out
}

// assoc finds a list by its first element.
func assoc(c *send) (value, error) {
	for _, v := range c.items() {
		if p, ok := v.(*list); ok && len(p.l) > 0 && equal(p.l[0], c.arg(0)) {
			return p, nil
		}
	}
	return nil, nil
}

// enumerable are methods that only need elements.
func enumerable() map[string]method {
	out := map[string]method{
		"each":       func(c *send) (value, error) { return c.each(c.items(), "each") },
		"each_entry": func(c *send) (value, error) { return c.each(c.items(), "each") },
		"reverse_each": func(c *send) (value, error) {
			l := slices.Clone(c.items())
			slices.Reverse(l)
			return c.each(l, "each")
		},
		"map":        collected("map", func(_, x value) (value, bool) { return x, true }),
		"select":     collected("select", func(v, x value) (value, bool) { return v, truthy(x) }),
		"reject":     collected("reject", func(v, x value) (value, bool) { return v, !truthy(x) }),
		"filter_map": collected("filter_map", func(_, x value) (value, bool) { return x, truthy(x) }),
		"flat_map": func(c *send) (value, error) {
			v, err := collected("map", func(_, x value) (value, bool) { return x, true })(c)
			if err != nil {
				return nil, err
			}
			return c.made(&list{l: flat(nil, v.(*list).l, 1, 0)})
		},
		"each_with_index": func(c *send) (value, error) {
			l := indexed(c.items(), 0)
			if c.block == nil {
				return &list{l: l, isLazy: true, method: "each", subject: c.self, pairs: true}, nil
			}
			for _, v := range l {
				if _, err := c.yield(v.(*list).l...); err != nil {
					return nil, err
				}
			}
			return c.self, nil
		},
		"each_with_object": func(c *send) (value, error) {
			for _, v := range c.items() {
				if _, err := c.yield(v, c.arg(0)); err != nil {
					return nil, err
				}
			}
			return c.arg(0), nil
		},
		"each_slice": func(c *send) (value, error) { return sliced(c, false) },
		"each_cons":  func(c *send) (value, error) { return sliced(c, true) },
		"inject":     inject, "reduce": inject,
		"sort": func(c *send) (value, error) {
			by := naturally
			if c.block != nil {
				by = c.byBlock
			}
			l, err := sort(c.items(), by)
			return &list{l: l}, err
		},
		"sort_by": func(c *send) (value, error) {
			l, err := c.keyed(1)
			return &list{l: l}, err
		},
		"min": extreme(-1), "max": extreme(1),
		"minmax": minmax, "tally": tally,
		"min_by": func(c *send) (value, error) { l, err := c.keyed(1); return first(l), err },
		"max_by": func(c *send) (value, error) { l, err := c.keyed(-1); return first(l), err },
		"sum":    sum,
		"first":  firstOf,
		"take":   taken(func(l []value, n int) []value { return l[:n] }),
		"drop":   taken(func(l []value, n int) []value { return l[n:] }),
		"include?": func(c *send) (value, error) {
			return slices.ContainsFunc(c.items(), func(v value) bool { return equal(v, c.arg(0)) }), nil
		},
		"count": func(c *send) (value, error) {
			if len(c.args) > 0 {
				n := int64(0)
				for _, v := range c.items() {
					if equal(v, c.args[0]) {
						n++
					}
				}
				return n, nil
			}
			if c.block == nil {
				return int64(len(c.items())), nil
			}
			return quantified(never, func(hits, _ int) value { return int64(hits) })(c)
		},
		"any?":  quantified(isHit, func(hits, _ int) value { return hits > 0 }),
		"all?":  quantified(isMiss, func(hits, all int) value { return hits == all }),
		"none?": quantified(isHit, func(hits, _ int) value { return hits == 0 }),
		"one?":  quantified(never, func(hits, _ int) value { return hits == 1 }),
		"find":  find, "detect": find,
		"to_a": func(c *send) (value, error) { return c.made(&list{l: slices.Clone(c.items())}) },
		"to_h": toH,
		"uniq": func(c *send) (value, error) {
			if c.block == nil {
				return c.made(&list{l: distinct(c.items())})
			}
			seen, out := map[string]bool{}, &list{}
			for _, v := range c.items() {
				k, err := c.yield(v)
				if err == nil {
					err = c.r.weigh(k)
				}
				if err != nil {
					return nil, err
				}
				if !seen[keyOf(k)] {
					seen[keyOf(k)] = true
					out.l = append(out.l, v)
				}
			}
			return out, nil
		},
		"partition": func(c *send) (value, error) {
			yes, no := &list{}, &list{}
			for _, v := range c.items() {
				x, err := c.yield(v)
				if err != nil {
					return nil, err
				}
				if truthy(x) {
					yes.l = append(yes.l, v)
				} else {
					no.l = append(no.l, v)
				}
			}
			return &list{l: []value{yes, no}}, nil
		},
		"group_by": func(c *send) (value, error) {
			out := newTable()
			for _, v := range c.items() {
				k, err := c.yield(v)
				if err == nil {
					err = c.r.weigh(k)
				}
				if err != nil {
					return nil, err
				}
				group, _ := out.get(k)
				l, ok := group.(*list)
				if !ok {
					l = &list{}
					out.put(k, l)
				}
				l.l = append(l.l, v)
			}
			return c.made(out)
		},
		"zip":        zipped,
		"take_while": while_(true), "drop_while": while_(false),
		"grep": func(c *send) (value, error) {
			out := &list{}
			for _, v := range c.items() {
				hit, err := c.r.call(c.arg(0), "===", []value{v}, nil)
				if err == nil && truthy(hit) && c.block != nil {
					v, err = c.yield(v)
				}
				if err != nil {
					return nil, err
				}
				if truthy(hit) {
					out.l = append(out.l, v)
				}
			}
			return out, nil
		},
		"lazy": func(c *send) (value, error) { return nil, c.r.unsupported("the method lazy") },
	}
	out["collect"], out["filter"], out["find_all"], out["entries"], out["member?"] = out["map"], out["select"], out["select"], out["to_a"], out["include?"]
	out["collect_concat"] = out["flat_map"]
	return out
}

// lazyMethod returns a method that enumerators have beyond lists, or nil.
func lazyMethod(e *list, name string) method {
	switch name {
	case "with_index", "each_with_index":
		return func(c *send) (value, error) {
			from := 0
			if name == "with_index" {
				var err error
				if from, err = c.integer(0, 0); err != nil {
					return nil, err
				}
			}
			at := int64(from) - 1
			if c.block == nil {
				return &list{l: indexed(e.l, from), isLazy: true, method: e.method, subject: e.subject, pairs: true}, nil
			}
			b := &proc{arity: 1, native: func(args []value) (value, error) {
				at++
				return c.r.yield(c.block, first(args), at)
			}}
			return c.r.call(&list{l: e.l}, e.method, nil, b)
		}
	case "with_object":
		return func(c *send) (value, error) { return c.r.call(&list{l: e.l}, "each_with_object", c.args, c.block) }
	case "size", "rewind", "inspect":
		return nil
	}
	return nil
}

func indexed(l []value, from int) []value {
	out := make([]value, len(l))
	for i, v := range l {
		out[i] = &list{l: []value{v, int64(from + i)}}
	}
	return out
}

func first(l []value) value {
	if len(l) == 0 {
		return nil
	}
	return l[0]
}

// keyed returns the elements in the order of what the block returns for them, the least
// first, or with the sign -1 the greatest.
func (c *send) keyed(sign int) ([]value, error) {
	var pairs []value
	for _, v := range c.items() {
		k, err := c.yield(v)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, &list{l: []value{k, v}})
	}
	if err := c.r.weigh(pairs...); err != nil { // not before: a block may change what another returned
		return nil, err
	}
	sorted, err := sort(pairs, func(a, b value) (int, error) {
		n, err := naturally(a.(*list).l[0], b.(*list).l[0])
		return sign * n, err
	})
	out := make([]value, len(sorted))
	for i, p := range sorted {
		out[i] = p.(*list).l[1]
	}
	return out, err
}

func without(a, b []value, drop bool) []value {
	set := map[string]bool{}
	for _, v := range b {
		set[keyOf(v)] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(v value) bool { return set[keyOf(v)] == drop })
}

func distinct(l []value) []value {
	seen := map[string]bool{}
	var out []value
	for _, v := range l {
		if k := keyOf(v); !seen[k] {
			seen[k] = true
			out = append(out, v)
		}
	}
	return out
}

func noArray(v value) error {
	what := classOf(v)
	if v == nil {
		what = "nil"
	}
	return fail("TypeError", "no implicit conversion of %s into Array", what)
}

func combined(f func(a, b []value) []value) method {
	return func(c *send) (value, error) {
		o, ok := c.arg(0).(*list)
		if !ok {
			return nil, noArray(c.arg(0))
		}
		return c.made(&list{l: f(c.items(), o.l)})
	}
}

// flat takes lists within a list apart. What holds itself ends at a depth.
func flat(out, l []value, depth, at int) []value {
	for _, v := range l {
		if x, ok := v.(*list); ok && depth != 0 && at < maxNesting {
			out = flat(out, x.l, depth-1, at+1)
		} else {
			out = append(out, v)
		}
	}
	return out
}

func joined(c *send) (value, error) {
	separator := ""
	if len(c.args) > 0 && c.args[0] != nil && len(c.items()) > 0 {
		var err error
		if separator, err = c.text(0); err != nil {
			return nil, err
		}
	}
	var b strings.Builder
	err := c.r.join(&b, c.items(), separator)
	return str(b.String()), err
}

// join writes the texts of values; those of a list within them are joined, too. The values have
// been weighed.
func (r *run) join(b *strings.Builder, l []value, separator string) error {
	for i, v := range l {
		if i > 0 {
			b.WriteString(separator)
		}
		if err := r.spend(len(separator)); err != nil {
			return err
		}
		if inner, ok := v.(*list); ok {
			if err := r.join(b, inner.l, separator); err != nil {
				return err
			}
			continue
		}
		s, err := r.text(v)
		if err != nil {
			return err
		}
		b.WriteString(s)
	}
	return nil
}

func listAt(c *send) (value, error) {
	l := c.items()
	from, to, ok, err := c.bounds(len(l))
	if !ok || err != nil {
		return nil, err
	}
	if _, isRange := c.arg(0).(*span); isRange || len(c.args) > 1 {
		return c.made(&list{l: slices.Clone(l[from:to])})
	}
	if from >= len(l) {
		return nil, nil
	}
	return l[from], nil
}

func listPut(c *send) (value, error) {
	l := c.self.(*list)
	at, err := c.integer(0, 0)
	if err != nil || len(c.args) != 2 {
		return nil, c.r.unsupported("an assignment to a part of a list")
	}
	if at < 0 {
		at += len(l.l)
	}
	if at < 0 {
		return nil, fail("IndexError", "index %d too small for array", at-len(l.l))
	}
	if err := c.r.spend(16 * max(0, at-len(l.l)+1)); err != nil {
		return nil, err
	}
	for len(l.l) <= at {
		l.l = append(l.l, nil)
	}
	l.l[at] = c.args[1]
	return c.args[1], nil
}

func listIndex(c *send) (value, error) {
	for i, v := range c.items() {
		hit := len(c.args) > 0 && equal(v, c.arg(0))
		if len(c.args) == 0 {
			x, err := c.yield(v)
			if err != nil {
				return nil, err
			}
			hit = truthy(x)
		}
		if hit {
			return int64(i), nil
		}
	}
	return nil, nil
}

func listFetch(c *send) (value, error) {
	at, err := c.integer(0, 0)
	if err != nil {
		return nil, err
	}
	l := c.items()
	i := at
	if i < 0 {
		i += len(l)
	}
	switch {
	case i >= 0 && i < len(l):
		return l[i], nil
	case c.block != nil:
		return c.yield(int64(at))
	case len(c.args) > 1:
		return c.args[1], nil
	}
	return nil, fail("IndexError", "index %d outside of array bounds: %d...%d", at, -len(l), len(l))
}

func dig(c *send) (value, error) {
	v := c.self
	for _, k := range c.args {
		if v == nil {
			return nil, nil
		}
		var err error
		switch v.(type) {
		case *list, *table:
			v, err = c.r.call(v, "[]", []value{k}, nil)
		default:
			err = fail("TypeError", "%s does not have #dig method", classOf(v))
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

func transposed(c *send) (value, error) {
	var rows [][]value
	for _, v := range c.items() {
		l, ok := v.(*list)
		if !ok {
			return nil, noArray(v)
		}
		if len(rows) > 0 && len(l.l) != len(rows[0]) {
			return nil, fail("IndexError", "element size differs")
		}
		rows = append(rows, l.l)
	}
	out := &list{}
	if len(rows) > 0 {
		for i := range rows[0] {
			column := &list{}
			for _, row := range rows {
				column.l = append(column.l, row[i])
			}
			out.l = append(out.l, column)
		}
	}
	return c.made(out)
}

func product(c *send) (value, error) {
	all := [][]value{{}}
	for _, l := range append([]value{c.self}, c.args...) {
		items, err := c.r.elements(l)
		if err != nil {
			return nil, err
		}
		if err := c.r.spend(32 * len(all) * len(items)); err != nil {
			return nil, err
		}
		var next [][]value
		for _, begin := range all {
			for _, v := range items {
				next = append(next, append(slices.Clone(begin), v))
			}
		}
		all = next
	}
	out := &list{}
	for _, l := range all {
		out.l = append(out.l, &list{l: l})
	}
	return out, nil
}

// sliced is each_slice, and each_cons where slices overlap.
func sliced(c *send, overlap bool) (value, error) {
	n, err := c.integer(0, 0)
	if err == nil && n <= 0 {
		err = fail("ArgumentError", "invalid slice size")
	}
	if err != nil {
		return nil, err
	}
	l, step := c.items(), n
	if overlap {
		step = 1
	}
	var out []value
	for i := 0; i < len(l) && (!overlap || i+n <= len(l)); i += step {
		if err := c.r.spend(16 * n); err != nil {
			return nil, err
		}
		out = append(out, &list{l: slices.Clone(l[i:min(i+n, len(l))])})
	}
	return c.each(out, "each")
}

func inject(c *send) (value, error) {
	l, args := c.items(), c.args
	operator, isNamed := arg(args, len(args)-1).(symbol)
	if isNamed = isNamed && c.block == nil; isNamed {
		args = args[:len(args)-1]
	}
	var v value
	if len(args) > 0 {
		v = args[0]
	} else if len(l) > 0 {
		v, l = l[0], l[1:]
	}
	for _, x := range l {
		var err error
		if isNamed {
			v, err = c.r.call(v, string(operator), []value{x}, nil)
		} else {
			v, err = c.yield(v, x)
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

func extreme(sign int) method {
	return func(c *send) (value, error) {
		by := naturally
		if c.block != nil {
			by = c.byBlock
		}
		if len(c.args) > 0 {
			l, err := sort(c.items(), func(a, b value) (int, error) { n, err := by(a, b); return -sign * n, err })
			n, failed := c.integer(0, 0)
			if err == nil {
				err = failed
			}
			return &list{l: l[:min(max(n, 0), len(l))]}, err
		}
		l := c.items()
		out := first(l)
		for i, v := range l {
			if i == 0 {
				continue
			}
			n, err := by(v, out)
			if err != nil {
				return nil, err
			}
			if n*sign > 0 {
				out = v
			}
		}
		return out, nil
	}
}

func rotated(c *send) (value, error) {
	l := c.items()
	n, err := c.integer(0, 1)
	if len(l) == 0 || err != nil {
		return &list{}, err
	}
	at := ((n % len(l)) + len(l)) % len(l)
	return c.made(&list{l: append(slices.Clone(l[at:]), l[:at]...)})
}

func minmax(c *send) (value, error) {
	least, err := extreme(-1)(c)
	if err != nil {
		return nil, err
	}
	most, err := extreme(1)(c)
	return &list{l: []value{least, most}}, err
}

func tally(c *send) (value, error) {
	out := newTable()
	for _, v := range c.items() {
		n, _ := out.get(v)
		seen, _ := n.(int64)
		out.put(v, seen+1)
	}
	return c.made(out)
}

// sum adds up. From the first float on it keeps what is lost by rounding, as Ruby does.
func sum(c *send) (value, error) {
	out, lost := argOr(c.args, 0, int64(0)), 0.0
	for _, v := range c.items() {
		var err error
		if c.block != nil {
			if v, err = c.yield(v); err != nil {
				return nil, err
			}
		}
		before, isFloat := floatOf(out)
		if out, err = c.r.call(out, "+", []value{v}, nil); err != nil {
			return nil, err
		}
		added, isNumber := floatOf(v)
		if total, ok := out.(float64); ok && isFloat && isNumber {
			if math.Abs(before) >= math.Abs(added) {
				lost += before - total + added
			} else {
				lost += added - total + before
			}
		}
	}
	if total, ok := out.(float64); ok && !math.IsNaN(lost) && !math.IsInf(lost, 0) {
		return total + lost, nil
	}
	return out, nil
}

func firstOf(c *send) (value, error) {
	if len(c.args) == 0 {
		return first(c.items()), nil
	}
	return taken(func(l []value, n int) []value { return l[:n] })(c)
}

func taken(f func(l []value, n int) []value) method {
	return func(c *send) (value, error) {
		n, err := c.integer(0, 0)
		if err == nil && n < 0 {
			err = fail("ArgumentError", "attempt to take negative size")
		}
		if err != nil {
			return nil, err
		}
		l := c.items()
		return c.made(&list{l: slices.Clone(f(l, min(n, len(l))))})
	}
}

func while_(take bool) method {
	return func(c *send) (value, error) {
		l := c.items()
		at := 0
		for ; at < len(l); at++ {
			x, err := c.yield(l[at])
			if err != nil {
				return nil, err
			}
			if !truthy(x) {
				break
			}
		}
		if take {
			return &list{l: slices.Clone(l[:at])}, nil
		}
		return &list{l: slices.Clone(l[at:])}, nil
	}
}

func find(c *send) (value, error) {
	for _, v := range c.items() {
		x, err := c.yield(v)
		if err != nil {
			return nil, err
		}
		if truthy(x) {
			return v, nil
		}
	}
	return nil, nil
}

func toH(c *send) (value, error) {
	out := newTable()
	for _, v := range c.items() {
		if c.block != nil {
			var err error
			if v, err = c.yield(v); err != nil {
				return nil, err
			}
		}
		if err := c.r.weigh(v); err != nil {
			return nil, err
		}
		p, ok := v.(*list)
		if !ok || len(p.l) != 2 {
			return nil, fail("TypeError", "wrong element type %s (expected array)", classOf(v))
		}
		out.put(p.l[0], p.l[1])
	}
	return c.made(out)
}

func zipped(c *send) (value, error) {
	l := c.items()
	if err := c.r.spend(32 * len(l) * (len(c.args) + 1)); err != nil {
		return nil, err
	}
	for _, o := range c.args {
		if _, err := c.r.elements(o); err != nil {
			return nil, fail("TypeError", "wrong argument type %s (must respond to :each)", classOf(o))
		}
	}
	out := &list{l: make([]value, len(l))}
	for i, v := range l {
		row := &list{l: []value{v}}
		for _, o := range c.args {
			other := asList(o)
			if i < len(other) {
				row.l = append(row.l, other[i])
			} else {
				row.l = append(row.l, nil)
			}
		}
		out.l[i] = row
	}
	if c.block != nil {
		_, err := c.each(out.l, "each")
		return nil, err
	}
	return out, nil
}
