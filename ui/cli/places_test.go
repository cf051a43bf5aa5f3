package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/host/files"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/traces/export"
	"indirtui/ui/tour"
	"indirtui/ui/uitest"
)

// enter types a line into a prompt that is open, and ends it with enter.
func (tr *trip) enter(text string, want ...string) *trip {
	tr.t.Helper()
	tr.Keys("ctrl+u")
	for _, r := range text {
		tr.Keys(string(r))
	}
	return tr.key("enter", want...)
}

func TestCache(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.key("4", "- Cache ", "10 entries", "4 orphan").cursor("catalog", "a01.example.com", "sqlite", "#963")
		tr.golden("cache-list")
		tr.key("j", "- Cache ").key("j", "50 times").cursor("catalog", "web01.example.com", "json", "#2")
		tr.key("j", " in yaml", "orphan", "it stays: no route leads to yaml, so it is not read").cursor("catalog", "yaml", "41d", "unknown")
		tr.key("G", "cannot be read").cursor("report", "last_run_report", "unreadable").line("report   ", "yaml", "unreadable")
		tr.key(">", "by age").cursor("last_run_report")
		tr.key(">", "by size").cursor("last_run_report")
		tr.key("<", "by age")
		tr.key("<", "10 entries").Not("by age")
		tr.key("g", "- Cache ").key("j", "- Cache ").key("j", "50 times").cursor("catalog", "json")

		// Nothing is changed that is real.
		tr.key("x", "not now: read-only")
		tr.key("X", "not now: read-only")
		tr.command("destroy catalog web01.example.com terminus=json", "read-only").Keys("esc")
		tr.key("ctrl+r", "10 entries")

		// The filter shows where it is wrong, and can be taken back.
		tr.key("/", " / ")
		tr.Keys("age>")
		tr.sees("at 5: got the end", "10 entries")
		tr.enter("nobody", "No entry matches. 10 hidden.", "0 of 10 entries").Not("INDIREC")
		tr.key("z", "undone filter of entries nobody").cursor("catalog")
		tr.key("Z", "No entry matches")
		tr.key("esc", "did filter of entries").cursor("catalog")
		tr.filter("age>1d ind=catalog", "1 of ").cursor("catalog", "yaml", "41d")
		tr.key("esc", "10 entries").Not(" of 10")
		tr.filter("ind=facts", "5 of ").cursor("facts", "sqlite")
		tr.key("esc", "10 entries")

		// What is kept against what the terminus answers.
		tr.key("g", "- Cache ").key("j", "- Cache ").key("j", "50 times").key("d", "Compare  #1048 : #1049", "T json", "Error 50", "provenance A: json: place Cache", "provenance B: upstream: place Cache")
		tr.key("tab", "[Headers ", "GET /catalog", "500 Internal Server Error")
		tr.golden("compare-headers")
		tr.key("tab", "[Timing]", "total")
		tr.key("tab", "[Value 0]", "no value to compare")
		tr.key("shift+tab", "[Timing]")
		tr.key("esc", "- Cache ").cursor("catalog", "json")
		tr.key("y", "biography", "find catalog web01.example.com terminus=json cache=none")
		tr.key("b", "copied biography")
		if got := strings.Join(tr.Copied, ""); !strings.Contains(got, "same key     yaml 41d (orphan)") {
			tr.t.Errorf("copied %q", got)
		}
		tr.leave()
	})
}

