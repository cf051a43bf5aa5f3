package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/host/files"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/ui/uitest"
)

// hostileSite lays out directories of Puppet in which every text is hostile: names
// and values of settings, routes, names of files, what is in them; and a
// recording. It returns the flags that name them, and the recording.
func hostileSite(t testing.TB, r *rand.Rand) (flags []string, recording string) {
	t.Helper()
	dir := t.TempDir()
	text := func() string { return uitest.HostileText(r) }
	quoted := func() string { return string(must(json.Marshal(text()))) } // JSON is YAML
	write := func(content string, parts ...string) {
		path := filepath.Join(append([]string{dir}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		_ = os.WriteFile(path, []byte(content), 0o600) // a name that the system refuses is no name of a file
	}
	name := func() string {
		s := strings.NewReplacer("/", "_", "\x00", "_").Replace(text())
		return s[:min(len(s), 60)] + "x"
	}
	settings := "[main]\nstorage = " + text() + "\nnode_name_value = " + text() + "\n"
	if r.IntN(3) == 0 {
		settings += text() + " = " + text() + "\n[" + text() + "]\n"
	}
	write(settings, "conf", "puppet.conf")
	routes := `{"agent":{"facts":{"terminus":"yaml","cache":"json"},"node":{"terminus":"yaml"}}}`
	if r.IntN(3) == 0 {
		routes = fmt.Sprintf(`{"agent":{"facts":{"terminus":%s,"cache":%s},%s:{"terminus":%s}},%s:%s}`, quoted(), quoted(), quoted(), quoted(), quoted(), quoted())
	}
	write(routes, "conf", "routes.yaml")
	for range 4 {
		facts := fmt.Sprintf(`{"name":%s,"values":{%s:%s,"n":[%s]},"expiration":%s}`, quoted(), quoted(), quoted(), quoted(), quoted())
		write(facts, "var", "client_data", "facts", name()+".json")
		write("--- !ruby/object:Puppet::Node::Facts\nname: "+quoted()+"\nvalues: "+facts+"\n", "var", "yaml", "facts", name()+".yaml")
		write("--- !ruby/object:Puppet::Node\nname: "+quoted()+"\nparameters: {"+quoted()+": "+quoted()+"}\nclasses: ["+quoted()+"]\n", "var", "yaml", "node", name()+".yaml")
		write(text(), "var", "client_data", "facts", name()+".json")
		write(text(), "state", "indirtui", name())
	}
	for _, key := range []string{"web01", "db07"} {
		write(`{"name":"web01","values":{`+quoted()+`:`+quoted()+`}}`, "var", "client_data", "facts", key+".json")
		write("--- !ruby/object:Puppet::Node\nname: "+key+"\nparameters: {"+quoted()+": "+quoted()+"}\n", "var", "yaml", "node", key+".yaml")
	}
	log := uitest.HostileLog(t, r, 10)
	recording = filepath.Join(dir, name())
	f, err := files.Create(recording, files.Options{New: true})
	if err == nil {
		_, err = log.Save(f, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	}
	if err != nil {
		recording = filepath.Join(dir, "recording")
		f, err := files.Create(recording, files.Options{New: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.Save(f, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"--confdir", filepath.Join(dir, "conf"), "--vardir", filepath.Join(dir, "var")}, recording
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// hostileWords are command lines with hostile input in them. Formats that are written
// byte for byte are for files, and are not asked for.
func hostileWords(r *rand.Rand, recording string) []string {
	text := func() string {
		for {
			if s := uitest.HostileText(r); !strings.HasPrefix(s, "-") && !strings.Contains(s, "\x00") {
				return s
			}
		}
	}
	key := []string{"web01", text(), text()}[r.IntN(3)]
	all := [][]string{
		{"routes"},
		{"routes", "--all"},
		{"routes", text()},
		{"routes", "--json"},
		{"termini", text()},
		{"settings", "--all"},
		{"settings", text()},
		{"settings", "--json", "--all"},
		{"cache"},
		{"cache", text()},
		{"cache", "--json"},
		{text()},
		{"man", text()},
		{"schema", text()},
		{"demo", text()},
		{"find", text(), text()},
		{"find", "facts", key},
		{"find", "facts", key, "--trace", "steps"},
		{"find", "facts", key, "--trace", "json"},
		{"find", "facts", key, "terminus=" + text()},
		{"find", "node", key, text()},
		{"head", "facts", key},
		{"search", "facts", key},
		{"search", "node", key, "--trace", "story"},
		{"save", "facts", key, "@" + text()},
		{"destroy", "facts", key},
		{"find", "facts", key, "--set", text() + "=" + text()},
		{"find", "facts", key, "--route", text()},
		{"find", "facts", key, "env=" + text()},
		{"--" + text()},
		{"story", "--recording", recording},
		{"story", "--recording", recording, text()},
		{"story", "--recording", text()},
		{"check", "--recording", recording, "--expect", text()},
		{"check", "--recording", recording, "--expect", "failed=0"},
		{"check", "--recording", recording, "--expect", "err ~ x"},
		{"diff", recording, recording},
		{"diff", "#1", "#2", "--recording", recording},
		{"diff", text(), text()},
		{"diff", recording, recording, "--json"},
		{"export", "--recording", recording, "--format", "csv"},
		{"export", "--recording", recording, "--format", "jsonl"},
		{"export", "--recording", recording, "--format", "story"},
		{"export", "--recording", recording, "--format", text()},
		{"export", "--recording", recording, "--format", "har", text()},
		{"replay", "--recording", recording},
		{"replay", "--recording", recording, "--dry-run"},
		{"open", "--plain", recording},
		{"open", "--plain", text()},
		{"--plain"},
		{"run", "/dev/stdin"},
	}
	return all[r.IntN(len(all))]
}

// hostileLines are what is typed behind the colon, or to --plain.
func hostileLine(r *rand.Rand) string {
	text := func() string {
		return strings.NewReplacer("\n", " ", "\r", " ").Replace(uitest.HostileText(r))
	}
	q := func() string { return "'" + strings.ReplaceAll(text(), "'", "") + "'" }
	lines := []string{
		"find facts web01", "find node web01", "find facts " + q(), "find " + q() + " " + q(), "head facts " + q(), "search facts " + q(), "route facts terminus=" + q(), "route " + q() + " terminus=yaml",
		"route facts terminus=json cache=off", "break key=" + q() + " do log key,env", "break ind=facts do fail 503 " + q(), "break ind=node do value " + q(), "break " + text(), "breaks", "filter key=" + q(),
		"filter " + text(), "note #1 " + text(), "mark #1 " + text(), "settings " + q(), "settings", "story", "story " + text(), "diff #1 #2", "diff find facts " + q() + " terminus=yaml,json", "diff " + q() + " " + q(),
		"ignore " + q(), "ignore", "replay key=" + q() + " dry", "watch key=" + q(), "save " + q() + " " + text(), "export csv " + q(), "open " + q(), "show " + q(), "show #1", "help " + q(), "recordings", "log", "group run",
		"sort key", "fault facts " + q(), "swap facts " + q(), "inject " + text(), "set key=" + q(), text(), "value #1", "steps #1", "list",
	}
	return lines[r.IntN(len(lines))]
}

// hostileSites are made once: that takes longer than a command.
func hostileSites(t *testing.T) (sites [16]struct {
	flags     []string
	recording string
},
) {
	t.Helper()
	for i := range sites {
		sites[i].flags, sites[i].recording = hostileSite(t, rand.New(rand.NewPCG(uint64(i), 15)))
	}
	return sites
}

// manyTimes runs a test for so many seeds, or for as many others as
// INDIRTUI_HOSTILE has. These are no fuzz targets: each builds a whole program,
// and a seed shows a fuzzer nothing.
func manyTimes(t *testing.T, times uint64, once func(t *testing.T, seed uint64)) {
	t.Helper()
	first := uint64(0)
	if n, err := strconv.ParseUint(os.Getenv("INDIRTUI_HOSTILE"), 10, 32); err == nil {
		first, times = rand.Uint64()>>32, n
		t.Logf("seeds from %d", first)
	}
	for seed := first; seed < first+times && !t.Failed(); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { once(t, seed) })
	}
}

// obeyed fails the test if a terminal would obey what was printed.
func obeyed(t *testing.T, what any, printed string) {
	t.Helper()
	for line := range strings.SplitSeq(strings.ReplaceAll(printed, "\r\n", "\n"), "\n") { // as CSV ends its lines
		if !utf8.ValidString(line) || strings.ContainsFunc(line, uitest.Obeyed) {
			t.Errorf("%.200q prints %.500q", what, line)
		}
	}
}

// TestPrinted: whatever is in files, recordings and arguments, nothing that a
// command prints is obeyed by a terminal.
func TestPrinted(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	sites := hostileSites(t)
	manyTimes(t, 160, func(t *testing.T, seed uint64) {
		t.Chdir(t.TempDir()) // commands write files
		r := rand.New(rand.NewPCG(seed, 15))
		site := sites[seed%uint64(len(sites))]
		words := hostileWords(r, site.recording)
		var in, out, err bytes.Buffer
		for range 2 {
			in.WriteString(hostileLine(r) + "\n")
		}
		in.WriteString("quit\n")
		args := append(words[:len(words):len(words)], site.flags...)
		if words[0] == "open" || words[0] == "story" || words[0] == "export" || words[0] == "check" || words[0] == "diff" {
			args = words
		}
		Main(args, Streams{In: &in, Out: &out, Err: &err}, termini.Specs(), termini.All())
		obeyed(t, words, out.String())
		obeyed(t, words, err.String())
	})
}

// FuzzLine is the same for the lines and sentences of serve and proxy.
func FuzzLine(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, "web01", []byte(`{"status":"failed","environment":"qa"}`))
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string, body []byte) {
		var out bytes.Buffer
		w := &lines{out: &out, runs: make(map[string]*runStory)}
		r := rand.New(rand.NewPCG(seed, 17))
		for i, indirection := range []string{"node", "catalog", text, "report"} {
			tr := uitest.HostileTrace(r, i)
			tr.Indirection, tr.Verb, tr.Parent, tr.Run, tr.Key = indirection, traces.Find, 0, "r", text
			if indirection == "report" {
				tr.Verb = traces.Save
			}
			fmt.Fprintln(&out, requestLine(&tr))
			w.run(&tr, body)
		}
		obeyed(t, text, out.String())
	})
}

// What is written byte for byte is text when it comes to a terminal, in whatever
// pieces.
func FuzzOnTerminal(f *testing.F) {
	for _, s := range uitest.Hostile() {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		var out bytes.Buffer
		w := &onTerminal{w: &out}
		piece = max(piece&15, 1)
		for rest := b; len(rest) > 0; {
			n := min(piece, len(rest))
			if got, err := w.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", got, n, err)
			}
			rest = rest[n:]
		}
		text := strings.NewReplacer("\n", "", "\t", "").Replace(out.String())
		if !utf8.ValidString(text) || strings.ContainsFunc(text, uitest.Obeyed) {
			t.Errorf("%q is written as %q", b, text)
		}
	})
}

