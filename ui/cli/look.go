package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/routes"
	"indirtui/traces"
	"indirtui/ui/command"
)

func applicationNames() []string {
	var names []string
	for _, a := range routes.Applications() {
		names = append(names, a.Name)
	}
	return names
}

// A routeRow is one slot of the route table, as --json prints it.
type routeRow struct {
	Indirection string         `json:"indirection"`
	Slot        string         `json:"slot"`
	Terminus    string         `json:"terminus"`
	Source      string         `json:"source"`
	Place       string         `json:"place"`
	Exists      bool           `json:"exists"`
	Chain       []routeOpinion `json:"chain"`
}

// A routeOpinion is one opinion on a slot, strongest first.
type routeOpinion struct {
	Terminus string `json:"terminus"`
	Source   string `json:"source"`
	Place    string `json:"place"`
	Applied  bool   `json:"applied"` // false: it was not even looked at; Why says why
	Counts   bool   `json:"counts"`  // it is the one that decides
	Why      string `json:"why,omitempty"`
	Note     string `json:"note,omitempty"`
}

func (p *program) routes() *cobra.Command {
	var asJSON, chain bool
	cmd := &cobra.Command{
		Use: "routes [INDIRECTION]", GroupID: "look", Args: usageArgs(cobra.MaximumNArgs(1)),
		Short: "Who would answer what, and who decided that",
		Long: `Who would answer what, and who decided that: defaults in code, settings, the
application, routes.yaml. With --all every opinion is shown, the overruled and
those not applied included, the strongest first.`,
		RunE: func(_ *cobra.Command, args []string) (err error) {
			e, err := p.engine()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, e.Close()) }()
			rows, err := routeRows(e, args)
			if err != nil {
				return err
			}
			if asJSON {
				return p.jsonOut(rows)
			}
			return p.printRoutes(e, rows, chain)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, every opinion included")
	cmd.Flags().BoolVarP(&chain, "all", "a", false, "every opinion, not only the one that counts")
	return cmd
}

func routeRows(e *engine.Engine, only []string) ([]routeRow, error) {
	rows := []routeRow{}
	for _, name := range e.Registry().Names() {
		if len(only) > 0 && only[0] != name {
			continue
		}
		r, _ := e.Explain(name)
		for _, s := range []struct {
			name string
			slot traces.Slot
		}{{indirector.SlotTerminus, r.Primary}, {indirector.SlotCache, r.Cache}} {
			w := s.slot.Winner()
			row := routeRow{Chain: []routeOpinion{}, Indirection: name, Slot: s.name, Terminus: w.Terminus, Source: w.Kind.String(), Place: w.Source}
			row.Exists = w.Terminus == "" || w.Terminus == indirector.Off || e.Registry().Descriptor(name, w.Terminus) != nil
			decided := false
			for _, c := range s.slot {
				o := routeOpinion{
					Terminus: c.Terminus, Source: c.Kind.String(), Place: c.Source,
					Applied: c.Why == "" && c.Terminus != "", Why: c.Why, Note: c.Note,
				}
				o.Counts = o.Applied && !decided
				decided = decided || o.Applied
				row.Chain = append(row.Chain, o)
			}
			rows = append(rows, row)
		}
	}
	if len(only) > 0 && len(rows) == 0 {
		u := &command.UsageError{What: fmt.Sprintf("no indirection is called %q", only[0]), Advice: "there are: " + strings.Join(e.Registry().Names(), ", ")}
		if near := e.Registry().Nearest(only[0]); near != "" {
			u.Advice = "did you mean " + near + "? " + u.Advice
		}
		return nil, u
	}
	return rows, nil
}

func (p *program) printRoutes(e *engine.Engine, rows []routeRow, chain bool) error {
	fmt.Fprintf(p.out, "application %s, environment %s, %s\n\n", e.Application, e.Configuration().Environment, describeFile(e))
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "INDIRECTION\tSLOT\tTERMINUS\tSET BY\tPLACE")
	for _, r := range rows {
		if r.Slot == indirector.SlotCache && r.Terminus == "" && (!chain || len(r.Chain) == 0) {
			continue
		}
		terminus := r.Terminus
		if !r.Exists {
			terminus += " (not in this build)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Indirection, r.Slot, clean(terminus), r.Source, clean(r.Place))
		if !chain {
			continue
		}
		for _, c := range r.Chain {
			said := "overruled"
			switch {
			case c.Counts:
				continue
			case c.Why != "":
				said = "NOT APPLIED: " + c.Why
			}
			fmt.Fprintf(w, "\t\t  %s\t%s\t%s\n", clean(c.Terminus), c.Source, clean(c.Place+"  "+said))
		}
	}
	return w.Flush()
}

