package cli

import (
	"strings"
	"testing"
)

// A setting that is changed on the screen: who decided is shown wherever a
// source is, what is no good is refused, and z takes it back.
func TestSettingsAreSetOnTheScreen(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		tr.command("set node_terminu=plain", `there is no setting "node_terminu"; did you mean "node_terminus"?`).Not("1 set here")
		tr.command("set runinterval=soon", "Invalid duration format", "runinterval").Not("1 set here")
		tr.command("set node_terminus=plain", "did :set node_terminus=plain   z undo", "1 set here").Not("override")
		tr.key("3", "- Routes ")
		for !strings.Contains(tr.Cursor(), " node ") {
			tr.key("j", "- Routes ")
		}
		tr.cursor("node", "plain").sees("set here by :set")
		tr.key("H", "Routes > node > history", "setting node_terminus, set here by :set  in force")
		tr.key("/", "text on this page")
		tr.Keys(":set node_terminus=plain")
		tr.key("enter", ":set node_terminus=plain: terminus exec -> plain")
		tr.key("esc", "- Routes ")
		tr.command("find node db07.example.com", "1 set here")
		tr.key("1", "- Requests ")
		tr.key("G", "sent by you")
		tr.key("k", "follow off").cursor(" 1048 ", "find node", "db07.example.com", "T plain", "ok")
		tr.key("enter", "#1048 find node db07.example.com")
		tr.key("g", "set here by :set")
		tr.key("esc", "- Requests ")

		// The list of settings: what is set here comes first.
		tr.command("settings", "Settings", "set here", "set somewhere", "1 set here")
		tr.cursor("node_terminus", "plain", "set here by :set")
		tr.golden("settings-list")
		tr.key("u", "did :unset node_terminus").Not("1 set here")
		tr.key("z", "undone :unset node_terminus", "1 set here")
		tr.key("z", "undone :set node_terminus=plain").Not("1 set here")
		tr.key("/", "a part of a name")
		tr.Keys("runinterval")
		tr.key("enter", "Settings").cursor("runinterval", "1800", "puppet.conf:7 [main]")
		tr.key("e", "set runinterval=1800", "now 1800, by puppet.conf:7 [main]")
		tr.Keys("backspace", "backspace", "backspace", "backspace", "2h")
		tr.key("enter", "did :set runinterval=2h", "1 set here").cursor("runinterval", "7200", "set here by :set")
		tr.key("enter", "settings > runinterval", "as written", "2h", "overruled", "30m", "puppet.conf:7 [main]")
		tr.key("esc", "Settings")
		tr.key("esc", "- Requests ")

		// Secrets are redacted everywhere, and are not called back.
		tr.command("set http_proxy_password=hunter2", "did :set", "(masked password, 7 B", "2 set here").Not("hunter2")
		tr.key("~", "Console").sees("(masked password, 7 B").Not("hunter2")
		tr.key("~", "- Requests ")
		tr.key(":", "esc")
		tr.Keys("up")
		tr.Not("hunter2")
		tr.key("esc", "- Requests ")
		tr.command("unset all", "did :unset all").Not("1 set here")
		tr.leave()
	})
}
