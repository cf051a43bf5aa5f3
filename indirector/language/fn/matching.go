package fn

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/types"
)

// matching are functions of regular expressions.
func matching() map[string][]eval.Way {
	replacement := "Variant[String, Hash[String, String]] replacement"
	return map[string][]eval.Way{
		"match": {
			way("String string; Variant[Any, Type] pattern", func(c *eval.Invocation) (data.Value, error) { return match(c, c.Args[0].Str(), c.Args[1]) }),
			way("Array[String] string; Variant[Any, Type] pattern", func(c *eval.Invocation) (data.Value, error) {
				out := make([]data.Value, c.Args[0].Len())
				for i, s := range c.Args[0].List() {
					var err error
					if out[i], err = match(c, s.Str(), c.Args[1]); err != nil {
						return undef, err
					}
				}
				return data.OfList(out), nil
			}),
		},
		"split": {way("String str; String pattern", split), way("String str; Regexp pattern", split), way("String str; Type[Regexp] pattern", split)},
		"regsubst": {
			way("Variant[Array[String], String] target; String pattern; "+replacement+"; Optional[Pattern[/^[GEIM]*$/]] flags?; Enum['E', 'N', 'S', 'U'] encoding?", regsubst),
			way("Variant[Array[String], String] target; Variant[Regexp, Type[Regexp]] pattern; "+replacement+"; Pattern[/^G?$/] flags?", regsubst),
		},
	}
}

// patterns returns the sources of the regular expressions that a value means.
func patterns(v data.Value) ([]string, error) {
	if v.Kind() == data.String {
		return []string{v.Str()}, nil
	}
	if source, ok := types.RegexpSource(v); ok {
		return []string{source}, nil
	}
	var out []string
	if v.Kind() == data.List {
		for _, x := range eval.Flatten(v.List()) {
			more, err := patterns(x)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		return out, nil
	}
	if t, ok := types.AsType(v); ok {
		v = types.OfType(types.Resolved(t))
		if sources, ok := types.PatternsOf(v); ok {
			if len(sources) == 0 && strings.HasPrefix(v.Text(), "Regexp") {
				return nil, eval.Errorf("Given Regexp Type has no regular expression")
			}
			return sources, nil
		}
	}
	return nil, eval.Errorf("match() expects pattern of T, where T is String, Regexp, Regexp[r], Pattern[p], or Array[T]. Got %s", eval.RubyClass(v))
}

// match returns what the groups of the first regular expression matched that matches.
func match(c *eval.Invocation, s string, pattern data.Value) (data.Value, error) {
	sources, err := patterns(pattern)
	if err != nil {
		return undef, err
	}
	for _, source := range sources {
		re, err := c.Regexp(source)
		if err != nil {
			return undef, err
		}
		at, err := re.Find(s)
		if err != nil {
			return undef, err
		}
		if at != nil {
			return data.OfList(eval.Groups(s, at)), nil
		}
	}
	return undef, nil
}

// single returns the only regular expression that an argument is; a type without one
// matches the empty text.
func single(c *eval.Invocation, v data.Value) (*onig.Regexp, error) {
	sources, err := patterns(v)
	if len(sources) == 0 || err != nil {
		sources = []string{""}
	}
	return c.Regexp(sources[0])
}

// split cuts a text as Ruby does: what groups matched is kept, empty texts at the end
// are not.
func split(c *eval.Invocation) (data.Value, error) {
	re, err := single(c, c.Args[1])
	if err != nil {
		return undef, err
	}
	s, from := c.Args[0].Str(), 0
	all, err := re.FindAll(s, -1)
	if err != nil {
		return undef, err
	}
	var out []data.Value
	for _, at := range all {
		if at[0] == at[1] { // between characters, and neither at the begin nor the end
			if at[0] == 0 || at[0] >= len(s) {
				continue
			}
		}
		out = append(out, data.OfString(s[from:at[0]]))
		for _, group := range eval.Groups(s, at)[1:] {
			if !group.IsNil() {
				out = append(out, group)
			}
		}
		from = at[1]
	}
	out = append(out, data.OfString(s[from:]))
	for len(out) > 0 && out[len(out)-1].Len() == 0 {
		out = out[:len(out)-1]
	}
	v := data.OfList(out)
	return v, c.Made(v)
}

func regsubst(c *eval.Invocation) (data.Value, error) {
	pattern, flags := c.Args[1], c.Arg(3).Str()
	if options := strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(flags, "G", ""), "E", "x")); options != "" && pattern.Kind() == data.String {
		if _, err := onig.Shared(pattern.Str()); err != nil && !strings.Contains(options, "x") {
			return undef, err // without the options, which Puppet does not show
		}
		pattern = data.OfString("(?" + options + ")" + pattern.Str())
	}
	re, err := single(c, pattern)
	if err != nil {
		return undef, err
	}
	if c.Args[0].Kind() == data.String {
		return substituted(c, re, c.Args[0].Str(), strings.Contains(flags, "G"))
	}
	out := make([]data.Value, c.Args[0].Len())
	for i, v := range c.Args[0].List() {
		if out[i], err = substituted(c, re, v.Str(), strings.Contains(flags, "G")); err != nil {
			return undef, err
		}
	}
	return data.OfList(out), nil
}

