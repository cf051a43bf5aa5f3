package query

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
)

// A kind is the type of a field's values; it decides on the operators.
type kind uint8

// The kinds.
const (
	textKind     kind = iota // = != ~ !~ in; the values may be anything
	closedKind               // = != ~ !~ in; the values are those of the list
	yesNoKind                // = !=; the field alone means yes
	numberKind               // = != < <= > >= in
	durationKind             // the same, with a unit: 250ms 5s 2m 1h 7d
	sizeKind                 // the same, in bytes: 512 12kB 3MB
	timeKind                 // the same: -5m 14:02 14:02:07 2025-11-20 14:02..14:05
)

var kindNames = [...]string{"text", "one of a list", "yes or no", "number", "duration", "size", "time"}

func (k kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind(" + itoa(int(k)) + ")"
}

func (k kind) takes(op string) bool {
	switch k {
	case textKind, closedKind:
		return op[0] != '<' && op[0] != '>'
	case yesNoKind:
		return op == "=" || op == "!="
	}
	return op != "~" && op != "!~"
}

// A field is something that a request can be compared by.
type field struct {
	Name   string // as written; NAME stands for a name in step.NAME.took, opt.NAME and flag.NAME
	Doc    string
	Kind   kind
	Values []string // all values of a closedKind, some of a textKind
	Detail bool     // the row does not decide

	// One of the two reads the field of a scope: whether one of its values
	// passes the test, and whether it has any.
	texts func(c scope, test func(string) bool) (passed, present bool)
	ints  func(c scope, test func(int64) bool) (passed, present bool)
}

var (
	verbNames   = names(traces.Expire+1, 1)
	outNames    = names(traces.OutcomeCount, 0)
	servedNames = names(traces.ByInjection+1, 0)
	answerNames = names(traces.Passed+1, 0)
	reasonNames = names(traces.ReasonCount, 1)
	setByNames  = []string{"", "code", "setting", "storeconfigs", "app", "routes", "face", "thread", "you", "request"}
	stepNames   = hyphened(names(traces.Step(traces.StepCount), 0))
	flagNames   = (^traces.Flags(0)).Names()
	truths      = []string{"yes", "no"}
	models      = []string{
		"catalog", "facts", "file_bucket_file", "file_content", "file_metadata", "node", "report", "resource", "data_binding",
	}
)

func names[T interface {
	~uint8
	String() string
}](end, from T) []string {
	var all []string
	for i := from; i < end; i++ {
		all = append(all, i.String())
	}
	return all
}

// hyphened writes names so that they need no quotes.
func hyphened(names []string) []string {
	for i, n := range names {
		names[i] = strings.ReplaceAll(n, " ", "-")
	}
	return names
}

