package debugger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// held waits until exactly one request is held, and returns it.
func (h *fixture) one(t testing.TB) debugger.Held {
	t.Helper()
	synctest.Wait()
	all := h.Held()
	if len(all) != 1 {
		t.Fatalf("%d requests are held, want 1", len(all))
	}
	return all[0]
}

func place(h debugger.Held) string {
	return fmt.Sprintf("%s %s", h.State.Request.Indirection, debugger.Where{Step: h.State.Point.Step, After: h.State.Done})
}

func (h *fixture) resume(t testing.TB, id uint64, how debugger.Go) {
	t.Helper()
	if err := h.Resume(id, how); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func TestStepThroughNested(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		at   string
		how  []debugger.Go
		want []string
	}{
		{
			"step goes into what a terminus asks, and out again", "ind=node before terminus do hold once",
			[]debugger.Go{debugger.Step, debugger.Finish, debugger.Step, debugger.Step},
			[]string{"node before terminus", "facts before route", "facts before caller", "node before expiry-set", "node before cache-write"},
		},
		{
			"over does not", "ind=node before terminus do hold once",
			[]debugger.Go{debugger.Over, debugger.Over, debugger.Over},
			[]string{"node before terminus", "node before expiry-set", "node before filter", "node before caller"},
		},
		{
			"over goes by phases", "ind=node before route do hold once",
			[]debugger.Go{debugger.Over, debugger.Over, debugger.Over},
			[]string{"node before route", "node before cache-read", "node before terminus", "node before expiry-set"},
		},
		{
			"finish stops before the caller", "ind=node before route do hold once",
			[]debugger.Go{debugger.Finish},
			[]string{"node before route", "node before caller"},
		},
		{
			"out of a nested request that alone was held", "ind=facts before terminus do hold once",
			[]debugger.Go{debugger.Finish, debugger.Step},
			[]string{"facts before terminus", "facts before caller", "node before expiry-set"},
		},
		{
			"a breakpoint holds on the way", "before expiry-set do hold",
			[]debugger.Go{debugger.Continue},
			[]string{"facts before expiry-set", "node before expiry-set"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newFixture(t, debugger.Options{}, true)
				h.add(t, tt.at)
				done := h.ask(t.Context(), find("node", "web01"))
				var got []string
				for i := range tt.want {
					now := h.one(t)
					got = append(got, place(now))
					if i < len(tt.how) {
						h.resume(t, now.ID, tt.how[i])
					} else {
						h.resume(t, now.ID, debugger.Continue)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(tt.want) {
					t.Errorf("got  %q\nwant %q", got, tt.want)
				}
				if o := origin(t, <-done); o != "main" {
					t.Errorf("answered by %s", o)
				}
				if n := len(h.Held()); n != 0 {
					t.Errorf("%d are held still", n)
				}
				if *h.Debugger.Stops() != (indirector.Stops{}) && !strings.Contains(tt.at, "do hold") {
					t.Error("stops are left over")
				}
			})
		})
	}
}

// Every step is stepped through once, and traced.
func TestStepByStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, debugger.Options{}, false)
		h.add(t, "before route")
		done := h.ask(t.Context(), find("node", "web01"))
		var got []string
		for {
			synctest.Wait()
			all := h.Held()
			if len(all) == 0 {
				break
			}
			got = append(got, all[0].State.Point.Step.String())
			time.Sleep(time.Second)
			h.resume(t, all[0].ID, debugger.Step)
		}
		want := "[route authorize validate cache read expiry terminus expiry set cache write filter caller]"
		if fmt.Sprint(got) != want {
			t.Errorf("got %v", got)
		}
		<-done
		tr := h.last(t)
		if len(tr.Spans) != 10 || tr.Spans[0].Kind != traces.Held || tr.Spans[0].Took != time.Second {
			t.Errorf("spans: %+v", tr.Spans)
		}
		if own := tr.Steps[traces.Terminus].Took; own >= time.Second || tr.Took >= time.Second || tr.Held != 10*time.Second {
			t.Errorf("the terminus took %v of %v, held %v", own, tr.Took, tr.Held)
		}
		if tr.Outcome != traces.Good {
			t.Errorf("outcome %v", tr.Outcome)
		}
	})
}

