package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/probe"
	"indirtui/traces"
)

// answer returns what a verdict is for the probe. Err ends the request, as an abort
// does.
func answer(s *indirector.Stop, v indirector.Verdict, err error) probe.Go {
	var g probe.Go
	switch {
	case err != nil:
		g.Fail = failure(err)
	case errors.Is(v.Err, indirector.ErrNotFound):
		g.Nil = true
	case v.Err != nil:
		g.Fail = failure(v.Err)
	case v.Set && v.Value == nil:
		g.Nil = true
	case v.Set:
		g.Value, g.Fail = valueFor(v.Value)
	}
	g.Skip = v.Skip && g.Value == nil && !g.Nil && g.Fail == nil
	if v.Request != nil && err == nil {
		edit(&g, s.Request, v.Request)
	}
	return g
}

const (
	maxText  = 48 << 10 // bytes of a text in a line, as JSON
	maxPiece = 8 << 10  // bytes of a piece, which JSON may write with six times as many
	maxValue = 4 << 20  // bytes of a value
)

// sendPieces sends the text of a value that is too long for a line.
func (h *Holder) sendPieces(r *probe.Held, v *probe.GoValue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v == nil || h.l == nil {
		return
	}
	if b, _ := json.Marshal(v.Text); len(b) <= maxText {
		return
	}
	for text := v.Text; text != ""; {
		n := min(len(text), maxPiece)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		_ = h.l.Send(r.Process.Conn, probe.Piece{Number: r.Number, Text: text[:n]}) // it may have gone
		text = text[n:]
	}
	v.Text = ""
}

// failure is an error as Ruby raises it.
func failure(err error) *probe.GoFail {
	f := &probe.GoFail{Message: indirector.Message(err)}
	if known := (*indirector.Failure)(nil); errors.As(err, &known) {
		f.Class = known.Class
	}
	return f
}

// valueFor is an answer for the probe. One that cannot be written fails the request
// instead of letting it go on with another.
func valueFor(v any) (*probe.GoValue, *probe.GoFail) {
	f, _ := format.ByName("json")
	out := &probe.GoValue{Format: f.Name}
	var b []byte
	var err error
	switch v := v.(type) {
	case bool:
		out.Text = fmt.Sprint(v)
		return out, nil
	case []indirector.Instance:
		b, err = format.RenderMultiple(f, v)
	case *model.Raw:
		b, err = format.AppendJSON(nil, v.Value)
	case indirector.Instance:
		if c := model.ClassOf(v); c != nil {
			out.Model = c.Name
		}
		b, err = format.Render(f, v)
	default:
		err = fmt.Errorf("%T is no answer", v)
	}
	if err == nil && len(b) > maxValue {
		err = fmt.Errorf("it has %d bytes, and another process takes %d", len(b), maxValue)
	}
	if err != nil {
		return nil, failure(fmt.Errorf("inject an answer: %w", err))
	}
	out.Text = string(b)
	return out, nil
}

// edit adds what is another in next.
func edit(g *probe.Go, was, next *indirector.Request) {
	if next.Key != was.Key {
		g.Key = &next.Key
	}
	if next.Environment != was.Environment {
		g.Env = &next.Environment
	}
	for _, name := range (next.Flags ^ was.Flags).Names() {
		if g.Flags == nil {
			g.Flags = map[string]bool{}
		}
		g.Flags[name] = next.Flags&traces.ParseFlag(name) != 0
	}
	if next.Terminus != was.Terminus {
		g.Terminus = next.Terminus
	}
	if next.Cache != was.Cache {
		g.Cache = next.Cache
	}
	if next.Instance != was.Instance {
		g.Value, g.Fail = valueFor(next.Instance)
	}
	g.Options = options(was.Options, next.Options)
}

// options are those that were changed; nil is one that was removed.
func options(was, next []indirector.Option) map[string]*string {
	texts := func(all []indirector.Option) map[string]string {
		m := map[string]string{}
		for _, o := range all {
			m[o.Name] = fmt.Sprint(o.Value)
		}
		return m
	}
	before, after := texts(was), texts(next)
	var changed map[string]*string
	put := func(name string, to *string) {
		if changed == nil {
			changed = map[string]*string{}
		}
		changed[name] = to
	}
	for name, to := range after {
		if from, had := before[name]; !had || from != to {
			put(name, &to)
		}
	}
	for name := range before {
		if _, has := after[name]; !has {
			put(name, nil)
		}
	}
	return changed
}
