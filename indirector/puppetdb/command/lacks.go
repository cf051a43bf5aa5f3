package command

import (
	"cmp"

	"indirtui/indirector/data"
)

// Lacks returns what a command has not that PuppetDB refuses it without, such as "a report
// without start_time"; "" if it has all. It does not look at what its values are.
// Rule PDB-SEM-04.
func (c *Command) Lacks() string {
	p := c.Payload
	resources := p.Get("resources").List()
	switch c.Name {
	case ReplaceCatalog:
		return cmp.Or(lacks("a catalog", p, "version", "resources", "edges"), lackOf("a resource", resources, "tags", "type", "title", "tags", "exported"))
	case ReplaceFacts:
		return lacks("facts", p, "values")
	case StoreReport:
		found := cmp.Or(
			lacks("a report", p, "puppet_version", "report_format", "configuration_version", "start_time", "end_time", "environment"),
			lackOf("a log", p.Get("logs").List(), "tags", "level", "message", "source", "time"),
			lackOf("a metric", p.Get("metrics").List(), "", "category", "name", "value"),
			lackOf("a resource", resources, "containment_path", "skipped", "timestamp", "resource_type", "resource_title"),
		)
		for i := 0; i < len(resources) && found == ""; i++ {
			found = lackOf("an event", resources[i].Get("events").List(), "", "status", "timestamp")
		}
		return found
	}
	return ""
}

// lackOf is lacks of each row. The elements of the list of that name are no nulls either.
func lackOf(what string, rows []data.Value, list string, keys ...string) string {
	for _, row := range rows {
		if found := lacks(what, row, keys...); found != "" {
			return found
		}
		for _, v := range row.Get(list).List() {
			if v.IsNil() {
				return what + " with a null in its " + list
			}
		}
	}
	return ""
}

func lacks(what string, v data.Value, keys ...string) string {
	for _, key := range keys {
		if v.Get(key).IsNil() {
			return what + " without " + key
		}
	}
	return ""
}