func TestCacheChanges(t *testing.T) {
	t.Parallel()
	travel(t, func(p *program) { p.write = true }, func(tr *trip) {
		// Files that strangers have named, which the terminus lists.
		var dir string
		err := filepath.WalkDir(tr.program.site.Dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && filepath.Base(path) == "web01.example.com.json" && filepath.Base(filepath.Dir(path)) == "catalog" {
				dir = filepath.Dir(path)
			}
			return err
		})
		if err != nil || dir == "" {
			tr.t.Fatalf("no cached catalogs in the demo: %v", err)
		}
		names := []string{"\x1b[31mred\x1b[2J", "a\nb\tc", "\u202egpj", "' OR 1=1", "\xff\xfe", strings.Repeat("n", 200)}
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte("{"), 0o600); err != nil {
				tr.t.Fatal(err)
			}
		}
		tr.key("4", "- Cache ", " entries")
		for range 14 {
			for _, keys := range [][]string{{"j"}, {"enter", "esc"}, {"y", "esc"}, {"x", "esc"}, {"X", "esc"}, {"d", "esc"}, {"4"}} {
				tr.Keys(keys...)
				tr.Exact()
			}
		}
		if strings.ContainsAny(tr.Frame(), "\x1b\u202e\t") {
			tr.t.Errorf("a name reaches the terminal:\n%q", tr.Frame())
		}
		for _, name := range names {
			if err := os.Remove(filepath.Join(dir, name+".json")); err != nil {
				tr.t.Fatal(err)
			}
		}
		tr.key("ctrl+r", "10 entries", "4 orphan")

		tr.filter("key=app03* ind=facts", "1 of ").cursor("facts", "app03.example.com", "in 30m")
		tr.key("x", "expire facts app03.example.com in json?", "this cannot be undone")
		tr.key("n", "1 of ").cursor("in 30m")
		tr.key("x", "expire facts app03.example.com in json?")
		tr.key("y", "expired facts app03.example.com in json by #", "expired 1").cursor("app03.example.com", "expired ")
		tr.sees("expired at 14:01:17, 1m ago", "replaced by the next find: it has expired")
		tr.key("esc", "10 entries")

		// An orphan is removed by typing its key, and by nothing less.
		tr.filter("age>1d ind=catalog", "1 of ").cursor("catalog", "yaml")
		tr.key("X", "type the key again to destroy 1 entry (terminus yaml of catalog)")
		tr.key("esc", "nothing was destroyed").cursor("catalog", "yaml")
		tr.key("X", "type the key again")
		tr.enter("web01", "refused: the key is another one; nothing was destroyed")
		tr.enter("web01.example.com", "No entry matches. 9 hidden.")
		tr.key("esc", "9 entries", "3 orphan").cursor("catalog")
		tr.leave()
	})
}

func TestRuns(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.command("replay run=5a1b dry", "what-if 4: 3 as before, 0 otherwise; 1 depend", "all 1 047").Not("all 1 048")
		tr.command("replay run=5a1b", "asked again 4: 3 as before, 1 otherwise; values: 0 of 3 changed: #2 ok -> err", "all 1 0")
		tr.command("route node terminus=plain", "1 override")
		tr.command("replay ind=node out=ok #1..40", "Compare  recorded : asked again", "value (", "> ~ #7 find node web01.example.com ok : #")
		tr.key("enter", "differences", "provenance A: exec", "provenance B: plain").key("esc", "Compare  recorded").key("esc", "- Requests ")
		tr.filter("#7", "1 of ").key("r", "replay of #7 ok: value differs in")
		tr.key("esc", "  all ")
		tr.command("route reset node", "did :route reset node")
		tr.filter("#7", "1 of ").key("r", "replay of #7 ok: value equal").key("esc", "  all ")
		tr.command("replay key=nobody", "no request is meant by that")
		tr.command("replay took>0 or took=0 dry", "more than 1000; choose fewer")
		tr.command("route facts cache=off", "1 override")
		tr.command("replay run=5a1b ind=facts dry", "what-if ", "otherwise").Not("0 otherwise")
		tr.key("z", "undone :route facts cache=off")

		tr.command("diff run 5a1b 9c02", "Compare  run 5a1b : run 9c02", "10 differences").cursor("- #1 head facts web01.example.com hit")
		tr.golden("compare-runs")
		tr.key("enter", "only one side asked this", "decided")
		tr.key("esc", "Compare  run 5a1b")
		tr.key("s", "Compare  run 9c02 : run 5a1b").cursor("- #1031 find facts db07.example.com err~")
		saved := ""
		tr.save = func(name, text string) (string, int, error) {
			saved = text
			return name, 0, nil
		}
		tr.key("w", "json [FILE]")
		tr.enter("json", "wrote diff-runs.json")
		var doc struct {
			Kind        string
			Differences int
			Requests    []struct{ Sign string }
		}
		if err := json.Unmarshal([]byte(saved), &doc); err != nil || doc.Kind != "runs" || doc.Differences != 10 || len(doc.Requests) != 10 {
			tr.t.Errorf("the document says %+v: %v", doc, err)
		}
		tr.key("esc", "- Requests ")
		tr.command("diff run 5a1b none", `no request belongs to run "none"`)
		tr.leave()
	})
}

