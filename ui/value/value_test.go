package value_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
	"indirtui/ui/value"
)

// shown opens the value of a request that was answered with a body.
func shown(t *testing.T, format, body string) *uitest.Player {
	t.Helper()
	s, err := store.Open(store.Options{Render: func(model string, v any) traces.Value {
		b := v.(uitest.Instance)
		return traces.Value{Model: model, Format: format, Size: len(b), Body: []byte(b), Source: "file\x1b[2J"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	tr := &traces.Trace{
		Verb: traces.Find, Indirection: "facts", Key: "web01", Start: uitest.Began, Outcome: traces.Good, Served: traces.ByTerminus,
		Primary: traces.Slot{{Terminus: "yaml", Kind: traces.FromSetting, Source: "puppet.conf:3"}},
	}
	tr.ID = s.Begin(tr)
	s.End(tr, uitest.Instance(body))
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return uitest.New(t, ui.Config{Log: s}, 80, 24).Keys("v")
}

// keys are all that do something here.
var keys = strings.Fields("j k l l h H L G g ctrl+d ctrl+u pgdown pgup enter / a enter n N esc tab j G tab G k tab tab shift+tab v G / x enter esc y esc . Y ? esc")

func TestBodies(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ format, body, want string }{
		"nothing":       {"json", "", ""},
		"an empty hash": {"json", "{}", "{0}"},
		"a text":        {"json", `"text"`, "text"},
		"a number":      {"json", `-1.5e300`, "-1.5e300"},
		"null":          {"json", "null", ""},
		"cut off":       {"json", `{"a":`, ""},
		"two values":    {"json", `{} {}`, ""},
		"plain text":    {"s", "one\ntwo\n", "two"},
		"bytes":         {"binary", "\x00\x01\xff", ""},
		"masked":        {"json", `{"password":"(masked Sensitive, 3 B, tag 0000)"}`, "masked Sensitive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := shown(t, tt.format, tt.body)
			p.Want(tt.want).Exact()
			p.Try(keys...)
		})
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	p := shown(t, "json", `{"os":{"family":"Debian","name":"trixie"},"list":[1,2,3]}`)
	p.Want("Tree", "os", "list").Keys("L").Want("family", "Debian")
	p.Keys("H").Not("Debian").Keys("/", "trixie", "enter").Want("trixie")
	p.Keys("g", "tab").Want("---", "family: Debian")
	p.Keys("tab").Want("7b 22 6f 73") // {"os
	p.Keys("tab").Want("facts", "json")
	p.Keys("tab").Want("os")
}

// A value that is large is read only when it is asked for.
func TestLarge(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&b, `,"key%05d":"value of %05d"`, i, i)
	}
	p := shown(t, "json", "{"+b.String()[1:]+"}")
	p.Not("key00000").Keys("enter").Want("key00000").Keys("G").Want("key59999")
	p.Try("G", "k", "g", "tab", "G", "tab", "G", "tab", "tab")
}

func TestHostileBodies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\u202e\u200b", 1<<16)
	for _, body := range []string{
		`{"line":"` + long + `"}`, long, strings.Repeat("\x1b[31m", 1<<16), "\xff\xfe\xc3", `{"` + "日本語" + `\u001b]0;x\u0007":"👩‍👩‍👧"}`, `["\ud800","\u0000"]`,
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat("\n", 1<<16), "a\rb\tc\v\f\u0085\u2028",
	} {
		for _, format := range []string{"json", "\x1b[2J"} {
			shown(t, format, body).Try(keys...)
		}
	}
	r := rand.New(rand.NewPCG(7, 7))
	p := uitest.New(t, ui.Config{Log: uitest.HostileLog(t, r, 40)}, 80, 24)
	for range 20 {
		p.Keys("v").Exact().Keys("L", "tab", "tab", "tab").Exact().Keys("1", "esc", "k").Exact()
	}
}

// Where values are from may be hostile in a recording, and what it names no file.
func TestHostileOrigins(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`3`, `{}`, `{"resources":[{"ref":3}]}`,
		`{"resources":[{"ref":"F\u001b[2J[\u202e]","file":"\u001b]0;x\u0007","line":-1,"in":"\u001b[2J` + strings.Repeat("x", 5000) + `","attributes":[{"name":"a\u202e"},` +
			`{"name":"a","sources":[{"from":"\u001b","file":"/dev/zero","line":-5},{"from":"","file":"/","line":99999999999},{"from":"x","level":"\r\n: \u001b"},{"from":"y","file":"/nope/\u001b","line":2}]}]}]}`,
	} {
		for _, catalog := range []string{`3`, `[]`, `{"resources":3}`, `{"resources":[1,{},{"type":"F\u001b[2J","title":"\u202e","parameters":{"a":"\u001b","a\u202e":[]}},{"type":"X","title":"y","parameters":3}]}`} {
			s, err := store.Open(store.Options{
				Render: func(model string, v any) traces.Value {
					return traces.Value{Model: model, Format: "json", Body: []byte(catalog)}
				},
				Origins: func(model string, v any) traces.Value {
					return traces.Value{Model: model, Format: "json", Body: []byte(doc)}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			tr := &traces.Trace{Verb: traces.Find, Indirection: "catalog", Key: "web01", Start: uitest.Began, Outcome: traces.Good}
			tr.ID = s.Begin(tr)
			s.End(tr, uitest.Instance(catalog))
			if err := errors.Join(s.Flush(), s.Close()); err != nil {
				t.Fatal(err)
			}
			p := uitest.New(t, ui.Config{Log: s}, 80, 24).Keys("v")
			p.Try(strings.Fields("w j enter esc esc L G k k w enter esc j enter esc j enter tab esc j enter esc / a enter n y esc esc g j j j j w G enter esc esc")...)
		}
	}
}

// What is known of a value or of a file can be scrolled where there is no room.
func TestKnownScrolls(t *testing.T) {
	t.Parallel()
	p := shown(t, "json", "{}").Size(60, 16)
	p.Keys("tab", "tab", "tab").Want("META", "served by").Not("e8310c060f61caaff8a").Keys("G").Want("e8310c060f61caaff8a").Not("META")
	p.Keys("tab", "tab", "tab", "tab").Want("META") // from its beginning again
}

// A file is searched to its end, and on from its beginning.
func TestFileSearch(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "line %03d of the text\n", i)
	}
	p := uitest.New(t, ui.Config{Log: uitest.Site(t)}, 80, 24)
	env := &session.Env{Shared: uitest.NewClock().Shared(), Log: uitest.Site(t)}
	contents := &model.FileContent{Contents: model.Bytes(text.String())}
	p.Send(screen.Show(value.NewFile(env, "motd", contents, nil))())
	p.Want("    1  line 000 of the text", "   15  line 014").Keys("G").Want("  200  line 199 of the text")
	p.Keys("g", "/", "7 of", "enter").Want("    8  line 007").Not("line 006").Keys("n").Want("   18  line 017").Not("line 016")
	p.Keys("N").Want("    8  line 007").Keys("N").Want("  198  line 197").Keys("n").Want("    8  line 007")
	p.Keys("tab").Want("00000000  6c 69 6e 65").Keys("G").Want("00001040").Keys("n").Want("   18  line 017")
}
