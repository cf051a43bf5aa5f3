package command_test

import (
	"fmt"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
)

// large returns a catalog of n files, services and notifies, which relate to each other. A few
// are exported.
func large(n int) *model.Catalog {
	cat := &model.Catalog{
		Name: "n.example.com", Version: data.OfInt(1700000000), CatalogUUID: "11111111-2222-3333-4444-555555555555", Environment: "production",
		Resources: []model.Resource{{Type: "Class", Title: "Big", Kind: "class", Tags: []string{"class", "big"}}},
	}
	for i := 1; i < n; i++ {
		r := model.Resource{
			Type: "File", Title: fmt.Sprintf("/srv/big/file-%d", i), Tags: []string{"file", "class", "big", "node", "production"},
			File: "/etc/puppetlabs/code/environments/production/modules/big/manifests/init.pp", Line: int64(i), Kind: "compilable_type",
			Exported: i%50 == 0, Virtual: i%50 == 0,
			Parameters: data.OfHash([]data.Pair{
				data.P("ensure", data.OfString("file")), data.P("owner", data.OfString("root")), data.P("mode", data.OfString("0644")),
				data.P("content", data.OfString("some text of a file, in some lines\nand some more\n")),
			}),
		}
		if i%5 == 1 {
			r.Type, r.Title = "Service", fmt.Sprintf("big-%d", i)
			r.Parameters = data.OfHash([]data.Pair{
				data.P("ensure", data.OfString("running")), data.P("name", data.OfString(fmt.Sprintf("big%d", i))),
				data.P("require", data.OfStrings([]string{"Class[Big]", fmt.Sprintf("File[/srv/big/file-%d]", i+1), "Service[big-1]"})),
			})
		}
		cat.Resources = append(cat.Resources, r)
		cat.Edges = append(cat.Edges, model.Edge{Source: "Class[Big]", Target: r.Ref()})
	}
	return cat
}

// BenchmarkCatalog500 is the command of a catalog of 500 resources.
func BenchmarkCatalog500(b *testing.B) {
	cat := large(500)
	o := command.Options{Produced: time.Unix(1800000000, 0).UTC(), Producer: "p", Environment: "production"}
	c, err := command.Catalog(cat, o)
	if err != nil {
		b.Fatal(err)
	}
	body, _ := c.Body()
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := command.Catalog(cat, o); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("body", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			c.Body()
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if _, err := command.Read(c.Name, c.Version, c.Certname, c.Produced, body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hash", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Hash()
		}
	})
}
