package indirector

import (
	"fmt"
	"strconv"
	"strings"

	"indirtui/traces"
)

// A URI is what a URI key says besides the key. Rules IND-REQ-04 to IND-REQ-09.
type URI struct {
	Text     string // as given
	Protocol string // "" for file:
	Server   string // "" if the URI names no host
	Port     int    // 0 for file: and for unknown protocols without a port
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
			req.Environment = fmt.Sprint(o.Value)
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
	if r.Key == "" && r.Instance != nil {
		r.Key = r.Instance.Key()
	}
	if r.URI == nil && isURI(r.Key) {
		if err := x.parseURI(r); err != nil {
			return err
		}
	}
	if r.Environment == "" {
		r.Environment = x.environment
		return nil
	}
	return x.knows(r.Environment, to, r.Remote != nil)
}

// isURI reports whether key is a word followed by ":/". An absolute path is
// none; on POSIX a Windows path is one. Rule IND-REQ-04.
func isURI(key string) bool {
	for i := range len(key) {
		switch c := key[i]; {
		case c == ':':
			return i > 0 && i+1 < len(key) && key[i+1] == '/'
		case c != '_' && (c < '0' || '9' < c) && (c < 'A' || 'Z' < c) && (c < 'a' || 'z' < c):
			return false
		}
	}
	return false
}

var schemePorts = map[string]int{"http": 80, "https": 443, "ldap": 389, "ldaps": 636, "ftp": 21, "ws": 80, "wss": 443}

// parseURI takes a URI key apart. Percent sequences are not decoded: Puppet
// encodes the whole text before it parses it. Rules IND-REQ-05 to IND-REQ-09.
func (x *Indirector) parseURI(r *Request) error {
	text := r.Key
	bad := &Failure{
		Class:   "ArgumentError",
		Message: fmt.Sprintf("Could not understand URL %s: bad URI(is not URI?): %q", text, text),
		Hidden:  "scheme and host may hold letters, digits and a few signs only; no space, and no underscore in the scheme",
	}
	scheme, rest, _ := strings.Cut(text, ":")
	if scheme[0] < 'A' || strings.Contains(scheme, "_") {
		return bad
	}
	uri := &URI{Text: text, Protocol: strings.ToLower(scheme)}
	path := rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexAny(after, "/?#")
		if end < 0 {
			end = len(after)
		}
		if !uri.setAuthority(after[:end]) {
			return bad
		}
		path = after[end:]
	}
	// A query is dropped; a fragment belongs to the path or to the query.
	if q := strings.IndexAny(path, "?#"); q >= 0 && path[q] == '?' {
		path = path[:q]
	}
	r.URI = uri
	if uri.Protocol == "file" {
		uri.Protocol, uri.Server, uri.Port = "", "", 0
		r.Key = path
		return nil
	}
	if uri.Port == 0 {
		uri.Port = schemePorts[uri.Protocol]
	}
	switch uri.Protocol {
	case "puppet":
		if uri.Port == 0 {
			uri.Port = x.serverPort()
		}
	case "filebucket":
		uri.Protocol = "https"
	}
	r.Key = strings.TrimPrefix(path, "/")
	return nil
}

// setAuthority reads user@host:port. It reports whether that is well formed.
func (u *URI) setAuthority(s string) bool {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		host, port = s[:i], s[i+1:]
	}
	if port != "" {
		n, err := strconv.Atoi(port)
		if err != nil || n < 0 {
			return false
		}
		u.Port = n
	}
	if strings.HasPrefix(host, "[") {
		u.Server = host
		return strings.HasSuffix(host, "]")
	}
	for i := range len(host) {
		c := host[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}[]:", c) >= 0 {
			return false
		}
	}
	u.Server = host
	return true
}

func (x *Indirector) serverPort() int {
	port, _ := x.cfg.Settings.Get("serverport")
	if n, err := strconv.Atoi(port); err == nil {
		return n
	}
	return 8140
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
		parts[i] = ":" + o.Name + "=>" + inspect(o.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func inspect(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = inspect(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}
