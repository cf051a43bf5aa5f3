package settings

import (
	"fmt"
	"slices"
	"strings"
)

// The kinds of warnings.
const (
	UnknownSetting   = "DIAG-UNKNOWN-SETTING"   // nothing reads it
	DeprecatedName   = "DIAG-DEPRECATED-NAME"   // it has a newer name
	DeadSetting      = "DIAG-DEAD-SETTING"      // it is set but not read by this application (gap L2)
	BadValue         = "DIAG-BAD-VALUE"         // Puppet fails when it reads it
	NoInterpolation  = "DIAG-NO-INTERPOLATION"  // $environment stays as it is
	Ignored          = "DIAG-IGNORED"           // it is not looked at here
	BadFile          = "DIAG-BAD-FILE"          // environment.conf cannot be understood
	MetadataIgnored  = "DIAG-METADATA-IGNORED"  // { owner = … } on a setting that is not a file
	DuplicateSetting = "DIAG-DUPLICATE-SETTING" // a second line of one section
)

// A Warning is a problem in the settings.
type Warning struct {
	ID     string // one of the constants
	Text   string // without the source
	Source string // "puppet.conf:7 [agent]", "--set"
	File   string // "" if it is not about a file
	Line   int
}

func (w Warning) String() string {
	if w.Source == "" {
		return w.Text
	}
	return w.Source + ": " + w.Text
}

// Warnings returns the warnings, by line of the file, then in Puppet's order.
// The slice is the caller's.
func (s *Settings) Warnings() []Warning { return append([]Warning(nil), s.warnings...) }

func (s *Settings) warn(w Warning) { s.warnings = append(s.warnings, w) }

// maxGuesses bounds the unknown settings of a file that get a suggestion, which
// takes time.
const maxGuesses = 50

// checkEntries warns about lines of puppet.conf.
func (s *Settings) checkEntries(entries []entry) (warnings []Warning) {
	first := map[[2]string]int{}
	master, guesses := false, 0
	for _, e := range entries {
		w := Warning{Source: source(s.file, e), File: s.file, Line: e.line}
		if e.section == "master" && !master {
			master = true
			w.ID, w.Text = DeprecatedName, "section [master] is now called [server]; it is read after it"
			warnings = append(warnings, w)
		}
		def := s.definition(e.name)
		if def == nil {
			hint := ""
			if guesses++; guesses <= maxGuesses {
				hint = s.didYouMean(e.name)
			}
			w.ID, w.Text = UnknownSetting, fmt.Sprintf("there is no setting %q%s", e.name, hint)
			warnings = append(warnings, w)
			continue
		}
		if e.owner+e.group+e.mode != "" && !isFile(def.Type) {
			w.ID, w.Text = MetadataIgnored, fmt.Sprintf(msgMetadata, e.name)
			warnings = append(warnings, w)
		}
		key := [2]string{e.section, e.name}
		if first[key] != 0 {
			w.ID, w.Text = DuplicateSetting, fmt.Sprintf("%s is already set in line %d, which counts", e.name, first[key])
			warnings = append(warnings, w)
			continue
		}
		first[key] = e.line
	}
	return warnings
}

func isFile(kind string) bool {
	switch kind {
	case "file", "directory", "file_or_directory", "autosign":
		return true
	}
	return false
}

// readers are the settings that only some applications read. Rule IND-SEL-07.
var readers = map[string][]string{
	"node_cache_terminus":    {"server", "master"},
	"catalog_cache_terminus": {"agent", "apply", "device"},
}

// checkValues warns about values that are wrong or set in vain.
func (s *Settings) checkValues() {
	for _, set := range s.All() {
		w := Warning{Source: set.Source, File: set.File, Line: set.Line}
		if set.Err != nil && set.Source != "default" { // a default fails only with a setting that it refers to
			w.ID, w.Text = BadValue, set.Err.Error()
			s.warn(w)
		}
		if set.Source == "default" {
			continue
		}
		if set.Known && set.Name != "config_version" && namesEnvironment(set.Raw) {
			w.ID, w.Text = NoInterpolation, fmt.Sprintf(msgEnvironment, set.Name, set.Value)
			s.warn(w)
		}
		by := readers[set.Name]
		app := s.options.Application
		if by == nil || app == "" || slices.Contains(by, app) || set.Source == "storeconfigs" || set.Source == "application "+app || set.Value == "" {
			continue
		}
		w.ID = DeadSetting
		w.Text = fmt.Sprintf("%s = %s has no effect: application %s does not read it, only %s does", set.Name, set.Value, app, strings.Join(by, ", "))
		s.warn(w)
	}
}

func namesEnvironment(s string) bool {
	for _, m := range variable.FindAllStringSubmatch(s, -1) {
		if m[1]+m[2] == "environment" {
			return true
		}
	}
	return false
}
