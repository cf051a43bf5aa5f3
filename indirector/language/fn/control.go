package fn

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

// blocks are functions that call a lambda once, if at all.
func blocks() map[string][]eval.Way {
	return map[string][]eval.Way{
		"with": {way("Any arg*; Callable &block", func(c *eval.Invocation) (data.Value, error) { return c.Block.Call(c.Args...) })},
		"then": {way("Any arg; Callable[1, 1] &block", func(c *eval.Invocation) (data.Value, error) {
			if c.Args[0].IsNil() {
				return undef, nil
			}
			return c.Block.Call(c.Args[0])
		})},
		"lest": {way("Any arg; Callable[0, 0] &block", func(c *eval.Invocation) (data.Value, error) {
			if !c.Args[0].IsNil() {
				return c.Args[0], nil
			}
			return c.Block.Call()
		})},
	}
}

// control are functions that leave others, or call them.
func control() map[string][]eval.Way {
	leave := func(name string) do {
		return func(c *eval.Invocation) (data.Value, error) { return undef, c.Jump(name, c.Arg(0)) }
	}
	return map[string][]eval.Way{
		"next":   {way("Any value?", leave("next"))},
		"return": {way("Any value?", leave("return"))},
		"break":  {way("", leave("break"))},
		"call": {way("String function_name; Any arguments*; Callable &block?", func(c *eval.Invocation) (data.Value, error) {
			name := c.Args[0].Str()
			v, known, err := c.Call(name, c.Args[1:], Library())
			if err == nil && !known {
				err = eval.Errorf("Unknown function '%s'", name)
			}
			return v, err
		})},
		"import": {way("Any args*", func(*eval.Invocation) (data.Value, error) {
			return undef, eval.Issuef("Use of 'import' has been discontinued in favor of a manifest directory. See http://links.puppet.com/puppet-import-deprecation")
		})},
	}
}

// logging are functions that log the texts of their arguments.
func logging() map[string][]eval.Way {
	out := map[string][]eval.Way{}
	for _, level := range []string{"debug", "info", "notice", "warning", "err", "alert", "crit", "emerg"} {
		out[level] = []eval.Way{way("Any values*", func(c *eval.Invocation) (data.Value, error) {
			text, err := joined(c)
			if err == nil {
				c.Log(level, text)
			}
			return undef, err
		})}
	}
	return out
}

// joined returns the texts of the arguments.
func joined(c *eval.Invocation) (string, error) {
	words := make([]string, len(c.Args))
	for i, v := range c.Args {
		var err error
		if words[i], err = c.Text(v); err != nil {
			return "", err
		}
	}
	return strings.Join(words, " "), nil
}