// Who waits for a request that is held takes no longer by that.
func TestHeldNestedRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, debugger.Options{}, true)
		h.add(t, "ind=facts before terminus do hold")
		done := h.ask(t.Context(), find("node", "web01"))
		now := h.one(t)
		time.Sleep(time.Second)
		h.resume(t, now.ID, debugger.Continue)
		<-done
		if err := h.store.Flush(); err != nil {
			t.Fatal(err)
		}
		for id, touched := range map[uint64]bool{now.State.Trace.Parent: false, now.ID: true} {
			tr, err := h.store.Trace(id)
			if err != nil {
				t.Fatal(err)
			}
			if own := tr.Steps[traces.Terminus].Took; own >= time.Second || tr.Took >= time.Second || tr.Held != time.Second {
				t.Errorf("%s: the terminus took %v of %v, held %v", tr.Indirection, own, tr.Took, tr.Held)
			}
			if row, _ := h.store.Row(id); row.Touched != touched {
				t.Errorf("%s: touched is %v", tr.Indirection, row.Touched)
			}
		}
	})
}

// The story of a request names every change, by whom, and what came of them.
func TestStoryOfChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, debugger.Options{}, false)
		h.shelves["node/spare"].has["web02"] = node("web02", "spare")
		h.add(t, "before route do set key=web02")
		h.add(t, "before route do hold")
		h.add(t, "after terminus do hold")
		done := h.ask(t.Context(), find("node", "web01"))
		edit := func(name, value string) {
			now := h.one(t)
			if _, err := h.Edit(now.ID, debugger.Edit{Name: name, Value: value}); err != nil {
				t.Fatal(err)
			}
			h.resume(t, now.ID, debugger.Continue)
		}
		edit("terminus", "spare")
		edit("value", `{"name":"web02","parameters":{"origin":"mine"}}`)
		if got := origin(t, <-done); got != "mine" {
			t.Errorf("got %s", got)
		}
		const want = "breakpoint b1 changed key: web01 -> web02 before route; " +
			"you changed terminus: (none) -> spare before route; you changed value: the answer -> yours after terminus; " +
			"the caller got that instead of what terminus spare had answered"
		if got := traces.Story(h.last(t)); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	})
}

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		at    string
		edits []string
		want  string // the origin of the answer
		plan  string

		touched string
	}{
		{"terminus before the route", "before route", []string{"terminus=spare"}, "spare", "terminus spare would answer", "terminus: (none) -> spare"},
		{"terminus behind the route", "before terminus", []string{"terminus=spare"}, "spare", "terminus spare would answer", "terminus: (none) -> spare"},
		{"key", "before cache-read", []string{"key=gone"}, "error: not found: not-found(gone)", "terminus main has nothing by that name", "key: web01 -> gone"},
		{"cache", "before cache-read", []string{"cache=cache"}, "cached", "cache cache would answer", "cache: (none) -> cache"},
		{"cache and flag", "before cache-read", []string{"cache=cache", "ignore_cache"}, "main", "terminus main would answer", "ignore_cache: false -> true"},
		{"flag", "before terminus", []string{"ignore_terminus=true"}, "error: not found: skipped(ignore_terminus) by you", "nobody would be asked: ignore_terminus", ""},
		{"back again", "before terminus", []string{"ignore_terminus=true", "ignore_terminus=false"}, "main", "terminus main would answer", ""},
		{"value", "after terminus", []string{`value={"name":"web01","parameters":{"origin":"mine"}}`}, "mine", "terminus main would answer", ""},
		{"value for the caller", "before caller", []string{`value={"name":"web01","parameters":{"origin":"mine"}}`}, "mine", "terminus main would answer", ""},
		{"unknown terminus", "before terminus", []string{"terminus=absent"}, "error: Could not find terminus absent for indirection node", "Could not find terminus absent for indirection node", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newFixture(t, debugger.Options{}, false)
				h.shelves["node/cache"].has["web01"] = node("web01", "cached")
				h.add(t, tt.at+" do hold")
				done := h.ask(t.Context(), find("node", "web01"))
				now := h.one(t)
				for _, text := range tt.edits {
					e, err := debugger.ParseEdit(text)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := h.Edit(now.ID, e); err != nil {
						t.Fatal(err)
					}
				}
				if f, err := h.Debugger.Plan(t.Context(), now.ID); err != nil || f.Why != tt.plan {
					t.Errorf("plan: %q, %v, want %q", f.Why, err, tt.plan)
				}
				h.resume(t, now.ID, debugger.Continue)
				if got := origin(t, <-done); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if touched := strings.Join(h.last(t).Touched, "\n"); !strings.Contains(touched, tt.touched) {
					t.Errorf("touched: %q", touched)
				}
			})
		})
	}
}

