package command

import (
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"indirtui/indirector"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/manifest"
)

// resources returns instances that a format writes as puppet resource does; nil if it
// does not.
func resources(list []indirector.Instance, name string) []*model.Resource {
	if name != "manifest" && name != "table" && name != "yaml" {
		return nil
	}
	var all []*model.Resource
	for _, inst := range list {
		r, ok := inst.(*model.Resource)
		if !ok {
			return nil
		}
		all = append(all, r)
	}
	return all
}

// writeResources writes what puppet resource prints, or a table. Rule RES-RAL-08.
func writeResources(w io.Writer, all []*model.Resource, name string) error {
	switch name {
	case "manifest":
		var b strings.Builder
		for _, r := range all {
			b.WriteString(manifest.Text(r, "provider"))
		}
		_, err := io.WriteString(w, b.String())
		return err
	case "yaml":
		_, err := w.Write(psych.Encode(manifest.Hiera(all, "provider"), ""))
		return err
	}
	return writeTable(w, all)
}

// writeTable writes a resource on each line: its title, ensure, and what else is shown.
func writeTable(w io.Writer, all []*model.Resource) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range all {
		titles := manifest.Hiera([]*model.Resource{r}, "provider").Hash()[0].Value
		ensure, rest := "", []string{}
		for _, p := range titles.Hash()[0].Value.Hash() {
			text := oneLine(p.Value.Text())
			if p.Key.Text() == "ensure" {
				ensure = text
				continue
			}
			rest = append(rest, p.Key.Text()+"="+shortened(text))
		}
		line := []string{oneLine(r.Ref()), ensure, strings.Join(rest, " ")}
		if _, err := io.WriteString(t, strings.Join(line, "\t")+"\n"); err != nil {
			return err
		}
	}
	return t.Flush()
}

// oneLine replaces what a terminal would obey.
func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return unicode.ReplacementChar
		}
		return c
	}, s)
}

// shortened cuts a text to sixty characters.
func shortened(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}
