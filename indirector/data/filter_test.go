package data_test

import (
	"strings"
	"testing"

	"indirtui/indirector/data"
)

// is a filter of one comparison.
func is(name, op string, v data.Value) data.Value {
	return data.OfList([]data.Value{data.OfString(name), data.OfString(op), v})
}

func both(left data.Value, op string, right data.Value) data.Value {
	return data.OfList([]data.Value{left, data.OfString(op), right})
}

func TestFilterText(t *testing.T) {
	t.Parallel()
	web, port := is("tag", "==", data.OfString("web")), is("port", "==", data.OfInt(80))
	for _, tt := range []struct {
		name   string
		filter data.Value
		want   string
	}{
		{"one", web, "tag == 'web'"},
		{"two", both(web, "and", port), "tag == 'web' and port == 80"},
		{"three of a kind", both(both(web, "and", port), "and", web), "tag == 'web' and port == 80 and tag == 'web'"},
		{"mixed", both(both(web, "or", port), "and", is("a", "!=", data.OfBool(true))), "(tag == 'web' or port == 80) and a != true"},
		{"undef", is("a", "==", data.Value{}), "a == undef"},
		{"quotes", is("a", "==", data.OfString(`it's \`)), `a == 'it\'s \\'`},
		{"a long one is cut", is("a", "==", data.OfString(strings.Repeat("x", 300))), "a == '" + strings.Repeat("x", 194) + "…"},
		{"none", data.Value{}, "nil"},
		{"no filter", data.OfList([]data.Value{data.OfInt(1)}), "[1]"},
		{"no operator", both(web, "", port), "[[\"tag\", \"==\", \"web\"], \"\", [\"port\", \"==\", 80]]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := data.FilterText(tt.filter, 200); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
