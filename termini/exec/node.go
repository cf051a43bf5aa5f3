// Package exec asks a command: the external node classifier (ENC).
package exec

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nodefacts"
	"indirtui/traces"
)

// Node describes the exec terminus of the node indirection.
var Node = indirector.Descriptor{
	Indirection: "node",
	Name:        "exec",
	Party:       "the classifier",
	Note:        "runs the classifier (ENC)",
	Doc: "Asks a command, the external node classifier, and merges the facts of the same name into the parameters that it gives. " +
		"The command gets the name of the node as its last argument and prints YAML: classes, parameters, environment. " +
		"No shell is involved. Puppet throws away what it writes to stderr; here the trace keeps it.",
	Settings: []indirector.Setting{
		{Name: "external_nodes", Doc: "The command, split at blanks; none is no command."},
		{Name: settingTimeout, Doc: "How long the command may take, as 30s; it is then killed with all that it started. Nothing is no limit. Not a setting of Puppet."},
	},
	Rules: []string{"TERM-ENC-01", "TERM-ENC-02", "TERM-ENC-03", "TERM-ENC-04", "TERM-ENC-05", "TERM-ENC-06"},
	Type:  (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		command, _ := env.Settings.Get("external_nodes")
		limit, err := indirector.DurationOf(env.Settings, settingTimeout, 0)
		if err != nil {
			return nil, err
		}
		return &Terminus{facts: nodefacts.Merger{Env: env}, env: env, command: command, limit: limit}, nil
	},
}

// maxQuoted bounds the stdout that a message quotes, in bytes. Puppet quotes
// all.
const maxQuoted = 64 << 10

const settingTimeout = "external_nodes_timeout"

// A Terminus asks one command about nodes.
type Terminus struct {
	env     indirector.Env
	facts   nodefacts.Merger
	command string
	limit   time.Duration // zero is none
}

// Find runs the command. Output that is blank is ErrNotFound.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	argv, err := t.argv(req.Key)
	if err != nil {
		return nil, err
	}
	out, err := t.ask(ctx, req.Key, argv)
	if err != nil {
		return nil, err
	}
	if strings.Trim(string(out.stdout), blanks) == "" {
		t.env.Log.Debug(fmt.Sprintf("Empty response for %s from exec terminus", req.Key))
		traces.Explain(ctx, traces.EmptyClassifier)
		return nil, indirector.NotFound(traces.NilFromEmptyOutput, argv[0])
	}
	node, err := t.node(ctx, req, out)
	if err != nil {
		return nil, err
	}
	node, err = t.facts.Merge(ctx, req, node)
	if err != nil {
		return nil, err
	}
	return node, nil
}

// blanks are the characters that Ruby's \s matches.
const blanks = " \t\n\v\f\r"

// argv returns the command line for a node. Rule TERM-ENC-01.
func (t *Terminus) argv(key string) ([]string, error) {
	if t.command == "none" {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: "You must set the 'external_nodes' parameter to use the external node terminus"}
	}
	words := strings.Fields(t.command)
	if len(words) == 0 || !strings.HasPrefix(words[0], "/") {
		return nil, &indirector.Failure{
			Class: "ArgumentError", Message: "You must set the exec parameter to a fully qualified command",
			Hidden: fmt.Sprintf("external_nodes is %q", t.command),
		}
	}
	return append(words, key), nil
}

// ask runs the command. Any end but exit code 0 fails; to Puppet a command that
// could not be started looks like one that failed without output. Rules
// TERM-ENC-02, TERM-ENC-03.
func (t *Terminus) ask(ctx context.Context, key string, argv []string) (output, error) {
	_, span := traces.Start(ctx, traces.Exec, "exec "+strings.Join(argv, " "))
	out := run(ctx, argv, t.limit)
	problem := out.problem()
	if span != nil {
		span.Attr("command", argv[0])
		span.Attr("exit", out.status())
		span.Attr("stdout", strconv.Itoa(len(out.stdout))+" bytes")
		if len(out.stderr) > 0 {
			span.Attr("stderr", string(out.stderr))
		}
		span.End(out.answer(), traces.Because{}, out.err)
	}
	switch {
	case !out.ok():
		traces.ExplainFailure(ctx, problem)
	case problem != "":
		traces.AddNote(ctx, problem)
	}
	if out.ok() {
		return out, nil
	}
	return out, &indirector.Failure{
		Message: fmt.Sprintf("Failed to find %s via exec: Execution of '%s' returned %s: %s",
			key, strings.Join(argv, " "), out.status(), cut(strings.Trim(string(out.stdout), blanks+"\x00"), maxQuoted)),
		Origin: "exec", Path: argv[0], Hidden: problem, Err: out.err,
	}
}

