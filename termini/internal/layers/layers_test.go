package layers_test

import (
	"fmt"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/termini/internal/layers"
	"indirtui/traces"
)

// TestNode has what is named first, and the environment of the nearest.
func TestNode(t *testing.T) {
	t.Parallel()
	var parent, node layers.Node
	parent.Source = "parent"
	parent.Environment("staging")
	parent.Class("b", "")
	parent.Class("a", "")
	parent.Param("x", data.OfString("parent"), "")
	parent.Param("y", data.OfString("parent"), "")
	node.Class("a", "")
	node.Param("x", data.OfString("own"), "")
	node.Param("x", data.OfString("stacked"), "stacked")
	node.Param("environment", data.OfString("no"), "stacked")
	node.Inherit(&parent, "parent 1")
	got := node.Model("n", "production")
	v, _ := model.ToData(got)
	if want := `{"name"=>"n", "environment"=>"staging", "classes"=>["a", "b"], "parameters"=>{"x"=>"own", "y"=>"parent"}}`; v.Inspect() != want || node.Of != "parent" {
		t.Errorf("got %s of %s, want %s", v.Inspect(), node.Of, want)
	}
}

// TestRecord shows a bounded part of a node, facts that lost included.
func TestRecord(t *testing.T) {
	t.Parallel()
	var node layers.Node
	node.Source = "n"
	for i := range 10_000 {
		node.Param(fmt.Sprintf("p%d", i), data.OfInt(int64(i)), "")
	}
	merged := node.Model("n", "production")
	merged.Facts = &model.Facts{Name: "n", Values: data.OfHash([]data.Pair{data.P("p7", data.OfString("fact"))})}
	live := &traces.Live{Context: t.Context(), Trace: new(traces.Trace), Step: traces.Terminus}
	node.Record(live, merged)
	s := live.Trace.Spans[0]
	if len(s.Attrs) != 201 || s.Attrs[200].Value != "9802 more" || s.Answer != "0 classes, 10000 parameters, 0 facts" {
		t.Errorf("got %d attributes, %v, %s", len(s.Attrs), s.Attrs[len(s.Attrs)-1], s.Answer)
	}
}
