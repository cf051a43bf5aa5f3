package api

import (
	"fmt"
	"net/http"
	"net/url"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
)

// A Message is a request that is written anew.
type Message struct {
	Method, Target string
	Body           []byte // not compressed; nil for a query
}

// Write writes a request that is not what came any more. A command keeps of was,
// as which it came, whatever the edits leave alone; was is nil for a query.
func Write(req *indirector.Request, was *Call) (*Message, error) {
	if was != nil {
		return was.written(req)
	}
	switch {
	case req.Indirection == "node" && req.Verb == indirector.Find:
		return &Message{Method: http.MethodGet, Target: Queries + "/nodes/" + url.QueryEscape(req.Key)}, nil
	case req.Indirection == "facts" && req.Verb == indirector.Find:
		return &Message{Method: http.MethodGet, Target: Queries + "/nodes/" + url.QueryEscape(req.Key) + "/facts"}, nil
	}
	entity, parts := "nodes", []data.Value{data.OfString("and")}
	if req.Indirection == "resource" {
		entity = "resources"
		host := valueOf(req.Option(optionHost))
		parts = append(parts, list("=", data.OfString("type"), data.OfString(req.Key)), list("=", data.OfString("exported"), data.OfBool(true)),
			list("not", list("=", data.OfString("certname"), host)))
	}
	for _, o := range req.Options {
		part, err := partOf(req, o)
		if err != nil {
			return nil, err
		}
		if !part.IsNil() {
			parts = append(parts, part)
		}
	}
	query, err := format.AppendPSON(nil, data.OfList(parts))
	if err != nil {
		return nil, fmt.Errorf("write a query: %w", err)
	}
	return &Message{Method: http.MethodGet, Target: Queries + "/" + entity + "?query=" + url.QueryEscape(string(query))}, nil
}

// partOf returns the condition that an option is, or nil.
func partOf(req *indirector.Request, o indirector.Option) (data.Value, error) {
	switch {
	case req.Indirection != "resource":
		return factQuery(o)
	case o.Name != optionFilter:
		return data.Value{}, nil
	}
	filter := valueOf(o.Value)
	if text, ok := filter.AsStr(); ok { // an edited one
		var err error
		if filter, err = format.DecodeJSON([]byte(text), format.Limits{}); err != nil {
			return filter, fmt.Errorf("write a query: the filter %q is no JSON: %w", text, err)
		}
	}
	return queryOf(filter)
}

// written writes the command as req is now.
func (c *Call) written(req *indirector.Request) (*Message, error) {
	payload, err := c.edited(req)
	if err != nil {
		return nil, fmt.Errorf("write command %q: %w", c.Name, err)
	}
	cmd := c.head(req.Key)
	cmd.Payload = payload
	body, _ := cmd.Body()
	query := cmd.Query(body)
	for _, o := range c.others {
		query += "&" + url.QueryEscape(o.Name) + "=" + url.QueryEscape(fmt.Sprint(o.Value))
	}
	return &Message{Method: http.MethodPost, Target: Commands + "?" + query, Body: body}, nil
}

// edited returns the payload with what differs between the instance that came
// and that of req. All else stays as the sender wrote it.
func (c *Call) edited(req *indirector.Request) (data.Value, error) {
	cmd, err := command.Read(c.Name, c.Version, c.Certname, c.Produced, c.Payload)
	if err != nil {
		return data.Value{}, err
	}
	payload := cmd.Payload
	if req.Key != cmd.Certname {
		payload = payload.With("certname", data.OfString(req.Key))
	}
	if environment := payload.Get("environment").Str(); req.Verb == indirector.Save && req.Environment != environment {
		payload = payload.With("environment", data.OfString(req.Environment))
	}
	if req.Verb != indirector.Save {
		return payload, nil
	}
	came, err := cmd.Instance()
	if err != nil {
		return data.Value{}, err
	}
	if sameData(came, req.Instance) {
		return payload, nil
	}
	was, err := c.made(came)
	if err != nil {
		return data.Value{}, err
	}
	now, err := c.made(req.Instance)
	if err != nil {
		return data.Value{}, err
	}
	for _, p := range now.Payload.Hash() {
		if name := p.Key.Str(); !data.Equal(p.Value, was.Payload.Get(name)) {
			payload = payload.With(name, p.Value)
		}
	}
	return payload, nil
}

func sameData(a, b indirector.Instance) bool {
	x, ok := a.(interface{ Data() data.Value })
	y, also := b.(interface{ Data() data.Value })
	return ok && also && data.Equal(x.Data(), y.Data())
}

// made returns the command of an instance, to compare it with another.
func (c *Call) made(inst indirector.Instance) (*command.Command, error) {
	o := command.Options{Produced: c.Produced, Unchanged: true}
	switch inst := inst.(type) {
	case *model.Facts:
		made, err := command.Facts(inst, o)
		if trusted, ok := inst.Values.Lookup("trusted"); err == nil && ok { // it would be that of o
			made.Payload = made.Payload.With("values", made.Payload.Get("values").With("trusted", trusted))
		}
		return made, err
	case *model.Catalog:
		return command.Catalog(inst, o)
	case *model.Report:
		return command.Report(inst, o)
	}
	return nil, fmt.Errorf("a %T is in no command", inst)
}
