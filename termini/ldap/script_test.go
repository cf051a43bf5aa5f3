package ldap_test

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	goldap "github.com/go-ldap/ldap/v3"
	"github.com/hashicorp/go-hclog"
	"github.com/jimlambrt/gldap"

	"indirtui/indirector/data"
	"indirtui/indirector/network/client/clienttest"
)

// A script is one recorded conversation. A server answers from it, in order, and
// reports what it is asked besides.
type script struct {
	t        *testing.T
	exact    []string // attributes that an old library would not find
	filter   string   // ldapstring
	free     bool     // asked for what was not recorded: any entry of that name
	classes  []string // of a search for them
	all      []*recordedEntry
	password string

	mu   sync.Mutex // guards what is below
	left []data.Value
}

// A recordedEntry is an entry as it was sent.
type recordedEntry struct {
	dn         string
	attributes []recordedAttribute
}

type recordedAttribute struct {
	name   string
	values []string
}

func entryOf(v data.Value) *recordedEntry {
	e := &recordedEntry{dn: v.Get("dn").Str()}
	for _, a := range v.Get("attributes").List() {
		values := []string{}
		for _, x := range a.List()[1].List() {
			text := x.Str()
			if b := x.Get("base64"); b.Kind() == data.String {
				raw, err := base64.StdEncoding.DecodeString(b.Str())
				if err != nil {
					panic(err)
				}
				text = string(raw)
			}
			values = append(values, text)
		}
		e.attributes = append(e.attributes, recordedAttribute{a.List()[0].Str(), values})
	}
	return e
}

// entriesOf returns every entry that was sent in any case with all its attributes.
func entriesOf(t *testing.T, cases data.Value) []*recordedEntry {
	t.Helper()
	var all []*recordedEntry
	seen := make(map[string]bool)
	for _, c := range cases.List() {
		for _, op := range c.Get("ldap").List() {
			if op.Get("attributes").Kind() == data.List {
				continue
			}
			for _, e := range op.Get("entries").List() {
				if e := entryOf(e); !seen[e.dn] {
					seen[e.dn] = true
					all = append(all, e)
				}
			}
		}
	}
	return all
}

// newScript returns the conversation of a case, without what no server gets: a
// connection that failed, a filter that is none.
func newScript(t *testing.T, c data.Value, all []*recordedEntry) *script {
	s := &script{t: t, all: all, filter: defaults["ldapstring"]}
	names := []string{"puppetclass", "puppetvar", "parentnode"}
	for _, p := range c.Get("settings").Hash() {
		switch p.Key.Str() {
		case "ldapstring":
			s.filter = p.Value.Str()
		case "ldappassword":
			s.password = p.Value.Str()
		case "ldapclassattrs":
			names[0] = p.Value.Str()
		case "ldapstackedattrs":
			names[1] = p.Value.Str()
		case "ldapparentattr":
			names[2] = p.Value.Str()
		}
	}
	if c.Get("exact_case").Truthy() {
		s.exact = names
	}
	if c.Get("verb").Str() != "search" {
		s.free = escapes(c.Get("key").Str()) && strings.Contains(s.filter, "%s")
	} else if option := c.Get("options").Get("class"); !option.IsNil() {
		if s.classes = textsOf(option); option.Kind() != data.List {
			s.classes = []string{option.Text()}
		}
		s.free = slices.ContainsFunc(s.classes, escapes)
	}
	for _, op := range c.Get("ldap").List() {
		if r := op.Get("result").Str(); r == "Can't contact LDAP server" || r == "Connect error" {
			continue
		}
		if f := op.Get("filter"); f.Kind() == data.String && decompiled(f.Str()) == "" {
			continue
		}
		s.left = append(s.left, op)
	}
	return s
}

// decompiled returns a filter as a server sees it; "" if it is none.
func decompiled(filter string) string {
	p, err := goldap.CompileFilter(filter)
	if err != nil {
		return ""
	}
	text, err := goldap.DecompileFilter(p)
	if err != nil {
		return ""
	}
	return text
}

