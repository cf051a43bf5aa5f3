package value_test

import (
	"encoding/json"
	"strings"
	"testing"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/value"
)

func TestPreview(t *testing.T) {
	t.Parallel()
	long := make(map[string]string)
	for i := range 26 * 26 {
		long[string(rune('a'+i/26))+string(rune('a'+i%26))] = "value"
	}
	longJSON, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, format, body string
		size               int
		want, not          string
	}{
		{"data", "json", `{"a":{"b":1}}`, 0, "a:\n  b: 1", "shows the rest"},
		{"text", "text", "one\ntwo\x1b[1m", 0, "one\ntwo\\x1b[1m", "shows the rest"},
		{"no data after all", "json", "nothing {", 0, "nothing {", "shows the rest"},
		{"much", "json", string(longJSON), 0, "v shows the rest", "zz: value"},
		{"much text", "text", "a" + strings.Repeat("€", 8<<10), 0, "v shows the rest", "�"},
		{"too much", "json", "{}", 3 << 20, "3 145 kB.  v shows it", "{}"},
		{"nothing", "", "", 0, "There is no value.", "shows"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			log, err := store.Open(store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := log.Close(); err != nil {
					t.Error(err)
				}
			}()
			tr := &traces.Trace{Verb: traces.Find, Indirection: "facts", Key: "web01"}
			if tt.format != "" {
				tr.Values = &traces.Values{Answer: traces.Value{Model: "Facts", Format: tt.format, Body: []byte(tt.body), Size: max(len(tt.body), tt.size)}}
			}
			got := value.PreviewOf(log, tr).Lines(1 << 16).Text()
			if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
				t.Errorf("got %.300s\nwant %q and no %q", got, tt.want, tt.not)
			}
		})
	}
}
