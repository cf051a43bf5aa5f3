package traces

import (
	"encoding/json"
	"testing"
)

// decodedCatalog is catalogOf by a decoder.
func decodedCatalog(body []byte) (environment string, resources int, ok bool) {
	var is struct {
		Environment string            `json:"environment"`
		Resources   []json.RawMessage `json:"resources"`
	}
	ok = len(body) > 0 && json.Unmarshal(body, &is) == nil
	if !ok {
		return "", 0, false
	}
	return is.Environment, len(is.Resources), true
}

var catalogs = []string{
	`{"environment":"production","resources":[]}`,
	`{"name":"a\"b","resources":[{"a":[1,{"b":"]"}]}, 2 ,"x,y\\"],"edges":[{}],"environment":"t\u0065st"}`,
	" {\n \"resources\" : [ [ ] , [ ] ] ,\n \"environment\" : null }\n",
	`{}`, `{"resources":null}`,
}

func TestCatalogOf(t *testing.T) {
	t.Parallel()
	for _, text := range catalogs {
		e, n, ok := catalogOf([]byte(text))
		if we, wn, wok := decodedCatalog([]byte(text)); e != we || n != wn || ok != wok {
			t.Errorf("%s: got %q, %d, %v; want %q, %d, %v", text, e, n, ok, we, wn, wok)
		}
	}
	for _, text := range []string{"", "null", "[]", `{"resources":1}`, `{"environment":[]}`, `{"resources":[1`, `{"resources":[1}`, `{"a"`} {
		if _, _, ok := catalogOf([]byte(text)); ok {
			t.Errorf("%q is a catalog", text)
		}
	}
}

// FuzzCatalogOf reads what is in order as a decoder does, and ends for everything else.
func FuzzCatalogOf(f *testing.F) {
	for _, text := range catalogs {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, n, ok := catalogOf(body)
		var keys map[string]json.RawMessage
		if json.Unmarshal(body, &keys) != nil || keys == nil {
			return
		}
		for k := range keys { // a decoder takes other cases, and bytes that are not UTF-8
			if k != "environment" && k != "resources" {
				return
			}
		}
		if we, wn, wok := decodedCatalog(body); wok && (e != we || n != wn || !ok) {
			t.Errorf("got %q, %d, %v; want %q, %d", e, n, ok, we, wn)
		}
	})
}
