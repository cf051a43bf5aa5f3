package console_test

import (
	"context"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/types"
	"indirtui/ui/uitest"
)

// A resource type is shown on a page of its own, with the provider that is used here; a
// list of all as well. A name that there is not is refused with the nearest.
func TestDescribe(t *testing.T) {
	t.Parallel()
	uitest.Sizes(t, func(t *testing.T, _ string, width, height int) {
		h := newEngine(t, quiet)
		o := options(h)
		o.Machine = func(context.Context) types.Host { return machine.New(data.OfHash(nil), nil) }
		p := play(t, h, o, width, height)
		p.Command("describe exec").Want("describe > exec", "exec: Runs a command", "Named by", "command; several")
		p.Keys("/", "is used here", "enter").Want("posix is used here: it is the default").Keys("esc")
		p.Command("describe").Want("resource types", "augeas", "Changes files of configuration").Keys("esc")
		p.Keys(":", "describe fiel", "enter").Want("Unknown type fiel; did you mean file?")
		p.Keys("esc", ":", "describe sched").Want("schedule ", "usage: describe [TYPE]")
	})
}
