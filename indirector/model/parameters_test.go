package model_test

import (
	"testing"

	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

// TestParameters is about the names under which parameters are written: as
// Puppet does, whatever they were read under. Rule FMT-CAT-02.
func TestParameters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, resource, want string }{
		{"what repeats the title is left out", `{"type":"File","title":"/a","parameters":{"mode":"0644","path":"/a"}}`, `{"mode":"0644"}`},
		{"the name comes first", `{"type":"File","title":"motd","parameters":{"mode":"0644","path":"/etc/motd"}}`, `{"path":"/etc/motd","mode":"0644"}`},
		{"name is path", `{"type":"File","title":"motd","parameters":{"ensure":"file","name":"/etc/motd"}}`, `{"path":"/etc/motd","ensure":"file"}`},
		{"name is command", `{"type":"Exec","title":"x","parameters":{"cwd":"/","name":"/bin/x"}}`, `{"command":"/bin/x","cwd":"/"}`},
		{"a slash at the end", `{"type":"File","title":"/a/","parameters":{"mode":"0644"}}`, `{"path":"/a","mode":"0644"}`},
		{"the root keeps its slash", `{"type":"File","title":"/","parameters":{"mode":"0644"}}`, `{"mode":"0644"}`},
		{"no capitals", `{"type":"My::Thing","title":"a","parameters":{"Mode":"1","mode":"2"}}`, `{"mode":"2"}`},
		{"the class without a title", `{"type":"Class","title":""}`, `{"name":"main"}`},
		{"a title that is no string", `{"type":"Notify","title":5}`, `{"name":"5"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := format.DecodeJSON([]byte(tt.resource), format.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			class, _ := model.Lookup("resource")
			r, err := class.FromData(v)
			if err != nil {
				t.Fatal(err)
			}
			written, _ := model.ToData(r)
			got, err := format.AppendPSON(nil, written.Get("parameters"))
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}
