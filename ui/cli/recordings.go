package cli

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/indirector/host/files"
	"indirtui/indirector/redact"
	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/command"
)

// A lostError is that what a command was to look at is not there: exit code 3.
type lostError struct{ error }

func (e lostError) Unwrap() error { return e.error }

// reading is what the commands that look at a recording share.
type reading struct {
	path string
	mask *redact.Redactor
}

func (r *reading) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&r.path, "recording", "r", "", "the recording to look at (`FILE`)")
}

// open opens the recording and reads it to its end. What is wrong with it is
// said.
func (r *reading) open(p *program) (*store.Store, error) {
	mine, err := p.mine()
	if err != nil {
		return nil, err
	}
	r.mask = redact.New(redact.Rules{Names: mine.Mask})
	if r.path == "" {
		return nil, &command.UsageError{What: "which recording?", Advice: "name it: --recording FILE; they lie in " + stateDir()}
	}
	return p.openRecording(r.path)
}

func (p *program) openRecording(path string) (*store.Store, error) {
	s, err := store.OpenFile(path)
	if err != nil {
		return nil, lostError{err}
	}
	if err := export.Loaded(s); err != nil {
		return nil, errors.Join(lostError{err}, s.Close())
	}
	for _, note := range s.Notes() {
		p.complain(path + ": " + note)
	}
	return s, nil
}

func (r *reading) options(f export.Format) export.Options {
	if r.mask == nil {
		r.mask = redact.New(redact.Rules{})
	}
	return export.Options{Format: f, Source: r.path, Redact: r.mask.Text}
}

// selected returns what a person has selected, and how the words were meant if
// they cannot be.
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

func (p *program) export() *cobra.Command {
	var r reading
	var format, out, bodies string
	cmd := &cobra.Command{
		Use: "export --recording FILE --format FORMAT [SELECTOR]", GroupID: "look",
		Short: "Write requests of a recording for another program",
		Long: `Write requests of a recording for another program:

  recording  a recording with the selected requests alone; needs --out
  jsonl      one JSON object for each request, with its story and its value
  otlp       OTLP/JSON, for collectors of OpenTelemetry
  har        HAR 1.2: what was asked over HTTP; the bytes of bodies are not
             recorded, and _text says what stands for them
  csv        one line for each request
  story      what happened, as text

` + selectorHelp + `

Secrets are masked, always. How many and where is said on standard error and,
but for csv, at the end of the export. "indirtui schema jsonl" prints the schema
of the lines.

Exit code: 0 written, 1 it cannot be written, 2 usage, 3 the recording cannot be
read.`,
		Example: "  indirtui export --recording incident.jsonl --format otlp --out incident.json @run\n  indirtui export --recording incident.jsonl --format csv hidden",
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := export.Parse(format)
			if err != nil {
				return &command.UsageError{What: err.Error()}
			}
			b, err := export.ParseBodies(bodies)
			if err != nil {
				return &command.UsageError{What: err.Error()}
			}
			if f == export.Recording && (out == "" || out == "-") {
				return &command.UsageError{What: "a recording is a file", Advice: "name it: --out FILE"}
			}
			s, err := r.open(p)
			if err != nil {
				return err
			}
			defer s.Close()
			o := r.options(f)
			o.Bodies = b
			return p.exportTo(s, o, out, args)
		},
	}
	r.flags(cmd)
	cmd.Flags().StringVarP(&format, "format", "f", "", "recording, jsonl, otlp, har, csv or story")
	cmd.Flags().StringVarP(&out, "out", "o", "", "write to this file, which must not exist (default standard output)")
	cmd.Flags().StringVar(&bodies, "bodies", string(export.AnyBody), "which values go along: all, small (up to 1 MB), failed (of requests that went wrong, seen or not) or none")
	return cmd
}

// exportTo exports what is selected, and says what is masked.
func (p *program) exportTo(s *store.Store, o export.Options, out string, words []string) error {
	ids, err := selected(s, words)
	if err != nil {
		return err
	}
	report, err := writeExport(s, p.out, out, ids, o)
	if err != nil {
		return err
	}
	p.say(report)
	return nil
}

// writeExport writes an export to a new file, or to w if there is no name. What
// could not be written whole is removed.
func writeExport(s *store.Store, w io.Writer, name string, ids []uint64, o export.Options) (report export.Report, err error) {
	if o.Format == export.Recording {
		return export.Save(name, s, ids, o)
	}
	if name == "" || name == "-" {
		return export.Write(w, s, ids, o)
	}
	f, err := files.Create(name, files.Options{New: true})
	if err != nil {
		return report, fmt.Errorf("export: %w", err)
	}
	if report, err = export.Write(f, s, ids, o); err != nil {
		return report, errors.Join(err, f.Abort())
	}
	return report, f.Commit()
}

