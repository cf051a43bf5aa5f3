package compare

import (
	"indirtui/indirector/origins"
	"indirtui/traces/diff"
	"indirtui/traces/tree"
	"indirtui/ui/value"
)

// Requests compares two requests, as diff.Requests does. Of catalogs that were compiled here
// each difference has where both sides are from.
func Requests(la diff.Log, a uint64, lb diff.Log, b uint64, o diff.Options) (*diff.Report, error) {
	r, _, err := requests(la, a, lb, b, o)
	return r, err
}

// requests is Requests, with where the attributes are from by their paths.
func requests(la diff.Log, a uint64, lb diff.Log, b uint64, o diff.Options) (*diff.Report, map[string][2]string, error) {
	r, err := diff.Requests(la, a, lb, b, o)
	from := readOrigins(la, a, lb, b, r)
	if from == nil {
		return r, nil, err
	}
	at, depth, next := [2]string{}, 0, 0
	for i := range r.Values.Lines {
		l := &r.Values.Lines[i]
		if both, ok := from[l.Path]; ok {
			at, depth = both, l.Depth
		} else if l.Depth <= depth {
			at = [2]string{}
		}
		if next < len(r.Changes) && r.Changes[next].Path == l.Path {
			r.Changes[next].FromA, r.Changes[next].FromB = at[0], at[1]
			next++
		}
	}
	return r, from, err
}

// readOrigins returns where the attributes that differ are from on both sides, by their
// paths: of catalogs that were compiled here.
func readOrigins(la diff.Log, a uint64, lb diff.Log, b uint64, r *diff.Report) map[string][2]string {
	if r == nil || r.Values == nil {
		return nil
	}
	var docs [2]*origins.Document
	for i, side := range [...]struct {
		log diff.Log
		id  uint64
	}{{la, a}, {lb, b}} {
		if t, err := side.log.Trace(side.id); err == nil {
			docs[i] = value.DocumentOf(side.log, t)
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
