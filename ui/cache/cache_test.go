package cache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui"
	"indirtui/ui/cache"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// A shelf keeps the entries that it is given.
type shelf struct {
	entries []indirector.Entry
	err     error
	writes  bool
}

func (s *shelf) Explain(string) (indirector.Route, bool) {
	return indirector.Route{
		Primary: traces.Slot{{Terminus: "facter", Kind: traces.FromDeclaration}},
		Cache:   traces.Slot{{Terminus: "json", Kind: traces.FromSetting}},
	}, true
}

func (s *shelf) Walk(_ context.Context, yield func(indirector.Entry) bool, _ ...string) error {
	for _, e := range s.entries {
		if !yield(e) {
			return nil
		}
	}
	return s.err
}

func (s *shelf) Plan(_ context.Context, req *indirector.Request, _ indirector.Routes) indirector.Forecast {
	return indirector.Forecast{Why: "a find of " + req.Key + " would ask"}
}

func (s *shelf) Ask(context.Context, *indirector.Request) (indirector.Response, error) {
	return indirector.Response{}, errors.New("nobody answers")
}

func (s *shelf) Writes() bool { return s.writes }

// place plays keys in the place Cache over a shelf; without one it is that of a
// recording.
func place(t testing.TB, s *shelf) *uitest.Player {
	t.Helper()
	p := uitest.New(t, ui.Config{Log: uitest.Site(t), Now: func() time.Time { return uitest.Began }, Places: func(env *session.Env) []ui.Place {
		var engine cache.Engine
		if s != nil {
			engine = s
		}
		return []ui.Place{{Key: "4", Name: "Cache", Screen: cache.New(t.Context(), env, engine)}}
	}}, 80, 24)
	return p.Keys("4")
}

// entry is one that was written so many minutes ago and ends in so many.
func entry(key, terminus string, size int64, ago, ends int) indirector.Entry {
	e := indirector.Entry{Indirection: "facts", Terminus: terminus, Key: key, Size: size, Path: "/var/" + key, Written: uitest.Began.Add(-time.Duration(ago) * time.Minute)}
	if ends != 0 {
		e.KeepsExpiry, e.Expiration = true, uitest.Began.Add(time.Duration(ends)*time.Minute)
	}
	return e
}

// keys are all that do something here.
var keys = strings.Fields("j k G g ctrl+d ctrl+u pgdown pgup enter esc > > > > > < u 4 y esc d esc x esc X esc / key~web enter esc ctrl+r 3j F tab ? esc j")

func TestEmpty(t *testing.T) {
	t.Parallel()
	place(t, nil).Want("- Cache ", "recording").Try(keys...)
	place(t, new(shelf)).Want("- Cache ", "0 entries").Keys("enter").Want("not now: there is no entry").Try(keys...)
	p := place(t, &shelf{err: errors.New("open /var: permission denied")})
	p.Want("permission denied").Try(keys...)
}

func TestOneEntry(t *testing.T) {
	t.Parallel()
	s := &shelf{entries: []indirector.Entry{entry("web01", "json", 687, 12, 18)}}
	p := place(t, s)
	p.Want("1 entry", "web01", "in 18m", "a find of web01 would ask", "/var/web01")
	p.Keys("x").Want("not now: read-only")
	s.writes = true
	p.Keys("enter").Want("nobody answers")
	p.Keys("/", "key=nobody", "enter").Want("- Cache ").Not("/var/web01")
	p.Keys("esc").Want("/var/web01")
	p.Keys("u").Want("- Requests ", " of ")
	p.Keys("4").Try(keys...)
}

