// Package authconf reads Puppet Server's auth.conf and decides which requests
// it allows.
//
//	config, err := authconf.Load("/etc/puppetlabs/puppetserver/conf.d/auth.conf")
//	d := config.Decide(authconf.Request{Method: "GET", Path: "/puppet/v3/node/web01", Client: client})
//	if !d.Allowed {
//		http.Error(w, d.Refusal, http.StatusForbidden) // Puppet Server's words
//		log.Error(d.Why)                               // the rule, its source, the client
//	}
//
// The first rule that fits method, path and parameters decides, in the order of
// sort-order and name; without one the request is denied. The file is HOCON;
// include and ${…} are refused. Specification: REST, section 9.
package authconf

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	_ "embed"
)

// A Config is a parsed auth.conf. It is immutable and safe for concurrent use.
type Config struct {
	File string // as given to Parse or Load
	// HeaderCertInfo identifies clients by the headers X-Client-Verify,
	// X-Client-DN and X-Client-Cert instead of the connection.
	HeaderCertInfo bool
	Rules          []Rule // in the order of evaluation
	// Warnings are surprises that Puppet Server accepts, each with its source.
	Warnings []string
}

// A Rule is one of Config.Rules.
type Rule struct {
	Name      string
	SortOrder int    // 1 to 999
	Source    string // "auth.conf:12"
	Path      string // as written
	Regex     bool   // whether Path is a pattern, not a prefix
	Methods   []string
	Query     map[string][]string // parameters, each with its possible values
	Open      bool                // allow-unauthenticated
	Allow     []string            // as written, for users
	Deny      []string            // likewise

	pattern *regexp.Regexp
	entries []entry // denials first
}

// A Client is the client of a request.
type Client struct {
	Name string // common name of the certificate; "" is anonymous
	// Authenticated reports whether the certificate was verified.
	Authenticated bool
	Address       string            // "192.0.2.7"
	Extensions    map[string]string // by short name (pp_cli_auth) or object identifier
	AltNames      map[string][]string
}

// String names the client as in Puppet Server's log: "web01(192.0.2.7)".
func (c Client) String() string {
	if c.Name == "" {
		return c.Address
	}
	return c.Name + "(" + c.Address + ")"
}

// A Request is what the client asks for. Path is decoded and has no relative
// segments.
type Request struct {
	Method string // "GET"
	Path   string
	Query  url.Values
	Client Client
}

// A Decision is the answer to a Request.
type Decision struct {
	Allowed bool
	Rule    *Rule // nil if none fits
	// Why names what allows the client, "allow $1", or the rule that denies it:
	// for trace and log, never for the client.
	Why string
	// Refusal is Puppet Server's answer to a denied client.
	Refusal string
}

// Decide decides about a request.
func (c *Config) Decide(r Request) Decision {
	method := strings.ToLower(r.Method)
	for i := range c.Rules {
		rule := &c.Rules[i]
		groups, ok := rule.match(method, r.Path, r.Query)
		if !ok {
			continue
		}
		if ok, why := rule.admits(r.Client, groups); ok {
			return Decision{Allowed: true, Rule: rule, Why: why}
		}
		return Decision{
			Rule: rule, Why: rule.refusal(method, r),
			Refusal: fmt.Sprintf("Forbidden request: %s (method :%s). Please see the server logs for details.", r.Path, method),
		}
	}
	return Decision{
		Why:     fmt.Sprintf("no rule of %s fits %s %s, so %s is refused", c.File, method, r.Path, r.Client),
		Refusal: "global deny all - no rules matched",
	}
}

func (r *Rule) where() string { return fmt.Sprintf("%s, sort-order %d", r.Source, r.SortOrder) }

// refusal explains in one sentence which rule denied the client, and who is
// allowed.
func (r *Rule) refusal(method string, req Request) string {
	name := req.Client.String()
	var why string
	switch allowed := strings.Join(r.Allow, ", "); {
	case !req.Client.Authenticated && req.Client.Name == "":
		why = "shows no certificate"
	case !req.Client.Authenticated:
		why = "is not verified"
	case allowed == "":
		why = "is denied like " + strings.Join(r.Deny, ", ")
	case len(r.Deny) > 0:
		why = fmt.Sprintf("is not of those allowed (%s), or is of those denied (%s)", allowed, strings.Join(r.Deny, ", "))
	default:
		why = "is not of those allowed (" + allowed + ")"
	}
	return fmt.Sprintf("rule %s (%s) refuses %s: %s %s", quote(r.Name), r.where(), name+", who "+why, method, req.Path)
}

