package hold_test

import (
	"context"
	"encoding/json"
	"testing"

	"indirtui/indirector/debugger"
	"indirtui/indirector/probe"
	"indirtui/indirector/probe/hold"
	"indirtui/traces"
)

// FuzzHeld lets breakpoints look at, change and answer what a process has written; what
// goes back is a line.
func FuzzHeld(f *testing.F) {
	f.Add(uint8(1), uint8(5), heldLine("terminus", `,"done":true,"answer":{"model":"facts","text":"{\"name\":\"web01\",\"values\":{}}"}`))
	f.Add(uint8(2), uint8(5), `{"held":1,"done":true,"answer":{"model":"node","text":"[{\"name\":1}]"},"error":{"class":"E","message":"x"}}`)
	f.Add(uint8(4), uint8(5), `{"held":1,"answer":{"text":"{\"host\":\"a\"}"},"behind":[["runtimeout",-5]],"flags":["ignore_cache","x"]}`)
	f.Fuzz(func(t *testing.T, verb, step uint8, line string) {
		var h probe.Held
		if json.Unmarshal([]byte(line), &h) != nil {
			return
		}
		d, err := debugger.New(debugger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := traces.Step(step % traces.StepCount)
		h.Step = at.String()
		for _, do := range []string{"log", "set key=b opt.a=1 ignore_cache=true", "truncate 3", "corrupt 2", "value {}", "nil", "fail x", "skip"} {
			for _, where := range []string{" before ", " after "} {
				b, err := debugger.Parse("out!=held" + where + (debugger.Where{Step: at}).String()[len("before "):] + " do " + do)
				if err == nil {
					_, err = d.Add(b)
				}
				_ = err // not all are possible everywhere
			}
		}
		h.Process.Can = []string{"hold", "edit.key", "edit.flags", "edit.env", "edit.options", "value", "fail", "swap"}
		h.Trace = &traces.Trace{ID: 1, Verb: traces.Verb(verb%6) + 1, Indirection: "facts", Key: "a"}
		holder := hold.New(d, nil)
		out := holder.Held(context.Background(), &h)
		if _, err := json.Marshal(out); err != nil {
			t.Fatal(err)
		}
		holder.Ended(&traces.Trace{ID: 1})
	})
}
