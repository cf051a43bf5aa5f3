package diff

import "fmt"

// A Document is a value of JSON that is no answer to a request: a plan, the result of a run.
type Document struct {
	Name string // "plan of web01"
	JSON []byte
}

// Documents compares two documents. The error reports one that is no JSON.
func Documents(a, b Document, o Options) (*Report, error) {
	r := &Report{Version: version, Kind: ofValues, Rules: o.Ignore, A: Side{Name: a.Name}, B: Side{Name: b.Name}}
	v, err := compareJSON(a.JSON, b.JSON, o)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a.Name, b.Name, err)
	}
	r.take(v)
	return r, nil
}