func describeFile(e *engine.Engine) string {
	if !e.Configuration().RoutesFile.Found {
		return "no " + clean(e.Configuration().RoutesFile.File)
	}
	return fmt.Sprintf("%s with sections %s", clean(e.Configuration().RoutesFile.File), clean(strings.Join(e.Configuration().RoutesFile.Sections, ", ")))
}

// A terminusRow is what is said about a terminus, as --json prints it.
type terminusRow struct {
	Indirection  string            `json:"indirection"`
	Terminus     string            `json:"terminus"`
	Doc          string            `json:"doc"`
	Verbs        []string          `json:"verbs"`
	Settings     map[string]string `json:"settings"`
	KeepsExpiry  bool              `json:"keeps_expiry"`
	ProcessLocal bool              `json:"process_local"`
	AlwaysNil    bool              `json:"always_nil"`
	Rules        []string          `json:"rules"`
}

func (p *program) terminiCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "termini [INDIRECTION]", GroupID: "look", Args: usageArgs(cobra.MaximumNArgs(1)),
		Short: "The termini of this build, and what each can do",
		RunE: func(_ *cobra.Command, args []string) error {
			rows := p.terminusRows(args)
			if len(rows) == 0 {
				return &command.UsageError{What: fmt.Sprintf("no indirection with termini is called %q", args[0])}
			}
			if asJSON {
				return p.jsonOut(rows)
			}
			w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "INDIRECTION\tTERMINUS\tFIND\tSRCH\tHEAD\tSAVE\tDSTR\tEXPIRY\tABOUT")
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s", r.Indirection, r.Terminus)
				for _, verb := range command.Verbs() {
					fmt.Fprint(w, "\t", tick(slices.Contains(r.Verbs, verb)))
				}
				fmt.Fprintf(w, "\t%s\t%s\n", expiryWord(r), firstSentence(r.Doc))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, with settings and rules")
	return cmd
}

func (p *program) terminusRows(only []string) []terminusRow {
	rows := []terminusRow{}
	for _, d := range p.termini {
		if len(only) > 0 && d.Indirection != only[0] {
			continue
		}
		r := terminusRow{
			Indirection: d.Indirection, Terminus: d.Name, Doc: d.Doc, Settings: map[string]string{}, Verbs: []string{},
			KeepsExpiry: d.KeepsExpiry, ProcessLocal: d.ProcessLocal, AlwaysNil: d.AlwaysNil, Rules: append([]string{}, d.Rules...),
		}
		can := indirector.VerbsOf(d.Type)
		for _, verb := range command.Verbs() {
			if can[traces.ParseVerb(verb)] != nil {
				r.Verbs = append(r.Verbs, verb)
			}
		}
		for _, s := range d.Settings {
			r.Settings[s.Name] = s.Doc
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b terminusRow) int { return strings.Compare(a.Indirection, b.Indirection) })
	return rows
}

func tick(can bool) string {
	if can {
		return "x"
	}
	return "."
}

func expiryWord(r terminusRow) string {
	switch {
	case r.ProcessLocal:
		return "in memory"
	case r.KeepsExpiry:
		return "kept"
	case slices.Contains(r.Verbs, "save"):
		return "dropped"
	}
	return "-"
}

func firstSentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i+1]
	}
	return s
}

func (p *program) settings() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use: "settings [NAME ...]", GroupID: "look",
		Short: "Puppet's settings as they are in force, and where each comes from",
		RunE: func(_ *cobra.Command, args []string) (err error) {
			e, err := p.engine()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, e.Close()) }()
			rows, err := settingRows(e, args, all)
			if err != nil {
				return err
			}
			if asJSON {
				return p.jsonOut(rows)
			}
			return p.printSettings(rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "those at their default too")
	return cmd
}

// A settingRow is one setting, as --json prints it.
type settingRow struct {
	Name      string   `json:"name"`
	Value     string   `json:"value"`
	Place     string   `json:"place"`
	Known     bool     `json:"known"`
	Overruled []string `json:"overruled"`
}

// settingRows are the settings by those names, or all that somebody set, or all.
func settingRows(e *engine.Engine, names []string, all bool) ([]settingRow, error) {
	rows := []settingRow{}
	now := e.Settings.Load()
	for _, s := range now.All() {
		if len(names) > 0 && !slices.Contains(names, s.Name) || len(names) == 0 && !all && s.Source == "default" {
			continue
		}
		r := settingRow{Name: s.Name, Value: e.RedactSetting(s.Name, s.Value), Place: s.Source, Known: s.Known, Overruled: []string{}}
		for _, a := range s.Overruled {
			if a.Value == "" && a.Source == "default" {
				continue
			}
			r.Overruled = append(r.Overruled, e.RedactSetting(s.Name, a.Value)+" ("+a.Source+")")
		}
		rows = append(rows, r)
	}
	for _, name := range names {
		if _, ok := now.Setting(name); !ok {
			return nil, &command.UsageError{What: fmt.Sprintf("no setting is called %q", name)}
		}
	}
	return rows, nil
}

