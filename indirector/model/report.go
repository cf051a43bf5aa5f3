package model

import (
	"errors"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// A Report is what a run did. Formats 2 to 12 are read; 12 is written. Rules
// FMT-REP-01 to FMT-REP-09.
type Report struct {
	Envelope
	Host                 string
	Time                 Time
	ConfigurationVersion data.Value // text, or Unix seconds
	TransactionUUID      string
	Format               int64 // report_format; 0 before 2.6
	PuppetVersion        string
	Status               string // failed, changed, unchanged
	TransactionCompleted bool
	Noop, NoopPending    bool
	Environment          string
	Logs                 []Log
	Metrics              []Metric
	Statuses             []ResourceStatus
	CorrectiveChange     bool
	ServerUsed           string // "server:port"; this and the following are written only when set
	CatalogUUID          string
	CodeID               string
	JobID                string
	CachedCatalogStatus  string // not_used, explicitly_requested, on_failure
	Extra                []data.Pair
	odd                  odd
}

// A Log is one message of a run.
type Log struct {
	Level, Message, Source string
	Tags                   []string
	Time                   Time
	File                   string // "" is unset
	Line                   int64  // 0 is unset
	Extra                  []data.Pair
	odd                    odd
}

// A Metric is a table of numbers.
type Metric struct {
	Key, Name, Label string
	Values           data.Value // a list of [name, label, number]
	Extra            []data.Pair
	odd              odd
}

// Value returns the number of that name, and nil if there is none.
func (m *Metric) Value(name string) data.Value {
	for _, v := range m.Values.List() {
		if l := v.List(); len(l) == 3 && l[0].Text() == name {
			return l[2]
		}
	}
	return data.Value{}
}

// A ResourceStatus is what became of one resource.
type ResourceStatus struct {
	Ref              string // the key in the report: "File[/tmp/a]"
	Empty            bool   // nothing but the reference was reported; read from {}, written as null. Rule FMT-REP-03
	Title            string
	File             string
	Line             int64
	Resource         string
	Type             string
	Provider         string
	ContainmentPath  []string
	EvaluationTime   data.Value // seconds, or nil
	Tags             []string
	Time             Time
	Failed           bool
	FailedToRestart  bool
	Changed          bool
	OutOfSync        bool
	Skipped          bool
	ChangeCount      int64
	OutOfSyncCount   int64
	Events           []Event
	CorrectiveChange bool
	Extra            []data.Pair
	odd              odd
}

// An Event is one change of one property. Values that were sensitive are
// "[redacted]". Rule FMT-REP-05.
type Event struct {
	Audited                               bool
	Property                              data.Value
	PreviousValue, DesiredValue, Historic data.Value
	Message, Name, Status                 string
	Time                                  Time
	Redacted                              data.Value
	CorrectiveChange                      bool
	Extra                                 []data.Pair
	odd                                   odd
}

var _ indirector.Expirer = (*Report)(nil)

// Key returns the host.
func (r *Report) Key() string { return r.Host }

// WithExpiration returns a copy of r that is fresh until t.
func (r *Report) WithExpiration(t time.Time) indirector.Instance {
	c := *r
	c.until = t
	return &c
}

// Metric returns the metric of that name, or nil.
func (r *Report) Metric(name string) *Metric {
	for i := range r.Metrics {
		if r.Metrics[i].Key == name {
			return &r.Metrics[i]
		}
	}
	return nil
}

// word reads a string that Ruby may have kept as a symbol.
func (o *odd) word(key string, v data.Value) string {
	if v.Kind() == data.Symbol {
		return v.Str()
	}
	return o.text(key, v)
}

func reportFromData(v data.Value) (*Report, error) {
	pairs, err := hashOf(v)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	o := &r.odd
	var logs, metrics, statuses data.Value
	for _, p := range pairs {
		switch k, v := key(p), p.Value; k {
		case "host":
			r.Host = o.text(k, v)
		case "time":
			if r.Time, err = o.moment(k, v); err != nil {
				return nil, err
			}
		case "configuration_version":
			r.ConfigurationVersion = v
		case "transaction_uuid":
			r.TransactionUUID = o.text(k, v)
		case "report_format":
			r.Format = o.number(k, v)
		case "puppet_version":
			r.PuppetVersion = o.text(k, v)
		case "status":
			r.Status = o.word(k, v)
		case "transaction_completed":
			r.TransactionCompleted = o.flag(k, v)
		case "noop":
			r.Noop = o.flag(k, v)
		case "noop_pending":
			r.NoopPending = o.flag(k, v)
		case "environment":
			r.Environment = o.text(k, v)
		case "logs":
			logs = v
		case "metrics":
			metrics = v
		case "resource_statuses":
			statuses = v
		case "corrective_change":
			r.CorrectiveChange = o.flag(k, v)
		case "server_used":
			if v.Truthy() {
				r.ServerUsed = o.text(k, v)
			}
		case "master_used": // the older name. Rule FMT-REP-06
			if r.ServerUsed == "" && v.Truthy() {
				r.ServerUsed = o.text("server_used", v)
			}
		case "catalog_uuid":
			if v.Truthy() {
				r.CatalogUUID = o.text(k, v)
			}
		case "code_id":
			if v.Truthy() {
				r.CodeID = o.text(k, v)
			}
		case "job_id":
			if v.Truthy() {
				r.JobID = o.text(k, v)
			}
		case "cached_catalog_status":
			if v.Truthy() {
				r.CachedCatalogStatus = o.text(k, v)
			}
		default:
			r.Extra = append(r.Extra, p)
		}
	}
	o.absent(pairs, "report_format", "transaction_completed", "noop", "noop_pending", "corrective_change")
	if err := r.readMetrics(metrics); err != nil {
		return nil, err
	}
	if err := r.readLogs(logs); err != nil {
		return nil, err
	}
	return r, r.readStatuses(statuses)
}

func (r *Report) readMetrics(v data.Value) error {
	if !pairwise(v) {
		return undefined("each", v)
	}
	r.Metrics = make([]Metric, v.Len())
	for i, p := range v.Hash() {
		pairs, err := hashOf(p.Value)
		if err != nil {
			return err
		}
		r.Metrics[i].read(p.Key.Text(), pairs)
	}
	return nil
}

// pairwise reports whether v is a hash, or the empty list that Ruby cannot tell
// from one here.
func pairwise(v data.Value) bool {
	return v.Kind() == data.Hash || v.Kind() == data.List && v.Len() == 0
}

func (m *Metric) read(name string, pairs []data.Pair) {
	m.Key = name
	for _, p := range pairs {
		switch k, v := key(p), p.Value; k {
		case "name":
			m.Name = m.odd.word(k, v)
		case "label":
			if v.Truthy() {
				m.Label = m.odd.text(k, v)
			}
		case "values":
			m.Values = v
		default:
			m.Extra = append(m.Extra, p)
		}
	}
	if m.Label == "" {
		m.Label = labelize(m.Name)
	}
}

// labelize makes a label of a name: "Failed to restart" of "failed_to_restart".
func labelize(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(strings.ToLower(name[1:]), "_", " ")
}

func (m *Metric) data() data.Value {
	label := m.odd.ofText("label", m.Label)
	if label.IsNil() {
		label = data.OfString("")
	}
	return data.OfHash(append([]data.Pair{
		data.P("name", m.odd.ofText("name", m.Name)),
		data.P("label", label),
		data.P("values", m.Values),
	}, m.Extra...))
}

func (r *Report) readLogs(v data.Value) error {
	if v.Kind() != data.List {
		return undefined("map", v)
	}
	r.Logs = make([]Log, v.Len())
	for i, x := range v.List() {
		if err := r.Logs[i].read(x); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) read(v data.Value) error {
	pairs, err := hashOf(v)
	if err != nil {
		return err
	}
	var level data.Value
	for _, p := range pairs {
		switch k, v := key(p), p.Value; k {
		case "level":
			level = v
			l.Level = l.odd.word(k, v)
		case "message":
			l.Message = l.odd.text(k, v)
		case "source":
			l.Source = l.odd.text(k, v)
		case "tags":
			if l.Tags, err = l.odd.tagSet(k, v); err != nil {
				return err
			}
		case "time":
			if l.Time, err = l.odd.moment(k, v); err != nil {
				return err
			}
		case "file":
			l.File = l.odd.text(k, v)
		case "line":
			l.Line = l.odd.number(k, v)
		default:
			l.Extra = append(l.Extra, p)
		}
	}
	if k := level.Kind(); k != data.String && k != data.Symbol {
		return undefined("intern", level)
	}
	return nil
}

// tagSet reads a list of tags, or the set that Puppet 3 wrote.
func (o *odd) tagSet(key string, v data.Value) ([]string, error) {
	switch v.Kind() {
	case data.Nil:
		return nil, nil
	case data.List:
		return o.list(key, v), nil
	case data.Hash:
		var tags []string
		for _, p := range v.Get("hash").Hash() {
			tags = append(tags, p.Key.Text())
		}
		return tags, nil
	}
	return nil, errors.New("value must be enumerable")
}

func (l *Log) data() data.Value {
	h := make([]data.Pair, 0, 7+len(l.Extra))
	h = append(h,
		data.P("level", l.odd.ofText("level", l.Level)),
		data.P("message", l.odd.ofText("message", l.Message)),
		data.P("source", l.odd.ofText("source", l.Source)),
		data.P("tags", l.odd.ofList("tags", l.Tags)),
		data.P("time", l.odd.ofTime("time", l.Time)),
		data.P("file", l.odd.ofText("file", l.File)),
		data.P("line", ofLine(l.odd, l.Line)),
	)
	return data.OfHash(append(h, l.Extra...))
}

// ofLine writes a line number; zero is null.
func ofLine(o odd, n int64) data.Value {
	if v, ok := o.find("line"); ok && v.Int() == n {
		return v
	}
	if n == 0 {
		return data.Value{}
	}
	return data.OfInt(n)
}

func (r *Report) readStatuses(v data.Value) error {
	if !pairwise(v) {
		return undefined("map", v)
	}
	r.Statuses = make([]ResourceStatus, v.Len())
	for i, p := range v.Hash() {
		s := &r.Statuses[i]
		s.Ref = p.Key.Text()
		if p.Value.Kind() == data.Hash && p.Value.Len() == 0 {
			s.Empty = true
			continue
		}
		if err := s.read(p.Value); err != nil {
			return err
		}
	}
	return nil
}

func (s *ResourceStatus) read(v data.Value) error {
	pairs, err := hashOf(v)
	if err != nil {
		return err
	}
	o := &s.odd
	var events data.Value
	for _, p := range pairs {
		switch k, v := key(p), p.Value; k {
		case "title":
			s.Title = o.text(k, v)
		case "file":
			s.File = o.text(k, v)
		case "line":
			s.Line = o.number(k, v)
		case "resource":
			s.Resource = o.text(k, v)
		case "resource_type":
			s.Type = o.text(k, v)
		case "provider_used":
			s.Provider = o.text(k, v)
		case "containment_path":
			s.ContainmentPath = o.list(k, v)
		case "evaluation_time":
			s.EvaluationTime = v
		case "tags":
			if s.Tags, err = o.tagSet(k, v); err != nil {
				return err
			}
		case "time":
			if s.Time, err = o.moment(k, v); err != nil {
				return err
			}
		case "failed":
			s.Failed = o.flag(k, v)
		case "failed_to_restart":
			s.FailedToRestart = v.Truthy()
		case "changed":
			s.Changed = o.flag(k, v)
		case "out_of_sync":
			s.OutOfSync = o.flag(k, v)
		case "skipped":
			s.Skipped = o.flag(k, v)
		case "change_count":
			s.ChangeCount = o.number(k, v)
		case "out_of_sync_count":
			s.OutOfSyncCount = o.number(k, v)
		case "events":
			events = v
		case "corrective_change":
			s.CorrectiveChange = o.flag(k, v)
		default:
			s.Extra = append(s.Extra, p)
		}
	}
	o.absent(pairs, "containment_path", "failed", "changed", "out_of_sync", "skipped", "change_count", "out_of_sync_count", "corrective_change")
	if events.Kind() != data.List {
		return undefined("map", events)
	}
	s.Events = make([]Event, events.Len())
	for i, x := range events.List() {
		if err := s.Events[i].read(x); err != nil {
			return err
		}
	}
	return nil
}

func (s *ResourceStatus) data() data.Value {
	if s.Empty {
		return data.Value{}
	}
	events := make([]data.Value, len(s.Events))
	for i := range events {
		events[i] = s.Events[i].data()
	}
	h := make([]data.Pair, 0, 19+len(s.Extra))
	h = append(h,
		data.P("title", s.odd.ofText("title", s.Title)),
		data.P("file", s.odd.ofText("file", s.File)),
		data.P("line", ofLine(s.odd, s.Line)),
		data.P("resource", s.odd.ofText("resource", s.Resource)),
		data.P("resource_type", s.odd.ofText("resource_type", s.Type)),
		data.P("provider_used", s.odd.ofText("provider_used", s.Provider)),
		data.P("containment_path", s.odd.ofList("containment_path", s.ContainmentPath)),
		data.P("evaluation_time", s.EvaluationTime),
		data.P("tags", s.odd.ofList("tags", s.Tags)),
		data.P("time", s.odd.ofTime("time", s.Time)),
		data.P("failed", s.odd.ofFlag("failed", s.Failed)),
		data.P("failed_to_restart", data.OfBool(s.FailedToRestart)),
		data.P("changed", s.odd.ofFlag("changed", s.Changed)),
		data.P("out_of_sync", s.odd.ofFlag("out_of_sync", s.OutOfSync)),
		data.P("skipped", s.odd.ofFlag("skipped", s.Skipped)),
		data.P("change_count", s.odd.ofNumber("change_count", s.ChangeCount)),
		data.P("out_of_sync_count", s.odd.ofNumber("out_of_sync_count", s.OutOfSyncCount)),
		data.P("events", data.OfList(events)),
		data.P("corrective_change", s.odd.ofFlag("corrective_change", s.CorrectiveChange)),
	)
	return data.OfHash(append(h, s.Extra...))
}

func (e *Event) read(v data.Value) error {
	pairs, err := hashOf(v)
	if err != nil {
		return err
	}
	o := &e.odd
	e.Redacted = data.OfBool(false)
	for _, p := range pairs {
		switch k, v := key(p), p.Value; k {
		case "audited":
			e.Audited = o.flag(k, v)
		case "property":
			e.Property = v
		case "previous_value":
			e.PreviousValue = v
		case "desired_value":
			e.DesiredValue = v
		case "historical_value":
			e.Historic = v
		case "message":
			e.Message = o.text(k, v)
		case "name":
			e.Name = o.word(k, v)
		case "status":
			e.Status = o.word(k, v)
		case "time":
			if e.Time, err = o.moment(k, v); err != nil {
				return err
			}
		case "redacted":
			e.Redacted = v
		case "corrective_change":
			e.CorrectiveChange = o.flag(k, v)
		default:
			e.Extra = append(e.Extra, p)
		}
	}
	o.absent(pairs, "audited", "corrective_change")
	return nil
}

func (e *Event) data() data.Value {
	h := make([]data.Pair, 0, 11+len(e.Extra))
	h = append(h,
		data.P("audited", e.odd.ofFlag("audited", e.Audited)),
		data.P("property", e.Property),
		data.P("previous_value", e.PreviousValue),
		data.P("desired_value", e.DesiredValue),
		data.P("historical_value", e.Historic),
		data.P("message", e.odd.ofText("message", e.Message)),
		data.P("name", e.odd.ofText("name", e.Name)),
		data.P("status", e.odd.ofText("status", e.Status)),
		data.P("time", e.odd.ofTime("time", e.Time)),
		data.P("redacted", e.Redacted),
		data.P("corrective_change", e.odd.ofFlag("corrective_change", e.CorrectiveChange)),
	)
	return data.OfHash(append(h, e.Extra...))
}

// Data returns the data hash.
func (r *Report) Data() data.Value {
	logs := make([]data.Value, len(r.Logs))
	for i := range logs {
		logs[i] = r.Logs[i].data()
	}
	metrics := make([]data.Pair, len(r.Metrics))
	for i := range metrics {
		metrics[i] = data.P(r.Metrics[i].Key, r.Metrics[i].data())
	}
	statuses := make([]data.Pair, len(r.Statuses))
	for i := range statuses {
		statuses[i] = data.P(r.Statuses[i].Ref, r.Statuses[i].data())
	}
	h := make([]data.Pair, 0, 20+len(r.Extra))
	h = append(h,
		data.P("host", r.odd.ofText("host", r.Host)),
		data.P("time", r.odd.ofTime("time", r.Time)),
		data.P("configuration_version", r.ConfigurationVersion),
		data.P("transaction_uuid", r.odd.ofText("transaction_uuid", r.TransactionUUID)),
		data.P("report_format", r.odd.ofNumber("report_format", r.Format)),
		data.P("puppet_version", r.odd.ofText("puppet_version", r.PuppetVersion)),
		data.P("status", r.odd.ofText("status", r.Status)),
		data.P("transaction_completed", r.odd.ofFlag("transaction_completed", r.TransactionCompleted)),
		data.P("noop", r.odd.ofFlag("noop", r.Noop)),
		data.P("noop_pending", r.odd.ofFlag("noop_pending", r.NoopPending)),
		data.P("environment", r.odd.ofText("environment", r.Environment)),
		data.P("logs", data.OfList(logs)),
		data.P("metrics", data.OfHash(metrics)),
		data.P("resource_statuses", data.OfHash(statuses)),
		data.P("corrective_change", r.odd.ofFlag("corrective_change", r.CorrectiveChange)),
	)
	for _, p := range [...]struct{ key, value string }{
		{"server_used", r.ServerUsed},
		{"catalog_uuid", r.CatalogUUID},
		{"code_id", r.CodeID},
		{"job_id", r.JobID},
		{"cached_catalog_status", r.CachedCatalogStatus},
	} {
		if v := r.odd.ofText(p.key, p.value); !v.IsNil() {
			h = append(h, data.P(p.key, v))
		}
	}
	return data.OfHash(append(h, r.Extra...))
}