func TestEditIsLimitedToStepsToCome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ at, edit, want string }{
		{"after terminus", "terminus=spare", "edit terminus: the terminus step is done"},
		{"after cache-read", "ignore_cache", "edit ignore_cache: the cache read step is done"},
		{"after terminus", "key=b", "edit key: the terminus step is done"},
		{"before caller", "ignore_cache_save", "edit ignore_cache_save: no step is left that would look at it"},
		{"before terminus", "value={}", "edit value: nobody has answered yet; inject an answer instead"},
		{"before terminus", "key=", "edit key: a request has a key"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newFixture(t, debugger.Options{}, false)
			h.add(t, tt.at+" do hold")
			done := h.ask(t.Context(), find("node", "web01"))
			now := h.one(t)
			e, err := debugger.ParseEdit(tt.edit)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Edit(now.ID, e); err == nil || err.Error() != tt.want {
				t.Errorf("%s, %s: got %v, want %s", tt.at, tt.edit, err, tt.want)
			}
			if why := now.Disabled(e.Name); tt.edit != "key=" && !strings.HasSuffix(tt.want, why) {
				t.Errorf("%s, %s: can: %q", tt.at, tt.edit, why)
			}
			h.resume(t, now.ID, debugger.Continue)
			<-done
		})
	}
}

func TestAsItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, debugger.Options{}, false)
		h.add(t, "before route do hold")
		done := h.ask(t.Context(), find("node", "web01"))
		now := h.one(t)
		for _, e := range []debugger.Edit{{Name: "key", Value: "x"}, {Name: "opt.a", Value: "1"}, {Name: "env", Value: "qa"}} {
			if got, err := h.Edit(now.ID, e); err != nil || len(got.Changes) == 0 {
				t.Fatalf("%v: %v, %v", e, got.Changes, err)
			}
		}
		if got, err := h.AsItWas(now.ID); err != nil || len(got.Changes) != 0 || got.Request.Key != "web01" {
			t.Errorf("got %v, %v", got, err)
		}
		h.resume(t, now.ID, debugger.Continue)
		if got := origin(t, <-done); got != "main" {
			t.Errorf("got %s", got)
		}
	})
}

// A held request goes on by itself, and an edit begins the hold anew.
func TestHoldLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, debugger.Options{HoldLimit: time.Minute}, false)
		h.add(t, "do hold")
		began := time.Now()
		done := h.ask(t.Context(), find("node", "web01"))
		now := h.one(t)
		if now.Until.Sub(now.Since) != time.Minute {
			t.Errorf("until %v", now.Until)
		}
		time.Sleep(50 * time.Second)
		if _, err := h.Edit(now.ID, debugger.Edit{Name: "env", Value: "qa"}); err != nil {
			t.Fatal(err)
		}
		if a := <-done; a.err != nil || time.Since(began) != 110*time.Second {
			t.Errorf("after %v: %v", time.Since(began), a.err)
		}
		tr := h.last(t)
		const touched = `["you changed env: production -> qa before terminus" "it went on by itself after 1m0s"]`
		if got := fmt.Sprintf("%q", tr.Touched); got != touched || tr.Environment != "qa" {
			t.Errorf("got %s, environment %q", got, tr.Environment)
		}
		if err := h.Resume(now.ID, debugger.Step); !errors.Is(err, debugger.ErrGone) {
			t.Errorf("resume: %v", err)
		}
	})
}

func TestCallerGoesAway(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*fixture, uint64, context.CancelFunc) string{
		"cancel": func(_ *fixture, _ uint64, cancel context.CancelFunc) string { cancel(); return "context canceled" },
		"abort": func(h *fixture, id uint64, _ context.CancelFunc) string {
			_ = h.Abort(id)
			return "aborted by you"
		},
		"fail all": func(h *fixture, _ uint64, _ context.CancelFunc) string { h.FailAll("closing"); return "closing" },
		"deadline": func(*fixture, uint64, context.CancelFunc) string {
			time.Sleep(time.Minute)
			return "context deadline exceeded"
		},
		"close": func(h *fixture, _ uint64, _ context.CancelFunc) string { h.Debugger.Close(); return "" },
		"off":   func(h *fixture, _ uint64, _ context.CancelFunc) string { h.SetOff(true); return "" },
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newFixture(t, debugger.Options{HoldLimit: -1}, false)
			h.add(t, "do hold")
			ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
			defer cancel()
			done := h.ask(ctx, find("node", "web01"))
			now := h.one(t)
			if now.Why != "the caller's deadline" || now.Caller.Sub(now.Since) != 45*time.Second || !now.Until.IsZero() {
				t.Errorf("%s: held %+v", name, now)
			}
			want := end(h, now.ID, cancel)
			if got := indirector.Message((<-done).err); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
			if len(h.Held()) != 0 || h.store.Stats().Held != 0 {
				t.Errorf("%s: still held", name)
			}
		})
	}
}

