package probe

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/traces"
)

// A rule explains the answer or the failure of a request of real Puppet, in the
// words in which the termini of this program do; "" if it is about something else.
// It sees what the probe has reported, and no more.
type rule func(t *traces.Trace, p *Process) string

// answers are the rules for requests that did not fail. The first that applies
// explains.
var answers = []rule{
	httpNothing, emptyClassifier, emptyFile, otherEnvironment, lateFile, yamlCatalog, yamlSearch, factSearch, twins, notDestroyed, bucketPath, percent,
	withoutDate, localBucket, ignoredHost, localFiles,
}

// failures are those for requests that did.
var failures = []rule{classifierFailed, noStore, noFormat, olderYAML, noDirectory, otherDigest, noMount}

// parties are what users call termini of Puppet.
var parties = map[string]string{
	"rest": "the server", "facter": "facter", "compiler": "the compiler", "puppetdb": "PuppetDB", "puppetdb_apply": "PuppetDB", "ldap": "the directory",
	"network_device": "the device",
}

// explain adds to a request what its terminus would have explained if it was one of
// this program.
func explain(t *traces.Trace, p *Process) {
	t.Party = parties[t.Primary.Winner().Terminus]
	caller(t, p)
	serverFailed(t, p)
	stringRest(t)
	passed(t, p)
	if t.Error == "" {
		for _, r := range answers {
			if text := r(t, p); text != "" {
				t.Notes = append(t.Notes, traces.Remark{Step: decisive(t), Explains: traces.AnAnswer, Text: text})
				return
			}
		}
		return
	}
	for _, r := range failures {
		if text := r(t, p); text != "" {
			step := traces.Terminus
			if i := slices.IndexFunc(t.Faults, func(f traces.Fault) bool { return f.Shown }); i >= 0 {
				step = t.Faults[i].Step
			}
			t.Notes = append(t.Notes, traces.Remark{Step: step, Explains: traces.AnyFailure, Text: text})
			return
		}
	}
}

// decisive is the step that answered.
func decisive(t *traces.Trace) traces.Step {
	if t.Served == traces.ByCache || t.Steps[traces.Expiry].Answer == traces.Expired {
		return traces.CacheRead
	}
	return traces.Terminus
}

// passed is which setting named the terminus that another one passed a request on to,
// and that some of those are only written.
func passed(t *traces.Trace, p *Process) {
	_, place := p.setting("storeconfigs_backend")
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Kind == traces.Choose && place != "" && strings.HasPrefix(s.Name, "store_configs asks ") {
			s.Because = traces.Because{Reason: traces.BySetting, About: "setting storeconfigs_backend, " + place}
		}
	}
	cache := t.Passed(traces.CacheRead)
	if cache == "" {
		cache = t.Cache.Winner().Terminus
	}
	if q := &t.Steps[traces.CacheRead]; q.Answer == traces.Miss && (cache == "puppetdb_apply" || cache == "puppetdb" && t.Indirection != "facts") {
		q.Because.Reason = traces.AlwaysNil
	}
}

// setting returns a setting of the process, and where it was set.
func (p *Process) setting(name string) (value, place string) {
	for _, s := range p.Settings {
		if s[0] == name {
			return s[1], s[2]
		}
	}
	return "", ""
}

// nothing reports whether a find was asked of a terminus and had no answer.
func nothing(t *traces.Trace) bool {
	return t.Verb == traces.Find && t.Steps[traces.Terminus].Answer == traces.Nothing
}

// span returns the first span of a kind that a step has; nil if there is none.
func span(t *traces.Trace, kind traces.Kind, step traces.Step) *traces.Span {
	i := slices.IndexFunc(t.Spans, func(s traces.Span) bool { return s.Kind == kind && s.Step == step })
	if i < 0 {
		return nil
	}
	return &t.Spans[i]
}

// asked is the terminus that was asked in the end.
func asked(t *traces.Trace) string {
	if to := t.Passed(traces.Terminus); to != "" {
		return to
	}
	return t.Primary.Winner().Terminus
}

// The methods of Puppet's configurer in which an agent asks, which the probe puts
// behind the line.
const (
	nodeLookup = "current_server_specified_environment"
	newCatalog = "retrieve_new_catalog"
	oldCatalog = "retrieve_catalog_from_cache"
	sendReport = "send_report"
)

