package indirector_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"indirtui/indirector"
	"indirtui/traces"
)

// travel sends a request on its way and returns it as the terminus sees it.
func travel(t *testing.T, s indirector.Settings, req *indirector.Request) (*indirector.Request, error) {
	t.Helper()
	saw := new(seen)
	h := newFixture(t, func(cfg *indirector.Config, ds *[]indirector.Descriptor) {
		cfg.Settings, cfg.Environments = s, environments
		*ds = append(*ds, descriptor("node", "seen", saw))
	})
	h.assign(t, "node", indirector.SlotTerminus, "seen")
	_, err := h.Do(t.Context(), req)
	return saw.req, err
}

// arrives is travel for a request that must reach the terminus.
func arrives(t *testing.T, s indirector.Settings, req *indirector.Request) *indirector.Request {
	t.Helper()
	r, err := travel(t, s, req)
	if r == nil {
		t.Fatalf("the terminus was not asked: %v", err)
	}
	return r
}

// descriptor describes a terminus that is there already.
func descriptor(indirection, name string, terminus indirector.Terminus) indirector.Descriptor {
	return indirector.Descriptor{
		Indirection: indirection, Name: name, KeepsExpiry: true, Type: terminus,
		New: func(indirector.Env) (indirector.Terminus, error) { return terminus, nil },
	}
}

func nodeFind(key string) *indirector.Request {
	return &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: key}
}

