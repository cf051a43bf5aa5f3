// Package routes makes the route table of an [indirector.Indirector] from all
// that selects a terminus: defaults in code, settings, defaults and code of the
// application, storeconfigs, and the file routes.yaml.
//
// A slot keeps all its candidates, strongest first, each with its source. Those
// that do not apply (the section of another application, a cache that a route
// cannot switch off, a setting that nothing reads) are kept with the reason:
//
//	result, err := routes.Load(routes.Input{Registry: registry, Settings: s, Application: "agent"})
//	result.Routes["catalog"].Primary // rest, application agent; compiler, setting catalog_terminus, default
package routes

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/settings"
	"indirtui/traces"
)

// Input is the input of Load.
type Input struct {
	Registry    *indirector.Registry
	Settings    *settings.Settings // loaded with Application.Options, so that its defaults are in there
	Application string             // whose code and section apply: "agent"; unknown ones have no code
	Action      string             // of a face, or "--apply": sets termini after the file was read; "" is none
	Bare        bool               // without the code of the application, as in the middle of its start
	File        string             // "" is the setting route_file; it need not exist
	// Owner returns what has a terminus that the Registry lacks, or "". If nil,
	// nothing has.
	Owner func(indirection, terminus string) string
}

func (in Input) owner(indirection, terminus string) string {
	if in.Owner != nil {
		return in.Owner(indirection, terminus)
	}
	return ""
}

// Result is the result of Load. It is valid even if Load failed: Puppet too has
// applied the entries before the one that failed. Rule IND-ROUTE-03.
type Result struct {
	Routes   indirector.Routes
	Warnings []Diagnostic
	File     string   // the routes file that was looked for
	Found    bool     // whether there is one
	Sections []string // its sections in order
}

// An Error is why routes.yaml cannot be used: Puppet ends with it. Rule
// IND-ROUTE-06.
type Error struct {
	File        string
	Line        int    // 0 if it is about no line
	Message     string // Puppet's words, or ours where Puppet's are Ruby's
	Hint        string // what to do; "" if that is obvious
	Indirection string // "" if it is about none
}

func (e *Error) Error() string {
	s := fmt.Sprintf("Could not configure routes from %s: %s", e.File, e.Message)
	switch {
	case e.Line > 0 && e.Hint != "":
		return fmt.Sprintf("%s (%s: %s)", s, e.Source(), e.Hint)
	case e.Line > 0:
		return fmt.Sprintf("%s (%s)", s, e.Source())
	}
	return s
}

// Source returns the position of the error: "routes.yaml:4".
func (e *Error) Source() string { return at(e.File, e.Line) }

func at(file string, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(file), line) }

