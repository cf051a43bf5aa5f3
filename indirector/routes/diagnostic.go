package routes

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
)

// The kinds of diagnostics.
const (
	NotSections    = "DIAG-NOT-SECTIONS"        // routes.yaml is a text (E3)
	NoSection      = "DIAG-NO-SECTION"          // none for this application (S-10)
	UnknownSection = "DIAG-UNKNOWN-SECTION"     // for no application at all
	BothSections   = "DIAG-BOTH-SECTIONS"       // server and master (IND-ROUTE-02)
	IgnoredKey     = "DIAG-IGNORED-KEY"         // beside terminus and cache (IND-ROUTE-07)
	NotGiven       = "DIAG-NOT-GIVEN"           // cache: false (IND-ROUTE-05, S-12)
	StringRest     = "DIAG-STRING-REST"         // IND-ROUTE-09, S-11
	BadTerminus    = "DIAG-BAD-TERMINUS"        // a selection that fails when it is used (IND-SEL-05)
	NoReportCache  = "DIAG-NO-REPORT-CACHE"     // S-33
	Storeconfigs   = "DIAG-STORECONFIGS"        // S-42
	Lacking        = "DIAG-LACKING"             // a terminus that a plugin of Puppet has and this program lacks
	DeprecatedData = "DIAG-DEPRECATED-TERMINUS" // data_binding_terminus other than hiera and none
)

// A Diagnostic is a problem in the routes.
type Diagnostic struct {
	ID          string // one of the constants
	Text        string // the first line of the explanation
	File        string // "" if it is not about a line
	Line        int
	Indirection string // "" if it is about none
	Slot        string // indirector.SlotTerminus, SlotCache or ""
	Source      string // the cause, if it is not a line of the routes file
	Expected    bool   // it is what the setting is for: only traces have it
}

func (d Diagnostic) String() string {
	if d.Line > 0 {
		return at(d.File, d.Line) + ": " + d.Text
	}
	return d.Text
}

// diagnose looks at the finished table.
func (l *loader) diagnose() {
	routes := l.result.Routes
	if c := routes["catalog"].Primary.Winner(); l.in.Application == "agent" && c.Terminus == "rest" && !c.Symbol {
		l.warn(Diagnostic{
			ID: StringRest, Indirection: "catalog", Slot: terminus, Source: c.Source,
			Text: traces.StringRest,
		})
	}
	if report, ok := routes["report"]; ok && l.in.Application == "device" && report.Cache.Winner().Terminus == "" {
		l.warn(Diagnostic{
			ID: NoReportCache, Indirection: "report", Slot: cache, Source: "application device",
			Text: traces.NoLastReport,
		})
	}
	for _, name := range l.in.Registry.Names() {
		l.replaced(name, cache, routes[name].Cache)
		l.replaced(name, terminus, routes[name].Primary)
		l.usable(name, terminus, routes[name].Primary)
		l.usable(name, cache, routes[name].Cache)
	}
	l.deprecated()
}

// replaced warns that the storeconfigs hook decided. That it decided before what the
// application itself routes is a surprise: its own cache is written no more. Rule
// IND-SEL-10.
func (l *loader) replaced(indirection, slot string, s traces.Slot) {
	i := slices.IndexFunc(s, func(c traces.Choice) bool { return c.Kind == traces.FromStoreconfigs && c.Why == "" })
	w := s.Winner()
	if i < 0 || w.Terminus != "store_configs" || w.Kind == traces.FromRoutesFile {
		return
	}
	set, _ := l.in.Settings.Setting("storeconfigs")
	l.warn(Diagnostic{
		ID: Storeconfigs, Indirection: indirection, Slot: slot, Source: set.Source, Expected: w.Kind == traces.FromStoreconfigs,
		Text: fmt.Sprintf("storeconfigs is on: it replaced the %s %s by store_configs", indirection, slot),
	})
}

// usable warns of the error that Puppet raises when the slot is first used.
// Rules IND-SEL-04, IND-SEL-05.
func (l *loader) usable(indirection, slot string, s traces.Slot) {
	w := s.Winner()
	setting := l.in.Registry.Spec(indirection).Setting
	set, _ := l.in.Settings.Setting(setting)
	d := Diagnostic{ID: BadTerminus, Indirection: indirection, Slot: slot, Source: w.Source}
	switch {
	case w.Terminus == "" && slot == cache, w.Terminus == off && slot == cache:
		return
	case w.Terminus == "":
		d.Text, d.Source = "Invalid terminus name nil", "setting "+setting+", "+set.Source
	case set.Err != nil && slot == terminus && strings.HasPrefix(w.Source, "setting "+setting):
		d.Text = set.Err.Error()
	case l.in.owner(indirection, w.Terminus) != "":
		if w.Kind == traces.FromRoutesFile { // its line was warned of
			return
		}
		d.ID, d.Text = Lacking, indirector.Lacking(w.Terminus, l.in.owner(indirection, w.Terminus))
	case !l.in.Registry.Has(indirection, w.Terminus):
		d.Text = fmt.Sprintf("Could not find terminus %s for indirection %s", w.Terminus, indirection)
	default:
		l.passes(d, w.Terminus)
		return
	}
	l.warn(d)
}

// passes warns of a terminus that passes requests on to none that can be asked. Rules
// STORE-SC-01, STORE-SC-07.
func (l *loader) passes(d Diagnostic, terminus string) {
	desc := l.in.Registry.Descriptor(d.Indirection, terminus)
	if desc.Passes == nil {
		return
	}
	env := indirector.Env{Indirection: d.Indirection, Terminus: terminus, Application: l.in.Application, Settings: l.in.Settings}
	c := desc.Passes(env, nil)
	d.Source = c.Source
	switch err := indirector.CheckPassed(terminus, c); {
	case c == traces.Choice{}: // it depends on the request
		return
	case err != nil:
		d.Text = indirector.Message(err)
		l.warn(d)
		return
	case l.in.owner(d.Indirection, c.Terminus) != "":
		d.ID, d.Text = Lacking, indirector.Lacking(c.Terminus, l.in.owner(d.Indirection, c.Terminus))
	case !l.in.Registry.Has(d.Indirection, c.Terminus):
		d.Text = fmt.Sprintf("Could not find terminus %s for indirection %s", c.Terminus, d.Indirection)
	default:
		return
	}
	d.Text += " (" + c.Source + ")"
	l.warn(d)
}

func (l *loader) deprecated() {
	set, ok := l.in.Settings.Setting("data_binding_terminus")
	strict, _ := l.in.Settings.Get("strict")
	if ok && strict != "off" && set.Value != "hiera" && set.Value != "none" && set.Value != "" {
		l.warn(Diagnostic{
			ID: DeprecatedData, Indirection: "data_binding", Slot: terminus, Source: "setting data_binding_terminus, " + set.Source,
			Text: "Setting 'data_binding_terminus' is deprecated. Convert custom terminus to hiera 5 API.",
		})
	}
}
