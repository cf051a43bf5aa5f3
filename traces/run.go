package traces

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A RunStory summarizes a run of an agent, request by request as they end, in one
// sentence. The zero RunStory is empty.
//
//	web01 run ~9c02f0aa: 14 requests in 3.2 s, catalog from terminus rest (12
//	resources), 2 file_metadata 404, report saved: status failed, 1 failed;
//	environment changed production -> qa in round 2; 9 joined by connection
//	and time
//
// The "~" means that some requests were joined to the run by a guess.
type RunStory struct {
	Run         string
	Transaction string // Trace.Transaction
	Node        string // "" while it is unknown

	first, last time.Time
	requests    int
	guessed     int          // of these: joined by connection and time
	instances   []string     // of a fleet, in the order in which they were asked
	node        environments // of the node that was found
	rounds      int
	round       round          // the last one
	moved       bool           // it asked for another environment than the one before
	moves       []string       // what moved, the first maxMoves of them
	agent       bool           // an agent asked, and not only its server for it
	stored      bool           // a catalog was saved
	missing     map[string]int // 404 by indirection
	failed      int
	failure     string // the first one
	plugins     string // which plugins could not be fetched, the first of them
	report      string
	end         RunEnd
	resources   appliedResources
}

// PlanRun begins the run of the requests that were asked to make a plan, which is none: no
// report ends it.
const PlanRun = "plan-"

// maxMoves bounds what a run that never ends makes known.
const maxMoves = 16

// A round is one catalog: an agent asks again when the answer is of another
// environment. Rule: pain P25.
type round struct {
	environments
	terminus  string
	resources int // -1 if unknown
	missing   bool
	err       string
	cached    bool
}

// environments are the one asked for and the one of the answer, if known.
type environments struct{ asked, got string }

// Add takes in a request that has ended. Requests that a terminus asked count
// with the one that asked them. Body is the catalog or node that was found, or
// the saved report, as JSON, if it is there.
func (r *RunStory) Add(t *Trace, body []byte) {
	if i := t.From; i != nil && !slices.Contains(r.instances, i.Name) && len(r.instances) < maxMoves {
		r.instances = append(r.instances, i.Name)
	}
	if t.Parent != 0 {
		return
	}
	r.count(t)
	switch {
	case r.resources.add(t):
	case t.Indirection == "catalog" && t.Verb == Find:
		r.catalog(t, body)
	case t.Verb == Save && t.Error == "" && r.saved(t, body):
	case t.Indirection == "report" && t.Verb == Save:
		r.report = "report not saved: " + t.Error
	case t.Outcome == Nil || t.Outcome == NilHidden:
		if r.missing == nil {
			r.missing = make(map[string]int)
		}
		r.missing[t.Indirection]++
	case t.Error != "":
		if mount, _, _ := strings.Cut(pluginPath(t.Key), "/"); isPlugins[mount] {
			r.plugins = cmp.Or(r.plugins, mount)
		}
		if r.failed++; r.failed == 1 {
			r.failure = t.Verb.String() + " " + t.Indirection + " " + t.Key + ": " + t.Error
		}
	case t.Indirection == "node" && t.Verb == Find:
		r.node.asked = t.Environment
		_ = json.Unmarshal(body, &struct{ Environment *string }{&r.node.got}) // what is no node changes nothing
	}
}

// count takes in what every request shows: its run, when it was, and for which node.
func (r *RunStory) count(t *Trace) {
	r.Run, r.Transaction = cmp.Or(r.Run, t.Run), cmp.Or(r.Transaction, t.Transaction)
	r.agent = r.agent || strings.HasPrefix(t.Caller, "agent ")
	if t.RunGuessed {
		r.guessed++
	}
	if r.requests++; r.first.IsZero() || t.Start.Before(r.first) {
		r.first = t.Start
	}
	if end := t.Start.Add(t.Elapsed()); end.After(r.last) {
		r.last = end
	}
	switch t.Indirection {
	case "node", "catalog", "facts", "report":
		r.Node = cmp.Or(t.Key, r.Node)
	default:
		if name, ok := strings.CutPrefix(t.Caller, "agent "); ok {
			r.Node = cmp.Or(r.Node, name)
		}
	}
}

// saved takes in a catalog or a report that was stored, and reports whether it was one.
// Where an agent asked, it ends the run with its report, and not its server, which
// stores that before it answers.
func (r *RunStory) saved(t *Trace, body []byte) bool {
	switch {
	case t.Indirection == "catalog":
		r.stored = true
	case t.Indirection != "report":
		return false
	case !r.agent || strings.HasPrefix(t.Caller, "agent "):
		r.report, r.end = "report saved", ending(body)
	}
	return true
}

// isPlugins are the mounts that an agent fetches before it asks for a catalog.
var isPlugins = map[string]bool{"plugins": true, "pluginfacts": true, "locales": true}

// pluginPath is the path of a key that may be a puppet:// URL.
func pluginPath(key string) string {
	if rest, ok := strings.CutPrefix(key, "puppet://"); ok {
		_, key, _ = strings.Cut(rest, "/")
	}
	return key
}