// Each DO where it makes sense: what the caller gets, the trace and the store.
func TestActions(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/mine.yaml"
	if err := os.WriteFile(file, []byte("--- !ruby/object:Puppet::Node\nname: web01\nparameters:\n  origin: file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		do       string
		want     string // the origin of the answer
		out      traces.Outcome
		step     traces.Step
		answered string // the step's answer and reason
		asked    string // what main, then the cache, were asked
	}{
		{"before terminus do nil", "error: not found: you(b1 answered)", traces.Sim, traces.Terminus, "nil you(b1 answered)", "| find web01"},
		{"before terminus do fail 'connection refused'", "error: connection refused", traces.Err, traces.Terminus, "raised you(b1 let it fail)", "| find web01"},
		{"before terminus do fail 503", "error: Error 503 on SERVER: Service Unavailable", traces.Err, traces.Terminus, "raised you(b1 let it fail)", "| find web01"},
		{"before terminus do fail 404", "error: not found: nil-from-404(injected)", traces.NilHidden, traces.Terminus, "nil nil-from-404(injected)", "| find web01"},
		{"after terminus do fail", "error: injected failure", traces.Err, traces.Terminus, "raised you(b1 let it fail)", "find web01| find web01"},
		{`before terminus do value {"name":"web01","parameters":{"origin":"mine"}}`, "mine", traces.Sim, traces.Terminus, "ok you(b1 answered)", "| find web01"},
		{"before terminus do value '@" + file + "'", "file", traces.Sim, traces.CacheWrite, "not asked you(what is injected is not stored)", "| find web01"},
		{`after terminus do value {"name":"web01"}`, "", traces.Sim, traces.Terminus, "ok you(b1 answered)", "find web01| find web01"},
		{"before terminus do skip", "error: not found: you(b1 left it out)", traces.Nil, traces.Terminus, "not asked you(b1 left it out)", "| find web01"},
		{"before cache-read do skip", "main", traces.Good, traces.CacheRead, "not asked you(b1 left it out)", "find web01| save web01"},
		{"before cache-write do skip", "main", traces.Good, traces.CacheWrite, "not asked you(b1 left it out)", "find web01| find web01"},
		{"before cache-read do fail 'broken'", "main", traces.ErrHidden, traces.CacheRead, "swallowed you(b1 let it fail)", "find web01| save web01"},
		{"after cache-read do fail", "main", traces.ErrHidden, traces.CacheRead, "swallowed you(b1 let it fail)", "find web01| find web01 save web01"},
		{"before cache-read do nil", "main", traces.Good, traces.CacheRead, "miss you(b1 answered)", "find web01| save web01"},
		{`before cache-read do value {"name":"web01","parameters":{"origin":"mine"}}`, "mine", traces.Sim, traces.Terminus, "not asked you", "|"},
		{"before cache-write do fail 'disk full'", "error: disk full", traces.Err, traces.CacheWrite, "raised you(b1 let it fail)", "find web01| find web01"},
		{"before authorize do fail 403 Forbidden", "error: Error 403 on SERVER: Forbidden", traces.Err, traces.Authorize, "raised you(b1 let it fail)", "|"},
		{"before authorize do skip", "main", traces.Good, traces.Authorize, "allowed you(b1 left it out)", "find web01| find web01 save web01"},
		{"before validate do skip", "main", traces.Good, traces.Validate, "ok you(b1 left it out)", "find web01| find web01 save web01"},
		{"before expiry do skip", "main", traces.Good, traces.Expiry, "not asked you(b1 left it out)", "find web01| find web01 save web01"},
		{"before route do fail no", "error: no", traces.Err, traces.Route, "raised you(b1 let it fail)", "|"},
		{"before caller do fail no", "error: no", traces.Err, traces.Terminus, "ok returned", "find web01| find web01 save web01"},
		{"before caller do nil", "error: not found: returned", traces.Sim, traces.Terminus, "ok returned", "find web01| find web01 save web01"},
		{"after terminus do truncate 5", "error: Could not intern from json: ", traces.Err, traces.Terminus, "raised you(b1 let it fail)", "find web01| find web01"},
		{"after terminus do truncate 12 yaml", "error: Could not intern from yaml: ", traces.Err, traces.Terminus, "raised you(b1 let it fail)", "find web01| find web01"},
		{"after terminus do corrupt 3", "error: Could not intern from json: ", traces.Err, traces.Terminus, "raised you(b1 let it fail)", "find web01| find web01"},
		{"before route do set terminus=spare cache=off", "spare", traces.Good, traces.Terminus, "ok returned", "|"},
		{"before terminus do set terminus=spare", "spare", traces.Good, traces.Terminus, "ok returned", "| find web01 save web01"},
		{"before route do set ignore_cache", "main", traces.Good, traces.CacheRead, "not asked ignored-by-caller(you)", "find web01| save web01"},
		{"before terminus do log key,out", "main", traces.Good, traces.Terminus, "ok returned", "find web01| find web01 save web01"},
		{"before terminus do delay 2s", "main", traces.Good, traces.Terminus, "ok returned", "find web01| find web01 save web01"},
	} {
		t.Run(tt.do, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newFixture(t, debugger.Options{}, false)
				if err := h.Assign("node", indirector.SlotCache, traces.Choice{Terminus: "cache", Kind: traces.FromYou}); err != nil {
					t.Fatal(err)
				}
				h.add(t, tt.do)
				began := time.Now()
				got := origin(t, <-h.ask(t.Context(), find("node", "web01")))
				if got != tt.want && !(strings.HasSuffix(tt.want, ": ") && strings.HasPrefix(got, tt.want)) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				tr := h.last(t)
				q := tr.Steps[tt.step]
				if answered := q.Answer.String() + " " + q.Because.String(); answered != tt.answered {
					t.Errorf("%s says %q, want %q", tt.step, answered, tt.answered)
				}
				if tr.Outcome != tt.out {
					t.Errorf("outcome %v, want %v", tr.Outcome, tt.out)
				}
				asked := strings.Join(h.shelves["node/main"].log(), " ") + "| " + strings.Join(h.shelves["node/cache"].log(), " ")
				if strings.TrimSpace(asked) != strings.TrimSpace(tt.asked) {
					t.Errorf("asked %q, want %q", asked, tt.asked)
				}
				if strings.Contains(tt.do, "delay") {
					if time.Since(began) != 2*time.Second || tr.Steps[traces.Terminus].Took >= time.Second {
						t.Errorf("took %v, the terminus %v", time.Since(began), tr.Steps[traces.Terminus].Took)
					}
				}
				if info := h.Breaks()[0]; info.Hits != 1 {
					t.Errorf("%d hits", info.Hits)
				}
				if len(tr.Spans) == 0 {
					t.Error("the trace does not say that it was touched")
				}
			})
		})
	}
}

