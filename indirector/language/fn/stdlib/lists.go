package stdlib

import (
	"strconv"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/onig"
)

// lists are functions of lists; some take strings, too.
func lists() map[string]older {
	return map[string]older{
		"any2array":    {do: any2array},
		"concat":       {least: 2, wrong: "concat(): Wrong number of arguments given (%d for < 2)", do: concat},
		"count":        {least: 1, wrong: "count(): Wrong number of arguments given (%d for minimum 1)", do: count},
		"delete":       {least: 2, most: 2, wrong: "delete(): Wrong number of arguments given %d for 2", do: remove},
		"delete_at":    {least: 2, wrong: "delete_at(): Wrong number of arguments given (%d for 2)", do: removeAt},
		"delete_regex": {least: 2, most: 2, wrong: "delete_regex(): Wrong number of arguments given %d for 2", do: removeMatching},
		"difference": {least: 2, most: 2, wrong: "difference(): Wrong number of arguments given (%d for 2)", do: func(c *call) (data.Value, error) {
			if !isList(c.Args[0]) || !isList(c.Args[1]) {
				return undef, refusef("difference(): Requires 2 arrays")
			}
			return data.OfList(without(c.Args[0].List(), c.Args[1].List())), nil
		}},
		"grep":   {least: 2, most: 2, wrong: "grep(): Wrong number of arguments given %d for 2", do: func(c *call) (data.Value, error) { return grep(c, true) }},
		"reject": {least: 2, most: 2, wrong: "reject(): Wrong number of arguments given %d for 2", do: func(c *call) (data.Value, error) { return grep(c, false) }},
		"intersection": {least: 2, most: 2, wrong: "intersection(): Wrong number of arguments given (%d for 2)", do: func(c *call) (data.Value, error) {
			a, b := c.Args[0], c.Args[1]
			if !isList(a) || !isList(b) {
				return undef, refusef("intersection(): Requires 2 arrays, got %s and %s", eval.ClassName(a), eval.ClassName(b))
			}
			return data.OfList(distinct(common(a.List(), b.List()))), nil
		}},
		"member":       {least: 2, wrong: "member(): Wrong number of arguments given (%d for 2)", do: member},
		"pick":         {do: pick},
		"pick_default": {least: 1, wrong: "Must receive at least one argument.", do: pickDefault},
		"range":        {least: 1, wrong: "range(): Wrong number of arguments given (0 for 1)", do: rangeOf},
		"reverse":      {least: 1, wrong: "reverse(): Wrong number of arguments given (%d for 1)", do: reverse},
		"union":        {least: 2, wrong: "union(): Wrong number of arguments given (%d for < 2)", do: union},
		"values_at":    {least: 2, wrong: "values_at(): Wrong number of arguments given (%d for 2)", do: valuesAt},
		"zip":          {least: 2, wrong: "zip(): Wrong number of arguments given (%d for 2)", do: zip},
	}
}

func any2array(c *call) (data.Value, error) {
	if len(c.Args) != 1 {
		return data.OfList(c.Args), nil
	}
	switch v := c.Args[0]; {
	case isList(v):
		return v, nil
	case isString(v) && v.Str() == "":
		return list(), nil
	case isHash(v):
		var out []data.Value
		for _, p := range v.Hash() {
			out = append(out, p.Key, p.Value)
		}
		return data.OfList(out), nil
	}
	return data.OfList(c.Args), nil
}

func concat(c *call) (data.Value, error) {
	if !isList(c.Args[0]) {
		return undef, refusef("concat(): Requires array to work with")
	}
	var out []data.Value
	for _, v := range c.Args {
		if isList(v) {
			out = append(out, v.List()...)
		} else {
			out = append(out, v)
		}
	}
	return data.OfList(out), nil
}

