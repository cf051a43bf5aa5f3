package site

import (
	"context"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/rtype"
	"indirtui/indirector/language/types"
	"indirtui/indirector/origins"
)

// Compile compiles the catalog of a node, from the initial manifest of the environment or
// from code in its place. What the environment has is set in the options of the compile.
func Compile(ctx context.Context, o Options, c compile.Options, code string) (*compile.Result, error) {
	o.Context = ctx
	s := prepare(o)
	defer s.Close()
	env, err := s.environment()
	switch {
	case err != nil:
		return nil, err
	case env == nil:
		return nil, errNoEnvironment
	}
	if s.o.Eval.Log != nil {
		for _, e := range env.Logs() {
			s.o.Eval.Log(e)
		}
	}
	if c.Main, err = s.definitions.Main(code); err != nil {
		return nil, err
	}
	c.Eval, c.Begin = s.o.Eval, s.bind
	for _, p := range c.Main {
		if p.Failed() {
			return nil, compile.Failed(c.Node, p.Report(), c.Eval.Log)
		}
	}
	c.Type = func(name string) *rtype.Type {
		t, err := s.definitions.ResourceType(name)
		if err != nil && t == nil {
			t = rtype.Unreadable(name, "", err)
		}
		return t
	}
	c.Module = func(file string) string {
		name, _ := env.Module(file)
		return name
	}
	c.Data, c.Origins = s.parameter, s.o.Origins
	if s.o.Finished != nil {
		c.End = func(func(*eval.Program) (data.Value, error)) { s.o.Finished(s.Data) }
	}
	return compile.Compile(ctx, c)
}

// parameter looks up the data for a parameter of a class. Rule HIERA-APL.
func (s *Site) parameter(ctx context.Context, key string) (v data.Value, from origins.Origin, found bool, err error) {
	search := s.o.Search
	if search == nil {
		search = func(_ context.Context, c *hiera.Compile, key string, q hiera.Query) (data.Value, bool, error) {
			r, err := c.Search(key, q)
			return r.Value, r.Found, err
		}
	}
	q := hiera.Query{Parameter: true}
	if s.o.Origins {
		// A function that is asked for data may declare a class, whose data has another record.
		q.Record, s.record = s.record, nil
		if q.Record == nil {
			q.Record = &hiera.Record{OriginOnly: true}
		}
		q.Record.Reset()
	}
	v, found, err = search(ctx, s.Data, key, q)
	if s.o.Origins {
		at := q.Record.Origin(0)
		from = origins.Origin{Level: at.Level, File: at.File, Line: at.Line}
		s.record = q.Record
	}
	return types.OfData(v), from, found, inPrograms(err)
}