// say tells how much was exported and what is masked in it.
func (p *program) say(r export.Report) {
	const enough = 20
	fmt.Fprintln(p.Err, r)
	for i, m := range r.List {
		if i == enough {
			fmt.Fprintf(p.Err, "  and %d more\n", r.Masked-enough)
			break
		}
		fmt.Fprintln(p.Err, "  "+clean(m.String()))
	}
}

func (p *program) story() *cobra.Command {
	var r reading
	cmd := &cobra.Command{
		Use: "story --recording FILE [SELECTOR]", GroupID: "look",
		Short: "Tell what happened in a recording, as text",
		Long: `Tell what happened in a recording: for each request why the answer is what it
is, who answered, who was asked, who decided that, and every step. Runs of agents
come first, each in one sentence.

` + selectorHelp + `

Exit code: 0 told, 2 usage, 3 the recording cannot be read.`,
		Example: "  indirtui story --recording incident.jsonl hidden\n  indirtui story --recording incident.jsonl '#1042'",
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := r.open(p)
			if err != nil {
				return err
			}
			defer s.Close()
			ids, err := selected(s, args)
			if err != nil {
				return err
			}
			for _, told := range runStories(s, ids) {
				fmt.Fprintf(p.out, "%s\n\n", clean(told))
			}
			_, err = export.Write(p.out, s, ids, r.options(export.Story))
			return err
		},
	}
	r.flags(cmd)
	return cmd
}

// A checkResult is what check says as JSON: schema check.
type checkResult struct {
	Recording    string        `json:"recording"`
	Requests     int           `json:"requests"` // in the recording
	Met          bool          `json:"met"`      // every expectation is
	Expectations []checkExpect `json:"expectations"`
}

type checkExpect struct {
	Expect  string         `json:"expect"`
	Met     bool           `json:"met"`
	Found   string         `json:"found"`   // "8 requests", "4.2s"
	Against []checkRequest `json:"against"` // the first thousand that speak against it
}

type checkRequest struct {
	Request     uint64 `json:"request"`
	Verb        string `json:"verb"`
	Indirection string `json:"indirection"`
	Key         string `json:"key"`
	Outcome     string `json:"outcome"`
	Because     string `json:"because"` // the first sentence of its story
}

