package facter

import (
	"indirtui/indirector/host/child"
)

// run runs a program without input and in the C locale.
func (c *collector) run(name string, args ...string) child.Result {
	return c.runWith("", append([]string{name}, args...)...)
}

// runWith is run with input.
func (c *collector) runWith(stdin string, argv ...string) child.Result {
	env := c.o.Environ
	return child.Call{
		Argv: argv, Stdin: stdin, Timeout: c.o.Timeout, MaxStdout: maxText, MaxStderr: maxError,
		Env: append(env[:len(env):len(env)], "LC_ALL=C", "LANG=C"),
	}.Do(c.ctx)
}
