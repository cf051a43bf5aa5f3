package device_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/device"
	"indirtui/indirector/golden"
	"indirtui/indirector/host/child"
)

// Texts that Puppet reads or refuses, and what it does then, is asked of Puppet.
var texts = []string{
	"", "\n# c\n\n[a.b-c_d]\ntype exec\nurl file:///x\ndebug\n", "[a]\n  type   x y  \n", "[a]\ntype x\n[a]\n", "foo", "foo\n", "type x", "url x", "debug",
	"url", "[a]\nurl", "[a]\ntype", "[a]\ntype \n", "[a]\nurl \n", "[a]\ndebug yes\n", "[a]\ndebug \n", "typex y", "[a b]", " [a]", "[a]  \n", "[a] # x",
	"[a]\n# c\n\nbad line", "[ä]", "[]", "[a]\r\ntype x\r\n", "[a]\ttype x", "[a]\ntype\tx\n", "[a]\nTYPE x\n", "[a]\n #x\n\t# y\nbad", "[a]\n\f\v\nbad",
	"[a]\nurl http://a b", "[a]\nurl ä", "[a]\nurl http://h:x/", "[a]\nurl %zz", "[a]\nurl http://[::1]:80/", "[a]\nurl x|y", "[a]\nurl a^b",
	"[a]\nurl a#b", "[a]\nurl a#b#c", "[a]\nurl http://h/a[b]", "[a]\nurl 1http://x", "[a]\nurl file:///a%20b?c=d", "[a]\nurl ssh://u@h:22/x", "[a]\nurl a\\b",
	"[a]\nurl http://h/<b>", "[a]\nurl x:y", "[a]\nurl http://h:/", "[a]\nurl //h", "[a]\nurl ?q", "[a]\nurl \"x\"", "[a]\ntype x\ntype y\n", "[a]\n[b]\n[a]\n",
	"# only\n", "[a]\ntype exec\n[b]\nurl file:///y\ntype cisco\n", "[a.]\n", "[-]\n", "[a]\nurl http://h/`x`",
}

type answer struct {
	Error   string
	Devices []struct {
		Name, Type, URL string
		Debug           bool
		Line            int
	}
}

// Rule RES-DEV-01.
func TestRealParse(t *testing.T) {
	t.Parallel()
	golden.NeedsPuppet(t)
	for i, want := range golden.Ask[answer](t, texts, "testdata/parse.rb") {
		got, err := device.Parse([]byte(texts[i]))
		message := ""
		if err != nil {
			message = err.Error()
		}
		if message != want.Error {
			t.Errorf("%q: got error %q, Puppet has %q", texts[i], message, want.Error)
			continue
		}
		if err != nil {
			continue
		}
		if len(got) != len(want.Devices) {
			t.Errorf("%q: got %v, Puppet has %v", texts[i], got, want.Devices)
			continue
		}
		for j, d := range want.Devices {
			if got[j] != device.Device(d) {
				t.Errorf("%q: got %+v, Puppet has %+v", texts[i], got[j], d)
			}
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	if all, err := device.Read(filepath.Join(t.TempDir(), "none")); all != nil || err != nil {
		t.Errorf("got %v, %v of a file that is not there", all, err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"bytes", "[a]\n\xff\n", "invalid byte sequence in UTF-8"},
		{"large", strings.Repeat("#\n", 1<<20), "more than 1048576 bytes"},
		{"credentials", "[a]\nurll ssh://root:secret@h/x\n", "Invalid entry at (line: 1): urll ssh://xxxxx@h/x"},
		{"credentials of a bad URL", "[a]\nurl ssh://root:se cret@h/x\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "device.conf")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := device.Read(path)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range texts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := device.Parse(text)
		seen := map[string]bool{}
		for _, d := range all {
			if seen[d.Name] || d.Line < 1 {
				t.Errorf("%q: %+v", text, d)
			}
			seen[d.Name] = true
		}
		if err != nil && all != nil {
			t.Errorf("%q: %v with %v", text, all, err)
		}
	})
}

// program writes a device that is a script.
func program(t *testing.T, script string) device.Device {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a $(program)")
	if err := child.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return device.Device{Name: "r1", Type: device.Exec, URL: "file://" + strings.ReplaceAll(path, " ", "%20")}
}

// Rule RES-DEV-06.
func TestProgram(t *testing.T) {
	t.Parallel()
	d := program(t, `read -r in; printf '{"words":%d,"last":"%s","stdin":[%s]}' $# "$*" "$in"`)
	ctx := t.Context()
	for name, got := range map[string]func() (data.Value, error){
		`{"words"=>1, "last"=>"facts", "stdin"=>[]}`: func() (data.Value, error) { return d.Facts(ctx, time.Minute) },
		`{"words"=>2, "last"=>"get vlan", "stdin"=>[]}`: func() (data.Value, error) {
			return d.Get(ctx, time.Minute, "vlan", "")
		},
		`{"words"=>3, "last"=>"get vlan a b;$(c)", "stdin"=>[]}`: func() (data.Value, error) {
			return d.Get(ctx, time.Minute, "vlan", "a b;$(c)")
		},
		`{"words"=>3, "last"=>"set vlan 7", "stdin"=>[{"ensure"=>"present"}]}`: func() (data.Value, error) {
			return d.Set(ctx, time.Minute, "vlan", "7", data.OfHash([]data.Pair{data.P("ensure", data.OfString("present"))}))
		},
	} {
		if v, err := got(); err != nil || v.String() != name {
			t.Errorf("got %s, %v; want %s", v, err, name)
		}
	}
}

// Rules RES-DEV-03, RES-DEV-06.
func TestProgramFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script, want string }{
		{"exit code", "echo '{}'; echo oops >&2; exit 3", "exit status 3: oops"},
		{"no JSON", "echo hello", "its answer is no JSON: unexpected token"},
		{"nothing", "", "its answer is no JSON: "},
		{"list", "echo '[1]'", "a hash of facts was expected, got a list"},
		{"bytes", `printf '{"a":"\377"}'`, "its answer is no JSON"},
		{"hangs", "sleep 600 & wait", "killed: not finished after 300ms"},
		{"too much", "exec yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "more than 64 MiB of output"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if tt.name == "hangs" {
				limit = 300 * time.Millisecond
			}
			_, err := program(t, tt.script).Facts(t.Context(), limit)
			var f *indirector.Failure
			if !errors.As(err, &f) || !strings.HasPrefix(f.Message, "Can't load exec for r1: ") || !strings.Contains(f.Message, tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := program(t, "echo '{}'").Facts(ctx, time.Minute); err == nil {
			t.Error("got facts")
		}
	})
	for url, want := range map[string]string{
		"": "is no file:///path", "http://u:p@h/x": `"http://xxxxx@h/x" is no file:///path`, "file://host/x": "is no file:///path",
		"file:x": "is no file:///path", "file:///no/such": "no such file", "file:///x?y": "is no file:///path",
	} {
		_, err := device.Device{Name: "r1", Type: device.Exec, URL: url}.Facts(t.Context(), time.Minute)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", url, err, want)
		}
	}
	if _, err := (device.Device{Name: "r1", Type: "cisco", URL: "ssh://h"}).Facts(t.Context(), time.Minute); !errors.Is(err, device.ErrType) {
		t.Errorf("got %v, want ErrType", err)
	}
}