func quote(s string) string { return "'" + s + "'" }

// match reports whether the rule fits a request, and returns the groups of its
// pattern.
func (r *Rule) match(method, path string, query url.Values) ([]string, bool) {
	if len(r.Methods) > 0 && !slices.Contains(r.Methods, method) {
		return nil, false
	}
	for name, wanted := range r.Query {
		if !slices.ContainsFunc(query[name], func(v string) bool { return slices.Contains(wanted, v) }) {
			return nil, false
		}
	}
	if !r.Regex {
		return nil, strings.HasPrefix(path, r.Path)
	}
	found := r.pattern.FindStringSubmatch(path)
	if found == nil {
		return nil, false
	}
	return found[1:], true
}

// admits reports whether a fitting rule allows the client, and why.
func (r *Rule) admits(c Client, groups []string) (bool, string) {
	if r.Open {
		return true, "allow-unauthenticated"
	}
	if !c.Authenticated {
		return false, ""
	}
	for _, e := range r.entries {
		if e.matches(c, groups) {
			return !e.deny, "allow " + e.written
		}
	}
	return false, ""
}

// Load reads a file.
func Load(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read auth.conf: %w", err)
	}
	defer f.Close()
	content, err := readAll(f)
	if err != nil {
		return nil, fmt.Errorf("read auth.conf %s: %w", path, err)
	}
	return Parse(path, content)
}

//go:embed default.conf
var defaults string

// Default returns the rules of a new Puppet Server.
func Default() *Config {
	c, err := Parse("built-in auth.conf", defaults)
	if err != nil {
		panic(err)
	}
	return c
}

// Parse reads the content of a file. An error is a *ParseError.
func Parse(file, content string) (*Config, error) {
	root, err := parseHOCON(file, content)
	if err != nil {
		return nil, err
	}
	p := parser{config: &Config{File: file}}
	if err := p.parse(&root); err != nil {
		return nil, err
	}
	return p.config, nil
}

// A parser builds a Config.
type parser struct{ config *Config }

// fail ends the parsing with an error.
func (p *parser) fail(line int, format string, args ...any) {
	panic(&ParseError{File: p.config.File, Line: max(line, 1), Detail: fmt.Sprintf(format, args...)})
}

func (p *parser) warn(line int, format string, args ...any) {
	p.config.Warnings = append(p.config.Warnings, fmt.Sprintf("%s:%d: %s", p.config.File, line, fmt.Sprintf(format, args...)))
}

// maxRules is how many rules a file may have.
const maxRules = 10_000

func (p *parser) parse(root *value) (err error) {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case *ParseError:
			err = failed
		default:
			panic(failed)
		}
	}()
	auth := root.get("authorization")
	if auth == nil {
		p.fail(1, "there is no section authorization")
	}
	p.want(auth, object, "authorization")
	if v := auth.get("version"); v == nil || v.kind != number || v.text != "1" {
		p.fail(auth.line, "version must be 1")
	}
	if v := auth.get("allow-header-cert-info"); v != nil {
		p.want(v, boolean, "allow-header-cert-info")
		p.config.HeaderCertInfo = v.text == "true"
	}
	rules := auth.get("rules")
	if rules == nil {
		p.fail(auth.line, "there is no list of rules")
	}
	p.want(rules, list, "rules")
	if len(rules.items) > maxRules {
		p.fail(rules.line, "more than %d rules", maxRules)
	}
	names := make(map[string]string, len(rules.items))
	for i := range rules.items {
		r := p.rule(&rules.items[i])
		if first, twice := names[r.Name]; twice {
			p.fail(rules.items[i].line, "a rule at %s is called %q, too; names must be unique", first, r.Name)
		}
		names[r.Name] = r.Source
		p.config.Rules = append(p.config.Rules, r)
	}
	slices.SortStableFunc(p.config.Rules, func(a, b Rule) int {
		if a.SortOrder != b.SortOrder {
			return a.SortOrder - b.SortOrder
		}
		return strings.Compare(a.Name, b.Name)
	})
	return nil
}

func (p *parser) want(v *value, k kind, what string) {
	if v.kind != k {
		p.fail(v.line, "%s must be %s, got %s", what, k, v.kind)
	}
}

