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

// A Remote is the client of a request from the network.
type Remote struct {
	Node          string // certificate name
	IP            string
	Authenticated bool
	// Certificate is in PEM; "" if none was shown, or only its name is known.
	Certificate string
	Extensions  map[string]string // of the certificate, by Puppet's short names; nil if none
	Rule        string            // that allowed the request: "rule 'puppetlabs node', auth.conf:12"; "" if none was checked
}

// An Option is passed to termini.
type Option struct {
	Name  string
	Value any
}

// A Request asks one question. It is not changed once it is sent.
type Request struct {
	Indirection string
	Key         string
	Verb        Verb // shares a word with the next fields: see call
	Flags       traces.Flags
	By          traces.SourceKind // who chose Terminus or Cache; the zero Source is FromRequest
	RunGuessed  bool              // Run is a guess
	Keyed       bool              // Key is given, even if it is "": else that of a save is the Instance's
	looks       bool              // sent by Look
	named       bool              // an environment is named, even if it is ""
	Source      string            // where that was chosen; may be ""
	Terminus    string            // another terminus for this request only; "" is the routed one
	Cache       string            // another cache for this request only; Off is no cache, "" the routed one
	Environment string            // "" is the current one
	Instance    Instance          // what to save
	Options     []Option          // what termini see (IND-REQ-02)
	URI         *URI              // set for a URI key; else nil
	Remote      *Remote           // the client on the network; nil is this process
	Caller      string            // for the trace: "cli", "you", "agent"
	Rescue      string            // where the caller rescues an error: "configurer retrieve_new_catalog"; "" if it does not
	Run         string            // "" if it belongs to no run
	Replay      uint64            // number of the request that this repeats; 0 if none
	Wants       *Wants            // what the caller wants besides an answer; may be nil
}

// Wants is what a caller wants besides an answer, and belongs to it. Only Wire
// is filled in. Copies of a request share it, except by Yielding.
type Wants struct {
	// Notes are added to the trace.
	Notes []traces.Remark
	// Transaction is Puppet's transaction_uuid of the run, for the trace; "" if
	// that is Run, or unknown.
	Transaction string
	// Yield gets each instance of a search as it is found, on a goroutine of
	// the request; the answer is then their number. Its error ends the search
	// and fails the request. If nil, the answer is a list.
	Yield func(Instance) error
	// Take uses the found instance as part of the request, such as sending its
	// contents. It is called once; its context carries the trace, its error
	// fails the request. May be nil. Gap L10.
	Take func(context.Context, Response) error
	// Wire is filled by a terminus that asks over the network, see
	// Request.Wire. May be nil. Gap L9.
	Wire *Wire
}

// Yielding returns a copy of r whose search yields.
func (r *Request) Yielding(yield func(Instance) error) *Request {
	c := *r
	c.Wants = new(Wants)
	if r.Wants != nil {
		*c.Wants = *r.Wants
	}
	c.Wants.Yield = yield
	return &c
}

// Wire returns what a terminus that asks over the network fills in; nil if it
// is not wanted.
func (r *Request) Wire() *Wire {
	if r.Wants == nil {
		return nil
	}
	return r.Wants.Wire
}

// yield returns Wants.Yield, or nil.
func (r *Request) yield() func(Instance) error {
	if r.Wants == nil {
		return nil
	}
	return r.Wants.Yield
}