func TestLeavingWithHeldRequests(t *testing.T) {
	t.Parallel()
	hold := func(tr *trip) {
		tr.command("break ind=facts key=web01* before cache-read", "did :break")
		tr.command("find facts web01.example.com", "HELD 1")
		tr.key("q", "quit?  1 held request", "let them go on and quit", "their callers get an error", "stay")
	}
	for key, want := range map[string]string{"y": "hit", "f": "err"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			travel(t, nil, func(tr *trip) {
				hold(tr)
				if key == "y" {
					tr.golden("leaving-held")
				}
				tr.key("n", "HELD 1", "- Requests ").Not("quit?")
				tr.key("esc", "HELD 1")
				tr.key("q", "quit?").Keys(key)
				if !tr.Quit {
					tr.t.Fatalf("%s did not quit:\n%s", key, tr.Frame())
				}
				if n := len(tr.session.engine.Debugger.Held()); n > 0 {
					tr.t.Errorf("%d requests are held", n)
				}
				tr.close()
				s, err := openSession(tr.program.ui.record)
				if err != nil {
					tr.t.Fatal(err)
				}
				tr.show(s, sizes[tr.size][0], sizes[tr.size][1])
				tr.sees("all 1 048").key("G", " 1048 ").cursor("find facts", "web01.example.com", want)
				tr.leave()
			})
		})
	}
}

// press presses the keys of a step of the tour: keys between blanks, or what is
// typed behind : or / and ended with enter.
func press(p *uitest.Player, keys string) {
	for _, prompt := range []string{":", "/ "} {
		if text, ok := strings.CutPrefix(keys, prompt); ok {
			p.Keys(strings.TrimSpace(prompt), strings.TrimSuffix(text, " enter"), "enter")
			return
		}
	}
	p.Keys(strings.Fields(keys)...)
}

// The tour names the keys; when they are pressed, every step happens.
func TestTour(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		for i, j := range tour.Journeys() {
			tr.key("?", "press a key to do it")
			tr.key("t", "a guided tour: which way?")
			tr.key("123456789abcdefghi"[i:i+1], fmt.Sprintf("TOUR 1/%d  press %s", len(j.Steps), j.Steps[0].Keys))
			for n, step := range j.Steps {
				tr.sees(fmt.Sprintf("TOUR %d/%d  press %s", n+1, len(j.Steps), step.Keys))
				press(tr.Player, step.Keys)
				if err := tr.session.log.Flush(); err != nil {
					tr.t.Fatal(err)
				}
				tr.Sync()
			}
			tr.sees("done: "+j.Name, fmt.Sprintf("%d of %d by your own hand", len(j.Steps), len(j.Steps)))
			if i == 0 {
				tr.golden("tour-done")
			}
			tr.key("ctrl+x", "- Requests ").Not("TOUR")
		}
		tr.key("G", "follow on")
		// What is skipped was not done; and it can be left at any time.
		tr.key("?", "press a key to do it").key("t", "which way?").key("1", "TOUR 1/6  press k")
		tr.golden("tour")
		tr.key("j", "TOUR 1/6")
		tr.key("ctrl+x", "TOUR 2/6")
		tr.key("ctrl+t", "- Requests ").Not("TOUR")
		tr.leave()
	})
}

func TestFunctionKeys(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			t.Parallel()
			travel(t, func(p *program) { p.ui.functionKeys = on }, func(tr *trip) {
				tr.command("break ind=facts key=web01* before cache-read", "did :break")
				tr.command("find facts web01.example.com", "HELD 1")
				tr.key("enter", "HELD before 4 cache read")
				tr.Keys("f11", "f10", "f5")
				if !on {
					tr.sees("HELD before 4 cache read")
					tr.Keys("c")
				}
				tr.Not("HELD")
				tr.key("esc", "- Requests ").leave()
			})
		})
	}
}

// alone plays a journey in one size, by the clock, in this goroutine: it may change the
// environment.
func alone(t *testing.T, change func(*program), journey func(*trip)) {
	t.Helper()
	began := func(p *program) {
		p.site.Now = nil
		if change != nil {
			change(p)
		}
	}
	visit(t, [2]int{80, 24}, nil, began, func(tr *trip) {
		tr.size = "80x24"
		journey(tr)
	})
}

