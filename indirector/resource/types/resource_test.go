package types_test

import (
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// notify makes a resource of type notify with one attribute, or none.
func notify(t *testing.T, pairs ...data.Pair) (*types.Resource, error) {
	t.Helper()
	return types.New(types.All()["notify"], debian{}, types.Given{Title: "t", File: "/site.pp", Line: 3, Values: pairs}, nil)
}

// TestWhere: errors name the place of the resource.
func TestWhere(t *testing.T) {
	t.Parallel()
	_, err := notify(t, data.P("withpath", data.OfString("x")))
	const want = `Parameter withpath failed on Notify[t]: Invalid value "x". Valid values are true, false. (file: /site.pp, line: 3)`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestDeferred: a deferred value is neither validated nor munged until it is resolved.
func TestDeferred(t *testing.T) {
	t.Parallel()
	call := data.OfHash([]data.Pair{data.P("__ptype", data.OfString("Deferred")), data.P("name", data.OfString("f"))})
	r, err := notify(t, data.P("withpath", call))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Deferred(); len(got) != 1 || got[0] != "withpath" {
		t.Fatalf("deferred: %v", got)
	}
	if err := r.Set("withpath", data.OfString("x")); err == nil {
		t.Error("a resolved value is not validated")
	}
	if err := r.Set("withpath", data.OfBool(true)); err != nil || len(r.Deferred()) != 0 {
		t.Errorf("%v, deferred: %v", err, r.Deferred())
	}
}

// TestLogs: what Puppet logs in its own name is apart from what a resource logs.
func TestLogs(t *testing.T) {
	t.Parallel()
	var own, puppet []string
	_, err := types.New(types.All()["file"], debian{}, types.Given{
		Title: "/x", File: "/site.pp", Line: 3,
		Values:    []data.Pair{data.P("source_permissions", data.OfString("use")), data.P("recurselimit", data.OfInt(1))},
		LogPuppet: func(_, message string) { puppet = append(puppet, message) },
	}, func(level, message string) {
		if level == "warning" {
			own = append(own, message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(own) != 1 || own[0] != "Possible error: recurselimit is set but not recurse, no recursion will happen" {
		t.Errorf("the resource logged %q", own)
	}
	const want = "The `source_permissions` parameter is deprecated. Explicitly set `owner`, `group`, and `mode`.\n   (file: /site.pp, line: 3)"
	if len(puppet) != 1 || puppet[0] != want {
		t.Errorf("Puppet logged %q", puppet)
	}
}

// TestTry: values are refused as they would be if they were set, each and together, and
// the resource stays as it is.
func TestTry(t *testing.T) {
	t.Parallel()
	text := func(name, v string) data.Pair { return data.P(name, data.OfString(v)) }
	r, err := types.New(types.All()["file"], debian{}, types.Given{Title: "/x", Values: []data.Pair{text("mode", "0644"), text("content", "x")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, want string
		values     []data.Pair
	}{
		{"good", "", []data.Pair{text("mode", "0600"), text("owner", "root")}},
		{"wrong", `Parameter mode failed on File[/x]: The file mode specification is invalid: "rw"`, []data.Pair{text("owner", "root"), text("mode", "rw")}},
		{"unknown", "no parameter named 'size'", []data.Pair{text("size", "1")}},
		{"not together", "Validation of File[/x] failed: You cannot specify more than one of content, source, target", []data.Pair{text("target", "/y")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := r.Try(tt.values); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if mode := r.Value("mode").Text(); mode != "644" && mode != "0644" || r.Managed("owner") || r.Has("target") {
				t.Errorf("it has become %v: %s", r.Names(), mode)
			}
		})
	}
	if err := r.Set("source", data.OfString("/y")); err != nil || r.Validate() == nil {
		t.Fatalf("it is valid, or %v", err)
	}
	if err := r.Try([]data.Pair{text("mode", "0600")}); err != nil {
		t.Errorf("got %v", err)
	}
}