func (p *program) check() *cobra.Command {
	var r reading
	var expect []string
	var baseline, format string
	cmd := &cobra.Command{
		Use: "check --recording FILE --expect EXPECTATION ...", GroupID: "look", Args: usageArgs(cobra.NoArgs),
		Short: "Hold a recording against what is expected of it",
		Long: `Hold a recording against what is expected of it, for scripts and CI.

  count(EXPR) = 0          how many requests EXPR means; also != < <= > >=
  none(EXPR)               the same as count(EXPR) = 0
  max(FIELD, EXPR) < 2s    the largest of a duration, size or number
  same(FILE, EXPR)         asked, answered and served as in another recording;
                           same(baseline, EXPR) is the one of --baseline

EXPR is an expression as behind / in the interactive program; none means all.
Each request that speaks against an expectation is a line of its own: number,
outcome, what was asked, why. "indirtui schema check" prints the schema of
--format json.

Exit code: 0 all are met, 1 one is not, 2 usage, 3 a recording cannot be read.`,
		Example: `  indirtui check --recording base.jsonl --expect "count(hidden) = 0"
  indirtui check --recording new.jsonl --baseline base.jsonl --expect "same(baseline, ind=catalog)"`,
		RunE: func(*cobra.Command, []string) error {
			expectations, err := parseExpectations(expect)
			if err != nil {
				return err
			}
			if format != "text" && format != "json" {
				return &command.UsageError{What: fmt.Sprintf("--format %s is not known", format), Advice: "there are: text, json"}
			}
			s, err := r.open(p)
			if err != nil {
				return err
			}
			defer s.Close()
			result := checkResult{Recording: r.path, Met: true}
			for range subjects(s) {
				result.Requests++
			}
			for _, x := range expectations {
				one, err := p.checkOne(s, x, baseline)
				if err != nil {
					return err
				}
				result.Met = result.Met && one.Met
				result.Expectations = append(result.Expectations, one)
			}
			if err := p.printCheck(result, format); err != nil {
				return err
			}
			if !result.Met {
				return exit(exitFailed)
			}
			return nil
		},
	}
	r.flags(cmd)
	cmd.Flags().StringArrayVarP(&expect, "expect", "e", nil, "an `EXPECTATION`; may be repeated")
	cmd.Flags().StringVar(&baseline, "baseline", "", "the recording (`FILE`) that same(baseline, …) means")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

func parseExpectations(texts []string) ([]*query.Expectation, error) {
	if len(texts) == 0 {
		return nil, &command.UsageError{What: "what is expected?", Advice: `say it: --expect "count(hidden) = 0"`}
	}
	var all []*query.Expectation
	for _, text := range texts {
		x, err := query.ParseExpectation(text)
		if err != nil {
			return nil, &command.UsageError{What: fmt.Sprintf("--expect %q: %v", text, err)}
		}
		all = append(all, x)
	}
	return all, nil
}

// checkOne holds one expectation against a recording.
func (p *program) checkOne(s *store.Store, x *query.Expectation, baseline string) (checkExpect, error) {
	var before iter.Seq[query.Subject]
	if x.Kind == "same" {
		path := x.Baseline
		if path == "baseline" {
			if path = baseline; path == "" {
				return checkExpect{}, &command.UsageError{What: x.String() + ": which baseline?", Advice: "name it: --baseline FILE"}
			}
		}
		b, err := p.openRecording(path)
		if err != nil {
			return checkExpect{}, err
		}
		defer b.Close()
		before = subjects(b)
	}
	v := x.Check(subjects(s), before)
	one := checkExpect{Expect: x.String(), Met: v.Met, Found: v.Found, Against: []checkRequest{}}
	for _, id := range v.Requests {
		one.Against = append(one.Against, checkedRequest(s, id))
	}
	return one, nil
}

func checkedRequest(s *store.Store, id uint64) checkRequest {
	row, _ := s.Row(id)
	r := checkRequest{Request: id, Verb: row.Verb.String(), Indirection: row.Indirection, Key: row.Key, Outcome: row.Outcome.String(), Because: row.Fault}
	if t, err := s.Trace(id); err == nil {
		r.Because = traces.Story(t)
	}
	return r
}

// subjects are the requests of a recording.
func subjects(s *store.Store) iter.Seq[query.Subject] {
	return func(yield func(query.Subject) bool) {
		rows := make([]store.Row, 256)
		for from := uint64(0); ; {
			n := s.Rows(from, rows)
			for i := range n {
				if u, ok := s.Subject(rows[i].ID); ok && !yield(u) {
					return
				}
			}
			if n == 0 {
				return
			}
			from = rows[n-1].ID + 1
		}
	}
}

func (p *program) printCheck(r checkResult, format string) error {
	if format == "json" {
		return p.jsonOut(r)
	}
	for _, x := range r.Expectations {
		word := "met"
		if !x.Met {
			word = "NOT MET"
		}
		fmt.Fprintf(p.out, "%s: %s (%s)\n", word, clean(x.Expect), clean(x.Found))
		for _, a := range x.Against {
			fmt.Fprintln(p.out, clean(fmt.Sprintf("  #%d  %s  %s %s %s  %s", a.Request, a.Outcome, a.Verb, a.Indirection, a.Key, a.Because)))
		}
		if len(x.Against) == query.MaxRequests {
			fmt.Fprintf(p.out, "  and perhaps more: only the first %d are named\n", query.MaxRequests)
		}
	}
	return nil
}

// stateDir is where recordings lie, for messages.
func stateDir() string {
	dir, err := engine.StateDir()
	if err != nil {
		return "the state directory"
	}
	return dir
}

//go:embed schema
var schemas embed.FS

// schemaNames are the schemas that can be printed.
func schemaNames() []string {
	entries, err := schemas.ReadDir("schema")
	if err != nil {
		panic(err) // it is of this program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

func (p *program) schema() *cobra.Command {
	return &cobra.Command{
		Use: "schema NAME", GroupID: "look", Args: usageArgs(cobra.ExactArgs(1)), ValidArgs: schemaNames(),
		Short: "Print the JSON schema of what a command prints: " + strings.Join(schemaNames(), ", "),
		Long: `Print the JSON schema of what a command prints:

  cache, config, routes, settings,
  termini                            of the same commands with --json
  check, diff, replay                with --format json
  run                                with --format json, of each line
  demo                               demo --list --json
  trace                              find and the others with --trace json
  jsonl                              export --format jsonl, of each line
  har                                export --format har

What was found is written as Puppet writes it, and export --format otlp as
OpenTelemetry says.

Exit code: 0 printed, 2 there is no such schema.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(schemaNames(), args[0]) {
				return &command.UsageError{What: fmt.Sprintf("there is no schema %q", args[0]), Advice: "there are: " + strings.Join(schemaNames(), ", ")}
			}
			b, err := schemas.ReadFile("schema/" + args[0] + ".json")
			if err != nil {
				return err
			}
			_, err = p.out.Write(b)
			return err
		},
	}
}
