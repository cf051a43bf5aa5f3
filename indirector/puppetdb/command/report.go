package command

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// Puppet's words, and what they are about. Rule PDB-REP-03.
const (
	noEnvironment = "Environment is nil, unable to submit report. This may be due a bug with Puppet. " +
		"Ensure you are running the latest revision, see PUP-2508 for more details."
	veryLarge = "resource_event on %s is very large. Values (resource timestamp + title + type) are %d bytes and the hard limit is 2704. " +
		"Caused by Resource type: \"%s\" with title: \"%s\" in %s:%s"
	tooLarge = "resource_event on %s could not be saved. Values (resource timestamp + title + type) are larger than index total size of 2704. " +
		"Caused by Resource type: \"%s\" with title: \"%s\" in %s:%s"

	largeKey = 2500 // bytes, from which on Puppet warns
	mostKey  = 2704 // bytes that PuppetDB can have in an index
)

// Report returns the command that stores a report. An error names what is missing; that of a
// report without environment is in Puppet's words. Rules PDB-REP-01 to PDB-REP-03.
func Report(r *model.Report, o Options) (*Command, error) {
	d := r.Data()
	if d.Get("environment").IsNil() {
		return nil, &indirector.Failure{Class: rubyError, Message: noEnvironment}
	}
	o.Produced = o.Produced.UTC() // unlike in the other commands
	c := o.command(StoreReport, 8, r.Host)
	if r.Time.IsZero() {
		return nil, c.failed("make", errors.New("it has no time"))
	}
	resources, err := c.statuses(d.Get("resource_statuses"), o.Unchanged)
	if err != nil {
		return nil, c.failed("make", err)
	}
	logs, err := reportLogs(d.Get("logs"))
	if err != nil {
		return nil, c.failed("make", err)
	}
	noop := d.Get("noop")
	if noop.IsNil() {
		noop = data.OfBool(allNoop(resources))
	}
	c.Payload = data.OfHash([]data.Pair{
		data.P("certname", d.Get("host")),
		data.P("job_id", d.Get("job_id")),
		data.P("puppet_version", d.Get("puppet_version")),
		data.P("report_format", d.Get("report_format")),
		data.P("configuration_version", data.OfString(r.ConfigurationVersion.Text())),
		data.P("producer_timestamp", wireTime(c.Produced)),
		data.P("start_time", wireTime(r.Time.Time())),
		data.P("end_time", wireTime(end(r))),
		data.P("environment", d.Get("environment")),
		data.P("transaction_uuid", d.Get("transaction_uuid")),
		data.P("status", d.Get("status")),
		data.P("noop", noop),
		data.P("noop_pending", d.Get("noop_pending")),
		data.P("corrective_change", d.Get("corrective_change")),
		data.P("logs", logs),
		data.P("metrics", reportMetrics(r)),
		data.P("resources", data.OfList(resources)),
		data.P("catalog_uuid", d.Get("catalog_uuid")),
		data.P("code_id", d.Get("code_id")),
		data.P("cached_catalog_status", d.Get("cached_catalog_status")),
		data.P("producer", data.OfString(o.Producer)),
	})
	return c, nil
}

// end returns when the run ended: after the seconds that its metrics have as the total.
// They are added as exactly as Ruby adds them, since what is below a millisecond is cut.
func end(r *model.Report) time.Time {
	start := r.Time.Time()
	seconds := new(big.Rat)
	for _, m := range r.Metrics {
		if m.Key != "time" {
			continue
		}
		for _, v := range m.Values.List() {
			if l := v.List(); len(l) == 3 && l[0].Str() == "total" {
				seconds = rational(l[2])
				break
			}
		}
	}
	ns := new(big.Rat).Mul(seconds, big.NewRat(int64(time.Second), 1))
	whole := new(big.Int).Div(ns.Num(), ns.Denom())
	if !whole.IsInt64() {
		return start
	}
	return start.Add(time.Duration(whole.Int64()))
}

// rational returns a number; zero for what is none.
func rational(v data.Value) *big.Rat {
	switch v.Kind() {
	case data.Int:
		return new(big.Rat).SetInt64(v.Int())
	case data.Float:
		if r := new(big.Rat).SetFloat64(v.Float()); r != nil {
			return r
		}
	}
	return new(big.Rat)
}

// allNoop reports whether the resources have events, and only such as were not to change
// anything.
func allNoop(resources []data.Value) bool {
	some := false
	for _, r := range resources {
		for _, e := range r.Get("events").List() {
			if e.Get("status").Str() != "noop" {
				return false
			}
			some = true
		}
	}
	return some
}

func reportLogs(v data.Value) (data.Value, error) {
	l := make([]data.Value, v.Len())
	for i, x := range v.List() {
		var err error
		if l[i], err = pick(x, logFields); err != nil {
			return data.Value{}, fmt.Errorf("log %d: %w", i+1, err)
		}
	}
	return data.OfList(l), nil
}

// reportMetrics returns the numbers of all metrics, those of each by their labels.
func reportMetrics(r *model.Report) data.Value {
	var out []data.Value
	for _, m := range r.Metrics {
		values := slices.SortedStableFunc(slices.Values(m.Values.List()), func(a, b data.Value) int { return strings.Compare(at(a, 1).Text(), at(b, 1).Text()) })
		for _, v := range values {
			out = append(out, data.OfHash([]data.Pair{
				data.P("category", orNull(m.Name)), data.P("name", at(v, 0)), data.P("value", at(v, v.Len()-1)),
			}))
		}
	}
	return data.OfList(out)
}

// at returns an element of a list, or nil.
func at(v data.Value, i int) data.Value {
	if l := v.List(); i >= 0 && i < len(l) {
		return l[i]
	}
	return data.Value{}
}

// statuses returns what became of the resources. Those without events are left out, unless
// they were skipped or all are wanted. Rule PDB-REP-02.
func (c *Command) statuses(v data.Value, unchanged bool) ([]data.Value, error) {
	out := make([]data.Value, 0, v.Len())
	for _, p := range v.Hash() {
		s := p.Value
		if s.IsNil() {
			return nil, fmt.Errorf("%s: nothing is known of it", p.Key.Text())
		}
		c.measure(s)
		events := make([]data.Value, s.Get("events").Len())
		for i, e := range s.Get("events").List() {
			var err error
			if events[i], err = pick(e, eventFields); err != nil {
				return nil, fmt.Errorf("%s: event %d: %w", p.Key.Text(), i+1, err)
			}
		}
		status, err := pick(s.With("events", data.OfList(events)), statusFields)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Key.Text(), err)
		}
		if unchanged || len(events) > 0 || s.Get("skipped").Truthy() {
			out = append(out, status)
		}
	}
	return out, nil
}

// measure warns of a title that is long for PuppetDB. Rule PDB-REP-03.
func (c *Command) measure(s data.Value) {
	typ, title := s.Get("resource_type").Text(), s.Get("title").Text()
	file, line := s.Get("file").Text(), s.Get("line").Text()
	switch size := 8 + len(typ) + len(title); { // with the bytes of a time
	case size > mostKey:
		c.Warnings = append(c.Warnings, fmt.Sprintf(tooLarge, c.Certname, typ, title, file, line))
	case size > largeKey:
		c.Warnings = append(c.Warnings, fmt.Sprintf(veryLarge, c.Certname, size, typ, title, file, line))
	}
}