// ending is how a run ended, by its report; the zero RunEnd if that is not known.
func ending(body []byte) (e RunEnd) {
	var is struct {
		Status     string
		Noop       bool
		Corrective bool   `json:"corrective_change"`
		Cached     string `json:"cached_catalog_status"`
		Statuses   map[string]struct {
			Failed, Skipped bool
			Restart         bool `json:"failed_to_restart"`
		} `json:"resource_statuses"`
	}
	if json.Unmarshal(body, &is) != nil || is.Status == "" {
		return e
	}
	e = RunEnd{Status: is.Status, Noop: is.Noop, Corrective: is.Corrective, Cached: is.Cached}
	for _, s := range is.Statuses {
		e.Count(s.Failed, s.Restart, s.Skipped)
	}
	return e
}

func (r *RunStory) catalog(t *Trace, body []byte) {
	c := round{
		environments: environments{asked: t.Environment}, terminus: t.Primary.Winner().Terminus, resources: -1,
		missing: t.Outcome == Nil || t.Outcome == NilHidden, err: t.Error,
	}
	if t.Served == ByCache {
		c.terminus, c.cached = t.Cache.Winner().Terminus, true
	}
	if environment, resources, ok := catalogOf(body); ok {
		c.got, c.resources = environment, resources
	}
	r.rounds++
	if r.moved = r.rounds > 1 && c.asked != r.round.asked; r.moved && len(r.moves) < maxMoves {
		r.moves = append(r.moves, fmt.Sprintf("environment changed %s -> %s in round %d", r.round.asked, c.asked, r.rounds))
	}
	r.round = c
}

// Done reports whether the report has come, with which a run ends.
func (r *RunStory) Done() bool { return r.report != "" }

// Single reports whether it is a single request, which is no run unless it saved
// the report.
func (r *RunStory) Single() bool { return r.requests <= 1 && r.report == "" }

// Last is when the last of them ended.
func (r *RunStory) Last() time.Time { return r.last }

// String is the sentence.
func (r *RunStory) String() string {
	var b strings.Builder
	unit := "requests"
	if r.requests == 1 {
		unit = "request"
	}
	plan, kind := strings.HasPrefix(r.Run, PlanRun), "run "
	if plan {
		kind = ""
	}
	fmt.Fprintf(&b, "%s %s%s: %d %s in %.1f s", cmp.Or(r.Node, "somebody"), kind, RunName(r.Run, r.Transaction, r.guessed > 0), r.requests, unit, r.last.Sub(r.first).Seconds())
	switch {
	case r.rounds > 0:
		b.WriteString(", " + r.round.String())
	case r.stored:
		b.WriteString(", catalog stored")
	case r.resources.all > 0:
		fmt.Fprintf(&b, ", %d resources", r.resources.all)
	case !plan:
		b.WriteString(", no catalog")
	}
	for _, ind := range sortedKeys(r.missing) {
		fmt.Fprintf(&b, ", %d %s 404", r.missing[ind], ind)
	}
	if r.failed > 0 {
		fmt.Fprintf(&b, ", %d failed (%s)", r.failed, r.failure)
	}
	if !plan {
		b.WriteString(", " + r.ended())
	}
	if cause := r.resources.cause(); cause != "" {
		b.WriteString("; " + cause)
	}
	for _, s := range r.convergence() {
		b.WriteString("; " + s)
	}
	if len(r.instances) > 0 {
		b.WriteString("; through " + strings.Join(r.instances, ", "))
	}
	if r.guessed > 0 {
		fmt.Fprintf(&b, "; %d joined by connection and time", r.guessed)
	}
	return b.String()
}

// ended is the report. An agent that could not fetch its plugins takes the cached
// catalog without asking the server for one. Pain P10.
func (r *RunStory) ended() string {
	end, why := r.end, ""
	if r.plugins != "" && (r.round.cached || r.rounds == 0 && end.Stale()) {
		end.Cached, why = "", "; as "+r.plugins+" could not be fetched, the agent took its cached catalog and asked for no other"
	}
	text := cmp.Or(r.report, "no report")
	if end.Status != "" {
		text += ": " + end.String()
	}
	return text + why
}

// RunName is how a run is shown beside a request: with its transaction_uuid, and
// behind a "~" if it is a guess that the request is part of it.
func RunName(run, transaction string, guessed bool) string {
	if run == "" {
		return ""
	}
	if transaction != "" {
		run += " (transaction " + transaction + ")"
	}
	return GuessMark(guessed) + run
}

// GuessMark is what stands before a run that is a guess: "~"; else "".
func GuessMark(guessed bool) string {
	if guessed {
		return "~"
	}
	return ""
}

func (c round) String() string {
	switch {
	case c.err != "":
		return "catalog failed: " + c.err
	case c.missing:
		return "no catalog found by terminus " + c.terminus
	case c.resources == 1:
		return "catalog from terminus " + c.terminus + " (1 resource)"
	case c.resources >= 0:
		return fmt.Sprintf("catalog from terminus %s (%d resources)", c.terminus, c.resources)
	}
	return "catalog from terminus " + c.terminus
}

// convergence describes how the environment changed from round to round.
func (r *RunStory) convergence() []string {
	var parts []string
	if n := r.node; n.got != "" && n.got != n.asked {
		parts = append(parts, fmt.Sprintf("environment changed %s -> %s by the node", n.asked, n.got))
	}
	parts = append(parts, r.moves...)
	if c := r.round; !r.moved && c.got != "" && c.got != c.asked {
		parts = append(parts, fmt.Sprintf("round %d asked for environment %s and got %s", r.rounds, c.asked, c.got))
	}
	if len(parts) == 0 && r.rounds > 1 {
		parts = append(parts, fmt.Sprintf("%d catalogs of environment %s", r.rounds, r.round.asked))
	}
	return parts
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
