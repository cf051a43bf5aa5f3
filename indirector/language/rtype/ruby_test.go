package rtype_test

import (
	"strings"
	"testing"

	"indirtui/indirector/language/rtype"
)

// A form is a way to write a resource type, and what is read of it. Where Puppet is
// installed, the forms that are understood are held against it.
type form struct {
	name, ruby, want string
	refused          bool // Puppet does not load it, or not without its own things
}

// newtype is a type with this in its block.
func newtype(body string) string { return "Puppet::Type.newtype(:x) do\n" + body + "\nend\n" }

const named = "newparam(:name, namevar: true)\n"

// forms is a table; each is a resource type x.
func forms() []form {
	return []form{
		{name: "LANG-RT-03 plain", ruby: newtype("ensurable\n" + named + "newproperty(:a)\nnewparam :b do\n desc 'x'\nend"), want: "ensure a; name b; keys name"},
		{name: "module", ruby: "require 'etc'\nmodule Puppet\n  Type.newtype(:x) do\n" + named + "end\nend", want: "; name; keys name"},
		{name: "several types", ruby: "Puppet::Type.newtype(:y) do\nnewparam(:z)\nend\n" + newtype(named), want: "; name; keys name"},
		{name: "name in a string", ruby: "Puppet::Type.newtype('x') do\nnewparam('name')\nnewproperty(\"a\")\nend", want: "a; name; keys name"},
		{name: "braces", ruby: "Puppet::Type.newtype(:x) { newparam(:name) { isnamevar }; newproperty(:a) { newvalue(:b) } }", want: "a; name; keys name"},
		{name: "isnamevar", ruby: newtype("newparam(:path) do\n desc 'p'\n isnamevar\nend"), want: "; path; keys path; titles /(.*)/m path"},
		{name: "options of Ruby 1.8", ruby: "require 'puppet/parameter/boolean'\n" + newtype("newparam(:path, :namevar => true, :parent => Puppet::Parameter::Boolean)"), want: "; path; keys path; titles /(.*)/m path"},
		{name: "no namevar", ruby: newtype("newparam(:a)"), want: "; a; keys ; titles "},
		{name: "ensure is first", ruby: newtype(named + "newproperty(:a)\nnewproperty(:ensure) do\n newvalue(:b)\nend"), want: "ensure a; name; keys name"},
		{name: "ensurable by methods", ruby: newtype(named + "def exists?; end\ndef create; end\ndef destroy; end"), want: "ensure; name; keys name"},
		{name: "not ensurable", ruby: newtype(named + "def exists?; end\ndef create; end"), want: "; name; keys name"},
		{name: "not isomorphic", ruby: newtype("@isomorphic = false\n" + named), want: "; name; keys name; many"},
		{name: "isomorphic", ruby: newtype("@isomorphic = true\n" + named), want: "; name; keys name"},
		{name: "provider", ruby: newtype(named + "provide(:y) do\nend"), want: "; name provider; keys name"},
		{name: "properties are no keys", ruby: newtype(named + "newproperty(:a) do\n isnamevar\nend"), want: "a; name; keys name"},
		{name: "nested ends", ruby: newtype(named + "newproperty(:a) do\n validate do |v|\n  raise 'x' unless v =~ /do/ and not v.nil?\n  while v do v = nil end\n  case v when 1 then 2 end\n  x = if v then 1 else 2 end\n  [1].each do |y| puts y if y end\n end\nend\nnewproperty(:b)"), want: "a b; name; keys name"},
		{name: "heredoc", ruby: newtype("@doc = <<-'EOT'\n  newparam(:no) do\n  EOT\n" + named), want: "; name; keys name"},

		// Loops, and other values that are literal.
		{name: "loop over symbols", ruby: newtype(named + "[:a, :b].each do |n|\n newproperty(n)\nend"), want: "a b; name; keys name"},
		{name: "loop over words", ruby: newtype(named + "%w[a b].each { |n| newparam(n.to_sym) { desc \"#{n}\" } }"), want: "; name a b; keys name"},
		{name: "loop over a hash", ruby: newtype(named + "{ a: 'b', :c => [1, 2] }.each do |n, d|\n newproperty(n) { desc d.to_s }\nend"), want: "a c; name; keys name"},
		{name: "loop over a constant", ruby: "module X\nALL = %i[a b].freeze\nend\n" + "Puppet::Type.newtype(:x) do\n" + named + "(X::ALL + [:c]).each { |n| newparam(n) }\nend", want: "; name a b c; keys name"},
		{name: "loop over pairs", ruby: newtype(named + "[[:a, 1], [:b, 2]].each { |n, v| newparam(n) }"), want: "; name a b; keys name"},
		{name: "loop over a list in a list", ruby: newtype(named + "a = [:a]\n[*a, :b].each { |n| newparam(n) }"), want: "; name a b; keys name"},
		{name: "loop with an index", ruby: newtype(named + "[:a, :b].each_with_index { |n, i| newparam(n) }"), want: "; name a b; keys name"},
		{name: "names put together", ruby: newtype(named + "%w[a b].each { |n| newproperty(\"#{n}_x\".to_sym); newproperty(:\"y_#{n}\") }"), want: "a_x y_a b_x y_b; name; keys name"},
		{name: "words made symbols", ruby: newtype(named + "%w[a b].map(&:to_sym).each { |n| newparam(n) }"), want: "; name a b; keys name"},
		{name: "loop over keys", ruby: newtype(named + "all = { a: 1, b: 2 }\nall.keys.each { |n| newparam(n) }"), want: "; name a b; keys name"},
		{name: "helper", ruby: newtype("def self.text(name, doc)\n newproperty(name) { desc doc }\nend\n" + named + "text :a, 'x'\ntext(:b, 'y')"), want: "a b; name; keys name"},
		{name: "helper of the class", ruby: newtype("class << self\n def text(name)\n  newproperty(name)\n end\nend\n" + named + "text :a"), want: "a; name; keys name"},
		{name: "send", ruby: newtype(named + "send(:newproperty, :a)\nself.newparam(:b)"), want: "a; name b; keys name"},
		{name: "value kept", ruby: newtype(named + "p = newproperty(:a)\n"), want: "a; name; keys name"},

		// Title patterns. Rule LANG-RT-04.
		{
			name: "title patterns",
			ruby: newtype("newparam(:a, namevar: true)\nnewparam(:b, namevar: true)\ndef self.title_patterns\n [[/^([^:]+)$/, [[:a]]], [%r{^(.*):(.*)$}i, [[:a], [:b]]]]\nend"),
			want: "; a b; keys a b; titles /^([^:]+)$/ a, /^(.*):(.*)$/i a b",
		},
		{
			name: "title patterns with identity",
			ruby: newtype("newparam(:a, namevar: true)\nnewparam(:b, namevar: true)\ndef self.title_patterns\n identity = lambda { |x| x }\n return [[/^(.*):(.*)$/, [[:a, identity], [:b, ->(y) { y }]]]]\nend"),
			want: "; a b; keys a b; titles /^(.*):(.*)$/ a b",
		},
		{
			name: "title patterns with code",
			ruby: newtype("newparam(:a, namevar: true)\nnewparam(:b, namevar: true)\ndef self.title_patterns\n [[/^(.*):(.*)$/, [[:a, proc { |x| x.upcase }], [:b]]]]\nend"),
			want: "; a b; keys a b; titles /^(.*):(.*)$/ a b; 1: code converts what a title pattern matched",
		},
		{
			name: "title patterns by a call",
			ruby: newtype("newparam(:a, namevar: true)\ndef self.title_patterns\n Other.patterns\nend"),
			want: "; a; keys a; titles ; 3: the title patterns are not literal, and the title is the name", refused: true,
		},
		{
			name: "no title patterns", ruby: newtype("newparam(:a, namevar: true)\nnewparam(:b, namevar: true)"),
			want: "; a b; keys a b; titles ; 1: there are several namevars, and no title patterns that can be read",
		},

		// The Resource API.
		{
			name: "registered",
			ruby: "require 'puppet/resource_api'\nPuppet::ResourceApi.register_type(\n name: 'x',\n docs: <<-EOS,\n  x\nEOS\n features: ['canonicalize'],\n attributes: {\n  ensure: { type: 'Enum[present, absent]', default: 'present' },\n  name: { type: 'String', behaviour: :namevar },\n  a: { type: 'String' }, b: { type: 'String', behaviour: :parameter },\n  c: { type: 'String', behaviour: :read_only }, d: { type: 'String', behaviour: :init_only },\n },\n)\n",
			want: "ensure a d; name b c; keys name",
		},
		{
			name: "registered with patterns",
			ruby: "require 'puppet/resource_api'\nPuppet::ResourceApi.register_type({\n :name => 'x',\n :desc => 'x',\n :title_patterns => [{ pattern: %r{^(?<a>.*[^-])-(?<b>.*)$}, desc: 'both' }],\n :attributes => { :a => { :type => 'String', :behaviour => :namevar }, :b => { :type => 'String', :behaviour => :namevar } },\n})\n",
			want: "; a b; keys a b; titles /^(?<a>.*[^-])-(?<b>.*)$/ a b",
		},
		{
			name: "registered with several keys",
			ruby: "require 'puppet/resource_api'\nPuppet::ResourceApi.register_type(name: 'x', desc: 'x', attributes: { a: { type: 'String', behaviour: :namevar }, b: { type: 'String', behaviour: :namevar } })\n",
			want: "; a b; keys a b; titles /(.*)/m a",
		},
		{
			name: "registered with values that are not literal", refused: true,
			ruby: "Puppet::ResourceApi.register_type(name: 'x', desc: File.read('x'), attributes: { a: { type: type_of(:a), behaviour: :namevar }, b: others }.merge(c))\n",
			want: "; ; keys ; open; titles ; 1: the attributes are not literal",
		},

		// What cannot be read makes the type open.
		{name: "unknown call", ruby: newtype(named + "make_parameters"), want: "; name; keys name; open; 3: make_parameters may declare attributes", refused: true},
		{name: "loop over what is not literal", ruby: newtype(named + "Dir['*'].each { |n| newparam(n) }"), want: "; name; keys name; open; 3: attributes are declared for each of a list that is not literal", refused: true},
		{name: "list that grows", ruby: newtype(named + "all = [:a]\nall << File.basename('b')\nall.each { |n| newparam(n) }"), want: "; name; keys name; open; 5: attributes are declared for each of a list that is not literal", refused: true},
		{name: "list with more", ruby: newtype(named + "[:a, *Dir['*']].each { |n| newparam(n) }"), want: "; name; keys name; open; 3: attributes are declared for each of a list that is not literal", refused: true},
		{name: "name that is not literal", ruby: newtype(named + "newparam(File.basename('b').to_sym)"), want: "; name; keys name; open; 3: the name of an attribute is not literal", refused: true},
		{name: "options that are not literal", ruby: newtype("newparam(:a, Other.options)"), want: "; a; keys ; titles ; 2: the options of an attribute are not literal, and namevar may be one of them", refused: true},
		{name: "condition", ruby: newtype(named + "if Other.new?\n newparam(:a)\nelse\n newparam(:b)\nend"), want: `; name a b; keys name; 3: what is declared depends on "if"; all of it is taken`, refused: true},
		{name: "type given away", ruby: newtype(named + "Other.extend_type(self)"), want: "; name; keys name; open; 3: extend_type gets the type, and may declare attributes", refused: true},
		{name: "evaluated text", ruby: newtype(named + "class_eval 'newparam(:a)'"), want: "; name; keys name; open; 3: class_eval may declare attributes", refused: true},
		{name: "declared twice", ruby: newtype(named + "newparam(:a)\nnewparam(:a)"), want: "; name a; keys name; 4: a is declared twice, which Puppet refuses", refused: true},
		{name: "not understood", ruby: newtype(named + "a, b = 1, 2\nnewparam(:c)"), want: "; name c; keys name; open; 3: this statement is not understood", refused: true},
		{name: "attribute in another", ruby: newtype(named + "newparam(:a) do\n newparam(:b)\nend"), want: "; name a; keys name; open; 3: an attribute is declared in another", refused: true},
		{name: "method that declares", ruby: newtype(named + "def self.more\n newparam(:a)\nend\ndef other\n newparam(:b)\nend"), want: "; name; keys name; open; 6: other declares attributes, and it is not known when; 3: more declares attributes, and it is not known when", refused: true},
		{name: "end too many", ruby: newtype(named + "end\nnewparam(:a)"), want: "; name; keys name; open; 0: statements and their ends do not fit, as this is read", refused: true},
		{name: "end too few", ruby: newtype(named + "newproperty(:a) do\n"), want: "a; name; keys name; open; 0: statements and their ends do not fit, as this is read", refused: true},
		{name: "no type", ruby: "puts 'x'", want: "; ; keys ; open; titles ; 0: it declares no type x that can be read", refused: true},
		{name: "another type", ruby: "Puppet::Type.newtype(:y) do\nend", want: "; ; keys ; open; titles ; 0: it declares no type x that can be read", refused: true},
		{name: "metaparameter", ruby: newtype(named + "newmetaparam(:a)"), want: "; name a; keys name; 3: a metaparameter is declared, which other types do not get here", refused: true},
	}
}

