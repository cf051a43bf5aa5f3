package engine

import (
	"unsafe"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// weigh estimates how many bytes of memory an instance needs, for a store that
// keeps it until it was rendered.
func weigh(instance any) int64 {
	const (
		least  = 512
		inData = 480 // what a resource takes among the data of a catalog, which may be kept
	)
	n := int64(least)
	switch x := instance.(type) {
	case string:
		n += int64(len(x))
	case []indirector.Instance:
		for _, i := range x {
			n += weigh(i)
		}
	case *model.Facts:
		n += weighValue(x.Values) + weighPairs(x.Extra)
	case *model.Node:
		n += weighValue(x.Parameters) + weighValue(x.Classes) + weighPairs(x.Extra)
	case *model.Raw:
		n += weighValue(x.Value)
	case *model.Binding:
		n += weighValue(x.Value)
	case *model.Resource:
		n += weighResource(x)
	case *model.Catalog:
		n += weighValue(x.RecursiveMetadata) + weighPairs(x.Extra) + x.Origins.Weight() + int64(len(x.Metadata))*least
		for i := range x.Resources {
			n += weighResource(&x.Resources[i]) + inData
		}
		for i := range x.Edges {
			n += inData/4 + int64(unsafe.Sizeof(x.Edges[i])) + int64(len(x.Edges[i].Source)+len(x.Edges[i].Target))
		}
	case *model.Report:
		n += weighReport(x)
	}
	return n
}

func weighResource(r *model.Resource) int64 {
	return int64(unsafe.Sizeof(*r)) + int64(len(r.Title)+len(r.File)) + 16*int64(len(r.Tags)) + weighValue(r.Parameters) + weighPairs(r.Extra)
}

func weighReport(r *model.Report) (n int64) {
	for i := range r.Logs {
		l := &r.Logs[i]
		n += int64(unsafe.Sizeof(*l)) + int64(len(l.Message)+len(l.Source)) + weighTexts(l.Tags) + weighPairs(l.Extra)
	}
	for i := range r.Metrics {
		n += int64(unsafe.Sizeof(r.Metrics[i])) + weighValue(r.Metrics[i].Values)
	}
	for i := range r.Statuses {
		s := &r.Statuses[i]
		n += int64(unsafe.Sizeof(*s)) + int64(len(s.Ref)+len(s.Title)) + weighTexts(s.Tags) + weighTexts(s.ContainmentPath) + weighPairs(s.Extra)
		for j := range s.Events {
			e := &s.Events[j]
			n += int64(unsafe.Sizeof(*e)) + int64(len(e.Message)) + weighValue(e.PreviousValue) + weighValue(e.DesiredValue) + weighPairs(e.Extra)
		}
	}
	return n + weighPairs(r.Extra)
}

func weighTexts(all []string) (n int64) {
	for _, s := range all {
		n += int64(unsafe.Sizeof(s)) + int64(len(s))
	}
	return n
}

func weighValue(v data.Value) (n int64) {
	switch v.Kind() {
	case data.String, data.Symbol:
		return int64(len(v.Str()))
	case data.List:
		for _, x := range v.List() {
			n += int64(unsafe.Sizeof(x)) + weighValue(x)
		}
	case data.Hash:
		n = weighPairs(v.Hash())
	}
	return n
}

func weighPairs(pairs []data.Pair) (n int64) {
	for i := range pairs {
		n += int64(unsafe.Sizeof(pairs[i])) + weighValue(pairs[i].Key) + weighValue(pairs[i].Value)
	}
	return n
}
