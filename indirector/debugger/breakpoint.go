package debugger

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/spell"
)

// A Where is a point before or after a step, or a place in programs that the terminus runs.
type Where struct {
	Step  traces.Step
	After bool
	Code  Place // with it, the step is that of the terminus
}

func (w Where) String() string {
	if w.Code != (Place{}) {
		return "at " + w.Code.String()
	}
	step := strings.ReplaceAll(w.Step.String(), " ", "-")
	if w.After {
		return "after " + step
	}
	return "before " + step
}

// A Do is what a breakpoint does.
type Do uint8

// What a breakpoint may do.
const (
	Hold     Do = iota // the request
	Log                // chosen fields
	Fail               // fail the step
	Delay              // the request for some time
	Nil                // answer Puppet's nil
	Value              // answer a given value
	Truncate           // the answer
	Corrupt            // bytes of the answer
	Set                // fields of the request
	Skip               // the step
	Retry              // a step of a resource that failed
)

var dos = [...]string{"hold", "log", "fail", "delay", "nil", "value", "truncate", "corrupt", "set", "skip", "retry"}

func (d Do) String() string {
	if int(d) < len(dos) {
		return dos[d]
	}
	return "Do(" + strconv.Itoa(int(d)) + ")"
}

// Dos returns the names of what a breakpoint can do, in the order of help.
func Dos() []string { return append([]string(nil), dos[:]...) }

// An Action is what a breakpoint does, with its arguments.
type Action struct {
	Do     Do
	Fields []string      // of Log; none is the usual ones
	Status int           // of Fail, in HTTP; 0 is none
	Text   string        // of Fail: the message; of Value: the value, or @FILE
	Format string        // of Value, Truncate and Corrupt: json, yaml, pson, msgpack; "" is that of the file's name, else json
	Delay  time.Duration // of Delay
	Jitter time.Duration // of Delay: more or less
	Bytes  int           // of Truncate: that stay; of Corrupt: that change
	Share  float64       // of Truncate: percent that stay, if Bytes is 0
	Edits  []Edit        // of Set
}

// A Limit selects among the requests that match. The zero Limit selects all.
type Limit struct {
	First   int     // the first N; 1 is once
	Every   int     // each N-th
	Percent float64 // of requests, at random
}

// A Breakpoint does WHAT, WHEN and WHERE.
type Breakpoint struct {
	When  *query.Expr // nil is always
	Where Where
	Action
	Limit
}

// keywords end the expression.
var keywords = []string{"before", "after", "at", "do", "once", "first", "every", "off"}

// A SyntaxError reports why a text is no breakpoint, action or edit.
type SyntaxError struct {
	Offset int    // in bytes, for the caret
	What   string // "there is no step \"termnus\""
	Advice string // "nearest: terminus"; may be ""
}

func (e *SyntaxError) Error() string {
	if e.Advice == "" {
		return e.What
	}
	return e.What + "; " + e.Advice
}

// Parse reads a breakpoint:
//
//	[EXPR] [before|after|at STEP | at PLACE] [do ACTION] [once | first N] [every N] [N%]
//
//	hold                      the default
//	log [FIELD,...]
//	fail [STATUS] [TEXT]      "connection refused", 503
//	delay TIME [jitter TIME]
//	nil                       puppet's nil
//	value TEXT|@FILE [json|yaml|pson|msgpack]
//	truncate [N|N%]           to so many bytes
//	corrupt [N]               so many bytes
//	set NAME=VALUE ...        as Edit
//	skip
//	retry                     a step of a resource, at failure
//
// A PLACE is in the programs that a terminus runs, such as manifests: FILE:LINE, class NAME,
// define NAME, node NAME, function NAME or resource TYPE[TITLE]. Or it is in the run of a
// catalog: before a step of a resource, such as retrieve, change PROPERTY or refresh, or
// at failure [STEP].
//
// Without a place it is before the terminus is asked, and after it for
// truncate and corrupt. Words that begin one of the parts are looked for as
// words only in quotes. The error is a *SyntaxError or a *query.SyntaxError.
func Parse(text string) (Breakpoint, error) {
	when, rest, err := query.ParsePrefix(text, isKeyword)
	if err != nil {
		return Breakpoint{}, err
	}
	b := Breakpoint{When: when}
	p := &clauses{tokens: scan(text, rest), end: len(text)}
	if err := p.breakpoint(&b); err != nil {
		return Breakpoint{}, err
	}
	return b, b.check()
}