func (p *program) printSettings(rows []settingRow) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tPLACE")
	for _, r := range rows {
		place := r.Place
		if !r.Known {
			place += " (unknown setting)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", clean(r.Name), clean(r.Value), clean(place))
		for _, o := range r.Overruled {
			fmt.Fprintf(w, "\t  overruled: %s\t\n", clean(o))
		}
	}
	return w.Flush()
}

// A cacheRow is one entry of one cache, as --json prints it.
type cacheRow struct {
	Indirection string     `json:"indirection"`
	Key         string     `json:"key"`
	Terminus    string     `json:"terminus"`
	State       string     `json:"state"` // fresh, stale, immortal, unreadable
	Routed      bool       `json:"routed"`
	Path        string     `json:"path,omitempty"`
	Size        int64      `json:"size"`
	Written     time.Time  `json:"written"`
	Expires     *time.Time `json:"expires,omitempty"`
	Error       string     `json:"error,omitempty"`
}

func (p *program) cache() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "cache [INDIRECTION]", GroupID: "look", Args: usageArgs(cobra.MaximumNArgs(1)),
		Short: "What is stored in the termini that can be listed, and how long it lives",
		Long: `What is stored in the termini that can be listed, whether they are routed or
not: an entry of a terminus that nobody asks is an orphan. An immortal entry is
one whose format does not keep the expiration: it is served for ever.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			e, err := p.engine()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, e.Close()) }()
			rows, err := cacheRows(cmd.Context(), e, args)
			if err != nil {
				return err
			}
			if asJSON {
				return p.jsonOut(rows)
			}
			w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "INDIRECTION\tKEY\tTERMINUS\tSTATE\tROUTED\tAGE\tEXPIRES\tSIZE\tPATH")
			now := time.Now()
			for _, r := range rows {
				expires := "never"
				if r.Expires != nil {
					expires = r.Expires.Format(time.RFC3339)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", r.Indirection, clean(r.Key), r.Terminus, r.State,
					tick(r.Routed), now.Sub(r.Written).Round(time.Second), expires, r.Size, clean(r.Path))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func cacheRows(ctx context.Context, e *engine.Engine, only []string) ([]cacheRow, error) {
	entries, err := e.Entries(ctx, only...)
	if err != nil {
		return nil, err
	}
	rows := make([]cacheRow, 0, len(entries))
	now := time.Now()
	for _, en := range entries {
		r := cacheRow{
			Indirection: en.Indirection, Key: en.Key, Terminus: en.Terminus, Routed: e.Routed(en.Indirection, en.Terminus),
			Path: en.Path, Size: en.Size, Written: en.Written, State: "fresh",
		}
		switch {
		case en.Err != nil:
			r.State, r.Error = "unreadable", en.Err.Error()
		case !en.KeepsExpiry || en.Expiration.IsZero():
			r.State = "immortal"
		case en.Expiration.Before(now):
			r.State = "stale"
		}
		if !en.Expiration.IsZero() {
			r.Expires = &en.Expiration
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", GroupID: "look", Args: usageArgs(cobra.NoArgs),
		Short: "The version of this program, and what it is compatible with",
		RunE: func(*cobra.Command, []string) error {
			version, revision := "(devel)", ""
			if info, ok := debug.ReadBuildInfo(); ok {
				if v := info.Main.Version; v != "" {
					version = v
				}
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = " " + s.Value[:min(12, len(s.Value))]
					}
				}
			}
			fmt.Fprintf(p.out, "indirtui %s%s\nspeaks Puppet 7 and 8; %d termini of %d indirections\n", version, revision, len(p.termini), len(p.specs))
			return nil
		},
	}
}

// man prints the page of the program, or that of one of its commands.
func (p *program) man(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "man [COMMAND]", GroupID: "look", Args: usageArgs(cobra.MaximumNArgs(1)),
		Short: "Print the manual page of the program, or of a command",
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return &command.UsageError{What: fmt.Sprintf("no command is called %q", strings.Join(args, " ")), Advice: "see indirtui --help"}
			}
			root.DisableAutoGenTag = true
			title := strings.ToUpper(strings.ReplaceAll(about.CommandPath(), " ", "-"))
			return doc.GenMan(about, &doc.GenManHeader{Title: title, Section: "1", Source: "indirtui", Manual: "indirtui"}, p.out)
		},
	}
}