// Verbs other than find are answered and failed in their own way.
func TestActionsOnVerbs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		req  indirector.Request
		do   string
		want string
		out  traces.Outcome
	}{
		{indirector.Request{Verb: indirector.Head}, "do value false", "false", traces.Sim},
		{indirector.Request{Verb: indirector.Head}, "do nil", "false", traces.Sim},
		{indirector.Request{Verb: indirector.Search}, `do value [{"name":"a"},{"name":"b"}]`, "2", traces.Sim},
		{indirector.Request{Verb: indirector.Search}, "do nil", "error: not found: you(b1 answered)", traces.Sim},
		{indirector.Request{Verb: indirector.Search}, "do truncate 2", "error: Could not intern_multiple", traces.Err},
		{indirector.Request{Verb: indirector.Save, Instance: node("web01", "new")}, "do nil", "<nil>", traces.Sim},
		{indirector.Request{Verb: indirector.Save, Instance: node("web01", "new")}, "do fail no", "error: no", traces.Err},
		{indirector.Request{Verb: indirector.Save, Instance: node("web01", "new")}, "before validate do skip", "0", traces.Good},
		{indirector.Request{Verb: indirector.Destroy}, "do nil", "<nil>", traces.Sim},
		{indirector.Request{Verb: indirector.Destroy}, "after terminus do fail no", "error: no", traces.Err},
	} {
		t.Run(tt.req.Verb.String()+" "+tt.do, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, debugger.Options{}, false)
			h.add(t, tt.do)
			tt.req.Indirection, tt.req.Key = "node", "web01"
			a := <-h.ask(t.Context(), tt.req)
			got := "error: " + indirector.Message(a.err)
			if a.err == nil {
				got = fmt.Sprint(a.resp.Value)
				if list, ok := a.resp.Value.([]indirector.Instance); ok {
					got = fmt.Sprint(len(list))
				}
			}
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if o := h.last(t).Outcome; o != tt.out {
				t.Errorf("outcome %v, want %v", o, tt.out)
			}
		})
	}
}