// What is kept is shown with its life, whatever that is.
func TestLives(t *testing.T) {
	t.Parallel()
	broken := entry("broken", "json", -1, 0, 0)
	broken.Err = errors.New("unexpected end of JSON input")
	p := place(t, &shelf{entries: []indirector.Entry{
		entry("fresh", "json", 10, 5, 10), entry("old", "json", 20, 100, -14), entry("orphan", "yaml", 30, 60*24*41, 0), broken,
	}})
	for name, want := range map[string]string{"fresh": "in 10m", "old": "expired 14m", "orphan": "never: not kept", "broken": "unreadable"} {
		if line := p.Line(" facts    " + name + " "); !strings.Contains(line, want) {
			t.Errorf("%s: got %q, want %s", name, line, want)
		}
	}
	p.Want("4 entries", "1 expired", "1 orphan")
	for _, first := range []string{"broken", "orphan", "orphan", "old"} { // by name, age, size, expiry
		p.Keys("g")
		if line := p.Cursor(); !strings.Contains(line, first) {
			t.Errorf("got %q, want %s first:\n%s", line, first, p.Frame())
		}
		p.Keys(">")
	}
	title := p.Line("EXPIRES") // the titles are the third line
	for _, name := range []string{"EXPIRES", "AGE"} {
		p.Send(tea.MouseMsg{X: strings.Index(title, name), Y: 2, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
		p.Want(map[string]string{"EXPIRES": "by expiry", "AGE": "by age"}[name])
	}
}

// What comes next for an entry is a sentence.
func TestNext(t *testing.T) {
	t.Parallel()
	broken := entry("web01", "json", -1, 0, 0)
	broken.Err = errors.New("unexpected end of JSON input")
	for _, tt := range []struct {
		entry indirector.Entry
		want  string
	}{
		{entry("web01", "json", 10, 5, 10), "replaced by the next find after that"},
		{entry("web01", "json", 10, 5, 0), "replaced by the next find that ignores the cache and asks facter; until then every find gets this entry"},
		{entry("web01", "json", 10, 100, -14), "replaced by the next find: it has expired, so"},
		{entry("web01", "facter", 10, 5, 0), "replaced by the next save, removed by a destroy"},
		{entry("web01", "msgpack", 10, 5, 0), "it stays: no route leads to msgpack, so it is not read, replaced or removed"},
		{broken, "replaced by the next find: it cannot be read"},
	} {
		p := place(t, &shelf{entries: []indirector.Entry{tt.entry}})
		if got := strings.Join(strings.Fields(strings.ReplaceAll(p.Frame(), "|", " ")), " "); !strings.Contains(got, tt.want) {
			t.Errorf("want %s, got\n%s", tt.want, p.Frame())
		}
	}
}

// Tens of thousands of entries come in batches, and no key waits for them.
func TestThousands(t *testing.T) {
	t.Parallel()
	s := new(shelf)
	for i := range 30_000 {
		s.entries = append(s.entries, entry(fmt.Sprintf("web%05d.example.com", i*7919%30_000), "json", int64(i), i%5000, i%100-50))
	}
	p := place(t, s)
	p.Want("30 000 entries", "web00000.example.com")
	p.Keys("G").Want("web29999.example.com")
	p.Keys("g", "99j")
	if line := p.Cursor(); !strings.Contains(line, "web00099.") {
		t.Errorf("99j: got %q", line)
	}
	p.Keys("/", "key=web00077*", "enter").Want("web00077.").Not("web00078.")
	p.Keys("esc").Try("G", "k", "pgup", ">", "g")
}

func TestHostileEntries(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	s := &shelf{writes: true, err: errors.New(uitest.HostileText(r))}
	for i := range 60 {
		e := entry(uitest.HostileText(r), uitest.HostileText(r), r.Int64N(1e12)-1, r.IntN(1e6), r.IntN(100)-50)
		e.Indirection, e.Path = uitest.HostileText(r), uitest.HostileText(r)
		if i%7 == 0 {
			e.Err = errors.New(uitest.HostileText(r))
		}
		s.entries = append(s.entries, e)
	}
	s.entries = append(s.entries, entry(strings.Repeat("x\x1b[31m\u202e", 1<<17), "json", 1<<20, 1, 1))
	place(t, s).Try(keys...)
}

func TestListingTakesLong(t *testing.T) {
	t.Parallel()
	clock := uitest.NewClock()
	c := cache.New(t.Context(), &session.Env{Shared: clock.Shared()}, new(shelf))
	c.Resize(80, 20)
	c.Update(session.Snapshot{At: uitest.Began})
	clock.Pass(3 * time.Second)
	_, right := c.Context()
	if got := right.String(); !strings.Contains(got, "listing  3.0 s · ") {
		t.Error(got)
	}
	if got := c.View().Text(); !strings.Contains(got, "listing all termini  3.0 s") {
		t.Error(got)
	}
}

// Ages are as of when they are drawn, also without news.
func TestAgesGoOn(t *testing.T) {
	t.Parallel()
	now := uitest.Began
	engine := &shelf{entries: []indirector.Entry{entry("web01", "json", 1, 3, 30)}}
	p := uitest.New(t, ui.Config{Log: uitest.Site(t), Now: func() time.Time { return now }, Places: func(env *session.Env) []ui.Place {
		return []ui.Place{{Key: "4", Name: "Cache", Screen: cache.New(t.Context(), env, engine)}}
	}}, 80, 24)
	p.Keys("4").Want("1 entry", " 3m ", "in 30m")
	now = now.Add(31 * time.Minute)
	p.Want(" 34m ", "expired 1m", "1 expired")
}
