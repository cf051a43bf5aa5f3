package helper

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"indirtui/indirector/host/child"
)

// Limits of ours for what the child writes.
const (
	maxMessage = 16 << 20
	maxErrors  = 4 << 10
)

//go:embed shim.rb
var shim string

// A process is the child. It is for one goroutine.
type process struct {
	*child.Dialogue
	loaded map[string]bool // functions that it has
}

// start starts Ruby with nothing of this process but PATH.
func start(ctx context.Context, ruby string) (*process, error) {
	d, err := child.Script{
		Argv: []string{ruby, "--disable=gems", "-W0", "-"}, Text: shim, MaxLine: maxMessage, MaxRest: maxErrors,
		Env: func(dir string) []string {
			return []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + dir, "TMPDIR=" + dir}
		},
	}.Start(ctx)
	if err != nil {
		return nil, err
	}
	return &process{d, map[string]bool{}}, nil
}

var errTooLong = fmt.Errorf("it answers with more than %d bytes", maxMessage)

// read returns the next message.
func (p *process) read(ctx context.Context, until time.Time) (map[string]any, int, error) {
	line, err := p.Read(ctx, until)
	if err != nil {
		return nil, 0, err
	}
	d := json.NewDecoder(strings.NewReader(string(line)))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil || m == nil {
		return nil, 0, errors.New("it answers with what is no message")
	}
	return m, len(line), nil
}