// TestRequestOptions is about what of the options is an attribute.
func TestRequestOptions(t *testing.T) {
	t.Parallel()
	given := []indirector.Option{
		{Name: "ip", Value: "10.0.0.1"},
		{Name: "node", Value: "web01"},
		{Name: "authenticated", Value: true},
		{Name: "ignore_terminus", Value: true},
		{Name: "ignore_cache", Value: true},
		{Name: "ignore_cache_save", Value: false},
		{Name: "instance", Value: "x"},
		{Name: "environment", Value: "staging"},
		{Name: "checksum_type", Value: "md5"},
		{Name: "links", Value: nil},
	}
	req := indirector.NewRequest("node", indirector.Find, "a", nil, given)
	t.Run("IND-REQ-01 no options are an empty list", func(t *testing.T) {
		if got := indirector.NewRequest("node", indirector.Find, "a", nil, nil); len(got.Options) != 0 || got.Remote != nil || got.Flags != 0 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("IND-REQ-02 attributes leave the options, the rest stays as it is", func(t *testing.T) {
		want := []indirector.Option{{Name: "checksum_type", Value: "md5"}, {Name: "links", Value: nil}}
		if fmt.Sprint(req.Options) != fmt.Sprint(want) {
			t.Errorf("options: got %v, want %v", req.Options, want)
		}
		if !reflect.DeepEqual(*req.Remote, indirector.Remote{Node: "web01", IP: "10.0.0.1", Authenticated: true}) || req.Environment != "staging" {
			t.Errorf("got %+v, environment %s", *req.Remote, req.Environment)
		}
		if req.Flags != traces.IgnoreTerminus|traces.IgnoreCache {
			t.Errorf("flags: got %v", req.Flags.Names())
		}
	})
	t.Run("IND-REQ-11 an address or a node makes a request remote", func(t *testing.T) {
		for _, tt := range []struct {
			remote *indirector.Remote
			want   bool
		}{
			{nil, false},
			{&indirector.Remote{Authenticated: true}, false},
			{&indirector.Remote{IP: "10.0.0.1"}, true},
			{&indirector.Remote{Node: "web01"}, true},
		} {
			r := indirector.Request{Remote: tt.remote}
			if got := r.IsRemote(); got != tt.want {
				t.Errorf("%+v: got %v, want %v", tt.remote, got, tt.want)
			}
		}
	})
	t.Run("IND-REQ-13 options and every attribute that is set, and the environment always", func(t *testing.T) {
		got := fmt.Sprint(req.Attributes())
		want := "[{checksum_type md5} {links <nil>} {ip 10.0.0.1} {node web01} {authenticated true} {ignore_cache true} {ignore_terminus true} {environment staging}]"
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := fmt.Sprint(arrives(t, nil, nodeFind("a")).Attributes()); got != "[{environment production}]" {
			t.Errorf("plain: got %s", got)
		}
	})
}

// TestRequestKey takes keys apart, in the columns of the specification:
// key, protocol, server and port as the terminus sees them.
func TestRequestKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, key, want string }{
		{"IND-REQ-04 a name", "n1.example.com", "n1.example.com"},
		{"IND-REQ-04 an absolute path", "/abs/path", "/abs/path"},
		{"IND-REQ-04 no slash after the colon", "foo:bar", "foo:bar"},
		{"IND-REQ-04 an address", "2001:db8::1", "2001:db8::1"},
		{"IND-REQ-04 a path of Windows is a URI", "C:/x", "x c  0"},
		{"IND-REQ-05 percent sequences stay", "puppet://h/a%2Fb", "a%2Fb puppet h 8140"},
		{"IND-REQ-05 blanks and UTF-8", "puppet:///modules/foo bar/ä", "modules/foo bar/ä puppet  8140"},
		{"IND-REQ-07 file has neither protocol nor port", "file:///etc/ho%20sts", "/etc/ho%20sts   0"},
		{"IND-REQ-07 the host of a file is ignored", "file://h:99/x", "/x   0"},
		{"IND-REQ-08 server and port", "puppet://host:8150/modules/foo/bar", "modules/foo/bar puppet host 8150"},
		{"IND-REQ-08 one slash", "puppet:/modules/x", "modules/x puppet  8140"},
		{"IND-REQ-08 port of the scheme, no query", "https://x.y/z?q=1", "z https x.y 443"},
		{"IND-REQ-08 http", "http://x/y", "y http x 80"},
		{"IND-REQ-08 ldap", "ldap://x/y", "y ldap x 389"},
		{"IND-REQ-08 a scheme that is unknown", "gopher://x/y", "y gopher x 0"},
		{"IND-REQ-08 port 0 is a port", "https://h:0/x", "x https h 0"},
		{"IND-REQ-08 an empty port is none", "https://h:/x", "x https h 443"},
		{"IND-REQ-08 Ruby does not know wss", "wss://h/x", "x wss h 0"},
		{"IND-REQ-08 Puppet escapes a fragment into the host", "puppet://h#f/x", " puppet h%23f%2Fx 8140"},
		{"IND-REQ-08 a fragment belongs to the path", "puppet://h/a#f", "a#f puppet h 8140"},
		{"IND-REQ-08 ftp keeps the type for itself", "ftp://h/a;type=i", "a ftp h 21"},
		{"IND-REQ-04 a line that is a path", "puppet:///a\n/b", "puppet:///a\n/b"},
		{"IND-REQ-09 filebucket is https", "filebucket://:8140/md5/abc//tmp/x", "md5/abc//tmp/x https  8140"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := arrives(t, nil, nodeFind(tt.key))
			got := r.Key
			if r.URI != nil {
				got = fmt.Sprintf("%s %s %s %d", r.Key, r.URI.Protocol, r.URI.Server, r.URI.Port)
				if r.URI.Text != tt.key {
					t.Errorf("text: got %q", r.URI.Text)
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("IND-REQ-08 the port of puppet is a setting", func(t *testing.T) {
		t.Parallel()
		if r := arrives(t, settings{"serverport": "9140"}, nodeFind("puppet://h/x")); r.URI.Port != 9140 {
			t.Errorf("got %d", r.URI.Port)
		}
	})
	t.Run("IND-REQ-06 what is no URL", func(t *testing.T) {
		t.Parallel()
		for key, why := range map[string]string{
			"puppet://a b/x":    `bad URI(is not URI?): "puppet://a b/x"`,
			"a_b:/x":            `bad URI(is not URI?): "a_b:/x"`,
			"puppet:///a[b] c":  `bad URI(is not URI?): "puppet:///a[b]%20c"`,
			"puppet://h%zz/x":   `bad URI(is not URI?): "puppet://h%zz/x"`,
			"https://[::1::]/x": `bad URI(is not URI?): "https://[::1::]/x"`,
			"x://a\x01/?b==&c":  `bad URI(is not URI?): "x://a\u0001/?b&c"`,
			"puppet://é\x7f/x":  `URI must be ascii only "puppet://\u00E9\x7F/x"`,
			"mailto:/a@b":       "missing opaque part for mailto URL",
			"b:/x\na_b:/y":      "",
		} {
			r, err := travel(t, nil, nodeFind(key))
			if why == "" {
				if r == nil || r.Key != "x\na_b:/y" {
					t.Errorf("%q: got %v, %v", key, r, err)
				}
				continue
			}
			f := (*indirector.Failure)(nil)
			if r != nil || !errors.As(err, &f) || f.Class != "ArgumentError" || f.Message != "Could not understand URL "+key+": "+why {
				t.Errorf("%q: got %v, want %s", key, err, why)
			}
		}
	})
	t.Run("IND-REQ-03 the key of an instance", func(t *testing.T) {
		t.Parallel()
		for want, r := range map[string]*indirector.Request{
			"a": {Indirection: "node", Verb: indirector.Save, Instance: widget{name: "a"}},
			"b": {Indirection: "node", Verb: indirector.Save, Instance: widget{name: "b"}, Key: "b"},
			"":  {Indirection: "node", Verb: indirector.Find},
			// A name is no URI, whatever it reads like.
			"puppet:///x": {Indirection: "node", Verb: indirector.Save, Instance: widget{name: "puppet:///x"}},
		} {
			if got := arrives(t, nil, r); got.Key != want {
				t.Errorf("got %q, want %q", got.Key, want)
			}
		}
	})
	t.Run("IND-REQ-12 description", func(t *testing.T) {
		t.Parallel()
		for key, want := range map[string]string{"a": "/node/a", "/etc/x": "/node//etc/x", "puppet://h/x": "puppet://h/x"} {
			if r := arrives(t, nil, nodeFind(key)); r.Description() != want {
				t.Errorf("got %s, want %s", r.Description(), want)
			}
		}
	})
}

func TestRequestEnvironment(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, given, want, err string }{
		{"IND-REQ-10 the current one if none is given", "", "production", ""},
		{"IND-REQ-10 one that exists", "staging", "staging", ""},
		{"IND-REQ-10 one that does not", "nowhere", "", "Could not find a directory environment named 'nowhere' anywhere in the path: <TMP>/code/environments. Does the directory exist?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req := nodeFind("a")
			req.Environment = tt.given
			if tt.err != "" {
				got, err := travel(t, nil, req)
				if e := (*indirector.EnvironmentNotFound)(nil); !errors.As(err, &e) || indirector.Message(err) != tt.err || got != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if got := arrives(t, nil, req); got.Environment != tt.want || req.Environment != tt.given {
				t.Errorf("got %q (given %q), want %q", got.Environment, req.Environment, tt.want)
			}
		})
	}
	t.Run("IND-REQ-10 an option that is empty names one, before the key is read", func(t *testing.T) {
		t.Parallel()
		req := indirector.NewRequest("node", indirector.Find, "puppet://a b", nil, []indirector.Option{{Name: "environment", Value: ""}})
		got, err := travel(t, nil, req)
		if e := (*indirector.EnvironmentNotFound)(nil); !errors.As(err, &e) || e.Name != "" || got != nil {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("IND-REQ-15 an indirection that does not exist", func(t *testing.T) {
		t.Parallel()
		_, err := newFixture(t, nil).Do(t.Context(), &indirector.Request{Indirection: "nodes", Verb: indirector.Find, Key: "a"})
		f := (*indirector.Failure)(nil)
		if !errors.As(err, &f) || f.Class != "ArgumentError" || f.Message != "Could not find indirection 'nodes'" {
			t.Errorf("got %v", err)
		}
	})
}
