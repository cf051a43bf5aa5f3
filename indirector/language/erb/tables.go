package erb

import "slices"

// kept returns a method that keeps the pairs for which the block returns this.
func kept(want bool) method {
	return func(c *send) (value, error) {
		t := c.self.(*table)
		out := newTable()
		for i, k := range t.keys {
			x, err := c.yield(k, t.values[i])
			if err != nil {
				return nil, err
			}
			if truthy(x) == want {
				out.put(k, t.values[i])
			}
		}
		return c.made(out)
	}
}

// tableMethods are those of hashes.
func tableMethods() map[string]method {
	out := enumerable()
	for name, m := range tableReaders() {
		out[name] = m
	}
	for name, m := range map[string]method{
		"delete": func(c *send) (value, error) { v, _ := c.self.(*table).remove(c.arg(0)); return v, nil },
		"delete_if": func(c *send) (value, error) {
			v, err := kept(false)(c)
			if err == nil {
				*c.self.(*table) = *v.(*table)
			}
			return c.self, err
		},
		"select": kept(true), "filter": kept(true), "reject": kept(false),
		"invert": func(c *send) (value, error) {
			t, out := c.self.(*table), newTable()
			for i, k := range t.keys {
				out.put(t.values[i], k)
			}
			return c.made(out)
		},
		"key": func(c *send) (value, error) {
			t := c.self.(*table)
			if i := slices.IndexFunc(t.values, func(v value) bool { return equal(v, c.arg(0)) }); i >= 0 {
				return t.keys[i], nil
			}
			return nil, nil
		},
		"to_h": func(c *send) (value, error) {
			if c.block != nil {
				return toH(c)
			}
			return c.self, nil
		},
		"to_hash": func(c *send) (value, error) { return c.self, nil },
		"compact": func(c *send) (value, error) {
			t, out := c.self.(*table), newTable()
			for i, k := range t.keys {
				if t.values[i] != nil {
					out.put(k, t.values[i])
				}
			}
			return c.made(out)
		},
		"values_at": func(c *send) (value, error) {
			out := &list{}
			for _, k := range c.args {
				v, _ := c.self.(*table).get(k)
				out.l = append(out.l, v)
			}
			return c.made(out)
		},
		"slice": func(c *send) (value, error) {
			out := newTable()
			for _, k := range c.args {
				if v, ok := c.self.(*table).get(k); ok {
					out.put(k, v)
				}
			}
			return c.made(out)
		},
		"transform_values": changed(func(t *table, i int, x value) (value, value) { return t.keys[i], x }, func(t *table, i int) value { return t.values[i] }),
		"transform_keys":   changed(func(t *table, i int, x value) (value, value) { return x, t.values[i] }, func(t *table, i int) value { return t.keys[i] }),
		"default":          func(c *send) (value, error) { return c.self.(*table).usual, nil },
		"default=": func(c *send) (value, error) {
			c.self.(*table).usual = c.arg(0)
			return c.arg(0), nil
		},
		"clear": func(c *send) (value, error) { *c.self.(*table) = *newTable(); return c.self, nil },
		"any?": func(c *send) (value, error) {
			if c.block == nil {
				return len(c.self.(*table).keys) > 0, nil
			}
			return quantified(isHit, func(hits, _ int) value { return hits > 0 })(c)
		},
	} {
		out[name] = m
	}
	out["size"], out["each_pair"] = out["length"], out["each"]
	delete(out, "each_entry")
	for _, name := range []string{"select", "reject", "compact", "transform_values", "transform_keys"} {
		plain := out[name]
		out[name+"!"] = func(c *send) (value, error) {
			v, err := plain(c)
			if err == nil {
				err = c.kept(v)
			}
			if err == nil {
				*c.self.(*table) = *v.(*table)
			}
			return c.self, err
		}
	}
	return out
}

// tableReaders are those that find something in a hash, or put it there.
func tableReaders() map[string]method {
	has := func(c *send) (value, error) { _, ok := c.self.(*table).get(c.arg(0)); return ok, nil }
	hasValue := func(c *send) (value, error) {
		return slices.ContainsFunc(c.self.(*table).values, func(v value) bool { return equal(v, c.arg(0)) }), nil
	}
	put := func(c *send) (value, error) {
		c.self.(*table).put(c.arg(0), c.arg(1))
		return c.arg(1), c.r.spend(64)
	}
	return map[string]method{
		"[]": tableAt, "[]=": put, "store": put, "key?": has, "has_key?": has, "include?": has, "member?": has,
		"value?": hasValue, "has_value?": hasValue,
		"fetch": tableFetch, "dig": dig, "merge": merge(false), "merge!": merge(true), "update": merge(true),
		"keys":     func(c *send) (value, error) { return c.made(&list{l: slices.Clone(c.self.(*table).keys)}) },
		"values":   func(c *send) (value, error) { return c.made(&list{l: slices.Clone(c.self.(*table).values)}) },
		"length":   func(c *send) (value, error) { return int64(len(c.self.(*table).keys)), nil },
		"empty?":   func(c *send) (value, error) { return len(c.self.(*table).keys) == 0, nil },
		"each_key": func(c *send) (value, error) { return c.each(slices.Clone(c.self.(*table).keys), "each") },
		"each_value": func(c *send) (value, error) {
			return c.each(slices.Clone(c.self.(*table).values), "each")
		},
	}
}

func tableAt(c *send) (value, error) {
	t := c.self.(*table)
	if v, ok := t.get(c.arg(0)); ok {
		return v, nil
	}
	if t.maker != nil {
		return c.r.yield(t.maker, t, c.arg(0))
	}
	return t.usual, nil
}

func tableFetch(c *send) (value, error) {
	if v, ok := c.self.(*table).get(c.arg(0)); ok {
		return v, nil
	}
	switch {
	case c.block != nil:
		return c.yield(c.arg(0))
	case len(c.args) > 1:
		return c.args[1], nil
	}
	return nil, fail("KeyError", "key not found: %s", inspect(c.arg(0)))
}

func merge(inPlace bool) method {
	return func(c *send) (value, error) {
		out := c.self.(*table)
		if !inPlace {
			out = out.copy()
		}
		for _, a := range c.args {
			o, ok := a.(*table)
			if !ok {
				return nil, fail("TypeError", "no implicit conversion of %s into Hash", classOf(a))
			}
			for i, k := range o.keys {
				v := o.values[i]
				if old, ok := out.get(k); ok && c.block != nil {
					var err error
					if v, err = c.yield(k, old, v); err != nil {
						return nil, err
					}
				}
				if err := c.kept(v); inPlace && err != nil {
					return nil, err
				}
				out.put(k, v)
			}
		}
		return c.made(out)
	}
}

// changed returns a method that replaces keys or values by what the block returns.
func changed(pair func(t *table, i int, x value) (k, v value), of func(t *table, i int) value) method {
	return func(c *send) (value, error) {
		t, out := c.self.(*table), newTable()
		for i := range t.keys {
			x, err := c.yield(of(t, i))
			if err == nil {
				err = c.r.weigh(x)
			}
			if err != nil {
				return nil, err
			}
			out.put(pair(t, i, x))
		}
		return c.made(out)
	}
}