// Load works out the routes of an application. Its error is an *Error, with a
// Result of all that was applied.
func Load(in Input) (Result, error) {
	app, _ := Find(in.Application)
	if in.Bare {
		app.Assigns, app.CA = nil, ""
	}
	l := &loader{in: in, app: app, action: app.action(in.Action)}
	l.result.Routes = make(indirector.Routes)
	for _, name := range in.Registry.Names() {
		l.result.Routes[name] = indirector.Route{}
	}
	l.face()
	err := l.file()
	l.code()
	l.storeconfigs()
	l.settings()
	l.declarations()

	l.diagnose()
	slices.SortStableFunc(l.result.Warnings, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return l.result, err
}

// A loader fills the slots from the strongest source to the weakest.
type loader struct {
	in     Input
	app    Application
	action Action
	result Result
}

// add puts a choice below all that are there.
func (l *loader) add(indirection, slot string, c traces.Choice) {
	r, ok := l.result.Routes[indirection]
	switch {
	case !ok: // this registry does not have it
		return
	case slot == cache:
		r.Cache = append(r.Cache, c)
	default:
		r.Primary = append(r.Primary, c)
	}
	l.result.Routes[indirection] = r
}

func (l *loader) warn(d Diagnostic) { l.result.Warnings = append(l.result.Warnings, d) }

// face adds the routes of an action that runs after routes.yaml was read.
func (l *loader) face() {
	for _, a := range l.action.Assigns {
		l.add(a.Indirection, a.Slot, traces.Choice{
			Terminus: a.Terminus, Kind: traces.FromFace, Source: l.app.Name + " " + l.action.Name, Symbol: true,
		})
	}
}

// code adds the routes that the application sets when it starts. Rule
// IND-SEL-07.
func (l *loader) code() {
	l.caLocation()
	copied := map[string]bool{}
	for _, a := range l.app.Assigns {
		if a.Setting != "" {
			copied[a.Setting] = true
			l.copySetting(a)
			continue
		}
		l.add(a.Indirection, a.Slot, traces.Choice{
			Terminus: a.Terminus, Kind: traces.FromApplication, Source: "application " + l.app.Name, Symbol: true,
		})
	}
	for _, dead := range [...]Assign{
		{Indirection: "catalog", Slot: cache, Setting: "catalog_cache_terminus"},
		{Indirection: "node", Slot: cache, Setting: "node_cache_terminus"},
	} {
		if copied[dead.Setting] {
			continue
		}
		why := "nobody reads " + dead.Setting
		if l.in.Application != "" {
			why = fmt.Sprintf("application %s does not read %s", l.in.Application, dead.Setting)
		}
		for _, c := range l.chain(dead.Setting) {
			if c.Terminus != "" && c.Kind != traces.FromStoreconfigs {
				c.Why = why
				l.add(dead.Indirection, dead.Slot, c)
			}
		}
	}
}

// caLocation adds the routes of the application's CA location. A server whose
// setting ca is false has none.
func (l *loader) caLocation() {
	where, source := l.app.CA, "application "+l.app.Name
	if set, _ := l.in.Settings.Setting("ca"); l.app.RunMode == "server" && set.Value == "false" && where != "" {
		where, source = caNone, source+", setting ca, "+set.Source
	}
	for _, a := range where.assigns() {
		l.add(a.Indirection, a.Slot, traces.Choice{
			Terminus: a.Terminus, Kind: traces.FromApplication, Source: source, Symbol: true, Note: "CA location " + string(where),
		})
	}
}

// copySetting adds a setting that the application makes its own choice unless
// it is empty.
func (l *loader) copySetting(a Assign) {
	for i, c := range l.chain(a.Setting) {
		if i == 0 && c.Why == "" && c.Terminus != "" {
			c.Kind = traces.FromApplication
			if source := "application " + l.app.Name; !strings.HasPrefix(c.Source, source) {
				c.Source = source + ", " + c.Source
			}
		}
		if c.Terminus != "" {
			l.add(a.Indirection, a.Slot, c)
		}
	}
}

// storeconfigs adds what turning that setting on does. Rule IND-SEL-10.
func (l *loader) storeconfigs() {
	set, _ := l.in.Settings.Setting("storeconfigs")
	c := traces.Choice{
		Terminus: "store_configs", Kind: traces.FromStoreconfigs, Symbol: true,
		Source: "setting storeconfigs, " + set.Source,
	}
	if set.Value != "true" {
		c.Why = "storeconfigs is false"
	}
	l.add("catalog", cache, c)
	l.add("facts", cache, c)
	l.add("resource", terminus, c)
}

// settings adds the settings that name a terminus. Rule IND-SEL-01.
func (l *loader) settings() {
	for _, spec := range l.in.Registry.Specs() {
		if spec.Setting == "" {
			continue
		}
		for _, c := range l.chain(spec.Setting) {
			l.add(spec.Name, terminus, c)
		}
	}
}

// chain returns all candidates for a setting as choices, strongest first.
func (l *loader) chain(name string) []traces.Choice {
	set, ok := l.in.Settings.Setting(name)
	if !ok {
		return nil
	}
	winner := l.fromSetting(name, set.Type, set.Assignment)
	winner.Terminus = set.Value
	chain := []traces.Choice{winner}
	for _, a := range set.Overruled {
		c := l.fromSetting(name, set.Type, a)
		if set.Value == "" && c.Why == "" {
			c.Why = fmt.Sprintf("%s is empty in %s, and that counts", name, set.Source)
		}
		chain = append(chain, c)
	}
	return chain
}

func (l *loader) fromSetting(name, kind string, a settings.Assignment) traces.Choice {
	c := traces.Choice{
		Terminus: a.Value, Kind: traces.FromSetting, Why: a.Why,
		Source:  "setting " + name + ", " + a.Source,
		Setting: name, Symbol: kind == "terminus",
	}
	switch {
	case a.Source == "storeconfigs":
		c.Kind = traces.FromStoreconfigs
	case strings.HasPrefix(a.Source, "application "):
		c.Kind, c.Source = traces.FromApplication, a.Source+", setting "+name
		c.Symbol = c.Symbol || !l.app.strings
	}
	return c
}

// declarations adds the termini that the indirections name themselves.
func (l *loader) declarations() {
	for _, spec := range l.in.Registry.Specs() {
		if spec.Setting == "" {
			l.add(spec.Name, terminus, traces.Choice{
				Terminus: spec.Default, Kind: traces.FromDeclaration, Source: "indirection " + spec.Name, Symbol: true,
			})
		}
	}
}

// file adds the routes of routes.yaml, of all applications.
func (l *loader) file() error {
	file := l.in.File
	if file == "" {
		file, _ = l.in.Settings.Get("route_file")
	}
	l.result.File = file
	if file == "" {
		return nil
	}
	if _, err := os.Stat(file); err != nil {
		return nil // as Ruby's exist?, which has no errors
	}
	l.result.Found = true
	top, err := readYAML(file)
	if err == nil {
		f := routesFile{loader: l, file: file, base: filepath.Base(file)}
		err = f.apply(top)
	}
	var bad *Error
	if err != nil && !errors.As(err, &bad) {
		return &Error{File: file, Message: fmt.Sprintf("read it: %v", err)}
	}
	return err
}
