package origins

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/traces/spell"
)

// MatchRef returns which of the references of a catalog is meant. The case of letters
// counts only where two differ in nothing else.
func MatchRef(catalog, ref string, refs []string) (int, error) {
	at := slices.Index(refs, ref)
	if at < 0 {
		at = slices.IndexFunc(refs, func(r string) bool { return strings.EqualFold(r, ref) })
	}
	if at < 0 {
		return at, fmt.Errorf("the catalog of %s has no resource %s%s", catalog, ref, meant(ref, refs))
	}
	return at, nil
}

// Match returns which of the attributes has a name.
func (w *Why) Match(name string) (int, error) {
	names := w.Names()
	at := slices.Index(names, name)
	if at < 0 {
		return at, fmt.Errorf("%s has no attribute %q%s", w.Resource, name, meant(name, names))
	}
	return at, nil
}

// meant is a guess at what a name was meant to be.
func meant(name string, there []string) string {
	if near := spell.Nearest(name, there); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
