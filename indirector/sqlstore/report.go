package sqlstore

import (
	"context"
	"strconv"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/puppetdb/command"
)

// A report is one that is to be stored.
type report struct {
	certname   string
	produced   stamp
	hash       string
	columns    []any // in the order of reportColumns
	events     []eventRow
	started    stamp
	ended      stamp
	identities []string // what makes two reports the same, beside their events
}

// reportColumns are those that a payload fills.
const reportColumns = `producer, started, ended, status, noop, noop_pending, corrective_change, environment, configuration_version,
	transaction_uuid, catalog_uuid, code_id, job_id, cached_catalog_status, puppet_version, format, metrics, logs`

// An eventRow is one event of a report.
type eventRow struct {
	at                                 stamp
	typ, title, property, name, status *string
	oldValue, newValue, message        *string
	file                               *string
	line                               *int64
	containment                        *string // JSON
	corrective                         *bool
}

// skipped is the status of the event of a skipped resource, which has no name.
const skipped = "skipped"

// newReport reads the payload of a command. Rules PDB-REP-01, PDB-REP-02.
func newReport(c *command.Command, k *checker) *report {
	p := c.Payload
	r := &report{certname: nameIn(c), produced: stamp(c.Produced)}
	k.key("certname", r.certname)
	r.started, r.ended = k.time(p, "start_time"), k.time(p, "end_time")
	format := integer(p.Get("report_format"))
	metrics, logs := k.json("metrics", listOf(p.Get("metrics"))), k.json("logs", listOf(p.Get("logs")))
	configuration, transaction, version := optional(p, "configuration_version"), k.uuid(p, "transaction_uuid"), optional(p, "puppet_version")
	r.columns = []any{
		optional(p, "producer"), r.started, r.ended, optional(p, "status"), flag(p, "noop"), flag(p, "noop_pending"), flag(p, "corrective_change"),
		optional(p, "environment"), configuration, transaction, k.uuid(p, "catalog_uuid"), optional(p, "code_id"), optional(p, "job_id"),
		optional(p, "cached_catalog_status"), version, format, metrics, logs,
	}
	r.identities = []string{text(version), number(format), text(configuration), text(transaction)}
	for _, x := range p.Get("resources").List() {
		r.readEvents(x, k)
	}
	r.hash = r.identity()
	return r
}

// readEvents reads the events of one resource. That it was skipped is one, as for
// PuppetDB, and then there are no others.
func (r *report) readEvents(x data.Value, k *checker) {
	var containment *string
	if path := x.Get("containment_path"); !path.IsNil() {
		text := k.json("containment_path", path)
		containment = &text
	}
	events := x.Get("events").List()
	if x.Get("skipped").Truthy() {
		events = []data.Value{data.OfHash([]data.Pair{data.P("status", data.OfString(skipped)), data.P("timestamp", x.Get("timestamp"))})}
	}
	for _, e := range events {
		r.events = append(r.events, eventRow{
			at: k.time(e, "timestamp"), typ: optional(x, "resource_type"), title: optional(x, "resource_title"),
			property: optional(e, "property"), name: optional(e, "name"), status: optional(e, "status"),
			oldValue: optional(e, "old_value"), newValue: optional(e, "new_value"), message: optional(e, "message"),
			file: optional(x, "file"), line: integer(x.Get("line")), containment: containment, corrective: flag(e, "corrective_change"),
		})
	}
}

// identity returns the hash by which a report is known: what PuppetDB takes, so that
// one that comes twice is kept once, whatever its logs and its status are. Rule
// PDB-SEM-01.
func (r *report) identity() string {
	var d digest
	d.add(r.certname, moment(r.produced), moment(r.started), moment(r.ended))
	d.add(r.identities...)
	for i := range r.events {
		e := &r.events[i]
		d.add(moment(e.at), text(e.typ), text(e.title), text(e.property), text(e.name), text(e.status), text(e.oldValue), text(e.newValue),
			text(e.message), text(e.file), number(e.line), text(e.containment))
		if e.corrective != nil {
			d.add(strconv.FormatBool(*e.corrective))
		}
	}
	return d.sum()
}

func moment(s stamp) string { return s.time().UTC().Format(stampFormat) }

// time reads an optional time of a payload.
func (k *checker) time(v data.Value, name string) stamp {
	text := optional(v, name)
	if text == nil {
		return stamp{}
	}
	t, err := time.Parse(time.RFC3339Nano, *text)
	if err != nil || t.Year() < 1 || t.Year() > 9999 {
		k.refuse("%s is no time: %.60q", name, *text)
		return stamp{}
	}
	return stamp(t.UTC().Truncate(time.Millisecond))
}

// json returns the JSON of a value.
func (k *checker) json(what string, v data.Value) string {
	text, err := appendJSON(nil, v)
	if err != nil {
		k.refuse("its %s are no JSON: %v", what, err)
	}
	return string(text)
}

// integer returns an optional number.
func integer(v data.Value) *int64 {
	if v.Kind() != data.Int {
		return nil
	}
	n := v.Int()
	return &n
}

// flag returns an optional truth.
func flag(v data.Value, name string) *bool {
	x := v.Get(name)
	if x.Kind() != data.Bool {
		return nil
	}
	is := x.Bool()
	return &is
}

// apply adds the report, unless it is there. Rule PDB-SEM-01.
func (r *report) apply(ctx context.Context, tx *conn, o *Outcome) error {
	node, err := tx.node(ctx, r.certname)
	if err != nil {
		return err
	}
	if err := tx.activate(ctx, &node, o); err != nil {
		return err
	}
	args := append([]any{node.id, r.hash, r.produced, stamp(tx.s.o.Now())}, r.columns...)
	var id int64
	added, err := tx.one(ctx, []any{&id}, "INSERT INTO reports(node, hash, produced, stored, "+reportColumns+") VALUES "+marks(1, len(args))+
		" ON CONFLICT (hash) DO NOTHING RETURNING id", args...)
	if err != nil {
		return err
	}
	o.What = "events"
	if !added {
		o.Result, o.Untouched = Unchanged, len(r.events)
		return nil
	}
	o.New = len(r.events)
	rows := make([][]any, len(r.events))
	for i := range r.events {
		e := &r.events[i]
		rows[i] = []any{
			id, i, e.at, e.typ, e.title, e.property, e.name, e.status, e.oldValue, e.newValue, e.message, e.file, e.line, e.containment, e.corrective,
		}
	}
	return tx.put(ctx, target{"events", []string{
		"report bigint", "number bigint", "at timestamptz", "resource_type text", "resource_title text", "property text", "name text", "status text",
		"old_value text", "new_value text", "message text", "file text", "line bigint", "containment json", "corrective_change boolean",
	}, ""}, rows, nil)
}
