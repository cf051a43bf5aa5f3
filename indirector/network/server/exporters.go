package server

import (
	"fmt"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// perNode counts the rows of a search by the node that they are of, in the order in
// which they came. An answer may be older than what a node stored last. Rule
// STORE-COL-12.
func (f *forward) perNode(req *indirector.Request, all []indirector.Instance) string {
	if req.Indirection != "resource" {
		return counted(len(all), "node")
	}
	if len(all) == 0 {
		return fmt.Sprintf("no node exports a %s that matches, as far as PuppetDB has stored it", req.Key)
	}
	const most = 10
	count, order := map[string]int{}, []string{}
	for _, inst := range all {
		node := ""
		if r, ok := inst.(*model.Resource); ok {
			node = r.Exporter
		}
		if count[node]++; count[node] == 1 {
			order = append(order, node)
		}
	}
	text := counted(len(all), "resource") + " of " + counted(len(order), "node") + ": "
	for i, node := range order[:min(most, len(order))] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d", node, count[node])
		if ago, lately := f.queued.Ago(node, f.now()); lately {
			text += fmt.Sprintf(" (a newer catalog may be on its way: one was queued %d s ago)", int(ago.Seconds()))
		}
	}
	if len(order) > most {
		text += ", …"
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
