package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/indirector/redact"
	"indirtui/traces/export"
	"indirtui/traces/store"
	"indirtui/ui/command"
)

// A lostError reports that what a command was to look at is not there: exit code
// 3.
type lostError struct{ error }

func (e lostError) Unwrap() error { return e.error }

// reading is what the commands that look at a recording share.
type reading struct {
	path     string
	redactor *redact.Redactor
}

func (r *reading) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&r.path, "recording", "r", "", "the recording to look at (`FILE`)")
}

// open opens the recording that the flag names.
func (r *reading) open(p *program) (*store.Store, error) {
	mine, err := p.mine()
	if err != nil {
		return nil, err
	}
	r.redactor = redact.New(redact.Rules{Names: mine.Secrets})
	if r.path == "" {
		return nil, &command.UsageError{What: "which recording?", Advice: "name it: --recording FILE; they lie in " + stateDir()}
	}
	return openRecording(p.Streams, r.path)
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
	if r.redactor == nil {
		r.redactor = redact.New(redact.Rules{})
	}
	return export.Options{Format: f, Source: r.path, Redact: r.redactor.Text}
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

// checkFormat is the error of a --format of results that there is not.
func checkFormat(format string) error {
	if format == "text" || format == "json" {
		return nil
	}
	return &command.UsageError{What: fmt.Sprintf("--format %s is not known", format), Advice: "there are: text, json"}
}

// stateDir is where recordings are, for messages.
func stateDir() string {
	dir, err := engine.StateDir()
	if err != nil {
		return "the state directory"
	}
	return dir
}