// node reads the answer. Rules TERM-ENC-05, TERM-ENC-06.
func (t *Terminus) node(ctx context.Context, req *indirector.Request, out output) (*model.Node, error) {
	_, span := traces.Start(ctx, traces.Codec, "decode yaml")
	result, err := translate(out.stdout)
	if err != nil {
		span.End("failed", traces.Because{}, err)
		return nil, &indirector.Failure{
			Message: fmt.Sprintf("Could not load external node results for %s: %s", req.Key, err),
			Origin:  "decode", Path: t.command, Hidden: "stdout: " + cut(string(out.stdout), 500), Err: err,
		}
	}
	if v, named := result["environment"]; named {
		span.Attr(traces.AttrEnvironment, v.Text())
	}
	span.End("a hash", traces.Because{}, nil)
	if result == nil {
		traces.Explain(ctx, "ENC printed a list, not a mapping: nothing of it is used")
	}
	return create(req, result)
}

// translate returns the values by name; of a list there are none, unless it is
// one of pairs.
func translate(stdout []byte) (map[string]data.Value, error) {
	doc, err := psych.Decode(stdout, psych.Limits{KeepBOM: true})
	if err != nil {
		return nil, errors.New(psych.Message(err, unknown))
	}
	if foreign, refused := doc.Refused("Symbol"); refused {
		return nil, errors.New(foreign.Message(unknown))
	}
	var result map[string]data.Value
	put := func(key, value data.Value) error {
		switch key.Kind() {
		case data.String, data.Symbol:
			if result == nil {
				result = make(map[string]data.Value)
			}
			result[key.Str()] = value
			return nil
		}
		return fmt.Errorf("key is a %s, not a string or symbol", classOf(key))
	}
	switch v := doc.Value; v.Kind() {
	case data.Hash:
		result = make(map[string]data.Value, v.Len())
		for _, p := range v.Hash() {
			if err := put(p.Key, p.Value); err != nil {
				return nil, err
			}
		}
	case data.List:
		for _, x := range v.List() {
			if err := putElement(x, put); err != nil {
				return nil, err
			}
		}
	case data.Nil:
		return nil, errors.New("undefined method `inject' for false:FalseClass")
	default:
		return nil, fmt.Errorf("undefined method `inject' for %s:%s", v.Inspect(), classOf(v))
	}
	return result, nil
}

// unknown is Psych's file name of a text without one.
const unknown = "<unknown>"

// putElement treats the element of a list as Ruby does, which asks it for its
// elements 0 and 1: of a word these are letters, which are no known keys.
func putElement(x data.Value, put func(key, value data.Value) error) error {
	switch l := x.List(); x.Kind() {
	case data.String, data.Symbol:
		if x.Len() == 0 {
			return put(data.Value{}, data.Value{})
		}
		return nil
	case data.List:
		pair := append(l[:len(l):len(l)], data.Value{}, data.Value{})
		return put(pair[0], pair[1])
	case data.Int, data.Big:
		return put(data.OfInt(0), data.Value{})
	case data.Hash:
		return put(x.Get("0"), data.Value{})
	}
	return fmt.Errorf("undefined method `[]' for %s:%s", x.Inspect(), classOf(x))
}

var rubyClasses = [...]string{"NilClass", "TrueClass", "Integer", "Float", "Integer", "String", "Symbol", "Array", "Hash"}

func classOf(v data.Value) string {
	if v.Kind() == data.Bool && !v.Bool() {
		return "FalseClass"
	}
	return rubyClasses[v.Kind()]
}

// create makes a node of the values that count.
func create(req *indirector.Request, result map[string]data.Value) (*model.Node, error) {
	node := &model.Node{Name: req.Key, Environment: req.Environment}
	if p := result["parameters"]; p.Truthy() {
		if p.Kind() != data.Hash {
			return nil, noMapping(p)
		}
		node.Parameters = p.Without("environment")
	}
	if c := result["classes"]; c.Truthy() {
		node.Classes = c
	}
	switch e := result["environment"]; {
	case e.Kind() == data.String || e.Kind() == data.Symbol:
		node.Environment = e.Str()
	case e.Truthy():
		return nil, &indirector.Failure{
			Class: "NoMethodError", Message: fmt.Sprintf("undefined method `name' for %s:%s", e.Inspect(), classOf(e)),
			Origin: "decode", Hidden: "the ENC printed an environment that is no text",
		}
	}
	return node, nil
}

// noMapping returns Ruby's error for an environment put into parameters that
// are not a hash.
func noMapping(p data.Value) error {
	f := &indirector.Failure{Origin: "decode", Hidden: "the ENC printed parameters that are no mapping"}
	switch p.Kind() {
	case data.List:
		f.Class, f.Message = "TypeError", "no implicit conversion of String into Integer"
	case data.String:
		f.Class, f.Message = "IndexError", "string not matched"
	default:
		f.Class, f.Message = "NoMethodError", fmt.Sprintf("undefined method `[]=' for %s:%s", p.Inspect(), classOf(p))
	}
	return f
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
