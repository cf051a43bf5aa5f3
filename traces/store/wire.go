package store

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"indirtui/traces"
)

// version is the format of the recordings that are written. Newer ones are
// refused, older ones load.
const version = 1

// A line is any line of a recording, as it is read.
type line struct {
	Version int       `json:"indirtui"`
	Started time.Time `json:"started"`
	Source  string    `json:"source"`
	Session
	Part int `json:"part"`

	Head
	Mark    uint64      `json:"mark"`
	As      string      `json:"as"`
	Comment uint64      `json:"comment"`
	Text    string      `json:"text"`
	Event   string      `json:"event"`
	End     *lineEnd    `json:"end"`
	Body    string      `json:"body"`
	Base64  []byte      `json:"base64"`
	Pieces  []linePiece `json:"pieces"`
	Format  string      `json:"format"`

	Steps       []lineStep   `json:"steps"`
	ParentStep  string       `json:"pstep"`
	Traceparent string       `json:"traceparent"`
	Application string       `json:"app"`
	Idle        []string     `json:"idle"`
	Options     []linePair   `json:"options"`
	Primary     []lineChoice `json:"primary"`
	Caches      []lineChoice `json:"caches"`
	Spans       []lineSpan   `json:"spans"`
	Faults      []lineFault  `json:"faults"`
	Notes       []string     `json:"notes"`
	About       []string     `json:"noted"`
	Changes     []string     `json:"changes"`
	Held        int64        `json:"held"`
	Value       lineValue    `json:"value"`
	SentValue   lineValue    `json:"sent"`
	Origins     lineValue    `json:"origins"`
	Named       string       `json:"named"`
	Party       string       `json:"party"`
	Failed      uint64       `json:"failed"`
	FailedWith  string       `json:"failedwith"`
	Error       string       `json:"error"`
	Recorded    uint64       `json:"recorded"` // its number at the instance
	watched
}

// A Head is the first part of the line of a request: what its row needs.
// Enumerations are names, Took is in nanoseconds; numbers are those of the
// recording.
type Head struct {
	Trace       uint64    `json:"trace"`
	Time        time.Time `json:"t"`
	Took        int64     `json:"took"`
	Verb        string    `json:"verb"`
	Indirection string    `json:"ind"`
	Key         string    `json:"key"`
	Environment string    `json:"env"`
	Run         string    `json:"run"`
	Transaction string    `json:"transaction"`
	Guessed     bool      `json:"guessed"`
	Caller      string    `json:"caller"`
	From        string    `json:"from"` // the instance of a fleet; "" if it is that of the recording
	Parent      uint64    `json:"parent"`
	Previous    uint64    `json:"prev"`
	Replay      bool      `json:"replay"`
	Good        uint64    `json:"good"`
	Outcome     string    `json:"out"`
	Served      string    `json:"served"`
	Flags       []string  `json:"flags"`
	Terminus    string    `json:"terminus"`
	Cache       string    `json:"cache"`
	SetBy       string    `json:"setby"`
	CacheSetBy  string    `json:"csetby"`
	CacheWrote  bool      `json:"cwritten"`
	Touched     bool      `json:"touched"`
	Origin      string    `json:"origin"`
	Fault       string    `json:"fault"`
	Size        int       `json:"size"`
	Lost        bool      `json:"lost"`
}

type (
	lineEnd struct {
		Requests uint64 `json:"requests"`
		Comments uint64 `json:"comments"`
	}
	linePair   struct{ Name, Value string }
	linePiece  struct{ Text, Body string } // one of the two
	lineChoice struct {
		Terminus, By, Place, Not, Note, Setting string
		Symbol                                  bool
		T                                       time.Time
	}
	lineStep struct {
		Step, Is, Why, About string
		At, Took             int64
	}
	lineSpan struct {
		ID, Parent                            int
		Step, Kind, Name, Is, Why, About, Err string
		At, Took                              int64
		Attrs                                 []linePair
		Request                               uint64
	}
	lineFault struct {
		Origin, Step, Message, Hidden, Path string
		Shown, Soft                         bool
	}
	lineValue struct {
		Model, Format, Digest, Source string
		Size                          int
		Redacted                      int `json:"masked"`
	}
)