func TestRecordings(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	dir := filepath.Join(state, "indirtui")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	alone(t, nil, func(tr *trip) {
		tr.command("recordings", "Recordings  in ", "0 files").cursor("(shown now)", "1 047", "autosave on")
		tr.key("enter", "not now: this is what is shown now")
		tr.key("esc", "- Requests ")
		tr.filter("out=stale", "8 of ")
		base := filepath.Join(dir, "base.ind")
		tr.command("save "+base+" @shown", "saved 8 requests to ")
		tr.command("save "+base+" @all", "save: there is a base.ind already; nothing was written").Keys("esc")
		tr.key("esc", "  all ")
		for _, f := range export.Formats() {
			path := filepath.Join(t.TempDir(), "a."+string(f))
			tr.command("save "+path+" run=5a1b "+string(f), "saved 6 requests to ")
			if b, err := os.ReadFile(path); err != nil || len(b) == 0 || bytes.Contains(b, []byte("s3cr3t")) {
				t.Errorf("%s: %d bytes, %v", f, len(b), err)
			}
		}
		tr.command("save "+filepath.Join(dir, "run.ind")+" run=5a1b", "saved 6 requests to ")
		if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}

		tr.command("recordings", "2 files").Not("notes.txt")
		tr.key("w", "save as", "NAME", "incident-", "WHAT", "FORMAT")
		path := filepath.Join(dir, "form.ind")
		tr.Keys("ctrl+u", path, "tab", "ctrl+u", "ind=", "enter")
		tr.sees("save as") // that is no expression
		tr.Keys("ctrl+u", "ind=catalog run=5a1b", "enter")
		tr.sees("saved 1 request to ")
		tr.key("ctrl+r", "3 files", "form.ind", "base.ind", "run.ind")
		tr.to("form.ind").key("e", "new name")
		tr.enter("../x", "without a directory")
		tr.enter("run.ind", "there is a run.ind already; nothing was renamed")
		tr.key("e", "new name")
		tr.enter("other.ind", "other.ind", "3 files").Not("form.ind")
		tr.key("g", "Recordings  in ").to("other.ind").key("x", "type other.ind to remove it")
		tr.enter("other", "refused: that is another name; nothing was removed")
		tr.enter("other.ind", "2 files").Not("other.ind")

		tr.key("g", "Recordings  in ").to("base.ind").key("space", "did baseline base.ind").cursor("baseline")
		tr.key("g", "Recordings  in ").to("run.ind").key("d", "Compare  base.ind : run.ind", "differences")
		tr.key("esc", "Recordings  in ")
		tr.key("g", "Recordings  in ").to("run.ind").key("l", "in 6 requests")
		tr.key("esc", "Recordings  in ").to("base.ind")
		tr.key("enter", "end this session for the recording base.ind?", "kept in ")
		if tr.Keys("y"); !tr.Quit || tr.next == nil {
			t.Fatalf("enter opened nothing:\n%s", tr.Frame())
		}
		tr.close()
		s, err := tr.next()
		if err != nil {
			t.Fatal(err)
		}
		tr.show(s, 80, 24)
		tr.sees("all 8", "REPLAY", "stale")
		tr.command("recordings", "(shown now)", "run.ind", "a recording")
		if strings.Contains(tr.Frame(), "\n  base.ind") {
			t.Errorf("what is shown is listed twice:\n%s", tr.Frame())
		}
		tr.key("esc", "- Requests ")
		tr.command("diff "+filepath.Join(dir, "run.ind"), "Compare  run.ind : now", "differences")
		tr.key("esc", "- Requests ")
		tr.key(":", "| : ").enter("diff "+filepath.Join(dir, "run.ind")+" "+filepath.Join(dir, "base.ind"), "Compare  run.ind : base.ind")
		tr.key("esc", "- Requests ")
		tr.command("diff "+filepath.Join(dir, "none.ind"), "compare none.ind: no such file")
		tr.command("diff "+filepath.Join(dir, "notes.txt"), "compare notes.txt: open recording").Not("compare notes.txt :")
		tr.leave()
	})
}