// Contents are damaged as they are read, and not before.
func TestDamagedContents(t *testing.T) {
	t.Parallel()
	for do, want := range map[string]string{
		"truncate 4":   "abcd+unexpected EOF",
		"truncate 50%": "abcde+unexpected EOF",
		"truncate 0":   "+unexpected EOF",
		"corrupt 1":    "abcde3ghij",
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, debugger.Options{}, false)
			h.shelves["node/main"].has["f"] = &model.FileContent{Path: "f", Contents: model.Bytes("abcdefghij")}
			h.add(t, "after terminus do "+do)
			a := <-h.ask(t.Context(), find("node", "f"))
			if a.err != nil {
				t.Fatal(a.err)
			}
			r, err := a.resp.Value.(*model.FileContent).Contents.Open()
			if err != nil {
				t.Fatal(err)
			}
			got, err := readAll(r)
			if err != nil {
				got += "+" + err.Error()
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// What is injected into a held request.
func TestInject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ do, want, story string }{
		{"fail 500 boom", "error: Error 500 on SERVER: boom", "you let it fail (Error 500 on SERVER: boom) before terminus; the caller got that error"},
		{"nil", "error: not found: you answered", "you answered nothing before terminus; the caller got that, and terminus main was not asked"},
		{
			`value {"name":"web01","parameters":{"origin":"mine"}}`, "mine",
			"you gave an answer before terminus; the caller got that, and terminus main was not asked",
		},
		{"truncate 3", "error: Could not intern from json", "you cut the answer off after terminus; the caller got that error"},
		{"delay 3s", "main", "you delayed it by 3s before terminus; terminus main answered"},
		{"skip", "error: not found: you left it out", "you left the step out before terminus; terminus main has nothing by that name"},
		{"set terminus=spare", "spare", "you changed terminus: (none) -> spare before terminus; terminus spare answered"},
	} {
		t.Run(tt.do, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newFixture(t, debugger.Options{}, false)
				h.add(t, "do hold")
				done := h.ask(t.Context(), find("node", "web01"))
				now := h.one(t)
				a, err := debugger.ParseAction(tt.do)
				if err != nil {
					t.Fatal(err)
				}
				if err := h.Inject(now.ID, a, debugger.Continue); err != nil {
					t.Fatal(err)
				}
				if got := origin(t, <-done); !strings.HasPrefix(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if got := traces.Story(h.last(t)); got != tt.story {
					t.Errorf("got the story %q\nwant %q", got, tt.story)
				}
				if n := len(h.Breaks()); n != 1 {
					t.Errorf("%d breakpoints are left", n)
				}
			})
		})
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	writes := false
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, debugger.Options{Writes: func() bool { return writes }}, false)
		for _, do := range []string{`do value {"name":"a"}`, "do truncate", "do corrupt", `after terminus do set value={"name":"a"}`} {
			b, err := debugger.Parse(do)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Add(b); !errors.Is(err, debugger.ErrReadOnly) {
				t.Errorf("%s: %v", do, err)
			}
		}
		h.add(t, "after terminus do hold")
		done := h.ask(t.Context(), find("node", "web01"))
		now := h.one(t)
		if _, err := h.Edit(now.ID, debugger.Edit{Name: "value", Value: "{}"}); !errors.Is(err, debugger.ErrReadOnly) {
			t.Errorf("edit: %v", err)
		}
		if err := h.Inject(now.ID, debugger.Action{Do: debugger.Value, Text: "{}"}, debugger.Continue); !errors.Is(err, debugger.ErrReadOnly) {
			t.Errorf("inject: %v", err)
		}
		h.resume(t, now.ID, debugger.Continue)
		<-done
		// What was armed does nothing any longer when writing is forbidden.
		writes = true
		h.add(t, `do value {"name":"web01","parameters":{"origin":"mine"}}`)
		writes = false
		done = h.ask(t.Context(), find("node", "web01"))
		h.resume(t, h.one(t).ID, debugger.Continue)
		if got := origin(t, <-done); got != "main" {
			t.Errorf("got %s", got)
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ limit, want string }{
		{"", "xxxxxxxx"},
		{"once", "x......."},
		{"first 3", "xxx....."},
		{"every 3", "..x..x.."},
		{"50%", "x.x.x.x."},
		{"every 2 first 2", ".x.x...."},
	} {
		n := 0
		h := newFixture(t, debugger.Options{Rand: func() float64 { n++; return float64((n+1)%2) * 0.9 }}, false)
		id := h.add(t, "ind=node do fail no "+tt.limit)
		round := func() string {
			got := ""
			for range 8 {
				if a := <-h.ask(t.Context(), find("node", "web01")); a.err != nil {
					got += "x"
				} else {
					got += "."
				}
			}
			return got
		}
		if got := round(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.limit, got, tt.want)
		}
		if tt.limit == "once" { // armed again it is meant once more
			if info := h.Breaks()[0]; info.On {
				t.Error("once: still armed")
			}
			if err := h.Arm(id, true); err != nil {
				t.Fatal(err)
			}
			if got := round(); got != tt.want {
				t.Errorf("again: got %s", got)
			}
		}
	}
}

