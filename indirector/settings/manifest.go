package settings

import (
	"math"
	"strconv"
	"strings"
)

// Each calls f with each setting that Puppet has, in its order, but for name, which
// manifests do not see. The value is what they do: nil, a bool, an int64, a float64,
// a string, or a []any of these. Of one that is no good it is the text as written.
func (s *Settings) Each(f func(name string, value any)) {
	for i := range definitions {
		if name := definitions[i].Name; name != "name" {
			set := s.values[name]
			f(name, s.typed(&set))
		}
	}
}

// typed is the value of a setting as Ruby has it.
func (s *Settings) typed(set *Setting) any {
	switch {
	case set.kind == nothing:
		return nil
	case set.kind == boolean:
		return set.Value == "true"
	}
	def := &set.Definition
	if def.Type == "alias" {
		def = s.definition(def.Values[0])
	}
	switch def.Type {
	case "integer", "port", "priority", "duration", "ttl":
		if n, err := strconv.ParseInt(set.Value, 10, 64); err == nil {
			return n
		}
		if set.Value == "unlimited" {
			return math.Inf(1)
		}
	case "array":
		return items(set.Value)
	case "server_list", "http_extra_headers":
		pairs := items(set.Value)
		for i, p := range pairs {
			pair := []any{}
			for part := range strings.SplitSeq(p.(string), ":") {
				pair = append(pair, part)
			}
			pairs[i] = pair
		}
		return pairs
	}
	return set.Value
}

// items are the items of a list, which may be empty.
func items(s string) []any {
	all := []any{}
	for _, item := range splitList(s) {
		all = append(all, item)
	}
	return all
}
