package requests_test

import (
	"testing"
	"time"

	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/uitest"
)

// Each group begins with what went wrong; where there is room, a second line has
// what came of it.
func TestFailuresInWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		trace traces.Trace
		want  []string // narrow and wide
		wide  []string
	}{
		{
			"an error of the server",
			traces.Trace{Indirection: "catalog", Outcome: traces.Err, Error: "Error 500 on SERVER: Server Error: Evaluation Error: Unknown variable: 'role'.", Faults: []traces.Fault{{Origin: "terminus rest › network", Message: "Error 500 on SERVER: Server Error: Evaluation Error: Unknown variable: 'role'.", Step: traces.Terminus, Shown: true}}},
			[]string{"seen ", "Error 500: Unknown variable 'role'", "catalog"},
			[]string{"catalog n1 · terminus rest ", "its caller failed"},
		},
		{
			"nothing", func() traces.Trace {
				tr := traces.Trace{Indirection: "node", Outcome: traces.NilHidden}
				tr.Steps[traces.Terminus] = traces.Question{Answer: traces.Nothing, Because: traces.Because{Reason: traces.NilFromEmptyOutput, About: "/bin/enc n1"}}
				return tr
			}(),
			[]string{"hidden ", "the classifier (ENC) printed nothing", "node · "},
			[]string{"node n1 · ", "taken for: there is nothing"},
		},
		{
			"something old",
			traces.Trace{Indirection: "catalog", Outcome: traces.Stale, Served: traces.ByCache},
			[]string{"hidden ", "an old catalog was used", "catalog"},
			[]string{"catalog n1 · cache", "the run looks fine"},
		},
	} {
		for _, size := range [][2]int{{80, 24}, {140, 40}} {
			log, err := store.Open(store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			tr := tt.trace
			tr.Verb, tr.Key, tr.Start = traces.Find, "n1", time.Now()
			tr.ID = log.Begin(&tr)
			log.End(&tr, nil)
			if err := log.Flush(); err != nil { // the writer finds the origin
				t.Fatal(err)
			}
			p := uitest.New(t, ui.Config{Log: log}, size[0], size[1])
			p.Keys("2").Want("SEEN", "WHAT WENT WRONG", "WHERE").Not("GRP", "F1 ")
			if size[0] == 80 {
				p.Want(tt.want...).Not("LAST")
			} else {
				p.Want(tt.wide...).Want("LAST")
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Messages that differ in the names of temporary files only are one group. What is
// known of it stands below the list.
func TestFailureDetail(t *testing.T) {
	t.Parallel()
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	at := time.Date(2025, 11, 20, 14, 0, 0, 0, time.UTC)
	keep := func(after time.Duration, outcome traces.Outcome, message string) {
		tr := traces.Trace{
			Verb: traces.Save, Indirection: "report", Key: "web01.example.com", Caller: "agent", Start: at.Add(after), Outcome: outcome, Error: message,
			Primary: traces.Slot{{Terminus: "rest", Kind: traces.FromApplication, Source: "application agent"}},
			Cache:   traces.Slot{{Terminus: "yaml", Kind: traces.FromRoutesFile, Source: "routes.yaml:4"}, {Terminus: "json", Kind: traces.FromApplication, Source: "application agent"}},
		}
		if message != "" {
			tr.Faults = []traces.Fault{{Origin: "cache-write yaml › file", Step: traces.CacheWrite, Message: message, Shown: true}}
		}
		tr.ID = log.Begin(&tr)
		log.End(&tr, nil)
	}
	keep(0, traces.Good, "")
	keep(time.Hour, traces.Part, "Is a directory @ rb_file_s_rename - (/tmp/demo-1/.save-77, /tmp/demo-1/last_run_report.yaml)")
	keep(91*time.Minute, traces.Part, "Is a directory @ rb_file_s_rename - (/tmp/demo-2/.save-ab, /tmp/demo-2/last_run_report.yaml)")
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	hold, err := debugger.New(debugger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hold.Close)
	config := ui.Config{Log: log, Debugger: hold, Save: func(name, _ string) (string, int, error) { return name, 0, nil }}
	p := uitest.New(t, config, 140, 40).Keys("2")
	p.Want("1 kind · 2 requests", "last_run_report.yaml is a directory", "` one of two copies is missing", "report web01 · writing cache yaml",
		"what      save report web01.example.com: Is a directory @ rb_file_s_rename - (/tmp/demo-2/.save-ab, /tmp/demo-2/last_run_report.yaml)",
		"so        one of two copies is missing", "where     step 7 cache yaml save", "shown to  agent, 2 times, as an error",
		"decided   routes.yaml:4 chose yaml; it overruled json (application agent)", "last good #1, 1h 31m before   D compares with it",
		"requests  #2 #3", "b holds the next request like this one before it fails   w writes an incident report")
	p.Size(100, 40).Want("WHAT WENT WRONG, AND WHAT CAME OF IT", "report · cache yaml")
	p.Size(80, 24).Not("AND WHAT CAME OF IT").Want("last_run_report.yaml is a directory", "report · cache yaml", "requests  #2 #3", "b holds the next request").Not("w writes an incident")
	p.Size(60, 16).Want("last_run_report.yaml is a d", "what ", "so ")
}
