package cli

import "testing"

// Limits of breakpoints and wrappers count from when they were armed or chosen,
// and the list says how far they are.
func TestLimitsOnTheScreen(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		find := func(want string) {
			tr.t.Helper()
			tr.command("find node web01.example.com", "ms  "+want+"  ")
		}
		tr.command(`break ind=node do fail "no luck" once`, "did :break")
		find("err")
		tr.key("5", "[5 Breaks", "armed 0", "b1 ind=node before terminus do fail 'no luck' once  hits 1 of 1, spent").cursor("b1", "off", "1/1")
		find("ok")
		tr.key("5", "[5 Breaks").key("space", "armed 1", "hits 0 of 1").cursor("on", "0/1")
		find("err")

		tr.command("break b1 ind=node do fail 'no luck' every 2", "did :break b1")
		find("ok")
		tr.key("5", "hits 0, matched 1, next at 2")
		find("err")
		tr.key("5", "hits 1, matched 2, next at 4")
		tr.key("x", "No breakpoints").key("z", "undone", "hits 0, matched 0, next at 2").key("space", "armed 0")

		tr.command("fault node 'no luck' once", "did :route node")
		find("err")
		find("ok")
		tr.command("fault node 'no luck' once", "did :route node")
		tr.key("3", "[3 Routes").to("node").sees("fault: acted 0 of 1 times, asked 0 times")
		find("err")
		tr.key("3", "fault: acted 1 of 1 times, asked 1 times")
		tr.leave()
	})
}