// need returns the value of a required key.
func (p *parser) need(of *value, key, where string) *value {
	v := of.get(key)
	if v == nil || v.kind == null {
		p.fail(of.line, "%s has no %s", where, key)
	}
	return v
}

// known warns about unknown keys, which may be misspelt.
func (p *parser) known(of *value, where string, keys ...string) {
	for _, at := range of.pairs {
		if !slices.Contains(keys, at.key) {
			p.warn(at.line, "%s has a key %q, which means nothing here; there are %s", where, at.key, strings.Join(keys, ", "))
		}
	}
}

func (p *parser) rule(v *value) Rule {
	p.want(v, object, "a rule")
	r := Rule{Source: fmt.Sprintf("%s:%d", p.config.File, v.line)}
	name := p.need(v, "name", "the rule")
	r.Name = p.scalar(name, "name")
	where := "rule " + strconv.Quote(r.Name)
	p.known(v, where, "name", "sort-order", "match-request", "allow", "deny", "allow-unauthenticated")

	order := p.need(v, "sort-order", where)
	n, err := strconv.Atoi(order.text)
	if order.kind != number || err != nil || n < 1 || n > 999 {
		p.fail(order.line, "sort-order of %s must be a number from 1 to 999", where)
	}
	r.SortOrder = n

	match := p.need(v, "match-request", where)
	p.want(match, object, "match-request")
	p.known(match, "match-request of "+where, "path", "type", "method", "query-params")
	p.target(&r, match, where)

	if open := v.get("allow-unauthenticated"); open != nil {
		p.want(open, boolean, "allow-unauthenticated of "+where)
		r.Open = open.text == "true"
	}
	allow, deny := v.get("allow"), v.get("deny")
	if r.Open && (allow != nil || deny != nil) {
		p.fail(v.line, "%s has allow-unauthenticated, so it must have neither allow nor deny", where)
	}
	if !r.Open && allow == nil && deny == nil {
		p.fail(v.line, "%s has neither allow nor deny", where)
	}
	r.Deny = p.entries(&r, deny, true, where)
	r.Allow = p.entries(&r, allow, false, where)
	return r
}

func (p *parser) scalar(v *value, what string) string {
	if v.kind != text && v.kind != number && v.kind != boolean {
		p.fail(v.line, "%s must be text, got %s", what, v.kind)
	}
	return v.text
}

// target reads which requests a rule fits.
func (p *parser) target(r *Rule, match *value, where string) {
	path := p.need(match, "path", "match-request of "+where)
	p.want(path, text, "path of "+where)
	r.Path = path.text
	kind := p.need(match, "type", "match-request of "+where)
	switch p.scalar(kind, "type of "+where) {
	case "path":
	case "regex":
		r.Regex = true
		var err error
		if r.pattern, err = regexp.Compile(r.Path); err != nil {
			p.fail(path.line, "the pattern of %s: %s; patterns are those of RE2, which looks neither ahead nor back", where, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	default:
		p.fail(kind.line, "type of %s must be path or regex, got %q", where, kind.text)
	}
	if m := match.get("method"); m != nil {
		for _, one := range each(m) {
			name := strings.ToLower(p.scalar(one, "method of "+where))
			if !slices.Contains(methods, name) {
				p.fail(one.line, "method %q of %s: want one or a list of %s", one.text, where, strings.Join(methods, ", "))
			}
			r.Methods = append(r.Methods, name)
		}
		if len(r.Methods) == 0 {
			p.fail(m.line, "the list of methods of %s is empty", where)
		}
	}
	if q := match.get("query-params"); q != nil {
		p.want(q, object, "query-params of "+where)
		r.Query = make(map[string][]string, len(q.pairs))
		for _, at := range q.pairs {
			for _, one := range each(&at.value) {
				r.Query[at.key] = append(r.Query[at.key], p.scalar(one, "query parameter "+strconv.Quote(at.key)+" of "+where))
			}
		}
	}
}

// methods are those of rules.
var methods = []string{"delete", "get", "head", "post", "put"}

// each returns the elements of a list, or the single value.
func each(v *value) []*value {
	if v.kind != list {
		return []*value{v}
	}
	all := make([]*value, len(v.items))
	for i := range v.items {
		all[i] = &v.items[i]
	}
	return all
}