// A Wire is an exchange over the network, the last one if there were several.
// It is filled in on success and failure.
type Wire struct {
	// Accept lists media types, most wanted first; empty leaves the choice to
	// the terminus. Set by the caller.
	Accept []string
	// KeepBody asks for Body. Set by the caller.
	KeepBody bool
	// Parent is the traceparent that is sent on unchanged; "" sends none. Our
	// own spans may never be exported, so nothing hangs below them. Set by the
	// caller.
	Parent string
	// Came is the request as it came. It goes on as it is, unless Changed; then
	// the request is written anew, with those headers of Came that are not part
	// of it. Nil is a request of this process. Set by the caller.
	Came *Came
	// Changed reports that the request is not what came any more.
	Changed bool
	// Through gets the body of a search that is too long for Body, as it comes.
	// It is called at most once, when Status and Header are known. If nil, all
	// is kept. Set by the caller.
	Through func() io.Writer

	Address string              // URL
	Status  int                 // 0 if no answer came
	Reason  string              // the phrase after it: "Not Found"
	Header  map[string][]string // of the answer, by canonical name
	Trailer map[string][]string // the same, complete after the body
	Chunked bool                // the body came in chunks
	Body    []byte              // decoded; nil if not kept or streamed
	Coded   []byte              // Body as it came, in the Content-Encoding of Header; nil if it had none
	Kept    bool                // Body and Coded hold all that came
	Passed  bool                // the body went Through; Forget does not bring it back
}

// A Came is an HTTP request as it came.
type Came struct {
	Method, Target  string              // of the request line
	Header, Trailer map[string][]string // by canonical name, without those of one connection
	Chunked         bool
	Size            int64 // bytes of the body; negative if unknown
	// Body opens the body, once unless Again. If nil, it is the contents of the
	// instance.
	Body  func() (io.ReadCloser, error)
	Again bool
}

// Forget removes an answer that was replaced by another. A nil Wire is legal.
func (w *Wire) Forget() {
	if w != nil {
		w.Address, w.Status, w.Reason, w.Header, w.Trailer, w.Chunked = "", 0, "", nil, nil, false
		w.Body, w.Coded, w.Kept = nil, nil, false
	}
}

// Onward returns the request as it came, if it goes on as it is, or nil. A nil
// Wire is legal.
func (w *Wire) Onward() *Came {
	if w == nil || w.Changed {
		return nil
	}
	return w.Came
}

// Option returns the value of an option, or nil.
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
	// Value is an Instance, []Instance, a bool, the result of the terminus, or
	// the number of instances that went to Yield.
	Value  any
	From   string // the terminus that answered; "" if none did
	Served traces.Served
	// Trace is the number of the request; 0 if it is not recorded.
	Trace uint64
}

// Instance returns the instance of a find, or nil.
func (r Response) Instance() Instance {
	i, _ := r.Value.(Instance)
	return i
}

// An EnvironmentNotFound reports that there is no such environment. Rule
// IND-REQ-10.
type EnvironmentNotFound struct{ Name, Path string }

func (e *EnvironmentNotFound) Error() string {
	return fmt.Sprintf("Could not find a directory environment named '%s' anywhere in the path: %s. Does the directory exist?", e.Name, e.Path)
}

// NewRequest makes a request from the options of Puppet's callers; those that
// are attributes become fields. Without a key it is the instance's name. Rules
// IND-REQ-01 to IND-REQ-03.
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
			// Names what a save stores; here that is a parameter.
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

// Description is the request in Puppet's messages. Rule IND-REQ-12.
func (r *Request) Description() string {
	if r.URI != nil {
		return r.URI.Text
	}
	return "/" + r.Indirection + "/" + r.Key
}

// Attributes returns the options and the attributes that are set, as Puppet's
// to_hash does, always with the environment. Rule IND-REQ-13.
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

// resolve fills in what the request leaves open: the key of a save is the
// instance's, a URI key is taken apart, the environment is the current one.
func (x *Indirector) resolve(r *Request, to *resolved) error {
	if r.Environment == "" && !r.named {
		r.Environment = x.goesBy(to).Environment
	} else if r.Environment == "" && x.cfg.Environments != nil {
		return x.cfg.Environments("")
	} else if err := x.knows(r.Environment, to, r.Remote != nil); err != nil {
		return err
	}
	switch {
	case r.Key == "" && !r.Keyed && r.Instance != nil:
		r.Key = r.Instance.Key() // as it is, even if it reads like a URI
	case r.URI == nil && isURI(r.Key):
		return x.parseURI(r)
	}
	return nil
}

// goesBy returns the surroundings of a request with that route.
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

// inspectSymbol quotes a symbol that is not one word.
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
