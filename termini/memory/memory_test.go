package memory_test

import (
	"errors"
	"fmt"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini/memory"
)

// TestMemory is what the memory family does unlike the others.
func TestMemory(t *testing.T) {
	t.Parallel()
	terminus, err := memory.Facts.New(indirector.Env{Indirection: "facts", Terminus: "memory"})
	if err != nil {
		t.Fatal(err)
	}
	m := terminus.(*memory.Terminus)
	request := func(key string, inst indirector.Instance) *indirector.Request {
		return &indirector.Request{Indirection: "facts", Key: key, Instance: inst}
	}
	kept := map[string]*model.Facts{}
	for _, key := range []string{"web02", "db01", "web01", "web02"} {
		kept[key] = &model.Facts{Name: key}
		if _, err := m.Save(t.Context(), request(key, kept[key])); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := m.Find(t.Context(), request("web02", nil)); err != nil || got != indirector.Instance(kept["web02"]) {
		t.Errorf("find: got %p, %v; want the instance itself, %p", got, err, kept["web02"])
	}
	for key, want := range map[string]string{"web": "web02 web01 ", "": "web02 db01 web01 ", "1": "db01 web01 ", "*": ""} {
		found, err := m.Search(t.Context(), request(key, nil))
		got := ""
		for _, inst := range found {
			got += inst.Key() + " "
		}
		if got != want || err != nil {
			t.Errorf("search %q: got %q, %v; want %q", key, got, err, want)
		}
	}
	if got, err := m.Destroy(t.Context(), request("db01", nil)); err != nil || got != any(kept["db01"]) {
		t.Errorf("destroy: got %v, %v; want what was there", got, err)
	}
	_, err = m.Destroy(t.Context(), request("db01", nil))
	if f := (*indirector.Failure)(nil); !errors.As(err, &f) || fmt.Sprint(f.Class, ": ", f.Message) != "ArgumentError: Could not find db01 to destroy" {
		t.Errorf("destroy again: %v", err)
	}
}
