package transaction

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// Text is the view for a reader: the neighbourhood that was looked at, or the cycles, or
// the order.
func (v *View) Text() string {
	var b strings.Builder
	switch {
	case v.Around != nil:
		v.Around.write(&b, v)
	case len(v.Cycles) > 0:
		writeCycles(&b, v.Cycles)
	default:
		writeOrder(&b, v.Order)
	}
	return trailing.ReplaceAllString(b.String(), "")
}

// trailing is what empty cells leave at the end of lines.
var trailing = regexp.MustCompile(`(?m) +$`)

func table(b *strings.Builder) *tabwriter.Writer { return tabwriter.NewWriter(b, 0, 8, 2, ' ', 0) }

func writeOrder(b *strings.Builder, order []Turn) {
	w := table(b)
	for i, t := range order {
		fmt.Fprintf(w, "%d of %d\t%s\t%s\n", i+1, len(order), oneLine(t.Resource), where(t.File, t.Line))
	}
	w.Flush()
}

func (a *Neighbourhood) write(b *strings.Builder, v *View) {
	fmt.Fprintf(b, "%s  %s", oneLine(a.Resource), where(a.File, a.Line))
	switch {
	case a.Turn > 0:
		fmt.Fprintf(b, "  evaluated as %d of %d", a.Turn, len(v.Order))
	case len(v.Cycles) > 0:
		b.WriteString("  never evaluated: the graph has cycles")
	}
	b.WriteByte('\n')
	for _, part := range []struct {
		title, none string
		links       []Link
	}{
		{"waits for", "waits for nothing", a.WaitsFor}, {"waited for by", "nothing waits for it", a.Waiting}, {"contains", "", a.Contains},
	} {
		if len(part.links) == 0 {
			if part.none != "" {
				fmt.Fprintf(b, "\n%s\n", part.none)
			}
			continue
		}
		fmt.Fprintf(b, "\n%s\n", part.title)
		w := table(b)
		for _, l := range part.links {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", oneLine(l.Resource), l.How(), where(l.File, l.Line))
		}
		w.Flush()
	}
}

// How is the kind of a relationship and who declares it: "require of File[/x], refreshes".
func (l Link) How() string {
	how := l.Kind
	if l.Via != "" {
		how += " of " + oneLine(l.Via)
	} else if l.Kind != string(Contained) {
		how += " of " + oneLine(l.By)
	}
	if l.Refresh && l.Kind != string(Contained) {
		how += ", refreshes"
	}
	return how
}

func writeCycles(b *strings.Builder, cycles []Cycle) {
	for i, c := range cycles {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "cycle %d of %d: %d resources wait for each other; the shortest way around:\n", i+1, len(cycles), c.Resources)
		w := table(b)
		for _, p := range c.Path {
			fmt.Fprintf(w, "  %s\t=> %s\t%s\t%s\n", oneLine(p.From), oneLine(p.Resource), p.How(), where(p.File, p.Line))
		}
		w.Flush()
		if c.Cut == nil {
			b.WriteString("no relationship is in it: containers contain each other\n")
			continue
		}
		left := "there is no cycle"
		if c.Cut.Left > 0 {
			left = fmt.Sprintf("%d of %d resources are in a cycle still", c.Cut.Left, c.Resources)
		}
		fmt.Fprintf(b, "without %s => %s (%s) %s\n", oneLine(c.Cut.From), oneLine(c.Cut.Resource), c.Cut.How(), left)
	}
}

func where(file string, line int64) string {
	if file != "" && line > 0 {
		return fmt.Sprintf("%s:%d", oneLine(file), line)
	}
	return oneLine(file)
}

// oneLine writes characters that are not printed as escapes.
func oneLine(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
