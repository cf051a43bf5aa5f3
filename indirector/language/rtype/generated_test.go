package rtype_test

import (
	"strings"
	"testing"

	"indirtui/indirector/language/rtype"
)

// Files of .resource_types, and what is read of each, or Puppet's error. Rule
// LANG-RT-03.
func TestGenerated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{
			"whole", `# made by a tool
Puppet::Resource::ResourceType3.new(
  'x',
  [
    # state
    Puppet::Resource::Param(Enum['present', 'absent'], 'ensure'),
    Puppet::Resource::Param(Any, 'a')
  ],
  [Puppet::Resource::Param(Any, 'name', true), Puppet::Resource::Param(Any, 'b', true)],
  { /^([^:]+)$/ => ['name'], /(?i-mx:^(.*):(.*)$)/ => ['name', 'b'] },
  false,
  false)`,
			"ensure a; name b; keys name b; many; titles /^([^:]+)$/ name, /(?i-mx:^(.*):(.*)$)/ name b",
		},
		{"short", "Puppet::Resource::ResourceType3.new('x', [], [Puppet::Resource::Param(Any, 'name', true)])", "; name; keys name"},
		{"no keys", "Puppet::Resource::ResourceType3.new('x', [Puppet::Resource::Param(Any, 'name')])", "name; ; keys ; titles "},
		{"no keys but patterns", "Puppet::Resource::ResourceType3.new('x', [], [Puppet::Resource::Param(Any, 'name')], { /(.*)/ => ['name'] })", "; name; keys ; titles "},
		{
			"not literal", "Puppet::Resource::ResourceType3.new('x', $a, [Puppet::Resource::Param(Any, $b), f(1)], $c)",
			"; ; keys ; open; titles ; 1: the attributes are not literal; 1: this is no Puppet::Resource::Param; 1: the title patterns are not literal, and the title is the name",
		},
		{"empty", "", "The code loaded from x.pp does not create the resource type 'x' - it is empty"},
		{"something else", "notice 1", "The code loaded from x.pp does not create the resource type 'x' - no call to Puppet::Resource::ResourceType3.new found."},
		{"more", "notice 1\nPuppet::Resource::ResourceType3.new('x')", "The code loaded from x.pp must contain only the creation of resource type 'x' - it has additional logic."},
		{"another name", "Puppet::Resource::ResourceType3.new('y')", "The code loaded from x.pp produced resource type with the wrong name, expected 'x', actual 'y'"},
		{"broken", "Puppet::Resource::ResourceType3.new(", "Syntax error at end of input (file: x.pp)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if made, err := rtype.Generated("x", "x.pp", tt.text); err != nil {
				got = err.Error()
			} else {
				got = text(made)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// FuzzGenerated: any file ends in a type or an error.
func FuzzGenerated(f *testing.F) {
	f.Add("Puppet::Resource::ResourceType3.new('x', [Puppet::Resource::Param(Any, 'a')], [], { /(.*)/ => ['a'] }, true, false)")
	f.Add("Puppet::Resource::ResourceType3.new('x', [" + strings.Repeat("[", 100))
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := rtype.Generated("x", "x.pp", text); err == nil && (got.Name != "x" || got.Line < 1) {
			t.Errorf("got %+v", got)
		}
	})
}