// TestShown is the same for the screen, in all places, with all that can be typed
// there.
func TestShown(t *testing.T) {
	short := func(s string) string { return s[:min(len(s), 100)] } // a key looks at all that was typed before
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	sites := hostileSites(t)
	r := rand.New(rand.NewPCG(0, 16))
	for i := range 3 {
		dir := filepath.Join(state, "indirtui")
		_ = os.MkdirAll(dir, 0o700)
		_ = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d%.40s.jsonl", i, strings.NewReplacer("/", "", "\x00", "").Replace(uitest.HostileText(r)))), []byte(uitest.HostileText(r)), 0o600)
	}
	manyTimes(t, 40, func(t *testing.T, seed uint64) {
		t.Chdir(t.TempDir())
		r := rand.New(rand.NewPCG(seed, 16))
		flags := sites[seed%uint64(len(sites))].flags
		p := &program{Streams: Streams{Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
		p.confDir, p.varDir, p.write, p.application = flags[1], flags[3], true, "agent"
		s, err := viewer{p}.session()
		if err != nil {
			return // which is reported: see TestPrinted
		}
		defer func() { _ = s.close() }()
		cfg := viewer{p}.config(t.Context(), s, func(func() (*workspace, error)) tea.Cmd { return func() tea.Msg { return nil } })
		cfg.Save = func(name, _ string) (string, int, error) { return name, 0, nil }
		player := uitest.New(t, cfg, 80, 24)
		player.Held = func() int { return heldByYou(s.engine) }
		player.Patience = 100 * time.Millisecond
		for range seed % 16 {
			if player.Quit {
				break
			}
			switch r.IntN(3) {
			case 0:
				player.Keys(":", short(hostileLine(r)), "enter")
			case 1:
				player.Keys(monkeyKeys[r.IntN(len(monkeyKeys))])
			default:
				player.Paste(short(uitest.HostileText(r)))
			}
			player.Exact()
			if r.IntN(8) == 0 {
				player.Size(1+r.IntN(160), 1+r.IntN(50)).Exact()
			}
		}
		s.engine.Debugger.SetOff(true)
		player.Rest(tooLong)
	})
}
