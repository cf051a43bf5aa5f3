package routes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/spell"
)

// A routesFile is routes.yaml while it is being applied.
type routesFile struct {
	*loader
	file, base string
}

func (f *routesFile) fail(v value, indirection, format string, args ...any) *Error {
	return &Error{File: f.file, Line: v.line(), Indirection: indirection, Message: fmt.Sprintf(format, args...)}
}

func (f *routesFile) note(id string, v value, format string, args ...any) {
	f.warn(Diagnostic{ID: id, Text: fmt.Sprintf(format, args...), File: f.file, Line: v.line()})
}

// apply does with the file what Puppet does. Specification, section 5.
func (f *routesFile) apply(top value) error {
	app := f.in.Application
	switch top.kind {
	case isMap:
	case isNil: // E1, of no line
		return &Error{File: f.file, Message: f.base + " is empty"}
	case isFalse: // E1
		return f.fail(top, "", "%s is empty", f.base)
	case isString, isSymbol: // E3; Puppet looks for the names as parts of the text
		if app != "" && strings.Contains(top.text, app) || strings.Contains(top.text, "server") != strings.Contains(top.text, "master") {
			return f.fail(top, "", "%s is %s, not sections by application", f.base, top.describe())
		}
		f.note(NotSections, top, "%s is %s, not sections by application; Puppet ignores it", f.base, top.describe())
		return nil
	default: // E2
		return f.fail(top, "", "%s is %s, not sections by application", f.base, top.describe())
	}
	sections, err := pairs(top.node)
	if err != nil {
		return f.fail(top, "", "%v", err)
	}
	byName := map[string]pair{}
	for _, s := range sections {
		if f.section(s) {
			byName[s.key.text] = s
		}
	}
	mine, ok := f.choose(byName)
	var bad error
	if ok {
		bad = f.entries(mine)
	} else if app != "" {
		f.warn(Diagnostic{ID: NoSection, File: f.file, Text: fmt.Sprintf("%s has no section for application '%s'; sections present: %s",
			f.base, app, cmp.Or(strings.Join(f.result.Sections, ", "), "none"))})
	}
	for _, s := range sections {
		if s.key.kind == isString && (!ok || s.key.text != mine.key.text) {
			f.others(s)
		}
	}
	return bad
}

// section warns of an odd name of a section and reports whether Puppet can find
// it.
func (f *routesFile) section(s pair) bool {
	f.result.Sections = append(f.result.Sections, sectionName(s.key))
	if s.key.kind != isString {
		f.note(UnknownSection, s.key, "section %s is never found: its name is %s, not a text", sectionName(s.key), s.key.describe())
		return false
	}
	if _, known := Find(s.key.text); !known && s.key.text != f.in.Application {
		near := ""
		if n := spell.Nearest(s.key.text, applicationNames()); n != "" {
			near = fmt.Sprintf("; did you mean '%s'?", n)
		}
		f.note(UnknownSection, s.key, "no application is called '%s'%s", s.key.text, near)
	}
	return true
}

func sectionName(key value) string {
	if key.kind == isSymbol {
		return ":" + key.text
	}
	if key.kind == isMap || key.kind == isList {
		return key.describe()
	}
	return key.text
}

// choose returns the section of the application. Server and master stand in
// for each other. Rules IND-ROUTE-01, IND-ROUTE-02.
func (f *routesFile) choose(sections map[string]pair) (pair, bool) {
	server, master := sections["server"], sections["master"]
	switch {
	case server.value.given() && master.value.given():
		f.note(BothSections, master.key, "Route file %s contains both server and master route settings.", f.file)
	case server.value.given():
		sections["master"] = server
	case master.value.given():
		sections["server"] = master
	}
	s, ok := sections[f.in.Application]
	return s, ok
}

// others keeps the section of another application.
func (f *routesFile) others(s pair) {
	entries, err := s.value.entries()
	if err != nil {
		return
	}
	why := fmt.Sprintf("section '%s' is not for application '%s'", s.key.text, f.in.Application)
	for _, e := range entries {
		f.keep(e, why)
	}
}

// keep keeps an entry that is not applied.
func (f *routesFile) keep(e pair, why string) {
	if e.value.kind != isMap || e.key.kind != isString && e.key.kind != isSymbol {
		return
	}
	keys, err := pairs(e.value.node)
	if err != nil {
		return
	}
	for _, k := range keys {
		if v := k.value; k.key.kind == isString && (k.key.text == terminus || k.key.text == cache) && (v.kind == isString || v.kind == isSymbol) {
			c := f.choice(k.key, v)
			c.Why = why
			f.add(e.key.text, k.key.text, c)
		}
	}
}

func (f *routesFile) choice(key, v value) traces.Choice {
	return traces.Choice{Terminus: v.text, Kind: traces.FromRoutesFile, Source: at(f.file, key.line()), Symbol: v.kind == isSymbol}
}