func (s *script) next(kind string) (op data.Value, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 || s.left[0].Get(kind).IsNil() && kind != "bind" {
		s.t.Errorf("there was no %s at this point", kind)
		return data.Value{}, false
	}
	op, s.left = s.left[0], s.left[1:]
	return op, true
}

// codes are the results whose words libldap has otherwise than the library of tests.
var codes = map[string]int{
	"": 0, "Server is unwilling to perform": goldap.LDAPResultUnwillingToPerform, "Server is busy": goldap.LDAPResultBusy,
	"Insufficient access": goldap.LDAPResultInsufficientAccessRights, "Strong(er) authentication required": goldap.LDAPResultStrongAuthRequired,
	"Administrative limit exceeded": goldap.LDAPResultAdminLimitExceeded, "Server is unavailable": goldap.LDAPResultUnavailable,
}

func (s *script) code(op data.Value) int {
	words := op.Get("result").Str()
	if code, ok := codes[words]; ok {
		return code
	}
	for code, w := range goldap.LDAPResultCodeMap {
		if strings.EqualFold(w, words) {
			return int(code)
		}
	}
	s.t.Errorf("the number of the result %q is not known here", words)
	return goldap.LDAPResultOther
}

func (s *script) bind(w *gldap.ResponseWriter, r *gldap.Request) {
	code := goldap.LDAPResultOther
	m, err := r.GetSimpleBindMessage()
	if err != nil {
		s.t.Error(err)
	} else if op, ok := s.next("bind"); ok && !op.Get("base").IsNil() {
		s.t.Errorf("bind as %s, which was a search", m.UserName)
	} else if ok {
		code = s.code(op)
		password := s.password
		if op.Get("bind").Str() == "" {
			password = ""
		}
		if m.UserName != op.Get("bind").Str() || string(m.Password) != password {
			s.t.Errorf("bind as %q with %q, want %q with %q", m.UserName, m.Password, op.Get("bind").Str(), password)
		}
	}
	_ = w.Write(r.NewBindResponse(gldap.WithResponseCode(code)))
}

func (s *script) search(w *gldap.ResponseWriter, r *gldap.Request) {
	code := goldap.LDAPResultOther
	var entries []*recordedEntry
	m, err := r.GetSearchMessage()
	switch {
	case err != nil:
		s.t.Error(err)
	case s.free:
		code, entries = 0, s.matching(m.Filter, m.BaseDN)
	default:
		if op, ok := s.next("base"); ok {
			s.check(m, op)
			code = s.code(op)
			for _, e := range op.Get("entries").List() {
				entries = append(entries, entryOf(e))
			}
		}
	}
	for _, e := range entries {
		answer := r.NewSearchResponseEntry(e.dn)
		for _, a := range e.attributes {
			name := a.name
			if slices.ContainsFunc(s.exact, func(x string) bool { return x != name && strings.EqualFold(x, name) }) {
				name = hidden + name
			}
			answer.AddAttribute(name, a.values)
		}
		_ = w.Write(answer)
	}
	_ = w.Write(r.NewSearchDoneResponse(gldap.WithResponseCode(code)))
}

// hidden begins the names of attributes that must not be found by the settings. Rule
// LDAP-04.
const hidden = "hidden-"

func (s *script) restore(parameters data.Value) data.Value {
	pairs := slices.Clone(parameters.Hash())
	for i := range pairs {
		pairs[i].Key = data.OfString(strings.TrimPrefix(pairs[i].Key.Str(), hidden))
	}
	return data.OfHash(pairs)
}

func (s *script) check(m *gldap.SearchMessage, op data.Value) {
	got := fmt.Sprintf("%s %d %s %q", m.BaseDN, m.Scope, m.Filter, m.Attributes)
	want := fmt.Sprintf("%s %s %s %q", op.Get("base").Str(), op.Get("scope").Text(), decompiled(op.Get("filter").Str()), textsOf(op.Get("attributes")))
	if got != want {
		s.t.Errorf("search:\n got %s\nwant %s", got, want)
	}
}

