package psych_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
)

func benchFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "bench", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fromJSON reads JSON with the order of keys kept.
func fromJSON(t testing.TB, b []byte) data.Value {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.UseNumber()
	v := jsonValue(t, dec)
	if dec.More() {
		t.Fatal("JSON goes on after its value")
	}
	return v
}

func jsonValue(t testing.TB, dec *json.Decoder) data.Value {
	tok, err := dec.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch x := tok.(type) {
	case nil:
		return data.Value{}
	case bool:
		return data.OfBool(x)
	case string:
		return data.OfString(x)
	case json.Number:
		v, _ := psych.Decode([]byte(number(x.String())), psych.Limits{})
		return v.Value
	}
	if tok == json.Delim('[') {
		var l []data.Value
		for dec.More() {
			l = append(l, jsonValue(t, dec))
		}
		dec.Token()
		return data.OfList(l)
	}
	var h []data.Pair
	for dec.More() {
		key := jsonValue(t, dec)
		h = append(h, data.Pair{Key: key, Value: jsonValue(t, dec)})
	}
	dec.Token()
	return data.OfHash(h)
}

// number writes a JSON number so that YAML has the same.
func number(s string) string {
	if mantissa, exponent, ok := strings.Cut(strings.ToLower(s), "e"); ok {
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		if exponent[0] != '-' && exponent[0] != '+' {
			exponent = "+" + exponent
		}
		return mantissa + "e" + exponent
	}
	return s
}

// The instances that Puppet's own times were taken with.
func instances(t testing.TB) map[string][]byte {
	catalog := fromJSON(t, benchFile(t, "catalog.json"))
	return map[string][]byte{
		"facts":   benchFile(t, "facts.yaml"),
		"catalog": psych.Encode(catalog, "Puppet::Resource::Catalog"),
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, text := range instances(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := psych.Decode(text, psych.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, text := range instances(b) {
		doc, err := psych.Decode(text, psych.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				psych.Encode(doc.Value, doc.Tag)
			}
		})
	}
}
