package redact

import (
	goflag "flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = goflag.Bool("update", false, "rewrite the table of the probe in Ruby")

// The probe in Ruby has the same words and forms as this package.
func TestTableOfTheProbe(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "probe", "ruby", "table.rb")
	want := rubyTable()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("run go test ./indirector/redact -update: -want +got\n%s", d)
	}
}

// rubyTable returns the tables of rules.go in Ruby.
func rubyTable() string {
	var b strings.Builder
	b.WriteString("# Generated from indirector/redact by its test, with -update.\nmodule IndirtuiProbe\n  module Redact\n    module Table\n")
	places := [...]string{anywhere: "anywhere", part: "part", lastPart: "last_part", atEnd: "at_end", query: "query", keyword: "keyword"}
	b.WriteString("      # Word, rule, where it must stand.\n      WORDS = [\n")
	words := func(list, rule string, where place) {
		for w := range strings.FieldsSeq(list) {
			folded := strings.NewReplacer("_", "", "-", "", ".", "").Replace(w)
			name := rule
			if name == "" {
				name = w
			}
			fmt.Fprintf(&b, "        ['%s', '%s', :%s],\n", folded, name, places[where])
		}
	}
	words(headers, RuleHeader, atEnd)
	for _, n := range names {
		words(n.words, "", n.where)
	}
	b.WriteString("      ].freeze\n      # Bytes, as in brackets of a regular expression.\n      SETS = {\n")
	sets := [...]struct {
		name string
		set  *[256]bool
	}{{"upper", upper}, {"hexes", hexes}, {"wordly", wordly}, {"dotted", dotted}, {"path", path}, {"crypt", crypt}, {"base64s", base64s}, {"armour", armour}}
	named := map[*[256]bool]string{}
	for _, s := range sets {
		named[s.set] = s.name
		fmt.Fprintf(&b, "        :%s => '%s',\n", s.name, brackets(s.set))
	}
	b.WriteString("      }.freeze\n      # Prefix, how many bytes follow at least, of which set, rule, whether the prefix stays.\n      FORMS = [\n")
	for _, f := range forms {
		for prefix := range strings.FieldsSeq(f.begin) {
			keep := f.rule == RuleFacts || f.set == path || f.set == armour
			fmt.Fprintf(&b, "        ['%s', %d, :%s, '%s', %t],\n", strings.ReplaceAll(prefix, "\x00", " "), f.least, named[f.set], f.rule, keep)
		}
	}
	b.WriteString("      ].freeze\n      # Flag, how it has its secret, programs.\n      COMMANDS = [\n")
	shapes := [...]string{attached: "attached", apart: "apart", either: "either", behind: "behind"}
	for _, c := range commands {
		fmt.Fprintf(&b, "        ['%s', :%s, %%w[%s]],\n", c.flag, shapes[c.shape], c.programs)
	}
	b.WriteString("      ].freeze\n    end\n  end\nend\n")
	return b.String()
}

// brackets returns a set as ranges.
func brackets(set *[256]bool) string {
	var b strings.Builder
	for c := 0; c < len(set); c++ {
		if !set[c] {
			continue
		}
		from := c
		for c+1 < len(set) && set[c+1] {
			c++
		}
		fmt.Fprintf(&b, `\x%02x`, from)
		if c > from {
			fmt.Fprintf(&b, `-\x%02x`, c)
		}
	}
	return b.String()
}