// WHEN sees what is known at WHERE.
func TestWhen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		when string
		hits uint64
	}{
		{"ind=node out=nil after terminus", 1},
		{"ind=node out=ok after terminus", 1},
		{"ind=node out=err before caller", 1},
		{"out=nil before caller", 1},
		{`err~"bad luck" after terminus`, 1},
		{"terminus=main before route", 0},
		{"terminus=main after route", 3},
		{"web01 before terminus", 1},
		{"took<1h after terminus", 3},
		{"step.terminus.answer=nil before filter", 1},
		{"opt.a=1 before route", 1},
		{`"before" before route`, 0},
	} {
		h := newFixture(t, debugger.Options{}, false)
		h.add(t, tt.when+" do log")
		h.shelves["node/main"].has["web01"] = node("web01", "main")
		req := find("node", "web01")
		req.Options = []indirector.Option{{Name: "a", Value: "1"}}
		<-h.ask(t.Context(), req)
		<-h.ask(t.Context(), find("node", "gone"))
		h.shelves["node/main"].fails = errors.New("bad luck")
		<-h.ask(t.Context(), find("node", "x"))
		if info := h.Breaks()[0]; info.Hits != tt.hits {
			t.Errorf("%s: %d hits, want %d", tt.when, info.Hits, tt.hits)
		}
		if lines := h.Lines(); uint64(len(lines)) != tt.hits {
			t.Errorf("%s: logged %d lines", tt.when, len(lines))
		}
	}
}

// Limits count from when a breakpoint was armed.
func TestLimitsCountAnew(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, do string
		between  func(*testing.T, *fixture)
		want     string // of six requests, after the third of which something is done
		count    string // after all
	}{
		{"nothing", "first 2", func(*testing.T, *fixture) {}, "xx----", "2 of 2, spent"},
		{"once armed again", "once", func(t *testing.T, h *fixture) { arm(t, h, true) }, "x--x--", "1 of 1, spent"},
		{"off and on", "every 2", func(t *testing.T, h *fixture) { arm(t, h, false); arm(t, h, true) }, "-x--x-", "1, matched 3, next at 4"},
		{"all off and on", "every 2", func(_ *testing.T, h *fixture) { h.SetOff(true); h.SetOff(false) }, "-x--x-", "1, matched 3, next at 4"},
		{"all on that was on", "every 2", func(_ *testing.T, h *fixture) { h.SetOff(false) }, "-x-x-x", "3, matched 6, next at 8"},
		{"changed", "first 2", func(t *testing.T, h *fixture) {
			if _, err := h.Replace("b1", h.Breaks()[0].Breakpoint); err != nil {
				t.Fatal(err)
			}
		}, "xx-xx-", "2 of 2, spent"},
		{"removed and made", "every 3", func(t *testing.T, h *fixture) {
			b := h.Breaks()[0]
			if err := h.Remove(b.ID); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Add(b.Breakpoint); err != nil {
				t.Fatal(err)
			}
		}, "--x--x", "1, matched 3, next at 6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, debugger.Options{}, false)
			h.add(t, "ind=node do fail broken "+tt.do)
			got := ""
			for i := range 6 {
				if i == 3 {
					tt.between(t, h)
				}
				if (<-h.ask(t.Context(), find("node", "web01"))).err != nil && h.last(t).Error == "broken" {
					got += "x"
				} else {
					got += "-"
				}
			}
			info := h.Breaks()[0]
			if got != tt.want || info.Count() != tt.count {
				t.Errorf("got %s, %s; want %s, %s", got, info.Count(), tt.want, tt.count)
			}
		})
	}
}