// beginSteps is what separates the head of a request's line from the rest. It
// cannot be part of a JSON string.
const beginSteps = `,"steps":[`

// An object is a JSON object that is being written. Empty fields are left out.
type object []byte

func (o object) comma() object {
	if o[len(o)-1] != '{' {
		return append(o, ',')
	}
	return o
}

func (o object) name(name string) object {
	return append(append(append(o.comma(), '"'), name...), `":`...)
}

func (o object) str(name, value string) object {
	if value == "" {
		return o
	}
	return appendText(o.name(name), value)
}

// word is str for a value that needs no escapes: the name of what there is a closed list of.
func (o object) word(name, value string) object {
	if value == "" {
		return o
	}
	return append(append(append(o.name(name), '"'), value...), '"')
}

func (o object) num(name string, n int64) object {
	if n == 0 {
		return o
	}
	return strconv.AppendInt(o.name(name), n, 10)
}

func (o object) id(name string, n uint64) object {
	if n == 0 {
		return o
	}
	return strconv.AppendUint(o.name(name), n, 10)
}

func (o object) yes(name string, b bool) object {
	if !b {
		return o
	}
	return append(o.name(name), "true"...)
}

func (o object) time(name string, t time.Time) object {
	if t.IsZero() {
		return o
	}
	o = append(o.name(name), '"')
	return append(t.UTC().AppendFormat(o, time.RFC3339Nano), '"')
}

func (o object) strs(name string, values []string) object {
	if len(values) == 0 {
		return o
	}
	return list(o.name(name), values, func(o object, s *string) object { return appendText(o, *s) })
}

// notes appends the texts of notes, and which step and outcome each is about:
// "terminus", "terminus answer".
func (o object) notes(notes []traces.Remark) object {
	if len(notes) == 0 {
		return o
	}
	o = list(o.name("notes"), notes, func(o object, n *traces.Remark) object { return appendText(o, n.Text) })
	return list(o.name("noted"), notes, func(o object, n *traces.Remark) object {
		o = append(append(o, '"'), n.Step.String()...)
		if n.Explains != traces.NoOutcome {
			o = append(append(o, notedSep...), n.Explains.String()...)
		}
		return append(o, '"')
	})
}

// notedSep stands between a step, whose name may have a blank, and an outcome.
const notedSep = ": "

// notesOf returns the notes of a line. Where a recording does not name what a note
// is about, it explains nothing.
func notesOf(texts, about []string) []traces.Remark {
	var notes []traces.Remark
	for i, text := range texts {
		n := traces.Remark{Step: traces.Terminus, Text: text}
		if i < len(about) {
			step, outcome, _ := strings.Cut(about[i], notedSep)
			n.Step, n.Explains = stepOf(step), traces.ParseExplains(outcome)
		}
		notes = append(notes, n)
	}
	return notes
}

// list appends a JSON array.
func list[T any](o object, values []T, item func(object, *T) object) object {
	o = append(o, '[')
	for i := range values {
		if i > 0 {
			o = append(o, ',')
		}
		o = item(o, &values[i])
	}
	return append(o, ']')
}

// field appends an array under a name, unless it is empty.
func field[T any](o object, name string, values []T, item func(object, *T) object) object {
	if len(values) == 0 {
		return o
	}
	return list(o.name(name), values, item)
}

// appendText appends s as a JSON string. It escapes what JSON demands and all
// that a terminal does not show as itself, so that a recording can be looked at.
func appendText[T string | []byte](b []byte, s T) []byte {
	return append(appendChars(append(b, '"'), s), '"')
}

func appendChars[T string | []byte](b []byte, s T) []byte {
	for len(s) > 0 {
		i := 0
		for len(s)-i >= 8 && odd(eight(s[i:])) == 0 {
			i += 8
		}
		for i < len(s) && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\' {
			i++
		}
		b = append(b, s[:i]...)
		if s = s[i:]; len(s) > 0 {
			b, i = appendOdd(b, s)
			s = s[i:]
		}
	}
	return b
}