// matching returns the entries below a base that a filter asks for: those of a name,
// or those that have all classes, if the search is for classes.
func (s *script) matching(filter, base string) []*recordedEntry {
	var found []*recordedEntry
	for _, e := range s.all {
		has := func(c string) bool { return slices.Contains(e.values("puppetclass"), c) }
		named := func(cn string) bool {
			return strings.EqualFold(filter, decompiled(strings.ReplaceAll(s.filter, "%s", rfc4515.Replace(cn))))
		}
		ofClasses := s.classes != nil && strings.Contains(filter, "(objectclass=puppetClient)") && !slices.ContainsFunc(s.classes, func(c string) bool { return !has(c) })
		if strings.HasSuffix(e.dn, base) && (ofClasses || slices.ContainsFunc(e.values("cn"), named)) {
			found = append(found, e)
		}
	}
	return found
}

var rfc4515 = strings.NewReplacer("\\", `\5c`, "*", `\2a`, "(", `\28`, ")", `\29`, "\x00", `\00`)

// values returns those of an attribute.
func (e *recordedEntry) values(attribute string) []string {
	for _, a := range e.attributes {
		if strings.EqualFold(a.name, attribute) {
			return a.values
		}
	}
	return nil
}

// named returns the last entry of that name below a base, or nil.
func (s *script) named(name, base string) *recordedEntry {
	for _, e := range slices.Backward(s.all) {
		if strings.HasSuffix(e.dn, base) && slices.ContainsFunc(e.values("cn"), func(cn string) bool { return strings.EqualFold(cn, name) }) {
			return e
		}
	}
	return nil
}

func (s *script) checkDone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) > 0 {
		s.t.Errorf("%d steps of the conversation were left, first %s", len(s.left), s.left[0].Inspect())
	}
}

// A handler answers binds and searches.
type handler interface {
	bind(*gldap.ResponseWriter, *gldap.Request)
	search(*gldap.ResponseWriter, *gldap.Request)
}

// free returns a port of that address where no server is.
func free(t testing.TB, ip string) string {
	t.Helper()
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// serve starts a server, which ends with the test, and returns its port. It speaks
// StartTLS, or TLS from the start.
func serve(t testing.TB, h handler, ip string, leaf *clienttest.Leaf, secure bool) string {
	t.Helper()
	for range 20 {
		if port := free(t, ip); start(t, h, net.JoinHostPort(ip, port), leaf, secure) {
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// start is serve at an address, unless that is taken.
func start(t testing.TB, h handler, address string, leaf *clienttest.Leaf, secure bool) bool {
	t.Helper()
	closed := make(chan struct{}, 1) // the first connection has been served
	server, err := gldap.NewServer(gldap.WithLogger(hclog.NewNullLogger()), gldap.WithOnClose(func(int) {
		select {
		case closed <- struct{}{}:
		default:
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	var conf *tls.Config
	var options []gldap.Option
	if leaf != nil {
		conf = &tls.Config{Certificates: []tls.Certificate{leaf.TLS}}
	}
	if secure {
		options = append(options, gldap.WithTLSConfig(conf))
	}
	mux, err := gldap.NewMux()
	if err != nil {
		t.Fatal(err)
	}
	_ = mux.Bind(h.bind)
	_ = mux.Search(h.search)
	_ = mux.ExtendedOperation(func(w *gldap.ResponseWriter, r *gldap.Request) {
		answer := r.NewExtendedResponse(gldap.WithResponseCode(gldap.ResultSuccess))
		answer.SetResponseName(gldap.ExtendedOperationStartTLS)
		_ = w.Write(answer)
		_ = r.StartTLS(conf)
	}, gldap.ExtendedOperationStartTLS)
	_ = server.Router(mux)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(address, options...) }()
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		runtime.Gosched()
		if len(ended) > 0 {
			break
		}
	}
	select {
	case err := <-ended:
		t.Logf("one more try: %v", err)
		return false
	case <-closed:
	}
	t.Cleanup(func() {
		_ = server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return true
}
