package model_test

import (
	"testing"
	"time"

	"indirtui/indirector/model"
)

// What is shared is made once, and a copy that has changed has its own.
func TestShare(t *testing.T) {
	t.Parallel()
	c := &model.Catalog{Name: "web01", Resources: []model.Resource{{Type: "Class", Title: "Main"}}}
	once := func(c *model.Catalog) bool {
		first, again := c.Data().Hash(), c.Data().Hash()
		return &first[0] == &again[0]
	}
	if once(c) {
		t.Error("a catalog that may change has its data kept")
	}
	c.Share()
	if !once(c) || !once(c.WithExpiration(time.Unix(1, 0)).(*model.Catalog)) {
		t.Error("the data of a shared catalog is made twice")
	}
	changed := *c
	changed.Name = "db01"
	if got := changed.Data().Get("name").Text(); got != "db01" || once(&changed) {
		t.Errorf("a copy has the data of %q", got)
	}
}