// entries applies the section of this application, up to the first entry that
// fails. Rule IND-ROUTE-03.
func (f *routesFile) entries(section pair) error {
	v := section.value
	switch {
	case !v.given(): // IND-ROUTE-08
		return nil
	case v.kind != isMap && v.kind != isList: // E6
		return f.fail(v, "", "section '%s' is %s, not entries by indirection", section.key.text, v.describe())
	}
	entries, err := v.entries()
	if err != nil {
		return f.fail(v, "", "%v", err)
	}
	for i, e := range entries {
		bad := f.entry(e)
		if bad == nil {
			continue
		}
		for _, later := range entries[i+1:] {
			f.keep(later, fmt.Sprintf("an entry above failed (%s)", bad.Source()))
		}
		return bad
	}
	return nil
}

// entry applies the entry of one indirection.
func (f *routesFile) entry(e pair) *Error {
	if e.key.kind != isString && e.key.kind != isSymbol {
		return f.fail(e.key, "", "the name of an indirection is %s, not a text", e.key.describe())
	}
	name := e.key.text
	if e.value.kind != isMap { // E7, E8
		return f.fail(e.key, name, "entry '%s' is %s; it needs a terminus or a cache, as in {terminus: yaml}", name, e.value.describe())
	}
	keys, err := pairs(e.value.node)
	if err != nil {
		return f.fail(e.value, name, "%v", err)
	}
	var primary, cached pair
	for _, k := range keys {
		switch {
		case k.key.kind == isString && k.key.text == terminus:
			primary = k
		case k.key.kind == isString && k.key.text == cache:
			cached = k
		default: // IND-ROUTE-07
			f.ignored(k.key)
		}
	}
	f.notGiven(name, primary)
	f.notGiven(name, cached)
	first := primary
	if !primary.value.given() {
		first = cached
	}
	if !first.value.given() {
		bad := f.fail(e.key, name, "entry '%s' has neither a terminus nor a cache", name)
		if cached.key.node != nil {
			bad.Hint = "a route cannot disable a cache"
		}
		return bad
	}
	if bad := f.scalar(name, first); bad != nil {
		return bad
	}
	if f.in.Registry.Spec(name) == nil { // E9
		bad := f.fail(e.key, name, "Indirection %s does not exist", name)
		bad.Hint = didYouMean(f.in.Registry.Nearest(name))
		return bad
	}
	for _, p := range []pair{primary, cached} {
		if !p.value.given() {
			continue
		}
		if bad := f.set(name, p); bad != nil {
			return bad
		}
	}
	return nil
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", name)
}

// scalar refuses a value that is not a name. E12
func (f *routesFile) scalar(indirection string, p pair) *Error {
	if p.value.kind == isString || p.value.kind == isSymbol {
		return nil
	}
	return f.fail(p.key, indirection, "the %s of %s is %s, not the name of a terminus", p.key.text, indirection, p.value.describe())
}

// set is Puppet's set_global_setting: it validates, then assigns. Rule
// IND-SEL-05.
func (f *routesFile) set(indirection string, p pair) *Error {
	bad := f.scalar(indirection, p)
	c := f.choice(p.key, p.value)
	switch {
	case bad != nil:
	case p.value.text == "": // E11
		bad = f.fail(p.key, indirection, `Invalid terminus name ""`)
	case f.in.owner(indirection, c.Terminus) != "":
		f.warn(Diagnostic{
			ID: Lacking, Indirection: indirection, Slot: p.key.text, File: f.file, Line: p.key.line(),
			Text: indirector.Lacking(c.Terminus, f.in.owner(indirection, c.Terminus)),
		})
	case !f.in.Registry.Has(indirection, c.Terminus): // E10
		bad = f.fail(p.key, indirection, "Could not find terminus %s for indirection %s", c.Terminus, indirection)
		bad.Hint = didYouMean(f.in.Registry.NearestTerminus(indirection, c.Terminus))
		if p.key.text == cache && slices.Contains([]string{"none", "off", "disabled"}, c.Terminus) {
			bad.Hint = fmt.Sprintf("%s is not a terminus of %s; a route cannot disable a cache", c.Terminus, indirection)
		}
	}
	if bad != nil {
		c.Why = bad.Message
	}
	f.add(indirection, p.key.text, c)
	return bad
}

// notGiven keeps "cache: false" and the like, which change nothing. Rule
// IND-ROUTE-05.
func (f *routesFile) notGiven(indirection string, p pair) {
	if p.key.node == nil || p.value.given() {
		return
	}
	why := "a route cannot unset a terminus"
	if p.key.text == cache {
		why = "a route cannot disable a cache"
	}
	shown := p.value.text
	if p.value.kind == isNil {
		shown = "~"
	}
	f.add(indirection, p.key.text, traces.Choice{Kind: traces.FromRoutesFile, Source: at(f.file, p.key.line()), Why: why})
	f.warn(Diagnostic{
		ID: NotGiven, Indirection: indirection, Slot: p.key.text, File: f.file, Line: p.key.line(),
		Text: fmt.Sprintf("%s: %s of %s changes nothing; %s", p.key.text, shown, indirection, why),
	})
}

func (f *routesFile) ignored(key value) {
	text := fmt.Sprintf("key '%s' is ignored; an entry has only terminus and cache", sectionName(key))
	if n := spell.Nearest(key.text, []string{terminus, cache}); n != "" {
		text = fmt.Sprintf("key '%s' is ignored; did you mean '%s'?", sectionName(key), n)
	}
	f.note(IgnoredKey, key, "%s", text)
}
