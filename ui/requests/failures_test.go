package requests_test

import (
	"testing"
	"time"

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
			[]string{"seen ", "Error 500: Unknown variable: 'role'.", "catalog"},
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
