package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector/host/files"
	"indirtui/traces/export"
	"indirtui/traces/fleet"
	"indirtui/traces/store"
	"indirtui/ui/command"
)

// An exportCommand writes requests of a recording for another program.
type exportCommand struct {
	reading
	format, out, bodies, to string
}

func (c *exportCommand) build(cmd *cobra.Command) {
	cmd.Long = `Write requests of a recording for another program:

  recording  a recording with the selected requests alone; needs --out
  jsonl      one JSON object for each request, with its story and its value
  otlp       OTLP/JSON, for collectors of OpenTelemetry
  har        HAR 1.2: what was asked over HTTP; the bytes of bodies are not
             recorded, and _text says what stands for them
  csv        one line for each request
  story      what happened, as text

With --to the tables of a fleet are written, for one machine: a file of SQLite.

` + selectorHelp + `

Secrets are masked, always. How many and where is said on standard error and,
but for csv, at the end of the export. "indirtui schema jsonl" prints the schema
of the lines.

Exit code: 0 written, 1 it cannot be written, 2 usage, 3 the recording cannot be
read.`
	cmd.Example = "  indirtui export --recording incident.jsonl --format otlp --out incident.json @run\n  indirtui export --recording incident.jsonl --format csv hidden"
	c.flags(cmd)
	cmd.Flags().StringVarP(&c.format, "format", "f", "", "recording, jsonl, otlp, har, csv or story")
	cmd.Flags().StringVarP(&c.out, "out", "o", "", "write to this file, which must not exist (default standard output)")
	cmd.Flags().StringVar(&c.to, "to", "", "write the tables of a fleet instead (`sqlite:FILE`, which must not exist); docs/FLEETS.md has the tables")
	cmd.Flags().StringVar(&c.bodies, "bodies", string(export.AnyBody), "which values go along: all, small (up to 1 MB), failed (of requests that went wrong, seen or not) or none")
}

func (c *exportCommand) run(ctx context.Context, words []string) error {
	if c.to != "" {
		return c.toSQLite(ctx, words)
	}
	f, err := export.Parse(c.format)
	if err != nil {
		return &command.UsageError{What: err.Error()}
	}
	b, err := export.ParseBodies(c.bodies)
	if err != nil {
		return &command.UsageError{What: err.Error()}
	}
	if f == export.Recording && (c.out == "" || c.out == "-") {
		return &command.UsageError{What: "a recording is a file", Advice: "name it: --out FILE"}
	}
	c.words = words
	return c.with(func(s *store.Store) error {
		o := c.options(f)
		o.Bodies = b
		ids, err := selected(s, words)
		if err != nil {
			return err
		}
		report, err := writeExport(s, c.p.out, c.out, ids, o)
		if err == nil {
			c.report(report)
		}
		return err
	})
}

// toSQLite writes the tables of a fleet: those of a recording that is exported,
// so that they are redacted as every export.
func (c *exportCommand) toSQLite(ctx context.Context, words []string) (err error) {
	file, ok := strings.CutPrefix(c.to, "sqlite:")
	if !ok || file == "" || c.format != "" || c.out != "" {
		return &command.UsageError{What: "--to needs sqlite:FILE, and no --format or --out"}
	}
	b, err := export.ParseBodies(c.bodies)
	if err != nil {
		return &command.UsageError{What: err.Error()}
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return &command.UsageError{What: file + " exists", Advice: "name a new file"}
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), ".export")
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	recording := filepath.Join(dir, filepath.Base(c.path))
	c.words = words
	return c.with(func(s *store.Store) error {
		ids, err := selected(s, words)
		if err != nil {
			return err
		}
		o := c.options(export.Recording)
		o.Bodies = b
		report, err := writeExport(s, nil, recording, ids, o)
		if err != nil {
			return err
		}
		if _, _, err := fleet.WriteSQLite(ctx, file, recording); err != nil {
			return err
		}
		c.report(report)
		return nil
	})
}

// writeExport writes an export to a new file, or to w if there is no name. What
// could not be written whole is removed.
func writeExport(s *store.Store, w io.Writer, name string, ids []uint64, o export.Options) (report export.Report, err error) {
	recording := o.Format == export.Recording
	if !recording && (name == "" || name == "-") {
		return export.Write(w, s, ids, o)
	}
	f, err := files.Create(name, files.Options{New: true})
	switch {
	case err != nil && recording:
		return report, fmt.Errorf("save recording: %w", err)
	case err != nil:
		return report, fmt.Errorf("export: %w", err)
	case recording:
		return export.Save(f, s, ids, o)
	}
	if report, err = export.Write(f, s, ids, o); err != nil {
		return report, errors.Join(err, f.Abort())
	}
	return report, f.Commit()
}

// report prints how much was exported and what is redacted in it.
func (c *exportCommand) report(r export.Report) {
	const enough = 20
	fmt.Fprintln(c.p.Err, r)
	for i, m := range r.List {
		if i == enough {
			fmt.Fprintf(c.p.Err, "  and %d more\n", r.Redacted-enough)
			break
		}
		fmt.Fprintln(c.p.Err, "  "+clean(m.String()))
	}
}
