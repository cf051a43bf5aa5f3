package traces_test

import (
	"testing"

	"indirtui/traces"
)

func TestDecision(t *testing.T) {
	t.Parallel()
	byDefault := traces.Choice{Terminus: "yaml", Kind: traces.FromDeclaration, Source: "default in code"}
	application := traces.Choice{Terminus: "rest", Kind: traces.FromApplication, Source: "application agent"}
	for _, tt := range []struct {
		slot traces.Slot
		want string
	}{
		{nil, ""},
		{traces.Slot{{Kind: traces.FromSetting}}, ""},
		{traces.Slot{byDefault}, "the default in code chose yaml"},
		{traces.Slot{{Terminus: "upstream", Kind: traces.FromRoutesFile, Source: "routes.yaml:8"}, application, byDefault}, "routes.yaml:8 chose upstream; it overruled rest (application agent)"},
		{traces.Slot{{Terminus: "exec", Kind: traces.FromRoutesFile, Source: "routes.yaml:8", Why: "section server"}, application, byDefault}, "application agent chose rest; it overruled yaml (the default in code)"},
		{traces.Slot{{Terminus: "rest", Kind: traces.FromSetting, Source: "setting catalog_terminus, puppet.conf:2"}, application}, "setting catalog_terminus, puppet.conf:2 chose rest"},
		{traces.Slot{{Terminus: "yml", Kind: traces.FromFace, Source: "node find --terminus yml"}, byDefault}, "`puppet node find --terminus yml` chose yml; it overruled yaml (the default in code)"},
		{traces.Slot{{Terminus: "json", Kind: traces.FromRequest, Source: "request"}}, "this request chose json"},
		{traces.Slot{{Terminus: "json", Kind: traces.FromYou}}, "you chose json"},
	} {
		if got := tt.slot.Decision(); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}
