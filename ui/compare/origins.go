package compare

import (
	"indirtui/indirector/origins"
	"indirtui/traces/diff"
	"indirtui/traces/tree"
	"indirtui/ui/value"
)

// readOrigins returns where the attributes that differ are from on both sides, by their
// paths: of catalogs that were compiled here.
func readOrigins(a, b Ref, r *diff.Report) map[string][2]string {
	if r == nil || r.Values == nil {
		return nil
	}
	var docs [2]*origins.Document
	for i, side := range [...]Ref{a, b} {
		if t, err := side.Log.Trace(side.ID); err == nil {
			docs[i] = value.DocumentOf(side.Log, t)
		}
	}
	if docs[0] == nil && docs[1] == nil {
		return nil
	}
	from := map[string][2]string{}
	for i := range r.Values.Lines {
		l := &r.Values.Lines[i]
		if both := originsOf(l, docs); both != [2]string{} {
			from[l.Path] = both
		}
	}
	return from
}

// How deep a resource of a catalog lies, and an attribute of one.
const (
	resourceDepth  = 2
	attributeDepth = 4
)

// originsOf returns where both sides of a line are from, if it is an attribute that differs
// or a resource that only one side has.
func originsOf(l *diff.Line, docs [2]*origins.Document) (both [2]string) {
	if l.Kind == diff.Same || l.Depth != attributeDepth && (l.Depth != resourceDepth || l.Kind == diff.Inside) {
		return both
	}
	for i, n := range [...]*tree.Node{l.A, l.B} {
		ref, attribute := value.ResourceOf(n)
		if ref == "" || docs[i] == nil {
			continue
		}
		r := docs[i].Find(ref)
		switch {
		case r == nil:
		case attribute == "":
			both[i] = origins.Place(r.File, r.Line)
		default:
			if known := r.Sources(attribute); len(known) > 0 {
				both[i] = known[0].String()
			}
		}
	}
	return both
}
