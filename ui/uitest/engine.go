package uitest

import (
	"context"
	"fmt"
	"testing"

	"indirtui/indirector"
)

// An Engine is an Indirector as screens see it. It redacts nothing, and is not
// safe for concurrent use.
type Engine struct {
	*indirector.Indirector
	Start indirector.Routes // as configured
	Write bool
}

func (e *Engine) Configured() indirector.Routes { return e.Start }

func (e *Engine) Overrides() []string {
	var names []string
	for _, name := range e.Registry().Names() {
		if !e.Routes()[name].Agrees(e.Start[name]) {
			names = append(names, name)
		}
	}
	return names
}

func (e *Engine) Ask(ctx context.Context, req *indirector.Request) (indirector.Response, error) {
	return e.Do(ctx, req)
}
func (e *Engine) Writes() bool     { return e.Write }
func (e *Engine) SetWrite(on bool) { e.Write = on }

// Sizes runs a test in parallel for each size of the terminal that frames are kept
// of. Its name, as "80x24", is that of the frames.
func Sizes(t *testing.T, test func(t *testing.T, name string, width, height int)) {
	for _, size := range [...][2]int{{80, 24}, {140, 40}, {60, 16}} {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name, size[0], size[1])
		})
	}
}
