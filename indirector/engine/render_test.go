package engine

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/redact"
	"indirtui/traces"
)

const hunter = "hunter2-of-everybody"

// large returns a hash with the pairs and with many more.
func large(pairs ...data.Pair) data.Value {
	for i := range 3 * fewItems {
		pairs = append(pairs, data.P("fact"+strconv.Itoa(i), data.OfString("value "+strconv.Itoa(i))))
	}
	return data.OfHash(pairs)
}

// TestPartsAreAsTheWhole renders each value as often as it takes until its parts
// are known, and compares with what is rendered at once.
func TestPartsAreAsTheWhole(t *testing.T) {
	t.Parallel()
	deep := data.OfString("bottom")
	for range 100 {
		deep = data.OfList([]data.Value{deep})
	}
	secret := data.P("db_password", data.OfString(hunter))
	for name, v := range map[string]data.Value{
		"no hash":           data.OfList([]data.Value{large()}),
		"empty":             data.OfHash(nil),
		"small":             data.OfHash([]data.Pair{data.P("a", data.OfInt(1)), secret}),
		"large first":       data.OfHash([]data.Pair{data.P("values", large(secret)), data.P("name", data.OfString("n1")), secret}),
		"large last":        data.OfHash([]data.Pair{data.P("name", data.OfString("n1")), secret, data.P("values", large(secret))}),
		"large twice":       data.OfHash([]data.Pair{data.P("values", large(secret)), data.P("values", large(secret)), data.P("other", large())}),
		"secret by name":    data.OfHash([]data.Pair{data.P("passwords", large(data.P("a", data.OfString(hunter)))), data.P("values", large())}),
		"secret in name":    data.OfHash([]data.Pair{data.P("https://me:"+hunter+"@host/", large())}),
		"symbols":           data.OfHash([]data.Pair{{Key: data.OfSymbol("values"), Value: large(data.Pair{Key: data.OfSymbol("password"), Value: data.OfSymbol(hunter)})}}),
		"names that govern": data.OfHash([]data.Pair{data.P("parameters", large(data.P("hash", data.OfString(hunter)))), data.P("sensitive_parameters", data.OfStrings([]string{"hash"}))}),
		"sensitive":         data.OfHash([]data.Pair{data.P("__ptype", data.OfString("Sensitive")), data.P("__pvalue", large(data.P("x", data.OfString(hunter))))}),
		"an event":          data.OfHash([]data.Pair{data.P("redacted", data.OfBool(true)), data.P("previous_value", data.OfString(hunter)), data.P("list", large())}),
		"a list":            data.OfHash([]data.Pair{data.P("resources", data.OfList([]data.Value{large(secret), large(), large(), large(), large(), large(), large(), large()}))}),
		"not UTF-8":         data.OfHash([]data.Pair{data.P("values", large(data.P("x", data.OfString("\xff")))), secret}),
		"not UTF-8 outside": data.OfHash([]data.Pair{data.P("values", large(secret)), data.P("x", data.OfString("\xff"))}),
		"no number":         data.OfHash([]data.Pair{data.P("values", large(secret)), data.P("x", data.OfFloat(math.NaN()))}),
		"too deep":          data.OfHash([]data.Pair{data.P("values", large(data.P("x", deep)))}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := redact.New(redact.Rules{})
			r := NewRenderer(m)
			redacted, hidden := m.Value(v)
			want, err := format.AppendJSON(nil, redacted)
			if err != nil {
				want, _ = format.AppendPSON(nil, redacted)
			}
			for i := range 4 {
				got := r.Render("facts", &model.Raw{Value: v})
				if string(got.Content()) != string(want) || got.Redacted != len(hidden) || got.Size != len(want) {
					t.Fatalf("render %d: got %d redacted in %s, want %d in %s", i, got.Redacted, got.Content(), len(hidden), want)
				}
			}
			for _, p := range r.parts {
				if bytes.Contains(p.Text, []byte(hunter)) {
					t.Errorf("kept in the clear: %s", p.Text)
				}
			}
		})
	}
}

// TestPartsBelongToTheirRules renders one instance by two sets of rules.
func TestPartsBelongToTheirRules(t *testing.T) {
	t.Parallel()
	f := &model.Facts{Name: "n1", Values: large(data.P("badge", data.OfString(hunter)))}
	usual, strict := NewRenderer(redact.New(redact.Rules{})), NewRenderer(redact.New(redact.Rules{Names: []string{"badge"}}))
	for range 4 {
		if v := usual.Render("facts", f); v.Redacted != 0 || !bytes.Contains(v.Content(), []byte(hunter)) {
			t.Errorf("without a rule: %s", v.Content())
		}
		if v := strict.Render("facts", f); v.Redacted != 1 || bytes.Contains(v.Content(), []byte(hunter)) {
			t.Errorf("with a rule: %s", v.Content())
		}
	}
}

// TestPartsAreBounded renders more large parts twice than are kept.
func TestPartsAreBounded(t *testing.T) {
	t.Parallel()
	r := NewRenderer(redact.New(redact.Rules{}))
	filler := data.P("filler", data.OfString(strings.Repeat("x", keptParts/20)))
	for i := range 30 {
		f := &model.Facts{Name: "n1", Values: large(data.P("number", data.OfInt(int64(i))), filler)}
		for range 3 {
			r.Render("facts", f)
		}
		var sum int64
		for _, p := range r.parts {
			sum += int64(len(p.Text))
		}
		if got := r.Memory(); got != sum || got > keptParts || len(r.order) != len(r.parts) {
			t.Fatalf("got %d bytes, want the %d of %d parts and at most %d", got, sum, len(r.parts), keptParts)
		}
	}
	r.Render("facts", &model.Facts{Name: "n1", Values: large(data.P("huge", data.OfString(strings.Repeat("x", maxPart))))})
	if len(r.parts) < 15 {
		t.Errorf("got %d parts, want all that have room", len(r.parts))
	}
}

// TestKnownPartsAllocateNothing holds that what is found again is neither
// redacted nor rendered again: there is the body, and what the data hash and its
// expiration take.
func TestKnownPartsAllocateNothing(t *testing.T) {
	r := NewRenderer(redact.New(redact.Rules{}))
	secrets := make([]data.Pair, 100)
	for i := range secrets {
		secrets[i] = data.P("password"+strconv.Itoa(i), data.OfString(hunter))
	}
	f := &model.Facts{Name: "n1", Values: large(secrets...)}
	at := time.Unix(1_700_000_000, 0)
	var v traces.Value
	again := func() {
		at = at.Add(time.Second)
		v = r.Render("facts", f.WithExpiration(at))
	}
	again()
	again()
	const limit = 30 // the secrets would take hundreds; the race detector empties pools at random
	if n := testing.AllocsPerRun(50, again); n > limit {
		t.Errorf("got %v allocations, want at most %d", n, limit)
	}
	if v.Redacted != len(secrets) {
		t.Errorf("got %d redacted, want %d", v.Redacted, len(secrets))
	}
}
