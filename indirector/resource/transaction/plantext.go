package transaction

import (
	"fmt"
	"strings"
)

// Text is the plan for a reader: the totals as one sentence, and what is not the same, in
// the order of evaluation.
func (p *Plan) Text() string {
	var b strings.Builder
	b.WriteString(p.Totals.String() + "\n")
	if p.Totals.InSync < len(p.Resources) {
		b.WriteByte('\n')
	}
	for _, n := range p.Resources {
		if n.Outcome == Same {
			continue
		}
		fmt.Fprintf(&b, "%-8s %s", n.Outcome, oneLine(n.Resource))
		if at := where(n.File, n.Line); at != "" {
			b.WriteString("  " + at)
		}
		b.WriteByte('\n')
		for _, line := range n.Lines() {
			b.WriteString("         " + oneLine(line) + "\n")
		}
	}
	return b.String()
}

// Diffs are the unified diffs of all files whose content would change, each below the
// resource that it is of.
func (p *Plan) Diffs() string {
	var b strings.Builder
	for _, n := range p.Resources {
		if n.Diff != "" {
			b.WriteString("# " + oneLine(n.Resource) + "\n" + cleanLines(n.Diff))
		}
	}
	return b.String()
}

// cleanLines is a text whose lines have nothing that a terminal would obey.
func cleanLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		parts := strings.Split(line, "\t")
		for i := range parts {
			parts[i] = oneLine(parts[i])
		}
		b.WriteString(strings.Join(parts, "\t") + "\n")
	}
	return b.String()
}

// Lines are what there is to read of a resource that is not the same: its properties, what
// refreshes it, and why.
func (n *Planned) Lines() []string {
	var lines []string
	for _, c := range n.Changes {
		lines = append(lines, c.Property+": "+c.String())
	}
	if len(n.RefreshedBy) > 0 {
		lines = append(lines, "would be refreshed by "+strings.Join(n.RefreshedBy, ", "))
	}
	if why := n.Why(); why != "" {
		lines = append(lines, why)
	}
	return lines
}

// String is "is '0644', should be '0640'".
func (c PlannedChange) String() string {
	text := "is " + c.Is + ", should be " + c.Should
	if c.Corrective {
		text += " (changed since the last run)"
	}
	return text
}

// Why is the reason of what would become of a resource, in words; "" if its changes are all
// there is to it.
func (n *Planned) Why() string {
	switch n.Because {
	case DependencyFailed:
		return "depends on " + strings.Join(n.Chain, ", ") + ", which would fail"
	case Unsuitable:
		if n.Detail == "" {
			return "there is no provider for it here"
		}
		return "provider " + n.Detail + " cannot be used here"
	case ByTags:
		if tags, is := strings.CutPrefix(n.Detail, "skip_tags "); is {
			return "skipped by skip_tags: " + tags
		}
		return "not tagged with " + n.Detail
	case BySchedule:
		return "its schedule " + n.Detail + " does not let it run now"
	case PrefetchFailed:
		return "its provider could not look: " + n.Detail
	case NotDeclared:
		switch n.Detail {
		case "host":
			return "skipped: it is for hosts, and this is a device"
		case "device":
			return "skipped: it is for devices, and this is a host"
		}
		return "skipped: it is " + n.Detail
	}
	return n.Detail
}
