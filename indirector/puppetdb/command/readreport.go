package command

import (
	"strings"

	"indirtui/indirector/data"
)

// report returns the data of the report.
func (c *Command) report() data.Value {
	p := c.Payload
	h := []data.Pair{
		data.P("host", p.Get("certname")),
		data.P("time", p.Get("start_time")),
		data.P("logs", orList(p.Get("logs"))),
		data.P("metrics", metricsOf(p.Get("metrics"))),
		data.P("resource_statuses", statusesOf(p)),
	}
	for _, k := range []string{
		"configuration_version", "transaction_uuid", "report_format", "puppet_version", "status", "noop", "noop_pending", "environment",
		"corrective_change", "catalog_uuid", "code_id", "job_id", "cached_catalog_status",
	} {
		h = append(h, data.P(k, p.Get(k)))
	}
	return data.OfHash(h)
}

func orList(v data.Value) data.Value {
	if v.IsNil() {
		return data.OfList(nil)
	}
	return v
}

// metricsOf returns the numbers as metrics by their names.
func metricsOf(v data.Value) data.Value {
	var names []string
	of := map[string][]data.Value{}
	for _, m := range v.List() {
		category, name := m.Get("category").Text(), m.Get("name")
		if _, ok := of[category]; !ok {
			names = append(names, category)
		}
		of[category] = append(of[category], data.OfList([]data.Value{name, data.OfString(label(name.Text())), m.Get("value")}))
	}
	h := make([]data.Pair, len(names))
	for i, n := range names {
		h[i] = data.P(n, data.OfHash([]data.Pair{data.P("name", data.OfString(n)), data.P("values", data.OfList(of[n]))}))
	}
	return data.OfHash(h)
}

// label returns the label that Puppet gives a name: "Failed to restart".
func label(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(strings.ToLower(name[1:]), "_", " ")
}

// statusesOf returns the resources by their references. Version 5 has events with what they are
// about in each.
func statusesOf(payload data.Value) data.Value {
	h := []data.Pair{}
	for _, r := range payload.Get("resources").List() {
		h = append(h, statusOf(r, r.Get("events").List()))
	}
	var refs []ref
	first, of := map[ref]data.Value{}, map[ref][]data.Value{}
	for _, e := range payload.Get("resource_events").List() {
		r := ref{e.Get("resource_type").Text(), e.Get("resource_title").Text()}
		if _, ok := first[r]; !ok {
			refs = append(refs, r)
			first[r] = e
		}
		of[r] = append(of[r], e)
	}
	for _, r := range refs {
		h = append(h, statusOf(first[r], of[r]))
	}
	return data.OfHash(h)
}

// statusOf returns what became of one resource, and its reference.
func statusOf(r data.Value, events []data.Value) data.Pair {
	l := make([]data.Value, len(events))
	count := map[string]int64{} // of events of each status
	for i, e := range events {
		count[e.Get("status").Text()]++
		l[i] = renamed(e, eventFields)
	}
	resource := ref{r.Get("resource_type").Text(), r.Get("resource_title").Text()}.String()
	status := append(renamed(r, statusFields[:len(statusFields)-1]).Hash(),
		data.P("resource", data.OfString(resource)),
		data.P("failed", data.OfBool(count["failure"] > 0)),
		data.P("changed", data.OfBool(count["success"] > 0)),
		data.P("out_of_sync", data.OfBool(len(events) > 0)),
		data.P("change_count", data.OfInt(count["success"])),
		data.P("out_of_sync_count", data.OfInt(int64(len(events)))),
		data.P("events", data.OfList(l)),
	)
	return data.P(resource, data.OfHash(status))
}
