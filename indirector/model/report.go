package model

import (
	"errors"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// A Report is the result of a run. Formats 2 to 12 are read; 12 is written.
// Rules FMT-REP-01 to FMT-REP-09.
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

var (
	_ indirector.Expirer  = (*Report)(nil)
	_ indirector.RunEnder = (*Report)(nil)
)

func (r *Report) Key() string { return r.Host }

// RunEnd returns how the run ended.
func (r *Report) RunEnd() indirector.RunEnd {
	e := indirector.RunEnd{Status: r.Status, Noop: r.Noop, Corrective: r.CorrectiveChange, Cached: r.CachedCatalogStatus}
	for i := range r.Statuses {
		s := &r.Statuses[i]
		e.Count(s.Failed, s.FailedToRestart, s.Skipped)
	}
	return e
}

func (r *Report) WithExpiration(t time.Time) indirector.Instance { return expiring(*r, t) }

// fields returns the keys of a report in Puppet's order, with the values of the
// three that are converted separately.
func (r *Report) fields(logs, metrics, statuses *data.Value) [20]field {
	return [...]field{
		{"host", asText, &r.Host},
		{"time", asTime, &r.Time},
		{"configuration_version", asValue, &r.ConfigurationVersion},
		{"transaction_uuid", asText, &r.TransactionUUID},
		{"report_format", asNumber, &r.Format},
		{"puppet_version", asText, &r.PuppetVersion},
		{"status", asWord, &r.Status},
		{"transaction_completed", asFlag, &r.TransactionCompleted},
		{"noop", asFlag, &r.Noop},
		{"noop_pending", asFlag, &r.NoopPending},
		{"environment", asText, &r.Environment},
		{"logs", asValue, logs},
		{"metrics", asValue, metrics},
		{"resource_statuses", asValue, statuses},
		{"corrective_change", asFlag, &r.CorrectiveChange},
		{"server_used", asOptional, &r.ServerUsed},
		{"catalog_uuid", asOptional, &r.CatalogUUID},
		{"code_id", asOptional, &r.CodeID},
		{"job_id", asOptional, &r.JobID},
		{"cached_catalog_status", asOptional, &r.CachedCatalogStatus},
	}
}

func reportFromData(v data.Value) (*Report, error) {
	pairs, err := hashOf(v)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	var logs, metrics, statuses data.Value
	fields := r.fields(&logs, &metrics, &statuses)
	if r.Extra, err = r.odd.read(pairs, fields[:]); err != nil {
		return nil, err
	}
	r.readOlder()
	if err := r.readMetrics(metrics); err != nil {
		return nil, err
	}
	if err := r.readLogs(logs); err != nil {
		return nil, err
	}
	return r, r.readStatuses(statuses)
}

// readOlder reads the older name of server_used. Rule FMT-REP-06.
func (r *Report) readOlder() {
	r.Extra = slices.DeleteFunc(r.Extra, func(p data.Pair) bool {
		if key(p) != "master_used" {
			return false
		}
		if r.ServerUsed == "" && p.Value.Truthy() {
			r.ServerUsed = r.odd.text("server_used", p.Value)
		}
		return true
	})
}

func (r *Report) readMetrics(v data.Value) error {
	if !pairwise(v) {
		return undefined("each", v)
	}
	r.Metrics = make([]Metric, v.Len())
	for i, p := range v.Hash() {
		if err := r.Metrics[i].read(p.Key.Text(), p.Value); err != nil {
			return err
		}
	}
	return nil
}

// pairwise reports whether v is a hash, or the empty list, which Ruby treats
// alike here.
func pairwise(v data.Value) bool {
	return v.Kind() == data.Hash || v.Kind() == data.List && v.Len() == 0
}

func (m *Metric) read(name string, v data.Value) error {
	pairs, err := hashOf(v)
	if err != nil {
		return err
	}
	m.Key = name
	fields := m.fields()
	m.Extra, err = m.odd.read(pairs, fields[:])
	if _, given := m.odd.find("label"); m.Label == "" && !given {
		m.Label = labelize(m.Name)
	}
	return err
}

func (m *Metric) fields() [3]field {
	return [...]field{{"name", asWord, &m.Name}, {"label", asOptional, &m.Label}, {"values", asValue, &m.Values}}
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
	fields := m.fields()
	fields[1] = field{"label", asValue, &label}
	return m.odd.write(fields[:], m.Extra)
}

func (r *Report) readLogs(v data.Value) error {
	if !v.Truthy() || !listed(v) {
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

func (l *Log) fields() [7]field {
	return [...]field{
		{"level", asWord, &l.Level},
		{"message", asText, &l.Message},
		{"source", asText, &l.Source},
		{"tags", asTags, &l.Tags},
		{"time", asTime, &l.Time},
		{"file", asText, &l.File},
		{"line", asLine, &l.Line},
	}
}

func (l *Log) read(v data.Value) error {
	pairs, err := hashOf(v)
	if err != nil {
		return err
	}
	fields := l.fields()
	if l.Extra, err = l.odd.read(pairs, fields[:]); err != nil {
		return err
	}
	level := v.Get("level")
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
		set, ok := v.Lookup("hash")
		for _, p := range set.Hash() {
			tags = append(tags, p.Key.Text())
		}
		if !ok { // another hash is its pairs to Ruby
			var pairs []data.Value
			for _, p := range v.Hash() {
				pairs = append(pairs, data.OfList([]data.Value{p.Key, p.Value}))
			}
			return o.list(key, data.OfList(pairs)), nil
		}
		return tags, nil
	}
	return nil, errors.New("value must be enumerable")
}

func (l *Log) data() data.Value {
	fields := l.fields()
	return l.odd.write(fields[:], l.Extra)
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

// fields returns the keys of a status in Puppet's order, with the value of its
// events.
func (s *ResourceStatus) fields(events *data.Value) [19]field {
	return [...]field{
		{"title", asText, &s.Title},
		{"file", asText, &s.File},
		{"line", asLine, &s.Line},
		{"resource", asText, &s.Resource},
		{"resource_type", asText, &s.Type},
		{"provider_used", asText, &s.Provider},
		{"containment_path", asList, &s.ContainmentPath},
		{"evaluation_time", asValue, &s.EvaluationTime},
		{"tags", asTags, &s.Tags},
		{"time", asTime, &s.Time},
		{"failed", asFlag, &s.Failed},
		{"failed_to_restart", asTruth, &s.FailedToRestart},
		{"changed", asFlag, &s.Changed},
		{"out_of_sync", asFlag, &s.OutOfSync},
		{"skipped", asFlag, &s.Skipped},
		{"change_count", asNumber, &s.ChangeCount},
		{"out_of_sync_count", asNumber, &s.OutOfSyncCount},
		{"events", asValue, events},
		{"corrective_change", asFlag, &s.CorrectiveChange},
	}
}

func (s *ResourceStatus) read(v data.Value) error {
	pairs, err := hashOf(v)
	if err != nil {
		return err
	}
	var events data.Value
	fields := s.fields(&events)
	if s.Extra, err = s.odd.read(pairs, fields[:]); err != nil {
		return err
	}
	if !events.Truthy() || !listed(events) {
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
	l := make([]data.Value, len(s.Events))
	for i := range l {
		l[i] = s.Events[i].data()
	}
	events := data.OfList(l)
	fields := s.fields(&events)
	return s.odd.write(fields[:], s.Extra)
}

// UnknownCorrective makes it null in the report whether the change is corrective: it could
// not be compared with what was there before. Rule RES-COR-01.
func (e *Event) UnknownCorrective() { e.odd = append(e.odd, data.P("corrective_change", data.Value{})) }

func (e *Event) fields() [11]field {
	return [...]field{
		{"audited", asFlag, &e.Audited},
		{"property", asValue, &e.Property},
		{"previous_value", asValue, &e.PreviousValue},
		{"desired_value", asValue, &e.DesiredValue},
		{"historical_value", asValue, &e.Historic},
		{"message", asText, &e.Message},
		{"name", asWord, &e.Name},
		{"status", asWord, &e.Status},
		{"time", asTime, &e.Time},
		{"redacted", asValue, &e.Redacted},
		{"corrective_change", asFlag, &e.CorrectiveChange},
	}
}

func (e *Event) read(v data.Value) error {
	pairs, err := hashOf(v)
	if err != nil {
		return err
	}
	e.Redacted = data.OfBool(false)
	fields := e.fields()
	e.Extra, err = e.odd.read(pairs, fields[:])
	return err
}

func (e *Event) data() data.Value {
	fields := e.fields()
	return e.odd.write(fields[:], e.Extra)
}

func (r *Report) Data() data.Value {
	l := make([]data.Value, len(r.Logs))
	for i := range l {
		l[i] = r.Logs[i].data()
	}
	m := make([]data.Pair, len(r.Metrics))
	for i := range m {
		m[i] = data.P(r.Metrics[i].Key, r.Metrics[i].data())
	}
	s := make([]data.Pair, len(r.Statuses))
	for i := range s {
		s[i] = data.P(r.Statuses[i].Ref, r.Statuses[i].data())
	}
	logs, metrics, statuses := data.OfList(l), data.OfHash(m), data.OfHash(s)
	fields := r.fields(&logs, &metrics, &statuses)
	return r.odd.write(fields[:], r.Extra)
}