// caller puts in words why an agent asks, and what it does about an error.
func caller(t *traces.Trace, p *Process) {
	line, method, _ := strings.Cut(strings.TrimSuffix(t.Caller, ")"), " (")
	what, did := "", ""
	switch usesOld, _ := p.setting("usecacheonfailure"); method {
	case nodeLookup:
		what, did = "node lookup", "the run goes on without it"
	case newCatalog:
		if did = "cached_catalog_status=on_failure"; usesOld == "false" {
			did = "run skipped, as --test forbids the cached catalog"
		}
	case oldCatalog:
		if on, _ := p.setting("use_cached_catalog"); on == "true" {
			what = "use_cached_catalog"
		}
	case sendReport:
		did = "only the local copy was written"
	}
	if what != "" {
		t.Caller = line + " (" + what + ")"
	}
	if t.Error != "" && did != "" {
		t.Steps[traces.Caller].Because = traces.Because{Reason: traces.Rescued, About: "configurer " + method + ": " + did}
	}
}

// stringRest notes what an agent does not do if its terminus is no symbol. Rule
// IND-ROUTE-09.
func stringRest(t *traces.Trace) {
	if t.Application != "agent" || t.Indirection != "catalog" {
		return
	}
	for i := range t.Primary {
		c := &t.Primary[i]
		if c.Why != "" || c.Terminus == "" {
			continue
		}
		if c.Terminus == "rest" && !c.Symbol {
			t.Primary = slices.Clone(t.Primary)
			t.Primary[i].Note = traces.StringRest
		}
		return
	}
}

func emptyClassifier(t *traces.Trace, _ *Process) string {
	if t.Indirection != "node" || asked(t) != "exec" || !nothing(t) {
		return ""
	}
	return traces.EmptyClassifier
}

// classifierFailed has what the command wrote to its standard error, which Puppet
// throws away.
func classifierFailed(t *traces.Trace, _ *Process) string {
	s := span(t, traces.Exec, traces.Terminus)
	switch {
	case s == nil || t.Indirection != "node" || asked(t) != "exec" || s.Attr("exit") == "0":
		return ""
	case s.Err != "":
		return traces.ClassifierNotStarted(s.Err + ": " + s.Attr("command"))
	case s.Attr("exit") == "":
		return ""
	}
	return traces.ClassifierFailed(s.Attr("exit"), s.Attr("stderr"))
}

func emptyFile(t *traces.Trace, _ *Process) string {
	s := span(t, traces.File, traces.Terminus)
	if t.Steps[traces.Terminus].Answer != traces.False || s == nil || s.Attr("bytes") != "0" || filepath.Ext(s.Attr("path")) != ".yaml" {
		return ""
	}
	return traces.EmptyYAML
}

// otherEnvironment is about a catalog that is empty by design.
func otherEnvironment(t *traces.Trace, _ *Process) string {
	for i := range t.Spans {
		env := t.Spans[i].Attr(traces.AttrEnvironment)
		if env != "" && t.Environment != "" && env != t.Environment && t.Indirection == "catalog" && asked(t) == "compiler" {
			return traces.OtherEnvironment(t.Key, env, t.Environment)
		}
	}
	return ""
}

// lateFile is about an expired instance whose file was written after that. Gap S-50.
func lateFile(t *traces.Trace, _ *Process) string {
	s, q := span(t, traces.File, traces.CacheRead), t.Steps[traces.Expiry]
	if s == nil || q.Answer != traces.Expired {
		return ""
	}
	text, _, _ := strings.Cut(q.Because.About, ", ")
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !s.Written().After(at) {
		return ""
	}
	return traces.LateFile(at, s.Written(), t.Start)
}

func yamlCatalog(t *traces.Trace, p *Process) string {
	if !p.current() || t.Indirection != "catalog" || t.Served != traces.ByCache || t.Cache.Winner().Terminus != "yaml" {
		return ""
	}
	return traces.YAMLCatalog
}

// found is how many instances a search has found; -1 if it was none.
func found(t *traces.Trace) int {
	if t.Verb != traces.Search || t.Steps[traces.Terminus].Answer != traces.OK {
		return -1
	}
	n, err := strconv.Atoi(t.Steps[traces.Terminus].Because.About)
	if err != nil {
		return -1
	}
	return n
}

func yamlSearch(t *traces.Trace, _ *Process) string {
	if found(t) != 0 || asked(t) != "yaml" || t.Indirection == "facts" || strings.ContainsAny(t.Key, "*?[{") || filepath.Ext(t.Key) == ".yaml" {
		return ""
	}
	return traces.YAMLSearch(t.Key)
}