func TestWatchedServer(t *testing.T) {
	t.Parallel()
	authority := clienttest.New(t, "Puppet CA")
	settings := authority.Write(t, t.TempDir(), authority.Issue(t, "web01"))
	running := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "running") })
	up := clienttest.Serve(t, authority.Issue(t, "puppet", clienttest.Local), running).Listener.Addr().String()
	strange := clienttest.Serve(t, clienttest.New(t, "Another CA").Issue(t, "puppet", clienttest.Local), running).Listener.Addr().String()
	const address = "127.0.0.1:1" // there is no listener
	trusting := func(p *program) {
		for _, name := range []string{"localcacert", "hostcrl", "hostcert", "hostprivkey"} {
			p.set = append(p.set, name+"="+settings[name])
		}
	}
	travel(t, trusting, func(tr *trip) {
		tr.command("watch server(puppet)", "names no server")
		tr.command("watch server("+up+")", "did :watch server(")
		tr.command("watch server("+strange+")", "did :watch server(")
		tr.command("watch server("+address+")", "did :watch server(")
		tr.command("break ind=facts key=web01* before cache-read", "did :break")
		tr.command("find facts web01.example.com", "HELD 1")
		tr.key("enter", "HELD before 4 cache read")
		if tr.size == "140x40" { // there is no room for WATCH elsewhere
			tr.sees("watch").line("server("+up, "up: running, ").line("server("+strange, "TLS refused: ").line("server("+address, "down: nobody listens")
		}
		tr.key("c", "hit")
		tr.key("esc", "- Requests ").leave()
	})
}

func TestKeptForAProject(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	k, err := keptFor("/etc/puppet")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(state, "indirtui"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(k.keep("ignore", []string{".parameters.*timestamp"}), k.keep("baseline", "/a/base.ind")); err != nil {
		t.Fatal(err)
	}
	again, err := keptFor("/etc/puppet")
	if err != nil || len(again.Ignore) != 1 || again.Ignore[0] != ".parameters.*timestamp" || again.Baseline != "/a/base.ind" {
		t.Errorf("got %+v, %v", again, err)
	}
	if other, err := keptFor("/etc/other"); err != nil || len(other.Ignore) > 0 {
		t.Errorf("another project has %+v, %v", other, err)
	}
	if left, _ := filepath.Glob(filepath.Join(state, "indirtui", files.Prefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	for name, text := range map[string]string{"no JSON": "{", "another type": `{"ignore":7}`, "empty": "", "binary": "\x00\xff", "large": strings.Repeat(" ", maxKept+1)} {
		if err := os.WriteFile(k.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		broken, err := keptFor("/etc/puppet")
		if err == nil || strings.Count(err.Error(), k.path) != 1 || len(broken.Ignore) > 0 {
			t.Errorf("%s: got %+v, error %v; want one that names the file", name, broken, err)
		}
		// What cannot be read is not written over.
		if err := broken.keep("ignore", []string{".x"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b, err := os.ReadFile(k.path); err != nil || string(b) != text {
			t.Errorf("%s: the file was changed: %v", name, err)
		}
	}
}

// Rules of what does not count come back the next time, and a file of them that
// is broken is reported once.
func TestIgnoreRulesComeBack(t *testing.T) {
	state, conf := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	project := func(p *program) { p.ui.demo, p.confDir, p.varDir = false, conf, t.TempDir() }
	over := func(journey func(*trip)) {
		alone(t, func(p *program) {
			project(p)
			p.ui.record = filepath.Join(t.TempDir(), "recording.jsonl")
			if err := os.WriteFile(filepath.Join(filepath.Dir(p.site.Dir), "recording.jsonl"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, journey)
	}
	over(func(tr *trip) {
		tr.command("ignore", "every path counts in comparisons")
		tr.command("ignore .parameters.*timestamp", "did :ignore")
		tr.leave()
		tr.close()
	})
	over(func(tr *trip) {
		tr.command("ignore", "ignored in comparisons: .parameters.*timestamp")
		tr.leave()
		tr.close()
	})
	files, err := filepath.Glob(filepath.Join(state, "indirtui", "project-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("kept: %q, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	over(func(tr *trip) {
		tr.command("ignore", "every path counts in comparisons")
		tr.command("log", "event log")
		if n := strings.Count(strings.Join(strings.Fields(tr.Frame()), " "), "remove it to begin anew"); n != 1 {
			t.Errorf("the broken file is said %d times:\n%s", n, tr.Frame())
		}
		tr.key("esc", "indirtui").leave()
		tr.close()
	})
}