func count(c *call) (data.Value, error) {
	if n := len(c.Args); n > 2 {
		return undef, eval.Errorf("count(): Wrong number of arguments given %d for 1 or 2.", n)
	}
	v, item := c.Args[0], c.Arg(1)
	if isString(v) && item.Truthy() {
		if !isString(item) {
			return undef, eval.Errorf("%s", eval.NoString(item))
		}
		in, n := charset(item.Str()), 0
		for _, r := range v.Str() {
			if in(r) {
				n++
			}
		}
		return data.OfInt(int64(n)), nil
	}
	if !isList(v) && !isHash(v) {
		if isString(v) {
			return undef, eval.Errorf("wrong number of arguments (given 0, expected 1+)")
		}
		return undef, noMethod("count", v)
	}
	n := 0
	for _, x := range asList(v) {
		if item.Truthy() && same(x, item) || !item.Truthy() && !x.IsNil() && !(isString(x) && x.Str() == "") {
			n++
		}
	}
	return data.OfInt(int64(n)), nil
}

func remove(c *call) (data.Value, error) {
	v := c.Args[0]
	for _, item := range asList(c.Args[1]) {
		switch {
		case isList(v):
			v = data.OfList(filter(v.List(), func(x data.Value) bool { return !same(x, item) }))
		case isHash(v):
			v = selected(v, func(p data.Pair) bool { return !data.Equal(p.Key, item) })
		case isString(v) && isString(item):
			v = str(replaceAll(v.Str(), item.Str(), ""))
		case isString(v):
			return undef, eval.Errorf("wrong argument type %s (expected Regexp)", eval.RubyClass(item))
		default:
			return undef, eval.Errorf("delete(): First argument must be an Array, String, or Hash. Given an argument of class %s.", eval.ClassName(v))
		}
	}
	return v, nil
}

