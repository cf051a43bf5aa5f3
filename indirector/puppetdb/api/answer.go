package api

import (
	"errors"
	"fmt"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

// Answer returns what a successful answer of PuppetDB is: an instance, a list of
// instances, or the document that acknowledges a command. Rules PDB-HTTP-03,
// PDB-QRY-02, PDB-QRY-03.
func Answer(req *indirector.Request, body []byte) (any, error) {
	doc, err := format.DecodeJSON(body, format.Limits{})
	if err != nil {
		return nil, fmt.Errorf("read the answer of PuppetDB: %w", err)
	}
	switch {
	case req.Verb != indirector.Find && req.Verb != indirector.Search:
		return doc, nil
	case req.Indirection == "node":
		if doc.Kind() != data.Hash {
			return nil, errors.New("read the answer of PuppetDB: it is no hash")
		}
		return nodeOf(req.Key, doc), nil
	case doc.Kind() != data.List:
		return nil, errors.New("read the answer of PuppetDB: it is no list")
	case req.Verb == indirector.Find:
		return factsIn(req.Key, doc.List())
	}
	found := make([]indirector.Instance, 0, doc.Len())
	for i, row := range doc.List() {
		inst, err := rowOf(req, row)
		if err != nil {
			return nil, fmt.Errorf("read the answer of PuppetDB: row %d: %w", i+1, err)
		}
		found = append(found, inst)
	}
	return found, nil
}

// factsIn makes facts of rows. A later row of the same name wins.
func factsIn(name string, rows []data.Value) (*model.Facts, error) {
	values := make([]data.Pair, 0, len(rows))
	at := make(map[string]int, len(rows))
	for i, row := range rows {
		fact, ok := row.Get("name").AsStr()
		if !ok {
			return nil, fmt.Errorf("read the answer of PuppetDB: row %d has no name of a fact", i+1)
		}
		if n, again := at[fact]; again {
			values[n].Value = row.Get("value")
			continue
		}
		at[fact] = len(values)
		values = append(values, data.P(fact, row.Get("value")))
	}
	return &model.Facts{Name: name, Values: data.OfHash(values)}, nil
}

// nodeOf returns a node whose parameters are all that PuppetDB knows of it.
func nodeOf(name string, doc data.Value) *model.Node {
	node := &model.Node{Name: name, Parameters: doc}
	for _, of := range [...]string{"catalog_environment", "facts_environment", "report_environment"} {
		if s, ok := doc.Get(of).AsStr(); ok && node.Environment == "" {
			node.Environment = s
		}
	}
	return node
}

// rowOf returns what a row of a search is. PuppetDB 7 calls a node certname, older
// ones name. Rule PDB-QRY-05.
func rowOf(req *indirector.Request, row data.Value) (indirector.Instance, error) {
	if req.Indirection == "resource" {
		return resourceOf(row)
	}
	for _, key := range [...]string{"certname", "name"} {
		if name, ok := row.Get(key).AsStr(); ok {
			return indirector.Name(name), nil
		}
	}
	return nil, errors.New("it has no certname")
}

// resourceOf returns an exported resource, without parameters that are null. Rule
// PDB-QRY-02.
func resourceOf(row data.Value) (*model.Resource, error) {
	typ, ok := row.Get("type").AsStr()
	title, named := row.Get("title").AsStr()
	if !ok || !named {
		return nil, errors.New("it has no type or no title")
	}
	r := &model.Resource{Type: typ, Title: title, Exported: row.Get("exported").Bool(), File: row.Get("file").Str(), Line: row.Get("line").Int()}
	r.Exporter = row.Get("certname").Str()
	for _, tag := range row.Get("tags").List() {
		r.Tags = append(r.Tags, tag.Text())
	}
	params := make([]data.Pair, 0, row.Get("parameters").Len())
	for _, p := range row.Get("parameters").Hash() {
		if !p.Value.IsNil() {
			params = append(params, p)
		}
	}
	r.Parameters = data.OfHash(params)
	for _, key := range [...]string{"certname", "environment"} {
		if v, ok := row.Lookup(key); ok {
			r.Extra = append(r.Extra, data.P(key, v))
		}
	}
	return r, nil
}

// Reply writes the answer to req that PuppetDB would send, for an answer that did
// not come from there: an edited one, or of another terminus. A command that was
// not queued has a uuid of zeros.
func Reply(req *indirector.Request, value any) ([]byte, error) {
	var v data.Value
	switch value := value.(type) {
	case *model.Facts:
		v = rowsOf(value)
	case *model.Node:
		v = value.Parameters.With("certname", data.OfString(value.Name))
	case []indirector.Instance:
		rows := make([]data.Value, 0, len(value))
		for _, inst := range value {
			row, err := rowFor(inst)
			if err != nil {
				return nil, fmt.Errorf("answer %s %s: %w", req.Verb, req.Indirection, err)
			}
			rows = append(rows, row)
		}
		v = data.OfList(rows)
	case data.Value:
		v = value
	}
	if (req.Verb == indirector.Save || req.Verb == indirector.Destroy) && v.Get("uuid").IsNil() {
		v = data.OfHash([]data.Pair{data.P("uuid", data.OfString("00000000-0000-0000-0000-000000000000"))})
	}
	return format.AppendJSON(nil, v)
}

func rowsOf(f *model.Facts) data.Value {
	rows := make([]data.Value, 0, f.Values.Len())
	for _, p := range f.Values.Hash() {
		rows = append(rows, data.OfHash([]data.Pair{
			data.P("certname", data.OfString(f.Name)), data.P("name", p.Key), data.P("value", p.Value),
		}))
	}
	return data.OfList(rows)
}

func rowFor(inst indirector.Instance) (data.Value, error) {
	switch inst := inst.(type) {
	case indirector.Name:
		return data.OfHash([]data.Pair{data.P("certname", data.OfString(string(inst)))}), nil
	case *model.Resource:
		row := []data.Pair{
			data.P("tags", data.OfStrings(inst.Tags)), data.P("file", orNil(inst.File)), data.P("type", data.OfString(inst.Type)),
			data.P("title", data.OfString(inst.Title)), data.P("line", data.OfInt(inst.Line)), data.P("exported", data.OfBool(true)),
		}
		certname := inst.Exporter
		for _, p := range inst.Extra {
			if p.Key.Str() == "certname" {
				certname = p.Value.Str()
			} else {
				row = append(row, p)
			}
		}
		return data.OfHash(append(row, data.P("certname", data.OfString(certname)), data.P("parameters", orEmpty(inst.Parameters)))), nil
	}
	return data.Value{}, fmt.Errorf("a %T is no row of PuppetDB", inst)
}

func orNil(s string) data.Value {
	if s == "" {
		return data.Value{}
	}
	return data.OfString(s)
}

func orEmpty(v data.Value) data.Value {
	if v.IsNil() {
		return data.OfHash(nil)
	}
	return v
}
