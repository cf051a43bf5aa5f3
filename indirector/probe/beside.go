package probe

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"indirtui/traces"
)

// value takes a part of a value. The line of its request comes later.
func (d *decoder) value(v *value) error {
	which := map[string]int{"value": 0, "sent": 1}
	i, ok := which[v.Name]
	if !ok || v.Request == 0 {
		return fmt.Errorf("there is no value %.20q of request %d", v.Name, v.Request)
	}
	if v.Parts == 0 {
		d.opened(v.Request, answered{err: errNotRendered})
		return nil
	}
	p := d.parts[v.Request]
	if p == nil {
		p = new(parts)
		d.parts[v.Request] = p
	}
	if p.next[i]++; v.Part != p.next[i] || v.Parts < v.Part {
		return fmt.Errorf("part %d of %d comes where part %d is due", v.Part, v.Parts, p.next[i])
	}
	if len(p.texts[i])+len(v.Text) > maxValue {
		return fmt.Errorf("the value of request %d is longer than %d bytes", v.Request, maxValue)
	}
	if d.bytes += len(v.Text); d.bytes > maxValues {
		return fmt.Errorf("values of more than %d bytes wait for the lines of their requests", maxValues)
	}
	p.texts[i] = append(p.texts[i], v.Text...)
	p.models[i] = v.Model
	if v.Part == v.Parts && d.opened(v.Request, answered{values: d.valuesOf(p)}) {
		d.drop(v.Request)
	}
	return nil
}

// valuesOf are the values of a request, redacted.
func (d *decoder) valuesOf(p *parts) *traces.Values {
	values := new(traces.Values)
	for i, v := range []*traces.Value{&values.Answer, &values.Sent} {
		if p.next[i] > 0 {
			*v = d.o.render(p.models[i], p.texts[i])
		}
	}
	return values
}

// drop forgets the values of a request.
func (d *decoder) drop(number uint64) {
	if p := d.parts[number]; p != nil {
		d.bytes -= len(p.texts[0]) + len(p.texts[1])
		delete(d.parts, number)
	}
}

// log takes a line of Puppet's log: it is a note of the request that caused it, or
// an event.
func (d *decoder) log(l *logged) error {
	text := fmt.Sprintf("log %s: %s", cmp.Or(l.Level, "notice"), l.Message)
	if l.Count > 1 {
		text += fmt.Sprintf(" (%d times)", l.Count)
	}
	if o := d.open[l.Request]; o != nil && l.Request != 0 {
		if len(o.notes) < maxNotes {
			o.notes = append(o.notes, traces.Remark{Step: traces.Terminus, Text: text})
		}
		return nil
	}
	d.event("%s", text)
	return nil
}

// exchange takes an exchange over HTTP that no request has asked for: it is a row
// of its own, as what a proxy passes on is.
func (d *decoder) exchange(x *exchange) error {
	t := traces.NewTrace()
	t.Verb, t.Indirection, t.Key = verbOf(x.Method), "http", x.URL
	if u, err := url.Parse(x.URL); err == nil && u.Host != "" {
		t.Key = u.Path
	}
	t.Start, t.Took, t.Application = d.at(time.Duration(x.At)), time.Duration(x.Took), d.process.App
	t.Caller, t.Run = cmp.Or(x.Place, d.process.App), cmp.Or(d.run, x.Run)
	t.From = &traces.Instance{Name: d.process.Name, Number: x.Number}
	for s := range t.Steps {
		t.Steps[s] = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.DefaultInCode, About: "no indirection"}}
	}
	t.Primary = traces.Slot{{Terminus: "http", Kind: traces.FromDeclaration, Source: x.Place}}
	t.Spans = []traces.Span{x.span()}
	question := traces.Question{Answer: traces.OK, Because: traces.Because{Reason: traces.Returned}, Took: t.Took}
	t.Served = traces.ByTerminus
	switch {
	case x.Err != "", x.Status >= 400 && x.Status != http.StatusNotFound:
		t.Error, t.Served = cmp.Or(x.Err, t.Spans[0].Answer), traces.ByNone
		question.Answer, question.Because = traces.Raised, traces.Because{Reason: traces.TerminusRaised, About: t.Error}
		t.Faults = []traces.Fault{{Origin: "network", Step: traces.Terminus, Message: t.Error, Shown: true, Path: t.Key}}
	case x.Status == http.StatusNotFound:
		t.Served = traces.ByNone
		question.Answer, question.Because = traces.Nothing, traces.Because{Reason: traces.NilFrom404, About: t.Spans[0].Answer}
	}
	t.Steps[traces.Terminus] = question
	t.Outcome = traces.Judge(t)
	number := exchangeOf(x.Number)
	me := d.number(number)
	t.ID = me.id
	me.run = t.Run
	d.o.ended(t)
	me.id = d.o.Store.Keep(t, nil)
	d.mu.Lock()
	d.numbers.set(number, me)
	d.mu.Unlock()
	d.count(func(p *Process) { p.Requests++ })
	return nil
}

// span is the exchange as work below the step terminus.
func (x *exchange) span() traces.Span {
	s := traces.Span{
		ID: 1, Step: traces.Terminus, Kind: traces.Network, Name: x.Method + " " + x.URL, Err: x.Err, Took: time.Duration(x.Took),
	}
	if x.Status > 0 {
		s.Answer = fmt.Sprintf("%d %s", x.Status, cmp.Or(x.Reason, http.StatusText(x.Status)))
	}
	if x.Bytes > 0 {
		s.Attrs = append(s.Attrs, traces.Attr{Key: "size", Value: strconv.FormatInt(x.Bytes, 10)})
	}
	return s
}

// verbOf is what a method of HTTP asks.
func verbOf(method string) traces.Verb {
	switch method {
	case http.MethodPut, http.MethodPost:
		return traces.Save
	case http.MethodHead:
		return traces.Head
	case http.MethodDelete:
		return traces.Destroy
	}
	return traces.Find
}
