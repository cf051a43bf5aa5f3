package compiler

import (
	"context"
	"fmt"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nested"
	"indirtui/traces"
)

// facts returns the facts that came with a request, which are saved first; nil if none
// came. Rules TERM-COMP-01 to TERM-COMP-04.
func (t *Terminus) facts(ctx context.Context, req *indirector.Request) (*model.Facts, error) {
	given := req.Option("facts")
	if given == nil {
		return nil, nil
	}
	name := text(req.Option("facts_format"))
	if name == "" {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: "Facts but no fact format provided for " + req.Key}
	}
	facts, ok := given.(*model.Facts)
	if !ok {
		var err error
		if facts, err = decoded(ctx, text(given), name); err != nil {
			return nil, err
		}
	}
	if facts.Name != req.Key {
		return nil, &indirector.Failure{Message: fmt.Sprintf("Catalog for %s was requested with fact definition for the wrong node (%s).", data.InspectString(req.Key), data.InspectString(facts.Name))}
	}
	if req.Remote == nil && req.Option(compile.OptionUnsaved) == true {
		return facts, nil
	}
	_, err := nested.Ask(ctx, t.env.Do, &indirector.Request{
		Indirection: "facts", Verb: indirector.Save, Instance: facts, Environment: req.Environment,
		Remote:  req.Remote, // PuppetDB is sent what its certificate has
		Options: options(req, "transaction_uuid"),
	})
	return facts, bare(err)
}

// decoded reads facts off the wire. They were escaped twice. Rule TERM-COMP-02.
func decoded(ctx context.Context, s, name string) (*model.Facts, error) {
	codec := map[string]string{"pson": "pson", "application/json": "json"}[name]
	f, ok := format.ByName(codec)
	if !ok {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: "Unsupported facts format"}
	}
	_, span := traces.Start(ctx, traces.Codec, "decode facts")
	inst, _, err := format.Intern(f, "facts", []byte(unescaped(s)), format.Options{})
	span.End(fmt.Sprintf("%d bytes", len(s)), traces.Because{Reason: traces.FormatRequested, About: name}, err)
	if err != nil {
		return nil, &indirector.Failure{Message: err.Error(), Origin: "decode", Err: err}
	}
	return inst.(*model.Facts), nil
}

// unescaped decodes the escapes of forms. What looks like an escape and is none stays.
func unescaped(s string) string {
	if !strings.ContainsAny(s, "+%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b = append(b, digit(s[i+1])<<4|digit(s[i+2]))
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

func digit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// options returns those of a request that have the given names.
func options(req *indirector.Request, names ...string) []indirector.Option {
	var out []indirector.Option
	for _, name := range names {
		if v := req.Option(name); v != nil {
			out = append(out, indirector.Option{Name: name, Value: v})
		}
	}
	return out
}