var fields = []field{
	{
		Name: "verb", Doc: "what was asked", Kind: closedKind, Values: verbNames,
		ints: rowInt(func(r *Row) (int64, bool) { return int64(r.Verb) - 1, r.Verb != traces.NoVerb }),
	},
	{Name: "ind", Doc: "the indirection", Values: models, texts: rowText(func(r *Row) string { return r.Indirection })},
	{Name: "key", Doc: "the key", texts: rowText(func(r *Row) string { return r.Key })},
	{Name: "env", Doc: "the environment", texts: rowText(func(r *Row) string { return r.Environment })},
	{Name: "node", Doc: "the certname: the key, where the indirection has one for each node", texts: rowText(nodeOf)},
	{Name: "type", Doc: "the type of a resource", texts: rowText(typeOf)},
	{
		Name: "out", Doc: "the outcome", Kind: closedKind, Values: outNames,
		ints: rowInt(func(r *Row) (int64, bool) { return int64(r.Outcome), true }),
	},
	{Name: "terminus", Doc: "the terminus in effect", texts: rowText(func(r *Row) string { return r.Terminus })},
	{Name: "cache", Doc: "the cache in effect", texts: rowText(func(r *Row) string { return r.Cache })},
	{
		Name: "served", Doc: "who answered", Kind: closedKind, Values: servedNames,
		ints: rowInt(func(r *Row) (int64, bool) { return int64(r.Served), true }),
	},
	{
		Name: "setby", Doc: "what chose the one who answered", Kind: closedKind, Values: setByNames[1:],
		ints: rowInt(func(r *Row) (int64, bool) { s := setBy(r); return int64(s) - 1, s != traces.NoSource }),
	},
	{Name: "took", Doc: "how long it took; in step(...), how long the step took", Kind: durationKind, ints: took},
	{Name: "age", Doc: "how old the answer of a store was", Kind: durationKind, Detail: true, ints: ages},
	{Name: "size", Doc: "bytes of the value that was answered or saved", Kind: sizeKind, Detail: true, ints: size},
	{Name: "origin", Doc: "where something failed: route, terminus-exec, network", Detail: true, texts: origins},
	{Name: "err", Doc: "the message of what failed, shown or not", Detail: true, texts: messages},
	{Name: "answer", Doc: "the answer of a step", Values: answerNames, Detail: true, texts: stepAnswers},
	{Name: "because", Doc: "the reason of a step (help reasons lists them)", Values: reasonNames, Detail: true, texts: stepReasons},
	{Name: "http.status", Doc: "the status of an answer over HTTP", Kind: numberKind, Detail: true, ints: httpStatus},
	{Name: "http.method", Doc: "the method of a request over HTTP", Values: []string{"GET", "POST", "PUT", "HEAD", "DELETE"}, Detail: true, texts: httpTexts(func(x *traces.Exchange) string { return x.Method })},
	{Name: "http.path", Doc: "the path of a request over HTTP", Detail: true, texts: httpTexts(func(x *traces.Exchange) string { return x.Path })},
	{Name: "server", Doc: "the servers tried", Detail: true, texts: httpTexts(func(x *traces.Exchange) string { return x.Server })},
	{Name: "fmt", Doc: "the formats used", Values: []string{"json", "pson", "yaml", "msgpack", "rich_data_json", "rich_data_msgpack", "binary", "s"}, Detail: true, texts: formats},
	{Name: "lossy", Doc: "the format could not hold everything", Kind: yesNoKind, Values: truths, Detail: true, ints: lossy},
	{Name: "run", Doc: "the transaction_uuid, or the name that the caller gave", texts: runs},
	{Name: "traceparent", Doc: "the trace of who asked over the network: its id, or the whole header traceparent", Detail: true, texts: traceparents},
	{Name: "caller", Doc: "who asked", Values: []string{"agent", "apply", "cli", "demo", "server", "terminus", "you"}, texts: rowText(func(r *Row) string { return r.Caller })},
	{Name: "instance", Doc: "which program of a fleet traced it; missing in this process", texts: rowText(func(r *Row) string { return r.Instance })},
	{Name: "proc", Doc: "the process that was watched: agent-4711, or agent for all of them; missing in this process", texts: processes},
	{Name: "thread", Doc: "the thread of the watched process", texts: rowText(func(r *Row) string { return r.Thread })},
	{Name: "source", Doc: "where it was watched; missing in this process", Values: []string{"proxy", "tap"}, texts: rowText(func(r *Row) string { return r.Source })},
	{Name: "mark", Doc: "your mark", texts: mark},
	{Name: "note", Doc: "your comment", texts: rowText(func(r *Row) string { return r.Note })},
	{Name: "tag", Doc: "your tag", texts: rowText(func(r *Row) string { return r.Tag })},
	{
		Name: "t", Doc: "when it began: t>-5m, t=14:02..14:05, t=2025-11-20", Kind: timeKind,
		ints: rowInt(func(r *Row) (int64, bool) { return r.Start.UnixNano(), !r.Start.IsZero() }),
	},
	{Name: "step.NAME.took", Doc: "how long one step took: step.terminus.took>4s", Kind: durationKind, Detail: true},
	{Name: "step.NAME.answer", Doc: "the answer of one step: step.cache-read.answer=miss", Values: answerNames, Detail: true},
	{Name: "step.NAME.because", Doc: "the reason of one step: step.expiry.because=expired", Values: reasonNames, Detail: true},
	{Name: "opt.NAME", Doc: "an option of the request", Detail: true},
	{Name: "flag.NAME", Doc: "a flag of the request: flag.ignore_cache", Kind: yesNoKind, Values: truths},
}

// findField returns the field that is written name, or nil. Names know no case.
func findField(name string) *field {
	lower := strings.ToLower(name)
	for i := range fields {
		if fields[i].Name == lower {
			return &fields[i]
		}
	}
	family, rest, _ := strings.Cut(lower, ".")
	switch family {
	case "opt":
		if rest != "" {
			return optionField(name[len("opt."):])
		}
	case "flag":
		if f := traces.ParseFlag(rest); f != 0 {
			return flagField(rest, f)
		}
	case "step":
		if i := strings.LastIndexByte(rest, '.'); i > 0 {
			if s, ok := traces.ParseStep(rest[:i]); ok {
				return stepField(s, rest[i+1:])
			}
		}
	}
	return nil
}

