package debugger_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"indirtui/indirector/debugger"
	"indirtui/traces/query"
)

func readAll(r io.ReadCloser) (string, error) {
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"", "before terminus do hold"},
		{"ind=catalog key=db07* at cache read", "ind=catalog key=db07* before cache-read do hold"},
		{"ind=facts verb=save at terminus do fail \"connection refused\" once", "verb"},
		{"at after terminus do log key,out", "after terminus do log key,out"},
		{"ind=report do delay 2s jitter 500ms 30%", "ind=report before terminus do delay 2s jitter 500ms 30%"},
		{"do truncate 30% 20%", "after terminus do truncate 30% 20%"},
		{"do truncate", "after terminus do truncate 50%"},
		{"do truncate 0", "after terminus do truncate 0"},
		{"do fail 503 it's down", "do fail"},
		{`do value {"name": "web01", "a": ["b c"]} yaml once`, `before terminus do value '{"name": "web01", "a": ["b c"]}' yaml once`},
		{`do value '{"name": "web01"}'`, `before terminus do value '{"name": "web01"}'`},
		{"do value @/tmp/x.yaml", "before terminus do value @/tmp/x.yaml"},
		{"do set ignore_cache opt.a='b c' opt.d=", "before terminus do set ignore_cache=true opt.a='b c' opt.d="},
		{"do set 'opt.a b'=c 'opt. ='", "before terminus do set 'opt.a b'=c 'opt. '="},
		{`"at" or key="do it" before caller`, `before caller do hold`},
		{"key=don't before route", "before route do hold"},
		{"first 3 every 2", "before terminus do hold first 3 every 2"},
		{"(ind=node or ind=facts) after cache-write", "after cache-write do hold"},
		{"key=web01 at ntp/manifests/init.pp:12", "key=web01 at ntp/manifests/init.pp:12 do hold"},
		{"at '/my site.pp:3' do log key", "at '/my site.pp:3' do log key"},
		{"at class apache::vhost once", "at class apache::vhost do hold once"},
		{"at resource File[/etc/motd] do fail 'no'", "at resource 'File[/etc/motd]' do fail no"},
		{"ind=resource key=service/* at refresh", "ind=resource key=service/* at refresh do hold"},
		{"at change mode do set $mode=0600", "at change mode do set $mode=0600"},
		{"at change do skip once", "at change do skip once"},
		{"at events-out", "at events-out do hold"},
		{"at schedule", "at schedule-and-tags do hold"},
		{"at failure 'change mode' do retry first 3", "at failure 'change mode' do retry first 3"},
		{"at failure refresh", "at failure refresh do hold"},
		{"at define before do delay 2s", "at define 'before' do delay 2s"},
	} {
		b, err := debugger.Parse(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := b.String(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
		if again, err := debugger.Parse(b.String()); err != nil || again.String() != b.String() {
			t.Errorf("%s: read back %s, %v", tt.text, again, err)
		}
	}
}

func TestParseFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, want string
		at         int
	}{
		{"at termnus", `there is no step "termnus"; nearest: terminus`, 3},
		{"at", "at which step?; there are: route", 2},
		{"at site.pp:x", `"x" is no line; write FILE:LINE`, 3},
		{"at class", "at which class?", 8},
		{"at class ntp do nil", "in a program there is nothing to nil; what can be done there: hold, log", 0},
		{"do hlod", `"hlod" is nothing that can be done; nearest: hold`, 3},
		{"do", "do what?", 2},
		{"do fail 200", "200 is no status of a failure", 8},
		{"do delay", "delay how long?", 8},
		{"do delay 3 weeks", `"3" is no time to wait`, 9},
		{"do log nothing", `"nothing" is no field`, 7},
		{"do set x=1", `"x" cannot be edited`, 7},
		{"do set", "set what?", 6},
		{"at route do nil", "route gives no answer", 0},
		{"after caller", "after caller the request is over", 0},
		{"do truncate 5 before terminus", "before terminus there is no answer to truncate", 0},
		{"before route do skip", "before route there is nothing to leave out", 0},
		{"every 0", "every 0: want a number from 1 on", 6},
		{"0%", "0% of the requests are none", 0},
		{"once once", `"once" is not understood here`, 5},
		{"do value ''", "the value is empty", 9},
	} {
		_, err := debugger.Parse(tt.text)
		bad := (*debugger.SyntaxError)(nil)
		if !errors.As(err, &bad) || !strings.HasPrefix(bad.Error(), tt.want) || bad.Offset != tt.at {
			t.Errorf("%s: got %+v, want %s at %d", tt.text, err, tt.want, tt.at)
		}
	}
	if _, err := debugger.Parse("(ind=a do hold"); !errors.As(err, new(*query.SyntaxError)) {
		t.Errorf("got %v", err)
	}
}

// What is understood prints itself so that it is understood again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "ind=catalog key=db07* before cache-read do hold once", "do fail 503 'a b' every 3 30%", `do value {"a": "}"} json`,
		"do set key=a\\ b opt.x='\"'", "at after filter do log key,out first 2", "do delay 1s jitter 2ms", `"at" do nil`, "do truncate 12 yaml", "do fail \"503\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := debugger.Parse(text)
		if err != nil {
			if bad := (*debugger.SyntaxError)(nil); errors.As(err, &bad) && (bad.Offset < 0 || bad.Offset > len(text)) {
				t.Errorf("%q: offset %d", text, bad.Offset)
			}
			return
		}
		once := b.String()
		if strings.ContainsAny(once, "\n\r") {
			return // a line break is no part of a line
		}
		again, err := debugger.Parse(once)
		if err != nil {
			t.Fatalf("%q: %q cannot be read: %v", text, once, err)
		}
		if twice := again.String(); twice != once {
			t.Errorf("%q: %q, then %q", text, once, twice)
		}
	})
}

// FuzzEdit: an edit and an action print themselves so that they are read again.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{"key=web02", "environment=qa", "cache=none", "ignore_cache", "fail_on_404=false", "opt.x=a b", "opt.x=", "opt.a b=c", "opt. =", `value={"a": 1}`, "value=@f", "fail 503 'a b'", "set key=a env=b", "delay 1s jitter 2ms", "truncate 10% json", "corrupt 3", "log key,out"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\n\r") {
			return // a line break is no part of a line
		}
		if e, err := debugger.ParseEdit(text); err == nil {
			a, err := debugger.ParseAction("set " + e.String())
			if err != nil || len(a.Edits) != 1 || a.Edits[0] != e {
				t.Errorf("%q: %q is read as %+v, %v", text, e, a.Edits, err)
			}
		}
		a, err := debugger.ParseAction(text)
		if err != nil {
			return
		}
		again, err := debugger.ParseAction(a.String())
		if err != nil || again.String() != a.String() {
			t.Errorf("%q prints %q, which is read as %q, %v", text, a, again, err)
		}
		_ = a.Error()
	})
}