// eight returns the first eight bytes of s as a word.
func eight[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// appendLong is appendText for the text of a body, in which there is a quote
// every few bytes: to look at eight at a time and to copy them at once takes a
// third of the time.
func appendLong(b, s []byte) []byte {
	b = append(slices.Grow(b, len(s)+len(s)/4), '"')
	for len(s) >= 8 {
		x := binary.LittleEndian.Uint64(s)
		b = binary.LittleEndian.AppendUint64(b, x)
		found := odd(x)
		if found == 0 {
			s = s[8:]
			continue
		}
		n := bits.TrailingZeros64(found) / 8
		b, s = b[:len(b)-8+n], s[n:]
		b, n = appendOdd(b, s)
		s = s[n:]
	}
	return append(appendChars(b, s), '"')
}

// odd returns a word whose lowest set bit is in the first byte of x that is not
// a plain character of ASCII; zero if there is none. A byte with its second bit
// turned is below 33 if it is a quote or a control character.
func odd(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	return (((x ^ 2*ones) - 0x21*ones) | ((x ^ '\\'*ones) - ones) | (x + ones) | x) & highs
}

// appendOdd appends the first character of s, which is none that appendText
// copies, and returns its length.
func appendOdd[T string | []byte](b []byte, s T) (text []byte, n int) {
	c := s[0]
	switch c {
	case '"', '\\':
		return append(b, '\\', c), 1
	case '\n':
		return append(b, '\\', 'n'), 1
	case '\t':
		return append(b, '\\', 't'), 1
	case '\r':
		return append(b, '\\', 'r'), 1
	}
	r, n := rune(c), 1
	if c >= utf8.RuneSelf {
		r, n = utf8.DecodeRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
		if traces.Shows(r) {
			return append(b, s[:n]...), n
		}
	}
	return traces.AppendEscape(b, r), n
}

func end(o object) []byte { return append(o, '}', '\n') }

// appendHeader appends the first line of a part of a recording.
func appendHeader(b []byte, now time.Time, source string, of Session, part int) []byte {
	return end(append(object(b), `{"indirtui":`...).append(strconv.Itoa(version)).time("started", now).str("source", source).
		str("session", of.ID).str("instance", of.Instance).str("to", of.To).num("part", int64(part)))
}

func (o object) append(s string) object { return append(o, s...) }

func appendMark(b []byte, id uint64, mark byte, now time.Time) []byte {
	as := ""
	if mark != 0 {
		as = string(rune(mark))
	}
	return end(append(object(b), '{').id("mark", id).name("as").append(string(appendText(nil, as))).time("t", now))
}

func appendComment(b []byte, id uint64, c Comment) []byte {
	return end(append(object(b), '{').id("comment", id).str("text", c.Text).time("t", c.At))
}

func appendEvent(b []byte, e Event) []byte {
	return end(append(object(b), '{').str("event", e.Text).time("t", e.At))
}

func appendEnd(b []byte, e lineEnd, now time.Time) []byte {
	o := append(object(b), `{"end":{`...).id("requests", e.Requests).id("comments", e.Comments)
	return end(append(o, '}').time("t", now))
}

func appendBody(b []byte, v traces.Value) []byte {
	o := append(object(b), '{').str("body", v.Digest).str("format", v.Format)
	if v.Pieces != nil {
		return end(field(o, "pieces", v.Pieces, func(o object, p *traces.Piece) object {
			if p.Digest != "" {
				return append(o, '{').str("body", p.Digest).append("}")
			}
			return append(appendLong(append(o, `{"text":`...), p.Text), '}')
		}))
	}
	if utf8.Valid(v.Body) {
		return end(appendLong(o.name("text"), v.Body))
	}
	o = append(o.name("base64"), '"')
	return end(append(base64.StdEncoding.AppendEncode(o, v.Body), '"'))
}

// headOf returns the head of the line of t.
func headOf(t *traces.Trace, replay bool) Head {
	primary, cache := winner(t.Primary), winner(t.Cache)
	origin, fault := firstFault(t)
	return Head{
		Trace: t.ID, Time: t.Start, Took: int64(t.Took), Verb: t.Verb.String(), Indirection: t.Indirection, Key: t.Key,
		Environment: t.Environment, Run: t.Run, Transaction: t.Transaction, Guessed: t.RunGuessed, Caller: t.Caller, Parent: t.Parent, Previous: t.Previous, Replay: replay,
		Good: t.LastGood, Outcome: t.Outcome.String(), Served: t.Served.String(), Flags: t.Flags.Names(),
		Terminus: primary.Terminus, Cache: cache.Terminus, SetBy: primary.Kind.String(), CacheSetBy: cache.Kind.String(),
		CacheWrote: t.Steps[traces.CacheWrite].Answer == traces.Written, Touched: t.IsTouched(), Origin: origin, Fault: fault, Size: t.Value().Size,
		From: instanceOf(t),
	}
}

// instanceOf is the instance of a fleet that a request is from.
func instanceOf(t *traces.Trace) string {
	if t.From == nil {
		return ""
	}
	return t.From.Name
}

// firstFault returns origin and message of the failure in the row: the one
// shown to the caller, else the first.
func firstFault(t *traces.Trace) (origin, message string) {
	for i := range t.Faults {
		if t.Faults[i].Shown {
			return t.Faults[i].Origin, shorten(t.Faults[i].Message, maxName)
		}
	}
	if len(t.Faults) > 0 {
		return t.Faults[0].Origin, shorten(t.Faults[0].Message, maxName)
	}
	return "", shorten(t.Error, maxName)
}

// headOfRow returns the head of a line for a request of which only the row is
// left.
func headOfRow(r *Row, l Links) Head {
	h := Head{
		Trace: r.ID, Time: r.Start, Took: int64(r.Took), Verb: r.Verb.String(), Indirection: r.Indirection, Key: r.Key,
		Environment: r.Environment, Run: r.Run, Transaction: r.Transaction, Guessed: r.RunGuessed, Caller: r.Caller, Parent: r.Parent, Previous: l.PrevInRun,
		Good: l.LastGood, Outcome: r.Outcome.String(), Served: r.Served.String(), Flags: r.Flags.Names(),
		Terminus: r.Terminus, Cache: r.Cache, SetBy: r.SetBy.String(), CacheSetBy: r.CacheSetBy.String(),
		CacheWrote: r.CacheWritten, Touched: r.Touched, Origin: r.Origin, Fault: r.Fault, Size: r.Size, Lost: true,
		From: r.Instance,
	}
	if l.Replays != 0 {
		h.Previous, h.Replay = l.Replays, true
	}
	return h
}

func appendHead(b []byte, h *Head) object {
	return append(object(b), '{').id("trace", h.Trace).time("t", h.Time).num("took", h.Took).word("verb", h.Verb).
		str("ind", h.Indirection).str("key", h.Key).str("env", h.Environment).str("run", h.Run).str("transaction", h.Transaction).yes("guessed", h.Guessed).str("caller", h.Caller).str("from", h.From).
		id("parent", h.Parent).id("prev", h.Previous).yes("replay", h.Replay).id("good", h.Good).
		word("out", h.Outcome).word("served", h.Served).strs("flags", h.Flags).str("terminus", h.Terminus).str("cache", h.Cache).
		word("setby", h.SetBy).word("csetby", h.CacheSetBy).yes("cwritten", h.CacheWrote).yes("touched", h.Touched).
		str("origin", h.Origin).str("fault", h.Fault).num("size", int64(h.Size)).yes("lost", h.Lost)
}

// appendRow appends the line of a request that has no detail.
func appendRow(b []byte, h *Head) []byte {
	return end(append(appendHead(b, h), beginSteps+"]"...))
}

// appendTrace appends the line of a request.
func (p *phrases) appendTrace(b []byte, t *traces.Trace, replay bool) []byte {
	h := headOf(t, replay)
	o := append(appendHead(b, &h), beginSteps...)
	for i := range t.Steps {
		q := &t.Steps[i]
		if *q == (traces.Question{}) {
			continue
		}
		if o[len(o)-1] != '[' {
			o = append(o, ',')
		}
		o = p.steps[i].append(append(o, `{"step":"`...).append(traces.Step(i).String()), *q, appendQuestion)
	}
	o = append(o, ']')
	if t.ParentStep != 0 {
		o = o.word("pstep", t.ParentStep.String())
	}
	o = o.str("traceparent", t.Traceparent.String()).str("app", t.Application).strs("idle", t.Idle.Names())
	o = field(o, "options", t.Options, func(o object, p *traces.Option) object { return o.pair(p.Name, p.Value) })
	o = p.primary.append(o, "primary", t.Primary)
	o = p.cache.append(o, "caches", t.Cache)
	if len(t.Spans) > 0 {
		o = o.name("spans").append("[")
		for i := range t.Spans {
			if i > 0 {
				o = append(o, ',')
			}
			o = p.span(o, i, &t.Spans[i])
		}
		o = append(o, ']')
	}
	o = field(o, "faults", t.Faults, func(o object, f *traces.Fault) object {
		return append(o, '{').str("origin", f.Origin).str("step", f.Step.String()).str("message", f.Message).
			str("hidden", f.Hidden).yes("shown", f.Shown).yes("soft", f.Soft).str("path", f.Path).append("}")
	})
	o = o.notes(t.Notes).strs("changes", t.Touched).num("held", int64(t.Held))
	if t.Values != nil {
		for _, v := range t.Values.All() {
			o = o.value(v.Name, v.Value)
		}
	}
	o = o.str("named", t.Named).str("party", t.Party).id("failed", t.Failed).str("failedwith", t.FailedWith).str("error", t.Error)
	if t.From != nil {
		o = o.id("recorded", t.From.Number)
	}
	return end(o)
}

func appendChoice(o object, c *traces.Choice) object {
	return append(o, '{').str("terminus", c.Terminus).word("by", c.Kind.String()).str("place", c.Source).str("not", c.Why).
		str("note", c.Note).str("setting", c.Setting).yes("symbol", c.Symbol).time("t", c.At).append("}")
}

// appendQuestion appends what follows the name of a step.
func appendQuestion(q *traces.Question, o object) object {
	return append(o, '"').word("is", q.Answer.String()).because(q.Because).num("at", int64(q.At)).num("took", int64(q.Took)).append("}")
}

func (o object) pair(name, value string) object {
	return append(o, '{').str("name", name).str("value", value).append("}")
}

func (o object) because(b traces.Because) object {
	return o.word("why", b.Reason.String()).str("about", b.About)
}

func (o object) value(name string, v *traces.Value) object {
	if v.Model == "" && v.Format == "" && v.Digest == "" && v.Size == 0 && v.Redacted == 0 && v.Source == "" {
		return o
	}
	return append(o.name(name), '{').str("model", v.Model).str("format", v.Format).num("size", int64(v.Size)).
		str("digest", v.Digest).num("masked", int64(v.Redacted)).str("source", v.Source).append("}")
}

// The names of enumerations, for reading.
var (
	answers = namesOf[traces.Answer]("Answer")
	reasons = namesOf[traces.Reason]("Reason")
	sources = namesOf[traces.SourceKind]("Source")
	serveds = namesOf[traces.Served]("Served")
	kinds   = namesOf[traces.Kind]("Kind")
)

// namesOf returns the values of an enumeration by their names. Those it does
// not have are named "Kind(17)".
func namesOf[T interface {
	~uint8
	String() string
}](kind string) map[string]T {
	m := make(map[string]T)
	for i := range 256 {
		name := T(i).String()
		if strings.HasPrefix(name, kind+"(") {
			break
		}
		if _, ok := m[name]; !ok {
			m[name] = T(i)
		}
	}
	return m
}

func flagsOf(names []string) (f traces.Flags) {
	for _, n := range names {
		f |= traces.ParseFlag(n)
	}
	return f
}

func becauseOf(why, about string) traces.Because {
	return traces.Because{Reason: reasons[why], About: about}
}

func stepOf(name string) traces.Step {
	s, _ := traces.ParseStep(name)
	return s
}

func (h *Head) outcome() traces.Outcome {
	o, ok := traces.ParseOutcome(h.Outcome)
	if !ok || o == traces.Run || o == traces.HeldOutcome {
		return traces.Nil
	}
	return o
}

// local makes a time that was read look like one that was not.
func local(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Local()
}

// trace converts l to a trace.
func (l *line) trace() *traces.Trace {
	t := traces.NewTrace()
	*t = traces.Trace{
		ID: l.Trace, Parent: l.Parent, ParentStep: stepOf(l.ParentStep), Run: l.Run, Transaction: l.Transaction, RunGuessed: l.Guessed, Caller: l.Caller, Verb: traces.ParseVerb(l.Verb),
		Indirection: l.Indirection, Key: l.Key, Environment: l.Environment, Application: l.Application,
		Flags: flagsOf(l.Flags), Idle: flagsOf(l.Idle), Start: local(l.Time), Took: time.Duration(l.Took),
		Outcome: l.outcome(), Served: serveds[l.Served], Notes: notesOf(l.Notes, l.About), Touched: l.Changes, Held: time.Duration(l.Held), Values: l.values(),
		Named: l.Named, Party: l.Party, Previous: l.Previous, LastGood: l.Good, Failed: l.Failed, FailedWith: l.FailedWith, Error: l.Error,
	}
	if l.From != "" {
		t.From = &traces.Instance{Name: l.From, Number: l.Recorded}
	}
	if p, ok := traces.ParseTraceparent(l.Traceparent); ok {
		t.Traceparent = &p
	}
	for _, q := range l.Steps {
		if s, ok := traces.ParseStep(q.Step); ok {
			t.Steps[s] = traces.Question{Answer: answers[q.Is], Because: becauseOf(q.Why, q.About), At: time.Duration(q.At), Took: time.Duration(q.Took)}
		}
	}
	for _, p := range l.Options {
		t.Options = append(t.Options, traces.Option(p))
	}
	t.Primary, t.Cache = slotOf(l.Primary), slotOf(l.Caches)
	t.Spans = slices.Grow(t.Spans, len(l.Spans))
	for i := range l.Spans {
		s := &l.Spans[i]
		span := traces.Span{
			ID: s.ID, Parent: s.Parent, Step: stepOf(s.Step), Kind: kinds[s.Kind], Name: s.Name, Answer: s.Is,
			Because: becauseOf(s.Why, s.About), At: time.Duration(s.At), Took: time.Duration(s.Took), Err: s.Err, Request: s.Request,
		}
		for _, a := range s.Attrs {
			span.Attrs = append(span.Attrs, traces.Attr{Key: a.Name, Value: a.Value})
		}
		t.Spans = append(t.Spans, span)
	}
	for _, f := range l.Faults {
		t.Faults = append(t.Faults, traces.Fault{Origin: f.Origin, Step: stepOf(f.Step), Message: f.Message, Hidden: f.Hidden, Shown: f.Shown, Soft: f.Soft, Path: f.Path})
	}
	return t
}

func slotOf(choices []lineChoice) (s traces.Slot) {
	for _, c := range choices {
		s = append(s, traces.Choice{Terminus: c.Terminus, Kind: sources[c.By], Source: c.Place, Why: c.Not, Note: c.Note, Setting: c.Setting, Symbol: c.Symbol, At: local(c.T)})
	}
	return s
}

// values returns what the line has of the answer and of what was sent, or nil.
func (l *line) values() *traces.Values {
	if l.Value == (lineValue{}) && l.SentValue == (lineValue{}) && l.Origins == (lineValue{}) {
		return nil
	}
	return &traces.Values{Answer: l.Value.value(), Sent: l.SentValue.value(), Origins: l.Origins.value()}
}

func (v *lineValue) value() traces.Value {
	return traces.Value{Model: v.Model, Format: v.Format, Size: v.Size, Digest: v.Digest, Redacted: v.Redacted, Source: v.Source}
}

// content converts l to a value.
func (l *line) content() []byte {
	if l.Base64 != nil {
		return l.Base64
	}
	return []byte(l.Text)
}

// parse reads one line.
func parse(b []byte) (*line, error) {
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, err
	}
	return &l, nil
}

// digestOf reads the name of a body, which is a SHA-256 in hex.
func digestOf(s string) (k bodyKey, err error) {
	var sum [sha256.Size]byte
	if n, err := hex.Decode(sum[:], []byte(s[:min(len(s), 2*len(sum))])); err != nil || 2*n != len(s) || n != len(sum) {
		return k, fmt.Errorf("%q is no SHA-256", shorten(s, 80))
	}
	return bodyKey(sum[:len(k)]), nil
}
