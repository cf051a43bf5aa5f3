package termini_test

import (
	"fmt"
	"strings"

	"indirtui/indirector"
)

// reference returns the reference page of indirections and termini as
// Markdown. All of it comes from
// specs and descriptors.
func reference(specs []indirector.Spec, termini []indirector.Descriptor) string {
	var b strings.Builder
	b.WriteString("# Indirections and termini\n\nGenerated from the descriptors; `go test ./termini -run TestReference -update` writes it again.\n")
	for i := range specs {
		spec := &specs[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", spec.Name, spec.Doc)
		fmt.Fprintf(&b, "Model `%s`; terminus: %s.\n", spec.Class, chosenBy(spec))
		var of []indirector.Descriptor
		for _, d := range termini {
			if d.Indirection == spec.Name {
				of = append(of, d)
			}
		}
		if len(of) == 0 {
			b.WriteString("\nThere is no terminus for it here.\n")
			continue
		}
		b.WriteString("\n| terminus | find | search | head | save | destroy | |\n| --- | --- | --- | --- | --- | --- | --- |\n")
		for i := range of {
			summary(&b, &of[i])
		}
		for i := range of {
			details(&b, &of[i])
		}
	}
	return b.String()
}

func chosenBy(spec *indirector.Spec) string {
	s := "fixed, `" + spec.Default + "`"
	if spec.Setting != "" {
		s = "setting `" + spec.Setting + "`"
	}
	if spec.Legacy != "" {
		s += "; Puppet " + spec.Legacy
	}
	return s
}

// summary writes the row of a terminus.
func summary(b *strings.Builder, d *indirector.Descriptor) {
	fmt.Fprintf(b, "| `%s` ", d.Name)
	can := indirector.VerbsOf(d.Type)
	for _, verb := range [...]indirector.Verb{indirector.Find, indirector.Search, indirector.Head, indirector.Save, indirector.Destroy} {
		mark := " "
		if can[verb] != nil {
			mark = " ✓ "
		}
		b.WriteString("|" + mark)
	}
	var traits []string
	for _, t := range []struct {
		has  bool
		word string
	}{
		{d.KeepsExpiry, "keeps the expiration"},
		{d.ProcessLocal, "gone when the process ends"},
		{d.AlwaysNil, "never answers"},
		{local(d), "local requests only"},
	} {
		if t.has {
			traits = append(traits, t.word)
		}
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(traits, ", "))
}

// local reports whether requests from the network are refused, as far as the
// type alone shows.
func local(d *indirector.Descriptor) bool {
	_, ok := d.Type.(indirector.Local)
	return ok
}

func details(b *strings.Builder, d *indirector.Descriptor) {
	fmt.Fprintf(b, "\n### %s/%s\n\n%s\n", d.Indirection, d.Name, d.Doc)
	if len(d.Settings) > 0 {
		b.WriteString("\n| setting | |\n| --- | --- |\n")
		for _, s := range d.Settings {
			fmt.Fprintf(b, "| `%s` | %s |\n", s.Name, s.Doc)
		}
	}
	if len(d.Rules) > 0 {
		fmt.Fprintf(b, "\nRules: %s.\n", strings.Join(d.Rules, ", "))
	}
}