// like returns the field of the table that f is an instance of, by another name.
func like(table, name string) *field {
	i := slices.IndexFunc(fields, func(f field) bool { return f.Name == table })
	f := fields[i]
	f.Name = name
	return &f
}

func optionField(name string) *field {
	f := like("opt.NAME", "opt."+name)
	f.texts = func(c scope, test func(string) bool) (passed, present bool) {
		t := c.subject.Trace()
		if t == nil {
			return false, false
		}
		for i := range t.Options {
			if strings.EqualFold(t.Options[i].Name, name) {
				return test(t.Options[i].Value), true
			}
		}
		return false, false
	}
	return f
}

func flagField(name string, flag traces.Flags) *field {
	f := like("flag.NAME", "flag."+name)
	f.ints = rowInt(func(r *Row) (int64, bool) { return truth(r.Flags&flag != 0), true })
	return f
}

func stepField(s traces.Step, what string) *field {
	name := "step." + stepNames[s] + "." + what
	at := func(c scope) (scope, bool) {
		return scope{subject: c.subject, row: c.row, inStep: true, step: s}, c.subject.Trace() != nil
	}
	var f *field
	switch what {
	case "took":
		f = like("step.NAME.took", name)
		f.ints = func(c scope, test func(int64) bool) (bool, bool) {
			c, ok := at(c)
			if !ok {
				return false, false
			}
			return took(c, test)
		}
	case "answer":
		f = like("step.NAME.answer", name)
		f.texts = func(c scope, test func(string) bool) (bool, bool) {
			c, ok := at(c)
			if !ok {
				return false, false
			}
			return stepAnswers(c, test)
		}
	case "because":
		f = like("step.NAME.because", name)
		f.texts = func(c scope, test func(string) bool) (bool, bool) {
			c, ok := at(c)
			if !ok {
				return false, false
			}
			return stepReasons(c, test)
		}
	}
	return f
}

func rowText(of func(*Row) string) func(scope, func(string) bool) (bool, bool) {
	return func(c scope, test func(string) bool) (bool, bool) {
		s := of(c.row)
		return s != "" && test(s), s != ""
	}
}

// runs are the names of a run, one or two.
func runs(c scope, test func(string) bool) (passed, present bool) {
	r := c.row
	return r.Run != "" && test(r.Run) || r.Transaction != "" && test(r.Transaction), r.Run != ""
}

func rowInt(of func(*Row) (int64, bool)) func(scope, func(int64) bool) (bool, bool) {
	return func(c scope, test func(int64) bool) (bool, bool) {
		i, present := of(c.row)
		return present && test(i), present
	}
}

func nodeOf(r *Row) string {
	switch r.Indirection {
	case "node", "facts", "catalog", "report":
		return r.Key
	}
	return ""
}

// typeOf is the type of a resource, with which its key begins: "File".
func typeOf(r *Row) string {
	if r.Indirection != "resource" {
		return ""
	}
	name, _, _ := strings.Cut(r.Key, "/")
	return name
}

// setBy is who chose the terminus or cache that answered.
func setBy(r *Row) traces.SourceKind {
	if r.Served == traces.ByCache {
		return r.CacheSetBy
	}
	return r.SetBy
}

const marks = "abcdefghijklmnopqrstuvwxyz"

