package rich_test

import (
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/rich"
)

// References may repeat a value, but not more often than memory holds.
func TestReferencesAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"a0":[1,1,1,1,1,1,1,1]`)
	for _, names := range []string{"01", "12", "23", "34", "45", "56", "67", "78"} {
		ref := `{"__ptype":"LocalRef","__pvalue":"$['a` + names[:1] + `']"}`
		b.WriteString(`,"a` + names[1:] + `":[` + strings.TrimSuffix(strings.Repeat(ref+",", 8), ",") + `]`)
	}
	v, err := format.DecodeJSON([]byte(b.String()+"}"), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := rich.Read(v); err == nil || !strings.Contains(err.Error(), "the references stand for more than") {
		t.Errorf("got error %v", err)
	}
}

// What has no rich data is returned as it is.
func TestPlain(t *testing.T) { // not parallel: it counts allocations
	v := data.OfHash([]data.Pair{data.P("a", data.OfList([]data.Value{data.OfString("__ptype")}))})
	if allocs := testing.AllocsPerRun(10, func() { _, _, _ = rich.Read(v) }); allocs > 0 {
		t.Errorf("got %v allocations", allocs)
	}
}