func arm(t *testing.T, h *fixture, on bool) {
	t.Helper()
	if err := h.Arm("b1", on); err != nil {
		t.Fatal(err)
	}
}

func TestLogWrites(t *testing.T) {
	t.Parallel()
	h := newFixture(t, debugger.Options{Redact: func(s string) string { return strings.ReplaceAll(s, "web01", "***") }}, false)
	h.add(t, "after terminus do log key,out,served,opt.none")
	<-h.ask(t.Context(), find("node", "web01"))
	if got := h.Lines()[0]; got.Text != `key=*** out=ok served=terminus opt.none=""` || got.By != "b1" || got.Request != 1 {
		t.Errorf("got %+v", got)
	}
}

// A thousand requests are held, and others go by; those beyond the limit pass.
func TestThousandHeld(t *testing.T) {
	t.Parallel()
	h := newFixture(t, debugger.Options{HoldLimit: -1}, false)
	h.add(t, "ind=node do hold")
	var waiting []<-chan answer
	for range 1100 {
		waiting = append(waiting, h.ask(t.Context(), find("node", "web01")))
	}
	for s := h.store.Stats(); s.Held < 1000 || s.Total-s.Running < 100; s = h.store.Stats() {
		<-h.store.Changed()
	}
	began := time.Now()
	for range 1000 {
		if a := <-h.ask(t.Context(), find("facts", "web01")); a.err != nil {
			t.Fatal(a.err)
		}
	}
	t.Logf("1000 requests beside 1000 held ones: %v", time.Since(began))
	all := h.Held()
	for i := 1; i < len(all); i++ {
		if all[i].Since.Before(all[i-1].Since) {
			t.Fatal("not in order")
		}
	}
	if n := h.store.Stats().Held; n != 1000 {
		t.Errorf("the store counts %d", n)
	}
	if n := h.ContinueAll(); n != 1000 {
		t.Errorf("%d let go", n)
	}
	for _, w := range waiting {
		if a := <-w; a.err != nil {
			t.Fatal(a.err)
		}
	}
}

func TestHoldNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, debugger.Options{}, false)
		id := h.add(t, "before route do delay 10s")
		done := h.ask(t.Context(), find("node", "web01"))
		synctest.Wait()
		h.HoldNext(1)
		if err := h.Remove(id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		now := h.one(t)
		if place(now) != "node before route" {
			t.Errorf("held %s", place(now))
		}
		h.resume(t, now.ID, debugger.Continue)
		<-done
	})
}

// Breakpoints come back disarmed, those that cannot be read are reported and
// kept.
func TestFile(t *testing.T) {
	t.Parallel()
	o := debugger.Options{Dir: t.TempDir(), Project: "/etc/puppetlabs/puppet"}
	h := newFixture(t, o, false)
	h.add(t, `ind=catalog key=db07* before cache-read do hold`)
	id := h.add(t, "do fail 503 every 2 30%")
	if err := h.Arm(id, false); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(o.Dir)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	path := o.Dir + "/" + files[0].Name()
	text, err := os.ReadFile(path)
	want := "# breakpoints of /etc/puppetlabs/puppet, as written behind the colon; they come back disarmed\n" +
		"break ind=catalog key=db07* before cache-read do hold\nbreak before terminus do fail 503 every 2 30%\n"
	if err != nil || string(text) != want {
		t.Errorf("%v: %s", err, text)
	}
	if err := os.WriteFile(path, append(text, "break ind=(\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := debugger.New(o)
	if err == nil || !strings.Contains(err.Error(), ".txt:4: ") {
		t.Errorf("got %v", err)
	}
	all := again.Breaks()
	if len(all) != 2 || all[0].On || !all[0].Restored || all[1].String() != "before terminus do fail 503 every 2 30%" {
		t.Errorf("got %+v", all)
	}
	if err := again.Remove("b1"); err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(path); err != nil || !strings.HasSuffix(string(text), "30%\nbreak ind=(\n") {
		t.Errorf("%v: %s", err, text)
	}
	if other, err := debugger.New(debugger.Options{Dir: o.Dir, Project: "/home/puppet"}); err != nil || len(other.Breaks()) != 0 {
		t.Error("another project has the same breakpoints")
	}
}
