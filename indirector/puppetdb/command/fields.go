package command

import (
	"fmt"
	"strings"

	"indirtui/indirector/data"
)

// A field is a key of the wire, and where its value is from.
type field struct {
	name, from string
	kind       fieldKind
}

type fieldKind uint8

const (
	asIs   fieldKind = iota
	asText           // as Ruby's to_s
	asTime           // cut to milliseconds; it must be there
)

var (
	logFields = []field{
		{"file", "file", asIs},
		{"line", "line", asIs},
		{"level", "level", asIs},
		{"message", "message", asIs},
		{"source", "source", asIs},
		{"tags", "tags", asIs},
		{"time", "time", asTime},
	}
	statusFields = []field{
		{"skipped", "skipped", asIs},
		{"timestamp", "time", asTime},
		{"resource_type", "resource_type", asIs},
		{"resource_title", "title", asText},
		{"file", "file", asIs},
		{"line", "line", asIs},
		{"containment_path", "containment_path", asIs},
		{"corrective_change", "corrective_change", asIs},
		{"events", "events", asIs},
	}
	eventFields = []field{
		{"status", "status", asIs},
		{"timestamp", "time", asTime},
		{"name", "name", asIs},
		{"property", "property", asIs},
		{"new_value", "desired_value", asText},
		{"old_value", "previous_value", asText},
		{"corrective_change", "corrective_change", asIs},
		{"message", "message", asIs},
	}
)

// pick returns the hash of some keys of another. A key may have another name there:
// "time as timestamp". Times are cut to milliseconds; one that is missing is an error.
func pick(from data.Value, keys []field) (data.Value, error) {
	h := make([]data.Pair, len(keys))
	for i, k := range keys {
		v := from.Get(k.from)
		switch k.kind {
		case asTime:
			point := strings.IndexByte(v.Str(), '.') // of nine digits
			if point < 0 {
				return data.Value{}, fmt.Errorf("it has no %s", k.from)
			}
			v = data.OfString(v.Str()[:point+4] + v.Str()[point+10:])
		case asText:
			v = data.OfString(v.Text())
		}
		h[i] = data.P(k.name, v)
	}
	return data.OfHash(h), nil
}

// renamed returns the fields of a hash of the wire under the names that they have in a report.
func renamed(v data.Value, fields []field) data.Value {
	h := make([]data.Pair, len(fields))
	for i, f := range fields {
		h[i] = data.P(f.from, v.Get(f.name))
	}
	return data.OfHash(h)
}
