// Package roster has a terminus that reads the classes of nodes from one text
// file. It is the example of docs/CONTRIBUTING.md.
package roster

import (
	"context"
	"fmt"
	"os"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// Node describes the roster terminus of the node indirection.
var Node = indirector.Descriptor{
	Indirection: "node",
	Name:        "roster",
	Doc:         "Reads the classes of a node from a file. Each line is the name of a node, then its classes.",
	Settings:    []indirector.Setting{{Name: "roster", Doc: "The file. Not a setting of Puppet."}},
	Type:        (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		path, _ := env.Settings.Get("roster")
		return &Terminus{path}, nil
	},
}

// A Terminus reads its file for every request.
type Terminus struct{ path string }

// Find returns the node of the first line that begins with its name.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	_, span := traces.Start(ctx, traces.File, "read "+t.path)
	text, err := os.ReadFile(t.path)
	span.End(fmt.Sprint(len(text), " bytes"), traces.Because{}, err)
	if err != nil {
		return nil, fmt.Errorf("read the roster: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == req.Key {
			return &model.Node{Name: req.Key, Environment: req.Environment, Classes: data.OfStrings(words[1:])}, nil
		}
	}
	return nil, indirector.NotFound(traces.NotFound, t.path)
}
