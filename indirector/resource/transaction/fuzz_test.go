package transaction_test

import (
	"testing"

	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/transaction"
)

// FuzzCatalog orders whatever the reader of catalogs lets pass: there is an order that
// keeps the edges, or there are cycles, or an error.
func FuzzCatalog(f *testing.F) {
	for _, row := range rows(f, "order.jsonl")[:40] {
		f.Add([]byte(row["catalog"]))
	}
	f.Add([]byte(`{"name":"n","catalog_format":2,"resources":[{"type":"Class","title":"a","kind":"class"},{"type":"Class","title":"b","kind":"class"}],"edges":[{"source":"Class[a]","target":"Class[b]"},{"source":"Class[b]","target":"Class[a]"}]}`))
	f.Add([]byte(`{"name":"n","resources":[{"type":"File","title":"/x/","kind":"compilable_type","parameters":{"path":"/y","alias":["z","/q"],"require":"File[z]"}}]}`))
	f.Add([]byte(`{"name":"n","catalog_format":2,"resources":[{"type":"Whit","title":"admissible_Class[Main]","kind":"compilable_type"},{"type":"Stage","title":"main","kind":"compilable_type","parameters":{"before":"Stage[main]"}}]}`))
	json, _ := format.ByName("rich_data_json")
	known := allTypes()
	f.Fuzz(func(t *testing.T, text []byte) {
		inst, _, err := format.Intern(json, "catalog", text, format.Options{})
		if err != nil {
			return
		}
		v, err := transaction.NewView(inst.(*model.Catalog), transaction.Offline{}, known)
		if err != nil {
			return
		}
		_ = v.Text()
		for _, kind := range transaction.Kinds {
			_ = v.Dot(kind)
		}
		if len(v.Cycles) == 0 && len(v.References()) < 200 {
			checkOrder(t, v)
		}
	})
}