// substituted replaces the first match, or all of them.
func substituted(c *eval.Invocation, re *onig.Regexp, s string, all bool) (data.Value, error) {
	replacement := c.Args[2]
	count := 1
	if all {
		count = -1
	}
	found, err := re.FindAll(s, count)
	if err != nil {
		return undef, err
	}
	var b strings.Builder
	from, counted := 0, 0
	for _, at := range found {
		if err := c.Spend(b.Len() - counted); err != nil {
			return undef, err
		}
		counted = b.Len()
		b.WriteString(s[from:at[0]])
		if replacement.Kind() == data.Hash {
			b.WriteString(replacement.Get(s[at[0]:at[1]]).Text())
		} else {
			expand(&b, re, s, at, replacement.Str())
		}
		from = at[1]
	}
	b.WriteString(s[from:])
	return data.OfString(b.String()), c.Spend(b.Len() - counted)
}

// expand writes a replacement, where \1 is a group, \k<name> one with a name, \0 and \&
// the match, \` and \' what is around it.
func expand(b *strings.Builder, re *onig.Regexp, s string, at []int, replacement string) {
	group := func(i int) {
		if i >= 0 && 2*i < len(at) && at[2*i] >= 0 {
			b.WriteString(s[at[2*i]:at[2*i+1]])
		}
	}
	for i := 0; i < len(replacement); i++ {
		ch := replacement[i]
		if ch != '\\' || i+1 == len(replacement) {
			b.WriteByte(ch)
			continue
		}
		i++
		switch ch = replacement[i]; {
		case ch >= '0' && ch <= '9':
			n, _ := strconv.Atoi(string(ch))
			group(n)
		case ch == '&':
			group(0)
		case ch == '`':
			b.WriteString(s[:at[0]])
		case ch == '\'':
			b.WriteString(s[at[1]:])
		case ch == '\\':
			b.WriteByte('\\')
		case ch == 'k' && strings.HasPrefix(replacement[i+1:], "<") && strings.Contains(replacement[i:], ">"):
			name := replacement[i+2 : i+strings.IndexByte(replacement[i:], '>')]
			group(re.Named(name, at))
			i += len(name) + 2
		default:
			b.WriteByte('\\')
			b.WriteByte(ch)
		}
	}
}

// indexInString finds a text or regular expression, and returns the place in characters.
func indexInString(c *eval.Invocation) (data.Value, error) {
	s, at := c.Args[0].Str(), -1
	if c.Args[1].Kind() == data.String {
		at = strings.Index(s, c.Args[1].Str())
	} else {
		re, err := single(c, c.Args[1])
		if err != nil {
			return undef, err
		}
		found, err := re.Find(s)
		if err != nil {
			return undef, err
		}
		if found != nil {
			at = found[0]
		}
	}
	if at < 0 {
		return undef, nil
	}
	return data.OfInt(int64(utf8.RuneCountInString(s[:at]))), nil
}
