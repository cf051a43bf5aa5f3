package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/traces/export"
	"indirtui/traces/fleet"
	"indirtui/traces/store"
	"indirtui/ui/command"
)

// A lostError reports that what a command was to look at is not there: exit code
// 3.
type lostError struct{ error }

func (e lostError) Unwrap() error { return e.error }

// reading is what the commands that look at a recording share.
type reading struct {
	p     *program
	path  string
	words []string // of the selector; what it means is loaded of a fleet
}

func (r *reading) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&r.path, "recording", "r", "", "the recording to look at (`FILE`), or a fleet: postgres://USER@HOST/DATABASE")
}

// with does something with the recording that the flag names.
func (r *reading) with(do func(*store.Store) error) error {
	if _, err := r.p.mine(); err != nil {
		return err
	}
	if r.path == "" {
		return &command.UsageError{What: "which recording?", Advice: "name it: --recording FILE; they lie in " + stateDir()}
	}
	if fleet.IsURL(r.path) {
		f, err := loadFleet(r.p.Streams, r.path, r.words)
		if err != nil {
			return err
		}
		defer f.Close()
		return do(f.Store)
	}
	s, err := openRecording(r.p.Streams, r.path)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// openRecording opens a recording and reads it to its end. It reports what is wrong
// with it.
func openRecording(std Streams, path string) (*store.Store, error) {
	s, err := store.OpenFile(path)
	if err != nil {
		return nil, lostError{err}
	}
	if err := export.Loaded(s); err != nil {
		return nil, errors.Join(lostError{err}, s.Close())
	}
	for _, note := range s.Notes() {
		std.report(path + ": " + note)
	}
	return s, nil
}

func (r *reading) options(f export.Format) export.Options {
	source := r.path
	if fleet.IsURL(source) {
		source = "fleet " + fleet.Place(source)
	}
	return export.Options{Format: f, Source: source, Redact: r.p.redactor().Text}
}

// selected returns the requests that the words of a selector mean.
func selected(s *store.Store, words []string) ([]uint64, error) {
	ids, err := export.Select(s, strings.Join(words, " "))
	if err != nil {
		return nil, &command.UsageError{What: err.Error()}
	}
	return ids, nil
}

const selectorHelp = `SELECTOR is an expression such as "hidden", "ind=catalog took>5s", "@run",
"@marked" or "#1042..1050", the same as behind / in the interactive program; no
selector means all. @run is the newest run.`

// stateDir is where recordings are, for messages.
func stateDir() string {
	dir, err := engine.StateDir()
	if err != nil {
		return "the state directory"
	}
	return dir
}