// ParseAction reads an action, without the word "do".
func ParseAction(text string) (Action, error) {
	p := &clauses{tokens: scan(text, 0), end: len(text)}
	a, err := p.action()
	if err == nil && p.i < len(p.tokens) {
		err = p.fail(fmt.Sprintf("%q is not understood", p.tokens[p.i].text), "")
	}
	return a, err
}

func isKeyword(w string) bool {
	for _, k := range keywords {
		if w == k {
			return true
		}
	}
	_, ok := percent(w)
	return ok
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// skipQuoted returns the end of the quotes that begin at i, as in expressions.
func skipQuoted(text string, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			n := 0
			for i+n < len(text) && text[i+n] == '\\' {
				n++
			}
			i += n - 1
			if i+1 < len(text) && text[i+1] == '"' && n%2 == 1 {
				i++
			}
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

// A token is a word, without its quotes.
type token struct {
	text   string
	at     int
	quoted bool // partly or wholly, so that it is no keyword
}

// scan splits the text from an offset on at blanks outside of quotes and
// brackets, so that JSON needs no quotes.
func scan(text string, from int) []token {
	var tokens []token
	for i := from; i < len(text); {
		if isBlank(text[i]) {
			i++
			continue
		}
		t := token{at: i}
		var b []byte
		depth := 0
		for i < len(text) && (depth > 0 || !isBlank(text[i])) {
			switch c := text[i]; {
			case depth == 0 && (c == '"' || c == '\''):
				end := skipQuoted(text, i)
				b = append(b, unquote(text[i:end])...)
				t.quoted, i = true, end
				continue
			case depth > 0 && c == '"':
				end := skipQuoted(text, i)
				b = append(b, text[i:end]...)
				i = end
				continue
			case c == '{' || c == '[':
				depth++
			case (c == '}' || c == ']') && depth > 0:
				depth--
			}
			b = append(b, text[i])
			i++
		}
		t.text = string(b)
		tokens = append(tokens, t)
	}
	return tokens
}

func unquote(s string) string {
	quote := s[0]
	s = s[1:]
	if n := len(s); n > 0 && s[n-1] == quote {
		s = s[:n-1]
	}
	if quote == '\'' {
		return s
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			n := 0
			for i+n < len(s) && s[i+n] == '\\' {
				n++
			}
			if i+n < len(s) && s[i+n] == '"' || i+n == len(s) {
				b = append(b, strings.Repeat(`\`, n/2)...)
				i += n - 1
				continue
			}
			b = append(b, s[i:i+n]...)
			i += n - 1
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

// quote writes a word that scan reads back.
func quote(s string) string {
	plain := s != "" && !isKeyword(s)
	for _, r := range s {
		if r == '"' || r == '\'' || r == '{' || r == '[' || r == '\\' || unicode.IsSpace(r) {
			plain = false
		}
	}
	switch {
	case plain:
		return s
	case !strings.Contains(s, "'"):
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		n := 0
		for i+n < len(s) && s[i+n] == '\\' {
			n++
		}
		switch {
		case n > 0 && (i+n == len(s) || s[i+n] == '"'):
			b.WriteString(strings.Repeat(`\`, 2*n))
			i += n - 1
		case n > 0:
			b.WriteString(s[i : i+n])
			i += n - 1
		case s[i] == '"':
			b.WriteString(`\"`)
		default:
			b.WriteByte(s[i])
		}
	}
	b.WriteByte('"')
	return b.String()
}

func percent(s string) (float64, bool) {
	number, is := strings.CutSuffix(s, "%")
	if !is {
		return 0, false
	}
	f, err := strconv.ParseFloat(number, 64)
	return f, err == nil && f >= 0 && f <= 100 && !math.IsNaN(f)
}

// clauses reads what follows the expression.
type clauses struct {
	tokens []token
	i      int
	end    int
}

func (p *clauses) fail(what, advice string) error {
	at := p.end
	if p.i < len(p.tokens) {
		at = p.tokens[p.i].at
	}
	return &SyntaxError{at, what, advice}
}

// next takes the next word unless it is a keyword.
func (p *clauses) next() (token, bool) {
	if p.i == len(p.tokens) || !p.tokens[p.i].quoted && isKeyword(p.tokens[p.i].text) {
		return token{}, false
	}
	p.i++
	return p.tokens[p.i-1], true
}

func (p *clauses) breakpoint(b *Breakpoint) error {
	placed, acted := false, false
	for p.i < len(p.tokens) {
		t := p.tokens[p.i]
		word := t.text
		if t.quoted {
			word = ""
		}
		switch share, isShare := percent(word); {
		case isShare && b.Percent == 0:
			if share == 0 {
				return p.fail("0% of the requests are none", "write :breaks off to disarm a breakpoint")
			}
			b.Percent = share
			p.i++
		case (word == "before" || word == "after" || word == "at") && !placed:
			p.i++
			var inCode bool
			var err error
			if word == "at" {
				b.Where.Code, inCode, err = p.place()
			}
			if err == nil && !inCode {
				err = p.where(&b.Where, word == "after")
			}
			if err != nil {
				return err
			}
			if inCode {
				b.Where.Step = traces.Terminus
			}
			placed = true
		case word == "do" && !acted:
			p.i++
			var err error
			if b.Action, err = p.action(); err != nil {
				return err
			}
			acted = true
		case word == "once" && b.First == 0:
			b.First = 1
			p.i++
		case (word == "first" || word == "every") && p.i+1 < len(p.tokens):
			p.i++
			n, err := strconv.Atoi(p.tokens[p.i].text)
			if err != nil || n < 1 {
				return p.fail(fmt.Sprintf("%s %s: want a number from 1 on", word, p.tokens[p.i].text), "")
			}
			if word == "first" {
				b.First = n
			} else {
				b.Every = n
			}
			p.i++
		default:
			return p.fail(fmt.Sprintf("%q is not understood here", t.text), "write before|after STEP, at PLACE, do ACTION, once, first N, every N or N%")
		}
	}
	if !placed {
		b.Where = Where{Step: traces.Terminus, After: b.Do == Truncate || b.Do == Corrupt}
	}
	return nil
}

// where reads a step, which may be two words.
func (p *clauses) where(w *Where, after bool) error {
	if p.i < len(p.tokens) && !after {
		switch p.tokens[p.i].text {
		case "before", "after":
			after = p.tokens[p.i].text == "after"
			p.i++
		}
	}
	w.After = after
	if p.i+1 < len(p.tokens) {
		if s, ok := traces.ParseStep(p.tokens[p.i].text + " " + p.tokens[p.i+1].text); ok {
			w.Step, p.i = s, p.i+2
			return nil
		}
	}
	if p.i == len(p.tokens) {
		return p.fail("at which step?", "there are: "+strings.Join(stepNames(), " "))
	}
	s, ok := traces.ParseStep(p.tokens[p.i].text)
	if !ok && p.tokens[p.i].text == "cache" {
		s, ok = traces.CacheRead, true
	}
	if !ok {
		return p.fail(fmt.Sprintf("there is no step %q", p.tokens[p.i].text), nearest(p.tokens[p.i].text, stepNames()))
	}
	w.Step = s
	p.i++
	return nil
}

func nearest(name string, all []string) string {
	if near := spell.Nearest(name, all); near != "" {
		return "nearest: " + near
	}
	return "there are: " + strings.Join(all, " ")
}

func stepNames() []string {
	names := make([]string, traces.StepCount)
	for s := range traces.Step(traces.StepCount) {
		names[s] = strings.ReplaceAll(s.String(), " ", "-")
	}
	return names
}

func (p *clauses) action() (a Action, err error) {
	if p.i == len(p.tokens) {
		return a, p.fail("do what?", "there are: "+strings.Join(dos[:], " "))
	}
	word := p.tokens[p.i].text
	a.Do = Do(len(dos))
	for i, name := range dos {
		if name == word {
			a.Do = Do(i)
		}
	}
	if int(a.Do) == len(dos) {
		return a, p.fail(fmt.Sprintf("%q is nothing that can be done", word), nearest(word, dos[:]))
	}
	p.i++
	switch a.Do {
	case Log:
		err = p.fields(&a)
	case Fail:
		err = p.failure(&a)
	case Delay:
		err = p.delay(&a)
	case Value:
		err = p.value(&a)
	case Truncate, Corrupt:
		err = p.bytes(&a)
	case Set:
		err = p.edits(&a)
	}
	return a, err
}

func (p *clauses) fields(a *Action) error {
	for {
		t, ok := p.next()
		if !ok {
			return nil
		}
		for _, f := range strings.Split(t.text, ",") {
			if f == "" {
				continue
			}
			if !query.IsField(f) {
				p.i--
				return p.fail(fmt.Sprintf("%q is no field", f), "help expressions lists them")
			}
			a.Fields = append(a.Fields, strings.ToLower(f))
		}
	}
}

func (p *clauses) failure(a *Action) error {
	var words []string
	for {
		t, ok := p.next()
		if !ok {
			break
		}
		if n, err := strconv.Atoi(t.text); err == nil && !t.quoted && len(words) == 0 && a.Status == 0 {
			if n < 400 || n > 599 {
				p.i--
				return p.fail(fmt.Sprintf("%d is no status of a failure", n), "there are 400 to 599")
			}
			a.Status = n
			continue
		}
		words = append(words, t.text)
	}
	a.Text = strings.Join(words, " ")
	return nil
}

func (p *clauses) delay(a *Action) error {
	d, err := p.duration("delay how long?")
	if err != nil {
		return err
	}
	a.Delay = d
	if p.i < len(p.tokens) && p.tokens[p.i].text == "jitter" {
		p.i++
		a.Jitter, err = p.duration("how much jitter?")
	}
	return err
}

// maxDelay catches a typing error that would hold a request for days.
const maxDelay = time.Hour

func (p *clauses) duration(question string) (time.Duration, error) {
	t, ok := p.next()
	if !ok {
		return 0, p.fail(question, "write 250ms, 2s or 1m")
	}
	d, err := time.ParseDuration(t.text)
	if err != nil || d < 0 || d > maxDelay {
		p.i--
		return 0, p.fail(fmt.Sprintf("%q is no time to wait", t.text), "write 250ms, 2s or 1m; an hour is the most")
	}
	return d, nil
}

var valueFormats = []string{"json", "yaml", "pson", "msgpack"}

func (p *clauses) format(a *Action) {
	if p.i < len(p.tokens) {
		for _, f := range valueFormats {
			if p.tokens[p.i].text == f {
				a.Format = f
				p.i++
				return
			}
		}
	}
}

func (p *clauses) value(a *Action) error {
	t, ok := p.next()
	if !ok {
		return p.fail("which value?", `write it as JSON, or @FILE`)
	}
	a.Text = t.text
	if a.Text == "" || a.Text == "@" {
		p.i--
		return p.fail("the value is empty", "write nil for Puppet's nil")
	}
	p.format(a)
	return nil
}

func (p *clauses) bytes(a *Action) error {
	if p.i < len(p.tokens) && !p.tokens[p.i].quoted {
		word := p.tokens[p.i].text
		if share, ok := percent(word); ok && a.Do == Truncate {
			a.Share = share
			p.i++
		} else if n, err := strconv.Atoi(word); err == nil {
			if n < 0 || a.Do == Corrupt && n == 0 {
				return p.fail(fmt.Sprintf("%s %d bytes", a.Do, n), "write a number from 1 on")
			}
			a.Bytes = n
			p.i++
			if n == 0 {
				a.Share = -1 // truncate 0
			}
		}
	}
	switch {
	case a.Do == Truncate && a.Bytes == 0 && a.Share == 0:
		a.Share = 50
	case a.Do == Corrupt && a.Bytes == 0:
		a.Bytes = 1
	}
	p.format(a)
	return nil
}

func (p *clauses) edits(a *Action) error {
	for {
		t, ok := p.next()
		if !ok {
			break
		}
		e, err := ParseEdit(t.text)
		if err != nil {
			p.i--
			return p.fail(err.Error(), "")
		}
		a.Edits = append(a.Edits, e)
	}
	if len(a.Edits) == 0 {
		return p.fail("set what?", editAdvice)
	}
	return nil
}

// check refuses combinations that make no sense.
func (b *Breakpoint) check() error {
	w, no := b.Where, func(what, advice string) error { return &SyntaxError{What: what, Advice: advice} }
	gives := w.Step == traces.CacheRead || w.Step >= traces.Terminus
	switch {
	case b.Do == Retry && w.Code.Kind != indirector.StepFailed:
		return no("only where a step of a resource failed it can be taken once more", "write at failure do retry first 3")
	case w.Code.ofResource() && (b.Do == Skip || b.Do == Retry):
		return nil
	case w.Code != (Place{}) && b.Do != Hold && b.Do != Log && b.Do != Fail && b.Do != Delay && !b.assigns():
		return no(fmt.Sprintf("in a program there is nothing to %s", b.Do), "what can be done there: hold, log, fail, delay, set $NAME=VALUE")
	case w.Step == traces.Caller && w.After:
		return no("after caller the request is over", "write before caller")
	case (b.Do == Nil || b.Do == Value) && !gives:
		return no(fmt.Sprintf("%s gives no answer", w.Step), "an answer can be injected at cache-read and from terminus on")
	case (b.Do == Truncate || b.Do == Corrupt) && (!gives || !w.After && w.Step != traces.Caller):
		return no(fmt.Sprintf("%s there is no answer to %s", w, b.Do), "write after cache-read, after terminus or a later step")
	case b.Do == Skip && (w.After || w.Step == traces.Route || w.Step == traces.Caller):
		return no(fmt.Sprintf("%s there is nothing to leave out", w), "write before STEP; the route cannot be left out")
	case b.Do == Set && w.Step == traces.Caller:
		return no("before caller no step is left that would look at it", "")
	}
	return nil
}

// String is the canonical spelling, which Parse reads.
func (b Breakpoint) String() string {
	parts := make([]string, 0, 4)
	if when := b.When.String(); when != "" {
		if _, rest, err := query.ParsePrefix(when, isKeyword); err != nil || rest < len(when) {
			when = "(" + when + ")" // it contains a keyword
		}
		parts = append(parts, when)
	}
	parts = append(parts, b.Where.String(), "do "+b.Action.String())
	if limit := b.Limit.String(); limit != "" {
		parts = append(parts, limit)
	}
	return strings.Join(parts, " ")
}

func (l Limit) String() string {
	var parts []string
	switch {
	case l.First == 1:
		parts = append(parts, "once")
	case l.First > 1:
		parts = append(parts, "first "+strconv.Itoa(l.First))
	}
	if l.Every > 0 {
		parts = append(parts, "every "+strconv.Itoa(l.Every))
	}
	if l.Percent > 0 {
		parts = append(parts, strconv.FormatFloat(l.Percent, 'f', -1, 64)+"%")
	}
	return strings.Join(parts, " ")
}

func (a Action) String() string {
	s := a.Do.String()
	add := func(more string) {
		if more != "" {
			s += " " + more
		}
	}
	switch a.Do {
	case Log:
		add(strings.Join(a.Fields, ","))
	case Fail:
		if a.Status != 0 {
			add(strconv.Itoa(a.Status))
		}
		if _, err := strconv.Atoi(a.Text); err == nil {
			add("'" + a.Text + "'")
		} else if a.Text != "" {
			add(quote(a.Text))
		}
	case Delay:
		add(a.Delay.String())
		if a.Jitter > 0 {
			add("jitter " + a.Jitter.String())
		}
	case Value:
		add(quote(a.Text))
		add(a.Format)
	case Truncate:
		switch {
		case a.Bytes > 0:
			add(strconv.Itoa(a.Bytes))
		case a.Share < 0:
			add("0")
		default:
			add(strconv.FormatFloat(a.Share, 'f', -1, 64) + "%")
		}
		add(a.Format)
	case Corrupt:
		add(strconv.Itoa(a.Bytes))
		add(a.Format)
	case Set:
		for _, e := range a.Edits {
			add(e.String())
		}
	}
	return s
}

// Error returns what Fail fails with: what the REST client makes of the status,
// or the text.
func (a Action) Error() error {
	switch {
	case a.Status != 0:
		return indirector.HTTPFailure(a.Status, cmp.Or(a.Text, http.StatusText(a.Status)))
	case a.Text != "":
		return &indirector.Failure{Message: a.Text, Origin: "injected"}
	}
	return &indirector.Failure{Message: "injected failure", Origin: "injected"}
}
