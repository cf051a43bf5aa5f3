package indirector

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// Remote says who asks over the network.
type Remote struct {
	Node          string // certificate name
	IP            string
	Authenticated bool
	// Certificate is what was shown, in PEM; "" if nothing was, or only its name is
	// known.
	Certificate string
	Extensions  map[string]string // of the certificate, by Puppet's short names; nil if none
	Rule        string            // what let the request in: "rule 'puppetlabs node', auth.conf:12"; "" if nobody asked
}

// An Option is one option of a request, as termini see it.
type Option struct {
	Name  string
	Value any
}

// A Request is one question. It is not changed once it is on its way.
type Request struct {
	Indirection string
	Key         string
	Verb        Verb // what follows lies in one word with it: see flight
	Flags       traces.Flags
	By          traces.SourceKind // who chose Terminus or Cache; the zero Source is FromRequest
	RunGuessed  bool              // nobody said that it is part of Run
	looks       bool              // of one who only looks: see Look
	named       bool              // an environment is named, even if it is ""
	Source      string            // where that was chosen; ""
	Terminus    string            // another terminus for this request only; "" is the routed one
	Cache       string            // another cache for this request only; Off is no cache, "" the routed one
	Environment string            // "" is the current one
	Instance    Instance          // what to save
	Options     []Option          // what termini see (IND-REQ-02)
	URI         *URI              // of a URI key: protocol, server, port; nil otherwise
	Remote      *Remote           // who asks over the network; nil is this process
	Caller      string            // who asks, for the trace: "cli", "you", "agent"
	Rescue      string            // where the caller catches an error and goes on: "configurer retrieve_new_catalog"; "" if it does not
	Run         string            // the run that this belongs to; "" if alone
	Replay      uint64            // the request that this repeats; 0 if none
	Wants       *Wants            // what the caller wants besides an answer; nil is nothing, as of most
}

// Wants is what a caller wants besides an answer, and is the caller's: the house
// and termini fill in the Wire, and change nothing else. A copy of a request
// shares them, unless it is given its own, as by Yielding.
type Wants struct {
	// Notes is what the caller knows and the story should tell.
	Notes []string
	// Yield takes what a search finds, one instance at a time, as it is found,
	// for callers who do not want to hold all of it; the answer is then their
	// number. It runs on a goroutine of the request, which goes on when it
	// returns. Its error ends the search and is what the request fails with.
	// Nil is that the answer is a list.
	Yield func(Instance) error
	// Take does with the answer of a find what is part of the request: to send
	// contents that flow. It is called once, when there is an instance; its
	// context carries the trace. What it fails with is what the request fails
	// with. Nil is that the request ends with its answer. Gap L10.
	Take func(context.Context, *Response) error
	// Wire is filled by a terminus that asks over the network, see
	// Request.Wire; nil is that nobody wants it. Gap L9.
	Wire *Wire
}

// Yielding returns a copy of r whose search gives what it finds to yield.
func (r *Request) Yielding(yield func(Instance) error) *Request {
	c := *r
	c.Wants = new(Wants)
	if r.Wants != nil {
		*c.Wants = *r.Wants
	}
	c.Wants.Yield = yield
	return &c
}

// Wire is where a terminus that asks over the network tells how that went; nil
// if nobody wants to know.
func (r *Request) Wire() *Wire {
	if r.Wants == nil {
		return nil
	}
	return r.Wants.Wire
}

// yield is who takes what a search finds; nil if it is to be a list.
func (r *Request) yield() func(Instance) error {
	if r.Wants == nil {
		return nil
	}
	return r.Wants.Yield
}

// A Wire is one exchange as it went over the network: the last one, if there
// were several. A terminus fills it in whether the exchange succeeded or not.
type Wire struct {
	// Accept is what the caller takes, most wanted first; empty leaves the
	// choice to the terminus. The caller sets it.
	Accept []string
	// KeepBody asks for Body. The caller sets it.
	KeepBody bool
	// Parent is the traceparent that the caller was asked with. It is sent on as
	// it is, and none is if it is "": who hands on adds nothing. What the other
	// side does hangs beside our own spans then, not below them: these may never
	// be exported. The caller sets it.
	Parent string
	// Sent are the other headers that the caller was asked with and that are to
	// be sent on, by canonical name: a terminus writes none of its own in their
	// place. Without an Accept-Encoding among them none is offered; nil leaves the
	// choice to the terminus. The caller sets it.
	Sent map[string][]string
	// Through takes the body of a search's answer as it comes, where it is too
	// long to be kept as Body. It is called at most once, when Status and Header
	// are known; nil is that everything is kept. The caller sets it.
	Through func() io.Writer

	Address string              // the URL that was asked
	Status  int                 // 0 is that no answer came
	Header  map[string][]string // of the answer, by canonical name
	Body    []byte              // of the answer, out of its transfer and content encodings; nil if not kept or streamed
	Coded   []byte              // Body in the Content-Encoding of the Header; nil if it came without one
	Passed  bool                // all of the body went Through; Forget does not bring it back
}

// Forget takes the answer out of w, for whom it is not the answer any longer. A
// nil Wire is legal.
func (w *Wire) Forget() {
	if w != nil {
		w.Address, w.Status, w.Header, w.Body, w.Coded = "", 0, nil, nil, nil
	}
}

