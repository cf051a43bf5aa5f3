package help

import (
	"fmt"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// codes explains each outcome. Rule: UI design, section 4.
var codes = [traces.OutcomeCount]string{
	traces.Good:        "the terminus answered",
	traces.Hit:         "the cache answered; it has not expired, or has no expiry",
	traces.Nil:         "all that were asked have nothing",
	traces.NilHidden:   "nil that hides something: a 404, empty output of a command",
	traces.Stale:       "a cache, here or of the agent, answered because the terminus had failed before, in the same run",
	traces.Err:         "an error reached the caller",
	traces.ErrHidden:   "an error was swallowed on the way; the caller never saw it",
	traces.Part:        "one of two stores was written, or none and a setting hid that",
	traces.HeldOutcome: "paused between two questions",
	traces.Run:         "in progress",
	traces.Sim:         "answered by injection",
	traces.Same:        "a resource was as it should be",
	traces.Changed:     "a resource was changed, or refreshed",
	traces.Planned:     "a resource would have been changed, but for noop",
	traces.Skipped:     "a resource was left out of its run",
}

// order is the order of the codes in help: what is good first.
var order = [...]traces.Outcome{
	traces.Good, traces.Hit, traces.Nil, traces.NilHidden, traces.Stale, traces.Err,
	traces.ErrHidden, traces.Part, traces.HeldOutcome, traces.Run, traces.Sim,
	traces.Same, traces.Changed, traces.Planned, traces.Skipped,
}

// A group of reasons begins at one of them.
var groups = map[traces.Reason]string{
	traces.DefaultInCode:     "who decided a route",
	traces.NoCacheRouted:     "cache",
	traces.Asked:             "terminus",
	traces.StoreWritten:      "store",
	traces.NoNodeInRequest:   "authorization and validation",
	traces.FormatRequested:   "format",
	traces.EnvAgent:          "environment",
	traces.TTL:               "expiry and filter",
	traces.EarlierStepRaised: "what came before",
	traces.CallerReturned:    "caller",
	traces.InSync:            "resources of a run",
}

// reasons explains each reason in one line. Rule: UI design, section 9.
var reasons = [traces.ReasonCount]string{
	traces.DefaultInCode:          "the declaration of the indirection names it, and nothing else is set",
	traces.BySetting:              "a setting names it; the place has who set that",
	traces.ByApplication:          "the application chose it when it started",
	traces.ByRoutesFile:           "the section of the application in routes.yaml names it",
	traces.ByStoreconfigs:         "storeconfigs is on, and its hook took the slot",
	traces.ByFace:                 "an action of a face set it while it ran",
	traces.ByThread:               "one thread of execution chose another one for itself",
	traces.ByYou:                  "you changed it here",
	traces.ByRequest:              "this one request named it",
	traces.NotApplied:             "it is set, and does not count; the note has the reason",
	traces.NoCacheRouted:          "no cache is routed for this indirection",
	traces.IgnoredByCaller:        "the caller gave ignore_cache",
	traces.VerbHasNoCache:         "this verb has nothing to do with this step",
	traces.CacheFound:             "the cache had it",
	traces.NotFound:               "there was nothing under this key",
	traces.ExpiredAt:              "what was found was too old",
	traces.NoExpiryKept:           "this terminus does not store when an instance expires, so it never does",
	traces.ReadFailed:             "reading failed, and Puppet goes on as if there were nothing",
	traces.AlwaysNil:              "this terminus never finds anything",
	traces.Asked:                  "it was asked, or would be",
	traces.SkippedIgnoreTerminus:  "the caller gave ignore_terminus",
	traces.SkippedCacheHit:        "the cache had answered already",
	traces.Returned:               "it returned an instance",
	traces.ReturnedNil:            "it returned nothing, and gave no reason",
	traces.NilFrom404:             "the server answered 404, and Puppet makes that nil",
	traces.NilFromEmptyOutput:     "the command printed nothing, and Puppet makes that nil",
	traces.TerminusRaised:         "it raised an error",
	traces.VerbMissing:            "this terminus does not have this verb",
	traces.TerminusUnknown:        "there is no terminus by that name",
	traces.StoreWritten:           "it was written",
	traces.SkippedIgnoreCacheSave: "the caller gave ignore_cache_save",
	traces.SkippedNoResult:        "there was nothing to write",
	traces.StoreFailed:            "writing failed",
	traces.SoftFailed:             "writing failed, and a setting makes that no error",
	traces.NoNodeInRequest:        "the request is not from the network: there is nothing to check",
	traces.NoRule:                 "the terminus has no rule of its own",
	traces.RuleAllowed:            "the rule of the terminus allows it",
	traces.RuleDenied:             "the rule of the terminus denies it",
	traces.NothingToValidate:      "only a save has something to validate",
	traces.ValidationFailed:       "the instance or its name is not what was asked for",
	traces.FormatRequested:        "this format was asked for",
	traces.FormatAccepted:         "this format was among those accepted",
	traces.FellBack:               "another format was used, because the first one failed",
	traces.Lossy:                  "this format cannot keep all of the value",
	traces.EnvAgent:               "the agent set it",
	traces.EnvCLI:                 "the command line set it",
	traces.EnvLastRun:             "it was that of the last run",
	traces.EnvENC:                 "the node classifier set it",
	traces.EnvCatalog:             "the catalog came with another one",
	traces.EnvNotFound:            "there is no environment by that name",
	traces.TTL:                    "now and the time to live of the indirection",
	traces.AlreadySet:             "the instance had an expiration already",
	traces.NoExpiration:           "instances of this kind do not expire",
	traces.NotExpired:             "it is still fresh",
	traces.TerminusHasNoFilter:    "the terminus does not filter",
	traces.CacheNotFiltered:       "what a cache answers is not filtered: it may show more than the terminus would",
	traces.FilterApplied:          "the terminus took away what the caller should not see",
	traces.EarlierStepRaised:      "a step before it failed",
	traces.EarlierStepAnswered:    "a step before it had answered already",
	traces.CallerReturned:         "the caller got the answer",
	traces.Rescued:                "the caller caught the error and went on",
	traces.Retried:                "the caller asked again",
	traces.CallerRaised:           "the caller passed the error on",
	traces.CallerUnknown:          "what the caller did with it is not seen here",
	traces.InSync:                 "the resource, or the property, is as it should be",
	traces.OutOfSync:              "it was not as it should be",
	traces.ByNoop:                 "noop: it would be changed; the place is the setting or the metaparameter",
	traces.ByTags:                 "it has none of the tags that were asked for, or one of skip_tags",
	traces.BySchedule:             "it is not due by its schedule",
	traces.DependencyFailed:       "something that it waits for failed; the first cause comes first",
	traces.PrefetchFailed:         "its provider could not read what there is of its kind",
	traces.Unsuitable:             "its provider cannot work on this machine",
	traces.CheckRefused:           "a check of the exec (unless, onlyif, creates, refreshonly) left nothing to do",
	traces.NotDeclared:            "nothing of it is managed, or it is not for this machine",
	traces.RefreshedBy:            "what it subscribes to has changed",
	traces.RefreshLost:            "the refresh failed, and no later run tries it again",
}

// A guide answers one question by the keys that find it out.
type guide struct {
	topic, title string
	steps        [][2]string
}

var guides = []guide{
	{"who", "Who answered, and who decided that?", [][2]string{
		{"1", "go to Requests, and put the cursor on the request"},
		{"enter", "its steps: the three lines on top have who answered, who was asked, who decided"},
		{"l", "on the first step: every source of the route, strongest first"},
	}},
	{"cache", "Why did the cache answer?", [][2]string{
		{":", "filter out=stale, or filter served=cache"},
		{"enter", "the step cache read is found, and expiry has why it counted as fresh"},
		{"{", "the request before it in the same run: did the terminus fail?"},
		{"D", "compare with the last good answer"},
	}},
	{"why", "Who set this parameter?", [][2]string{
		{"v", "on a find of a catalog that was compiled here: its value"},
		{"/", "search the resource or the attribute"},
		{"w", "where each attribute is from; enter shows the file at the line"},
	}},
	{"nil", "Why is there nothing?", [][2]string{
		{"2", "go to Failures: nil! stands beside what failed"},
		{"enter", "list the requests of the group, and enter again for the steps"},
		{":", "find INDIRECTION KEY terminus=T asks another terminus for comparison"},
	}},
	{"routes", "Why is my routes.yaml ignored?", [][2]string{
		{"3", "go to Routes, and put the cursor on the indirection"},
		{"H", "every source: what is NOT APPLIED has its reason, with file and line"},
		{"y r", "copy what is in force as a section of routes.yaml"},
	}},
	{"settings", "What if a setting were another?", [][2]string{
		{":", "set NAME=VALUE: as if Puppet had been started with it; what follows is listed"},
		{":", "settings lists them, with who decided; e sets one, u takes it back"},
		{"z", "take it back; unset all takes everything back"},
	}},
	{"config", "How do I change colours, keys, what is masked?", [][2]string{
		{"q", "the file is ~/.config/indirtui/config.yaml, or .indirtui.yaml of a project"},
		{"q", "indirtui config: what is in force and who decided; indirtui config --help: the keys"},
		{"q", "indirtui config check: what is wrong with a file; it is read at the start"},
	}},
	{"manifest", "What does my manifest do here?", [][2]string{
		{":", "break ind=catalog at ntp/manifests/init.pp:12, or at class ntp, define, node, function or resource File[/x]"},
		{":", "find catalog NODE: it is held there, with the lines, what is around them and the variables"},
		{"s", "go on to the next statement; o to the next one here, O out of the class or function, c to the end"},
	}},
	{"run", "What does this run do to the machine, and what if not?", [][2]string{
		{":", "break ind=resource key=service/* at refresh, or at retrieve, compare, change PROPERTY, flush, events-out, failure"},
		{":", "apply CATALOG confirm=HOST: it is held there, with its steps, properties, who waits, and what is still to come"},
		{"e", "edit what is wanted; i leaves the step out, fails it, or takes one that failed once more"},
		{"s", "go on to the next step, also of the next resource; c lets the run go on"},
		{"/", "out=skip: who was left out, and why; . groups by type, class or outcome"},
	}},
	{"swap", "What if another terminus answered?", [][2]string{
		{"3", "go to Routes, and put the cursor on the indirection"},
		{"W", "what it would mean for the recorded requests; nothing is executed"},
		{"enter", "apply it"},
		{"z", "undo it; u resets to what is configured"},
	}},
}

// Topics returns what there is help about, besides the screen that is shown.
func Topics() []string {
	topics := []string{"codes", "reasons", "keys", "expressions", "wrappers"}
	for _, g := range guides {
		topics = append(topics, g.topic)
	}
	return topics
}

// Page returns the help about a topic, and whether there is any.
func Page(env *session.Env, topic string) (widget.Page, bool) {
	p := widget.Page{Title: "help > " + topic}
	switch topic {
	case "codes":
		addCodes(&p)
	case "reasons":
		addReasons(&p)
	case "keys":
		addKeys(&p, env.Keys)
	case "expressions":
		addExpressions(&p)
	case "wrappers":
		addWrappers(&p)
	default:
		for _, g := range guides {
			if g.topic == topic {
				addGuide(&p, g)
				return p, true
			}
		}
		return p, false
	}
	return p, true
}

func addCodes(p *widget.Page) {
	for _, o := range order {
		p.Add(o.String(), codes[o], session.StyleOf(o))
	}
	p.Add("", "", term.Plain)
	p.Add("hidden", "nil!, stale, err~ and part: the caller did not see what happened", term.Attention)
}

func addReasons(p *widget.Page) {
	width := 0
	for r := range traces.ReasonCount {
		width = max(width, len(r.String()))
	}
	for r := traces.Reason(1); r < traces.ReasonCount; r++ {
		if title := groups[r]; title != "" {
			if r > 1 {
				p.Add("", "", term.Plain)
			}
			p.Add("", title, term.Bold)
		}
		p.Add("", fmt.Sprintf("%-*s  %s", width, r, reasons[r]), term.Plain)
	}
}

// places are the scopes that have keys of their own.
var places = []struct {
	scope screen.Scope
	name  string
}{
	{screen.InRequests, "Requests"},
	{screen.InFailures, "Failures"},
	{screen.InRoutes, "Routes"},
	{screen.InCache, "Cache"},
	{screen.InBreaks, "Breaks"},
	{screen.InHeld, "Held"},
	{screen.InSteps, "Steps"},
	{screen.InRecordings, "Recordings"},
	{screen.InSettings, "Settings"},
	{screen.InValue, "Value"},
	{screen.InWhy, "Why"},
	{screen.InPlan, "Plan"},
	{screen.InAttached, "Attached"},
	{screen.InCompare, "Compare"},
	{screen.InConsole, "Text"},
	{screen.InFirstRun, "First run"},
	{screen.InList, "Lists"},
	{screen.InPanes, "Panes"},
}

// nameOf is what a screen with such a scope is called.
func nameOf(scope screen.Scope) string {
	for _, p := range places {
		if scope&p.scope != 0 {
			return p.name
		}
	}
	return "keys"
}

func addKeys(p *widget.Page, keys *screen.Keys) {
	section := func(name string, of func(*screen.Binding) bool) {
		var lines []string
		for _, b := range keys.Bindings() {
			if of(&b) && b.About != "" && b.Enabled() {
				lines = append(lines, fmt.Sprintf("%-14s %s", keysOf(&b), b.About))
			}
		}
		if len(lines) == 0 {
			return
		}
		p.Add("", name, term.Bold)
		p.Add("", strings.Join(lines, "\n"), term.Plain)
		p.Add("", "", term.Plain)
	}
	section("everywhere", func(b *screen.Binding) bool { return b.Where == screen.Everywhere })
	for _, place := range places {
		section(place.name, func(b *screen.Binding) bool { return b.Where&place.scope != 0 })
	}
}

// keysOf are all the keys of a binding, as users write them.
func keysOf(b *screen.Binding) string {
	names := make([]string, len(b.Keys()))
	for i, k := range b.Keys() {
		names[i] = screen.KeyName(k)
	}
	text := strings.Join(names, " ")
	if b.Arg {
		text += " a"
	}
	return text
}

func addExpressions(p *widget.Page) {
	p.Add("", "Two terms side by side mean and; or, not and ( ) are written out.", term.Plain)
	p.Add("", "ind=facts served=cache      = is case-insensitive and knows *", term.Plain)
	p.Add("", "took>5s or err~\"refused\"    ~ is a regular expression", term.Plain)
	p.Add("", "web01                       a word is looked for in key, indirection and message", term.Plain)
	p.Add("", "", term.Plain)
	all := query.Complete("", 0)
	width := 0
	for _, s := range all {
		width = max(width, len(s.Text))
	}
	for _, s := range all {
		if s.Doc != "" {
			p.Add("", fmt.Sprintf("%-*s  %s", width, s.Text, s.Doc), term.Plain)
		}
	}
}

// addWrappers explains termini around termini.
func addWrappers(p *widget.Page) {
	text := func(lines ...string) {
		for _, l := range lines {
			p.Add("", l, term.Plain)
		}
	}
	example := func(text, what string) {
		p.Add("", "  "+text, term.Plain)
		p.Add("", "      "+what, term.Quiet)
	}
	title := func(text string) {
		p.Add("", "", term.Plain)
		p.Add("", text, term.Bold)
	}
	p.Add("", "A wrapper is a terminus around a terminus.", term.Bold)
	text("It stands wherever the name of a terminus stands, and can do what the terminus in it can do.")
	for _, w := range indirector.Wrappers() {
		p.Add("", "", term.Plain)
		kind, args, _ := strings.Cut(w.Usage, "(")
		p.Add(kind, w.Doc, term.Plain)
		p.Add("", kind+"("+args, term.Quiet)
	}

	title("Where they stand")
	example(":swap facts 'retry(rest, 3, wait=1s)'", "from now on, until z or :route reset facts")
	example(":fault facts 503 once", "the same as :swap facts 'fault(rest, 503, once)'")
	example(":fault facts off", "takes the fault away again")
	example(":route node cache='fault(json, \"disk full\")'", "a cache may be wrapped, too")
	example(":find facts web01 terminus=fault(rest,503)", "this request alone; no quotes where there are no blanks")
	example("--route 'facts=fallback(rest, yaml)'", "of any command, as serve, proxy, replay and run")
	example("--route 'facts.cache=tee(json, yaml)'", "what the cache keeps, a second keeps, too")
	text("routes.yaml and puppet.conf are Puppet's: a wrapper there is an unknown terminus, as it is for Puppet.")

	title("How they compose")
	text("The innermost is asked last. What one answers, the one around it sees:")
	example("retry(fault(rest, 503, first=2), 3)", "fails twice, and the third attempt asks rest")
	example("fault(retry(rest, 3), 503)", "fails at once: retry is never asked")
	example("fallback(delay(rest, 5s), yaml)", "rest, slowly; yaml only if rest fails")
	example("fallback(rest, yaml, nil)", "yaml also if rest has nothing")
	example("tee(rest, json)", "what rest finds is saved to json; json failing is err~")
	text("At most 8 stand in each other. A text with a comma, a blank or a parenthesis stands in quotes.")

	title("What counts")
	text("once, first=N and every=N count from when the wrapper was chosen: of a route since it was set, also to the",
		"same once more, undone or redone; of a request in that request alone. 3 Routes shows how far they are.",
		"N% is by chance, verb=save leaves the other verbs alone, and both hold before anything is counted as done.")

	title("What the trace shows")
	text("A fault is a failure for all that follows: outcome err, or nil! for 404. fault(..., nil) is an answer that was",
		"injected: sim. retry and fallback leave err~ behind, because the caller never saw what they swallowed. Who",
		"answered names the whole wrapper, and nothing that was injected is stored in a cache.")

	title("A breakpoint or a wrapper?")
	text("A breakpoint chooses requests by expression and step, and a person may hold them: :break ind=facts verb=save do",
		"fail 503 once. A wrapper belongs to the route, needs no person, and works in serve, proxy, run and replay.")
}

func addGuide(p *widget.Page, g guide) {
	p.Add("", g.title, term.Bold)
	p.Add("", "", term.Plain)
	for _, s := range g.steps {
		p.Add("", fmt.Sprintf("%-7s %s", s[0], s[1]), term.Plain)
	}
}