// factSearch is about a condition that no node can meet. Rule TERM-FQ-04.
func factSearch(t *traces.Trace, _ *Process) string {
	if found(t) != 0 || t.Indirection != "facts" || asked(t) != "yaml" && asked(t) != "json" {
		return ""
	}
	for _, o := range t.Options {
		parts := strings.Split(o.Name, ".")
		if len(parts) < 3 || parts[0] != "facts" || slices.Contains([]string{"eq", "ne", "lt", "le", "gt", "ge"}, parts[2]) {
			continue
		}
		return traces.NestedFact(parts[1], parts[2])
	}
	return ""
}

// twins is about a terminus of which there are two: one for the symbol, one for the
// string. Rule IND-TERM-09.
func twins(t *traces.Trace, _ *Process) string {
	own := t.Primary.Winner()
	other := slices.ContainsFunc(t.Primary, func(c traces.Choice) bool {
		return c.Why == "" && c.Terminus == own.Terminus && c.Symbol != own.Symbol
	})
	if own.Terminus != "memory" || !other || !nothing(t) {
		return ""
	}
	return traces.TwoStores(&own)
}

func notDestroyed(t *traces.Trace, _ *Process) string {
	s := span(t, traces.Choose, traces.Terminus)
	if t.Verb != traces.Destroy || t.Primary.Winner().Terminus != "store_configs" || s == nil || s.Answer != traces.Save.String() {
		return ""
	}
	return traces.DestroySaves
}

// bucketPath is about content that is there, but for other paths.
func bucketPath(t *traces.Trace, _ *Process) string {
	parts := strings.SplitN(t.Key, "/", 3)
	if !nothing(t) || t.Indirection != "file_bucket_file" || asked(t) != "file" || len(parts) < 3 || parts[2] == "" || span(t, traces.File, traces.Terminus) == nil {
		return ""
	}
	return traces.OtherPath(parts[2])
}

// otherDigest is about a checksum of another kind than that of the bucket.
func otherDigest(t *traces.Trace, p *Process) string {
	kind, _, _ := strings.Cut(t.Key, "/")
	keeps, _ := p.setting("digest_algorithm")
	if t.Indirection != "file_bucket_file" || asked(t) != "file" || keeps == "" || !strings.HasPrefix(t.Error, "Unsupported checksum type ") {
		return ""
	}
	return traces.OtherDigest(kind, keeps)
}

func localBucket(t *traces.Trace, _ *Process) string {
	if t.Indirection != "file_bucket_file" || t.Primary.Winner().Terminus != "selector" || asked(t) != "file" || host(t.Key) != "" {
		return ""
	}
	return traces.LocalBucket
}

func ignoredHost(t *traces.Trace, p *Process) string {
	if !p.current() || t.Indirection != "file_bucket_file" || asked(t) != "rest" || host(t.Key) == "" {
		return ""
	}
	return traces.IgnoredHost
}

// host is the one that a key names as a URL does; "" if it is none.
func host(key string) string {
	u, err := url.Parse(key)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// localFiles is about sources without a host, which the setting default_file_terminus
// looks for.
func localFiles(t *traces.Trace, p *Process) string {
	if t.Indirection != "file_metadata" && t.Indirection != "file_content" || t.Primary.Winner().Terminus != "selector" || !strings.HasPrefix(t.Key, "puppet:///") {
		return ""
	}
	_, place := p.setting("default_file_terminus")
	switch name := asked(t); {
	case name == "file_server" && strings.HasPrefix(place, "application "):
		return traces.LocalSource(t.Application)
	case name == "file_server" && place != "default":
		return traces.LocalSourceBy("setting default_file_terminus, " + place)
	}
	return ""
}

func percent(t *traces.Trace, _ *Process) string {
	if !nothing(t) || asked(t) != "file_server" {
		return ""
	}
	return traces.Percent(t.Key)
}

// noMount is about a refusal: before Puppet 7, fileserver.conf has rules that refuse, too.
func noMount(t *traces.Trace, p *Process) string {
	if !p.current() || t.Steps[traces.Authorize].Answer != traces.Denied || asked(t) != "file_server" || t.Verb != traces.Find && t.Verb != traces.Search {
		return ""
	}
	mount, _, _ := strings.Cut(t.Key, "/")
	return traces.NoMount(mount)
}

func olderYAML(t *traces.Trace, _ *Process) string {
	_, class, ok := strings.Cut(t.Error, "Tried to load unspecified class: ")
	if !ok || class != "Time" && class != "Date" {
		return ""
	}
	return traces.OlderYAML
}

func noDirectory(t *traces.Trace, _ *Process) string {
	dir, ok := strings.CutPrefix(t.Error, "No such file or directory @ dir_s_mkdir - ")
	if !ok || t.Verb != traces.Save || asked(t) != "yaml" {
		return ""
	}
	return traces.NoYAMLDir(dir)
}