// Option returns the option called name, or nil.
func (r *Request) Option(name string) any {
	for i := range r.Options {
		if r.Options[i].Name == name {
			return r.Options[i].Value
		}
	}
	return nil
}

// A Response is the answer to a request.
type Response struct {
	// Value is what the method of the verb returns: an Instance, []Instance, a
	// bool, or what the terminus said; an int if the instances went to Yield.
	Value any
	// From is who answered.
	From   traces.Point
	Served traces.Served
	// Trace is the number of the request; 0 if nobody records.
	Trace uint64
}

// Instance returns the instance of a find, or nil.
func (r *Response) Instance() Instance {
	if r == nil {
		return nil
	}
	i, _ := r.Value.(Instance)
	return i
}

// An EnvironmentNotFound says that there is no environment by that name.
// Rule IND-REQ-10.
type EnvironmentNotFound struct{ Name, Path string }

func (e *EnvironmentNotFound) Error() string {
	return fmt.Sprintf("Could not find a directory environment named '%s' anywhere in the path: %s. Does the directory exist?", e.Name, e.Path)
}

// NewRequest makes a request from options as Puppet's callers give them: those
// that are attributes of a request are moved out of the options. A nil key is
// "", and stands for the name of the instance. Rules IND-REQ-01 to IND-REQ-03.
func NewRequest(indirection string, verb Verb, key string, inst Instance, options []Option) *Request {
	req := &Request{Indirection: indirection, Verb: verb, Key: key, Instance: inst}
	for _, o := range options {
		switch o.Name {
		case "ip":
			req.remote().IP = fmt.Sprint(o.Value)
		case "node":
			req.remote().Node = fmt.Sprint(o.Value)
		case "authenticated":
			if truthy(o.Value) {
				req.remote().Authenticated = true
			}
		case "environment":
			req.Environment, req.named = fmt.Sprint(o.Value), true
		case "instance":
			// The option names what a save stores; here that is a parameter.
		case "transaction_uuid":
			req.Run = fmt.Sprint(o.Value)
			req.Options = append(req.Options, o)
		default:
			switch flag := traces.ParseFlag(o.Name); {
			case flag == 0:
				req.Options = append(req.Options, o)
			case truthy(o.Value):
				req.Flags |= flag
			}
		}
	}
	return req
}

func (r *Request) remote() *Remote {
	if r.Remote == nil {
		r.Remote = new(Remote)
	}
	return r.Remote
}

// IsRemote reports whether the request came over the network. Rule IND-REQ-11.
func (r *Request) IsRemote() bool {
	return r.Remote != nil && (r.Remote.Node != "" || r.Remote.IP != "")
}

// Description is what Puppet's messages call the request. Rule IND-REQ-12.
func (r *Request) Description() string {
	if r.URI != nil {
		return r.URI.Text
	}
	return "/" + r.Indirection + "/" + r.Key
}

// Attributes returns the options and every attribute that is set, as Puppet's
// to_hash does; the environment is always there. Rule IND-REQ-13.
func (r *Request) Attributes() []Option {
	all := append([]Option(nil), r.Options...)
	if r.Remote != nil {
		if r.Remote.IP != "" {
			all = append(all, Option{"ip", r.Remote.IP})
		}
		if r.Remote.Node != "" {
			all = append(all, Option{"node", r.Remote.Node})
		}
		if r.Remote.Authenticated {
			all = append(all, Option{"authenticated", true})
		}
	}
	for _, name := range r.Flags.Names() {
		all = append(all, Option{name, true})
	}
	return append(all, Option{"environment", r.Environment})
}

// Resolve returns the request as it goes on its way: the key of a save without
// one is the instance's, a URI key is taken apart, the environment is the
// current one if none is named. The receiver is not changed.
func (x *Indirector) resolve(r *Request, to *resolved) error {
	if r.Environment == "" && !r.named {
		r.Environment = x.goesBy(to).Environment
	} else if r.Environment == "" && x.cfg.Environments != nil {
		return x.cfg.Environments("")
	} else if err := x.knows(r.Environment, to, r.Remote != nil); err != nil {
		return err
	}
	switch {
	case r.Key == "" && r.Instance != nil:
		r.Key = r.Instance.Key() // as it is, even if it reads like a URI
	case r.URI == nil && isURI(r.Key):
		return x.parseURI(r)
	}
	return nil
}

// goesBy returns what a request with that route goes by.
func (x *Indirector) goesBy(to *resolved) *around {
	if to == nil {
		return x.around.Load()
	}
	return to.around
}

func truthy(v any) bool {
	switch b := v.(type) {
	case nil:
		return false
	case bool:
		return b
	}
	return true
}

// inspectOptions writes options as Ruby writes a hash of symbols.
func inspectOptions(options []Option) string {
	parts := make([]string, len(options))
	for i, o := range options {
		parts[i] = inspectSymbol(o.Name) + "=>" + inspect(o.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

var plainSymbols = regexp.MustCompile(`\A[\pL_][\pL\pN_]*[?!=]?\z`)

// inspectSymbol writes a symbol: in quotes if it is not one word.
func inspectSymbol(s string) string {
	if plainSymbols.MatchString(s) {
		return ":" + s
	}
	return ":" + data.InspectString(s)
}

func inspect(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return data.InspectString(v)
	case float64:
		return data.FormatFloat(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = inspect(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case interface{ Inspect() string }:
		return v.Inspect()
	}
	return fmt.Sprint(v)
}