// filter returns the elements that are kept.
func filter(l []data.Value, keep func(data.Value) bool) []data.Value {
	var out []data.Value
	for _, v := range l {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

func removeAt(c *call) (data.Value, error) {
	v, index := c.Args[0], c.Args[1]
	if !isList(v) {
		return undef, refusef("delete_at(): Requires array to work with")
	}
	if isString(index) && !matches(`^\d+$`, index.Str()) {
		return undef, refusef("delete_at(): You must provide non-negative numeric index")
	}
	if !isString(index) && !isNumber(index) && !index.IsNil() {
		return undef, noMethod("to_i", index)
	}
	at := fn.LeadingInteger(index)
	if at > int64(v.Len()-1) {
		return undef, refusef("delete_at(): Given index exceeds size of array given")
	}
	if at < 0 {
		at += int64(v.Len())
	}
	if at < 0 {
		return v, nil
	}
	l := v.List()
	return data.OfList(append(append([]data.Value{}, l[:at]...), l[at+1:]...)), nil
}

func removeMatching(c *call) (data.Value, error) {
	v := c.Args[0]
	for _, item := range asList(c.Args[1]) {
		if !isList(v) && !isHash(v) {
			if isString(v) {
				return undef, noMethod("reject!", v)
			}
			return undef, eval.Errorf("delete_regex(): First argument must be an Array, Hash, or String. Given an argument of class %s.", eval.ClassName(v))
		}
		re, err := c.Regexp(`\b` + item.Text() + `\b`)
		if err != nil {
			return undef, err
		}
		found := inText(re, &err)
		if isList(v) {
			v = data.OfList(filter(v.List(), func(x data.Value) bool { return !found(x) }))
		} else {
			v = selected(v, func(p data.Pair) bool { return !found(p.Key) })
		}
		if err != nil {
			return undef, err
		}
	}
	return v, nil
}

// members are the values of a list, to be looked up. Numbers of different kinds differ.
func members(l []data.Value) *eval.HashBuilder {
	out := eval.NewHash(len(l))
	for _, v := range l {
		out.Put(v, undef)
	}
	return out
}

func without(l, others []data.Value) []data.Value {
	set := members(others)
	return filter(l, func(v data.Value) bool {
		_, found := set.Get(v)
		return !found
	})
}

func common(l, others []data.Value) []data.Value {
	set := members(others)
	return filter(l, func(v data.Value) bool {
		_, found := set.Get(v)
		return found
	})
}

// distinct returns the first of equal elements each.
func distinct(l []data.Value) []data.Value {
	h := members(l).Value().Hash()
	out := make([]data.Value, len(h))
	for i, p := range h {
		out[i] = p.Key
	}
	return out
}

// grep keeps or drops what matches a regular expression.
func grep(c *call, keep bool) (data.Value, error) {
	if !isString(c.Args[1]) {
		return undef, eval.Errorf("%s", eval.NoString(c.Args[1]))
	}
	re, err := c.Regexp(c.Args[1].Str())
	if err != nil {
		return undef, err
	}
	if !isList(c.Args[0]) && !isHash(c.Args[0]) {
		return undef, noMethod("grep", c.Args[0])
	}
	found := inText(re, &err)
	if isHash(c.Args[0]) && !keep { // whose reject returns a hash, by its keys
		return selected(c.Args[0], func(p data.Pair) bool { return !found(p.Key) }), err
	}
	return data.OfList(filter(asList(c.Args[0]), func(v data.Value) bool { return found(v) == keep })), err
}

// inText returns what reports whether a value is a text that an expression matches. From
// an error on it is none.
func inText(re *onig.Regexp, err *error) func(data.Value) bool {
	return func(v data.Value) bool {
		if *err != nil || !isString(v) {
			return false
		}
		ok, wrong := re.Match(v.Str())
		*err = wrong
		return ok
	}
}

func member(c *call) (data.Value, error) {
	v, item := c.Args[0], c.Args[1]
	if !isList(v) {
		return undef, refusef("member(): Requires array to work with")
	}
	items := []data.Value{item}
	switch {
	case isList(item):
		items = item.List()
	case !isString(item) && !isInteger(item):
		return undef, refusef("member(): Item to search for must be a string, fixnum, or array")
	}
	if len(items) == 0 {
		return undef, refusef("member(): You must provide item to search for within array given")
	}
	return boolean(len(without(items, v.List())) == 0), nil
}

// given returns the arguments that are neither undef nor empty strings.
func given(args []data.Value) []data.Value {
	return filter(args, func(v data.Value) bool { return !v.IsNil() && !(isString(v) && v.Str() == "") })
}

func pick(c *call) (data.Value, error) {
	l := given(c.Args)
	if len(l) == 0 || l[0].Text() == "" {
		return undef, refusef("pick(): must receive at least one non empty value")
	}
	return l[0], nil
}

func pickDefault(c *call) (data.Value, error) {
	last := len(c.Args) - 1
	return append(given(c.Args[:last]), c.Args[last])[0], nil
}

// rangeOf is the function range: of two ends and a step, or of a text that names the
// ends. Rule LANG-STD-01.
func rangeOf(c *call) (data.Value, error) {
	from, to, kind, step := c.Args[0], c.Arg(1), "..", int64(1)
	if len(c.Args) > 1 {
		if len(c.Args) > 2 {
			step = fn.LeadingInteger(c.Args[2])
			step = max(step, -step)
		}
		if step == 0 {
			return undef, eval.Errorf("range(): 3rd arg (step size) must be a non zero integer (e.g. 1 or -1)")
		}
	} else {
		if !isString(from) && from.Kind() != data.Symbol {
			return undef, noMethod("match", from)
		}
		re, err := c.Regexp(`^(\w+)(\.\.\.?|\-)(\w+)$`)
		if err != nil {
			return undef, err
		}
		m, err := re.Texts(from.Str())
		if err != nil {
			return undef, err
		}
		switch {
		case m == nil && matches(`^.+$`, from.Str()):
			return undef, refusef("range(): Unable to compute range from the value: %s", from.Str())
		case m == nil:
			return undef, refusef("range(): Unknown range format: %s", from.Str())
		}
		from, kind, to = str(m[1]), m[2], str(m[3])
	}
	if matches(`^\d+$`, from.Text()) {
		if !isString(to) && !isNumber(to) {
			return undef, noMethod("to_i", to)
		}
		return numberRange(c, fn.LeadingInteger(from), fn.LeadingInteger(to), step, kind == "...")
	}
	return textRange(c, from.Text(), to.Text(), step, kind == "...")
}

// maxRange is how many elements the module makes at most.
const maxRange = 1_000_000

func numberRange(c *call, from, to, step int64, exclusive bool) (data.Value, error) {
	if exclusive {
		to--
	}
	var out []data.Value
	for n := from; n <= to && len(out) < maxRange; n += step {
		if err := c.Step(); err != nil {
			return undef, err
		}
		out = append(out, data.OfInt(n))
		if n > to-step { // the next could overflow
			break
		}
	}
	return data.OfList(out), nil
}

func textRange(c *call, from, to string, step int64, exclusive bool) (data.Value, error) {
	var out []data.Value
	var failed error
	at := int64(0)
	fn.Upto(from, to, exclusive, func(s string) bool {
		if failed = c.Step(); failed != nil {
			return false
		}
		if at%step == 0 {
			out = append(out, str(s))
		}
		at++
		return len(out) < maxRange
	})
	return data.OfList(out), failed
}

func reverse(c *call) (data.Value, error) {
	switch v := c.Args[0]; {
	case isList(v):
		out := make([]data.Value, v.Len())
		for i, x := range v.List() {
			out[len(out)-1-i] = x
		}
		return data.OfList(out), nil
	case isString(v):
		runes := []rune(v.Str())
		for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
			runes[i], runes[j] = runes[j], runes[i]
		}
		return str(string(runes)), nil
	}
	return undef, refusef("reverse(): Requires either array or string to work with")
}

func union(c *call) (data.Value, error) {
	var all []data.Value
	for _, v := range c.Args {
		if !isList(v) {
			return undef, refusef("union(): Every parameter must be an array")
		}
		all = append(all, v.List()...)
	}
	return data.OfList(distinct(all)), nil
}

func valuesAt(c *call) (data.Value, error) {
	v := c.Args[0]
	if !isList(v) {
		return undef, refusef("values_at(): Requires array to work with")
	}
	l := v.List()
	indices := eval.Flatten([]data.Value{c.Args[1]})
	if len(indices) == 0 {
		return undef, refusef("values_at(): You must provide at least one positive index to collect")
	}
	re, err := c.Regexp(`^(\d+)(\.\.\.?|\-)(\d+)$`)
	if err != nil {
		return undef, err
	}
	var out []data.Value
	for _, index := range indices {
		from, to := index.Text(), index.Text()
		m, err := re.Texts(index.Text())
		if err != nil {
			return undef, err
		}
		if m != nil {
			from, to = m[1], m[3]
		}
		if !matches(`^\d+$`, from) {
			return undef, refusef("values_at(): Unknown format of given index")
		}
		first, errFirst := strconv.Atoi(from)
		last, errLast := strconv.Atoi(to)
		switch {
		case m != nil && first > last:
			return undef, refusef("values_at(): Stop index in given indices range is smaller than the start index")
		case m != nil && (last > len(l)-1 || errLast != nil):
			return undef, refusef("values_at(): Stop index in given indices range exceeds array size")
		case first > len(l)-1 || errFirst != nil:
			return undef, refusef("values_at(): Given index exceeds array size")
		}
		if m != nil && m[2] == "..." {
			last--
		}
		for i := first; i <= last; i++ {
			if err := c.Step(); err != nil {
				return undef, err
			}
			out = append(out, l[i])
		}
	}
	return data.OfList(filter(out, func(v data.Value) bool { return !v.IsNil() })), nil
}

func zip(c *call) (data.Value, error) {
	a, b := c.Args[0], c.Args[1]
	if !isList(a) || !isList(b) {
		return undef, refusef("zip(): Requires array to work with")
	}
	flat := undef
	if c.Arg(2).Truthy() {
		var err error
		if flat, err = c.older("str2bool", c.Args[2]); err != nil {
			return undef, err
		}
	}
	out := make([]data.Value, a.Len())
	for i, v := range a.List() {
		other := undef
		if i < b.Len() {
			other = b.List()[i]
		}
		out[i] = list(v, other)
	}
	if flat.Truthy() {
		out = eval.Flatten(out)
	}
	return data.OfList(out), nil
}