// mark of a request that is marked without a letter is "*".
func mark(c scope, test func(string) bool) (bool, bool) {
	m := c.row.Mark
	switch {
	case m == 0:
		return false, false
	case 'a' <= m && m <= 'z':
		return test(marks[m-'a' : m-'a'+1]), true
	}
	return test("*"), true
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// took is absent while a request runs; so is that of an untimed step.
func took(c scope, test func(int64) bool) (bool, bool) {
	d := c.row.Took
	switch {
	case c.inStep && c.span != nil:
		d = c.span.Took
	case c.inStep:
		d = c.subject.Trace().Steps[c.step].Took
	case c.row.Outcome == traces.Run || c.row.Outcome == traces.HeldOutcome:
		return false, false
	}
	if c.inStep && d == 0 {
		return false, false
	}
	return test(int64(d)), true
}

func size(c scope, test func(int64) bool) (passed, present bool) {
	t := c.subject.Trace()
	if t == nil {
		return false, false
	}
	for _, v := range [...]traces.Value{t.Value(), t.Sent()} {
		if v.Model != "" {
			passed, present = passed || test(int64(v.Size)), true
		}
	}
	return passed, present
}

// origins are written with a hyphen where the trace has a blank, so that they
// need no quotes: a test sees "terminus exec" and "terminus-exec" alike.
func origins(c scope, test func(string) bool) (passed, present bool) {
	faults(c, func(f *traces.Fault) bool {
		present = present || f.Origin != ""
		passed = f.Origin != "" && (test(f.Origin) || test(strings.ReplaceAll(f.Origin, " ", "-")))
		return passed
	})
	return passed, present
}

// processes are the name of the process of a request, and what it has in common with
// others of its kind: "agent-4711" and "agent".
func processes(c scope, test func(string) bool) (passed, present bool) {
	name := c.row.Instance
	if name == "" {
		return false, false
	}
	kind, _, _ := strings.Cut(name, "-")
	return test(name) || test(kind), true
}

// traceparents are the id of a trace, as the screens of other programs show it,
// and the header as a whole: a test sees both.
func traceparents(c scope, test func(string) bool) (passed, present bool) {
	t := c.subject.Trace()
	if t == nil || t.Traceparent == nil {
		return false, false
	}
	return test(hex.EncodeToString(t.Traceparent.Trace[:])) || test(t.Traceparent.String()), true
}

// messages are those of all failures, shown to the caller or not.
func messages(c scope, test func(string) bool) (passed, present bool) {
	if !mayHaveFailed(c.row.Outcome) {
		return false, false
	}
	try := func(s string) bool {
		present = present || s != ""
		passed = s != "" && test(s)
		return passed
	}
	if c.span != nil && try(c.span.Err) {
		return true, true
	}
	t := c.subject.Trace()
	if t == nil || !c.inStep && try(t.Error) {
		return passed, present
	}
	if faults(c, func(f *traces.Fault) bool { return try(f.Message) || try(f.Hidden) }) || c.inStep {
		return passed, present
	}
	for i := range t.Spans {
		if try(t.Spans[i].Err) {
			break
		}
	}
	return passed, present
}

// mayHaveFailed avoids reading details: a hidden fault makes the outcome err~,
// a shown one err or part (see traces.Judge).
func mayHaveFailed(o traces.Outcome) bool { return !o.Well() }

func faults(c scope, match func(*traces.Fault) bool) bool {
	t := c.subject.Trace()
	if t == nil {
		return false
	}
	for i := range t.Faults {
		if (!c.inStep || t.Faults[i].Step == c.step) && match(&t.Faults[i]) {
			return true
		}
	}
	return false
}

// A span is its step seen from closer by: it has the answer and the reason of
// its step as well as its own.
func stepAnswers(c scope, test func(string) bool) (passed, present bool) {
	return questions(c, func(q *traces.Question) (bool, bool) {
		return test(q.Answer.String()), true
	}, func(s *traces.Span) (bool, bool) {
		return s.Answer != "" && test(s.Answer), s.Answer != ""
	})
}

func stepReasons(c scope, test func(string) bool) (passed, present bool) {
	of := func(b *traces.Because) (bool, bool) {
		if b.Reason == traces.NoReason {
			return false, false
		}
		return test(b.Reason.String()), true
	}
	return questions(c, func(q *traces.Question) (bool, bool) { return of(&q.Because) },
		func(s *traces.Span) (bool, bool) { return of(&s.Because) })
}

// questions asks about the step and the span that c looks at, or about all of
// them.
func questions(c scope, step func(*traces.Question) (bool, bool), span func(*traces.Span) (bool, bool)) (passed, present bool) {
	t := c.subject.Trace()
	if t == nil {
		return false, false
	}
	for i := range t.Steps {
		if !c.inStep || traces.Step(i) == c.step {
			p, has := step(&t.Steps[i])
			passed, present = passed || p, present || has
		}
	}
	spans(c, func(s *traces.Span) bool {
		p, has := span(s)
		passed, present = passed || p, present || has
		return passed
	})
	return passed, present
}

// spans calls match for the span that c looks at, or for all of the request if
// it looks at no step, until one is answered with true. A step by itself has
// none: what its spans did is asked of them, one at a time.
func spans(c scope, match func(*traces.Span) bool) bool {
	if c.inStep {
		return c.span != nil && match(c.span)
	}
	t := c.subject.Trace()
	if t == nil {
		return false
	}
	for i := range t.Spans {
		if match(&t.Spans[i]) {
			return true
		}
	}
	return false
}

func attrTexts(key string) func(scope, func(string) bool) (bool, bool) {
	return func(c scope, test func(string) bool) (passed, present bool) {
		spans(c, func(s *traces.Span) bool {
			for i := range s.Attrs {
				if s.Attrs[i].Key == key && s.Attrs[i].Value != "" {
					passed, present = passed || test(s.Attrs[i].Value), true
				}
			}
			return passed
		})
		return passed, present
	}
}

// httpTexts reads what the exchanges over HTTP have.
func httpTexts(of func(*traces.Exchange) string) func(scope, func(string) bool) (bool, bool) {
	return func(c scope, test func(string) bool) (passed, present bool) {
		spans(c, func(s *traces.Span) bool {
			if x, ok := s.HTTP(); ok && of(&x) != "" {
				passed, present = passed || test(of(&x)), true
			}
			return passed
		})
		return passed, present
	}
}

func httpStatus(c scope, test func(int64) bool) (passed, present bool) {
	spans(c, func(s *traces.Span) bool {
		if x, ok := s.HTTP(); ok && x.Status != 0 {
			passed, present = passed || test(int64(x.Status)), true
		}
		return passed
	})
	return passed, present
}

// ages reads how old the files were that were read.
func ages(c scope, test func(int64) bool) (passed, present bool) {
	spans(c, func(s *traces.Span) bool {
		if written := s.Written(); !written.IsZero() {
			read := c.subject.Trace().Start.Add(s.At)
			passed, present = passed || test(int64(read.Sub(written))), true
		}
		return passed
	})
	return passed, present
}

// formats reads what was decoded and encoded.
func formats(c scope, test func(string) bool) (passed, present bool) {
	spans(c, func(s *traces.Span) bool {
		if f := s.Format(); f != "" {
			passed, present = passed || test(f), true
		}
		return passed
	})
	return passed, present
}

func lossy(c scope, test func(int64) bool) (passed, present bool) {
	if c.subject.Trace() == nil {
		return false, false
	}
	is := spans(c, func(s *traces.Span) bool { return s.Because.Reason == traces.Lossy })
	return test(truth(is)), true
}

// A flag is a word that stands for a condition.
type flag struct {
	Name   string
	Doc    string
	Detail bool // the row does not decide
	is     func(scope) bool
}

// slow is from when on a request is slow.
const slow = time.Second

var flags = []flag{
	{"hidden", "the caller did not see what happened: nil!, stale, err~ or part", false, func(c scope) bool { return c.row.Outcome.HiddenFrom(c.row.Caller) }},
	{"failed", "something went wrong, seen or not", false, func(c scope) bool { return c.row.Outcome.Failed() }},
	{"slow", "took a second or more", false, func(c scope) bool { return c.row.Took >= slow }},
	{"remote", "something went over the network", true, isRemote},
	{"nested", "asked by another request", false, func(c scope) bool { return c.row.Parent != 0 }},
	{"bypass", "a terminus was talked to without the indirection", true, func(c scope) bool { return answered(c, traces.Route, traces.NotAsked) }},
	{"sent", "asked by you", false, func(c scope) bool { return c.row.Sent }},
	{"guessed", "joined to its run by connection and time: it did not say of which it is", false, func(c scope) bool { return c.row.RunGuessed }},
	{"expired", "the cache had it, but too old", true, func(c scope) bool { return answered(c, traces.Expiry, traces.Expired) }},
	{"env_mismatch", "the answer is of another environment than was asked for", true, isOfOtherEnvironment},
}

func findFlag(name string) *flag {
	for i := range flags {
		if strings.EqualFold(flags[i].Name, name) {
			return &flags[i]
		}
	}
	return nil
}

func isRemote(c scope) bool {
	return spans(c, func(s *traces.Span) bool { return s.Kind == traces.Network })
}

func answered(c scope, s traces.Step, a traces.Answer) bool {
	t := c.subject.Trace()
	return t != nil && t.Steps[s].Answer == a && (!c.inStep || c.step == s)
}

func isOfOtherEnvironment(c scope) bool {
	other, _ := attrTexts(traces.AttrEnvironment)(c, func(s string) bool { return s != c.row.Environment })
	return other
}
