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

// Ruby's strptime reads as many digits of a day as there are.
func TestDayIsNotCut(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"2000-12-311:2:3 Z":  "2000-12-31T01:02:03.000000000 UTC",
		"2000-12-3 11:2:3 Z": "2000-12-03T11:02:03.000000000 UTC",
		"2000-12-31:2:3 Z":   "",
	} {
		at, err := rich.ParseTimestamp(s)
		if (err == nil) != (want != "") || err == nil && rich.FormatTimestamp(at) != want {
			t.Errorf("%s: got %v, %v, want %q", s, at, err, want)
		}
	}
}

// A type that is made general fails where one of its parts, at any depth, is
// none. The messages are those of Puppet 7.23.
func TestGeneralized(t *testing.T) {
	t.Parallel()
	sensitive := func(s string) string { return `{"x":{"__ptype":"Pcore::SensitiveType","type":` + s + `}}` }
	const plain = `{"element_type":{"__ptype":"Pcore::StringType"},"size_type":{"from":1,"to":0}}`
	const want = "undefined method `generalize' for {\"element_type\"=>" // the rest is how Ruby shows an object
	array := `{"__ptype":"Pcore::ArrayType","element_type":` + plain + `}`
	for name, tt := range map[string]struct{ given, want string }{
		"itself":       {plain, want},
		"of a list":    {array, want},
		"of a struct":  {`{"__ptype":"Pcore::StructType","elements":[{"__ptype":"Pcore::StructElement","key_type":{"__ptype":"Pcore::StringType","size_type_or_value":"a"},"value_type":` + array + `}]}`, want},
		"of a variant": {`{"__ptype":"Pcore::VariantType","types":[{"__ptype":"Pcore::StringType"},` + array + `]}`, want},
		"of a block":   {`{"__ptype":"Pcore::CallableType","param_types":` + array + `}`, want},
		"none":         {`{"__ptype":"Pcore::ArrayType","element_type":{"__ptype":"Pcore::StringType"}}`, ""},
	} {
		v, err := format.DecodeJSON([]byte(sensitive(tt.given)), format.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = rich.Read(v)
		if (err != nil) != (tt.want != "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}
