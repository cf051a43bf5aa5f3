package transaction

import (
	"fmt"
	"strings"
)

// Text is the plan for a reader: what is not the same, in the order of evaluation, and
// the totals as one sentence.
func (p *Plan) Text() string {
	var b strings.Builder
	for _, n := range p.Resources {
		if n.Outcome == Same {
			continue
		}
		fmt.Fprintf(&b, "%-8s %s", n.Outcome, oneLine(n.Resource))
		if at := where(n.File, n.Line); at != "" {
			b.WriteString("  " + at)
		}
		b.WriteByte('\n')
		for _, line := range n.lines() {
			b.WriteString("           " + oneLine(line) + "\n")
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(p.Totals.String() + "\n")
	return b.String()
}

// lines are what there is to read of a resource that is not the same.
func (n *Planned) lines() []string {
	var lines []string
	for _, c := range n.Changes {
		text := fmt.Sprintf("%s: %s => %s", c.Property, c.Is, c.Should)
		if c.Corrective {
			text += " (changed since the last run)"
		}
		lines = append(lines, text)
	}
	if len(n.RefreshedBy) > 0 {
		lines = append(lines, "would be refreshed by "+strings.Join(n.RefreshedBy, ", "))
	}
	switch {
	case n.Because == DependencyFailed:
		lines = append(lines, "depends on "+strings.Join(n.Chain, ", ")+", which would fail")
	case n.Because == Unsuitable && n.Detail != "":
		lines = append(lines, "provider "+n.Detail+" cannot be used here")
	case n.Because == Unsuitable:
		lines = append(lines, "there is no provider for it here")
	case n.Outcome == WouldSkip:
		lines = append(lines, strings.TrimSpace(string(n.Because)+": "+n.Detail))
	case n.Detail != "":
		lines = append(lines, n.Detail)
	}
	return lines
}