func TestRuby(t *testing.T) {
	t.Parallel()
	for _, tt := range forms() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := text(rtype.Ruby("x", "x.rb", tt.ruby)); got != tt.want {
				t.Errorf("got  %s\nwant %s\n%s", got, tt.want, tt.ruby)
			}
		})
	}
}

func TestProvides(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Puppet::Type.type(:x).provide(:y) do\nend":                               true,
		"Puppet::Type.type(:x).provide :y, parent: Z do\n def a; end\nend":        true,
		"module Puppet\n begin\n  X = Type.type(:x).provide(:y)\n end\nend":       true,
		"class Puppet::Provider::X::X < Puppet::ResourceApi::SimpleProvider\nend": false,
		"# provide(:y)\n\"provide(:y)\"":                                          false,
		"":                                                                        false,
	} {
		if got := rtype.Provides(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

// Files that would make a reader work or keep much end in an open type.
func TestRubyHostile(t *testing.T) {
	t.Parallel()
	list := "x = [1, 2, 3, 4, 5, 6, 7, 8]\n"
	loop := strings.Repeat("x.each do |a|\n", 20) + "newparam(a)\n" + strings.Repeat("end\n", 20)
	for name, body := range map[string]string{
		"nested loops":   list + loop,
		"growing list":   list + strings.Repeat("x = x + x\n", 60) + "x.each { |a| newparam(a) }",
		"growing text":   "x = 'a'\n" + strings.Repeat("x = \"#{x}#{x}\"\n", 60) + "newparam(x)",
		"helper of own":  "def self.a\n a\nend\na",
		"deep nesting":   strings.Repeat("tap do\n", 300),
		"unclosed":       "newparam(:a) do",
		"many sends":     strings.Repeat("send(:send, ", 300),
		"many unknown":   strings.Repeat("a b\n", 1000),
		"many blocks":    strings.Repeat("[:a].each do |x|\n", 90) + "newparam(Other)",
		"long condition": strings.Repeat("if a\n", 300),
	} {
		got := rtype.Ruby("x", "x.rb", newtype(body))
		if !got.Open || len(got.Notes) > 50 {
			t.Errorf("%s: %d notes, %s", name, len(got.Notes), text(got))
		}
	}
	if got := rtype.Ruby("x", "x.rb", strings.Repeat(" ", 2<<20)); !got.Open {
		t.Error("a large file was read")
	}
}

// FuzzRuby: any file ends in a type, soon.
func FuzzRuby(f *testing.F) {
	for _, tt := range forms() {
		f.Add(tt.ruby)
	}
	f.Fuzz(func(t *testing.T, ruby string) {
		got := rtype.Ruby("x", "x.rb", ruby)
		if got.Name != "x" || len(got.Attributes) > 10_000 || len(got.Notes) > 50 {
			t.Errorf("%s, %d attributes, %d notes", got.Name, len(got.Attributes), len(got.Notes))
		}
	})
}
