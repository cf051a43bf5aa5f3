package erb_test

import (
	"errors"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/language/erb"
	"indirtui/indirector/language/onig"
)

// A world is a host without functions, whose steps and bytes are bounded.
type world struct {
	variables    []data.Pair
	steps, bytes int
}

var errLimit = errors.New("limit")

func (w *world) NotFound(string) error { return nil }

func (w *world) Seen(name string) (data.Value, bool) { return w.Variable(name) }

func (w *world) Variable(name string) (data.Value, bool) {
	return data.OfHash(w.variables).Lookup(strings.TrimPrefix(name, "::"))
}
func (w *world) Variables() []data.Pair { return w.variables }
func (w *world) Call(string, []data.Value, bool) (data.Value, bool, error) {
	return data.Value{}, false, nil
}
func (w *world) Names(string) ([]string, error) { return nil, nil }
func (w *world) Step() error {
	if w.steps--; w.steps < 0 {
		return errLimit
	}
	return nil
}

func (w *world) Set(name string, v data.Value) bool {
	w.variables = append(w.variables, data.P(name, v))
	return true
}

func (w *world) Changed(name string, v data.Value) {
	w.variables = append(w.variables, data.P("changed "+name, v))
}

func (w *world) Regexp(source string) (*onig.Regexp, error) { return onig.Shared(source) }

func (w *world) Spend(n int) error {
	if w.bytes -= n; w.bytes < 0 {
		return errLimit
	}
	return nil
}

func rendered(source string, variables ...data.Pair) (string, error) {
	t, err := erb.Parse(source)
	if err != nil {
		return "", err
	}
	return t.Render(&world{variables, 100_000, 16 << 20})
}

// Rule LANG-ERB-01: what is outside the subset, or reaches for the machine, is an error
// of ours that no rescue sees. Rule LANG-ERB-02: it names the line and the construct.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, want string }{
		{"a\n<%= File.read('/etc/passwd') %>", "line 2: the constant File is not supported"},
		{"<%= `id` %>", "line 1: a command of the shell is not"},
		{"<%= %x(id) %>", "line 1: a command of the shell is not"},
		{"<%= system('id') rescue 'x' %>", "line 1: the method system is not"},
		{"<%= eval('1') %>", "line 1: the method eval is not"},
		{"<%= 'a'.send(:upcase) %>", "line 1: the method send of String is not"},
		{"<%= ENV['HOME'] %>", "line 1: the constant ENV is not"},
		{"\n\n<% require 'socket' %>", `line 3: require "socket" is not`},
		{"<%= IO.popen('id') %>", "line 1: the constant IO is not"},
		{"<%= 'a'.instance_eval { } %>", "line 1: the method instance_eval of String is not"},
		{"<%= 'abc'.unpack('C*') %>", "line 1: the method unpack of String is not"},
		{"<% class X; end %>", "line 1: the keyword class is not"},
		{"<%= $LOAD_PATH %>", "line 1: the global variable $LOAD_PATH is not"},
	} {
		_, err := rendered(tt.source)
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.source, err, tt.want)
		}
	}
}

// Rule LANG-ERB-01: steps, memory and depth are bounded.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"<% while true do end %>",
		"<% loop { } %>",
		"<% def f() f() end; f() %>",
		"<%= 'a' * 1_000_000_000 %>",
		"<%= 9 ** 9 ** 9 %>",
		"<% x = []; x << x %><%= x.flatten.join %>",
		"<% x = [1]; 60.times { x = [x, x] } %><%= x.inspect %>",
		"<% x = [1]; 60.times { x = [x, x] } %><%= x == x.dup %>",
		"<% h = {}; h['a'] = h %><%= h.to_json %>",
		"<% x = []; x << x %><%= format('%s', x) %>",
		"<% @l << @l %>",
		"<% x = [1]; y = (x..x); x << y %><%= y == y %>",
		"<% x = [1]; x[0] = [x] %>",
		"<% x = [1]; x.concat([x]) %>",
		"<% x = [1]; x.map! { x } %>",
		"<% h = {1 => 2}; h.transform_values! { h } %>",
		"<% h = {1 => 2}; h.merge!({1 => 3}) { h } %>",
		"<% x = [1]; 60.times { x = [x, x] } %><%= [3, 1].sort_by { x } %>",
		"<% x = [1]; 60.times { x = [x, x] } %><%= [3, 1].max_by { x } %>",
		"<% x = [1]; 60.times { x = [x, x] } %><%= {1 => 2}.transform_keys { x } %>",
		"<% x = [1]; 60.times { x = [x, x] } %><%= [[3, 1]].to_h { [x, 1] } %>",
		"<% x = [1]; 60.times { x = [x, x] } %><%= format('%s', x) %>",
		"<% x = [1]; 60.times { x = (x..x) } %><%= x.to_s %>",
		"<% x = []; y = x; 2_000.times { z = []; y << z; y = z } %><%= [1, 2].sort_by { x } %>",
		"<% y = @l; 2_000.times { z = []; y << z; y = z } %>",
		"<%= ('a' * 8_388_608) * (1 << 40) %>",
		"<%= ([1] * 1_048_576) * (1 << 40) %>",
		"<%= 'x'.ljust(1 << 40, 'a' * (1 << 22)) %>",
		"<%= ('9' * 1_000_000).to_i %>",
		"<%= '12'.to_i(1) %>",
		"<%= '12'.to_i(99) %>",
		"<% x = 3; 100_000.times { x = x * x % (1 << 1_000_000) } %>",
		"<% s = 'ab'; 60.times { s = s + s } %>",
		"<% x = []; 100000.times { x = [x] } %><%= x.inspect %>",
		"<%= (1..10_000_000_000).to_a.size %>",
		"<%= 'x'.ljust(10_000_000_000) %>",
		"<%= '%999999999d' % 1 %>",
		"<%= [1, 2, 3, 4].product(*([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]] * 20)).size %>",
		"<%= " + strings.Repeat("(", 10_000) + " %>",
		"<%= " + strings.Repeat("[", 10_000) + " %>",
		"<%= " + strings.Repeat(`"#{`, 1_000) + " %>",
	} {
		if out, err := rendered(source, data.P("l", data.OfList([]data.Value{data.OfInt(1)}))); err == nil {
			t.Errorf("%.60s: got %.60s, want an error", source, out)
		}
	}
}

// Rule LANG-OP-11: expressions look around and refer back, wherever a method takes one.
func TestLookAround(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, want string }{
		{`<%= '1234567'.gsub(/(\d)(?=(\d{3})+$)/, '\1,') %>`, "1,234,567"},
		{`<%= 'aab'.scan(/(.)\1/).inspect %>`, `[["a"]]`},
		{`<% require 'ipaddr' %><%= IPAddr.new('10.1.2.3/24') %> <%= IPAddr.new('[::1]').ipv6? %> <%= IPAddr.new('10.0.0.0/8').include?('10.1.1.1') %>`, "10.1.2.0 true true"},
		{`<%= IPAddr.new('*') rescue 'no' %> <% begin; IPAddr.new('01.2.3.4'); rescue ArgumentError => e %><%= e.class %><% end %>`, "no IPAddr::InvalidAddressError"},
		{`<% 'a1 b2'.scan(/([a-z])(\d)/) { |x| %><%= $1 + $2 %>,<% } %>`, `a1,b2,`},
		{`<%= 'foobar' =~ /(?<=foo)bar/ %>`, "3"},
		{`<%= 'foobar'.sub(/foo\Kbar/) { |m| m.upcase } %>`, "fooBAR"},
		{`<%= 'a1b'.split(/(?<=\d)/).join('|') %>`, "a1|b"},
		{`<%= 'foo'.match?(/o(?!o)\z/) %>`, "true"},
		{`<%= 'abb'.match(/(?<x>b)\k<x>/)['x'] %>`, "b"},
		{`<%= 'ab'.start_with?(/(?=ab)a/) %>`, "true"},
		{`<%= case 'bb' when /(b)\1/ then 1 else 2 end %>`, "1"},
		{"<%= 'ab' =~ /a b # both\n/x %>", "0"},
		{`<%= 'baac'.gsub(/a*/, '-') %>`, "-b--c-"},
	} {
		if got, err := rendered(tt.source); err != nil || got != tt.want {
			t.Errorf("%s: got %s %v, want %s", tt.source, got, err, tt.want)
		}
	}
	for _, source := range []string{"x =~ %s", "x.match?(%s)", "x.gsub(%s, '')"} {
		source = "<% x = 'a' * 60 + '!' %>\n<%= " + strings.ReplaceAll(source, "%s", `/\A(?=((a+)+)+\z)/`) + " rescue 1 %>"
		if _, err := rendered(source); !errors.Is(err, onig.ErrLimit) || !strings.Contains(err.Error(), "no answer within 1s") {
			t.Errorf("%s: got %v, want %v", source, err, onig.ErrLimit)
		}
	}
}

// Strings of manifests cannot be changed. Rule LANG-ERB-06.
func TestFrozen(t *testing.T) {
	t.Parallel()
	_, err := rendered(`<% @s << "x" %>`, data.P("s", data.OfString("a")))
	if want := `can't modify frozen String: "a"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Rule LANG-ERB-05: an error knows its line.
func TestLines(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		"<%= nil + 1 %>":       1,
		"a\nb\n<%= nil + 1 %>": 3,
		"<% x = 1 -%>\n<%# a\nb -%>\n<% if x\n-%>\n<%= nil + 1 %>\n<% end %>": 6,
		"a\n<%- [1].each do |y| -%>\n\n<%= nil + y %><% end %>":               4,
	} {
		_, err := rendered(source)
		var e *erb.Error
		if !errors.As(err, &e) || e.Line != want {
			t.Errorf("%q: got line %+v, want %d", source, e, want)
		}
	}
}

// Whatever a template is, rendering ends, without a panic.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"<% @l.each do |e| -%>\n* <%= e %>\n<% end -%>\n", "<%= @h.sort.map { |k, v| \"#{k}=#{v}\" }.join(',') %>", "<%= @s[1..3].tr('a-c', 'x') %>",
		"<% case @s when /b/ then %>x<% else %>y<% end %>", "<%- x = <<X\nh\nX\n-%><%= x %>", "<%= 7 / 2 ** 3 - 1.5 % 2 %>", "<%% %%> <%# c %>",
		"<%= @l.inject(:+) rescue 'no' %>", "<%= '%05d %s' % [1, 'a'] %>", "<% def f(a, b = 2, *c) a end %><%= f(1) %>", "<%= ->(x) { x }.call(1) %>",
	} {
		f.Add(seed)
	}
	variables := []data.Pair{
		data.P("s", data.OfString("abc def")), data.P("l", data.OfList([]data.Value{data.OfInt(1), data.OfString("b"), {}})),
		data.P("h", data.OfHash([]data.Pair{data.P("a", data.OfInt(1)), data.P("b", data.OfList(nil))})),
	}
	f.Fuzz(func(t *testing.T, source string) {
		_, err := rendered(source, variables...)
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Error(err)
		}
	})
}

// What templates change in place and what they put into the scope is given back.
func TestScopeIsChanged(t *testing.T) {
	t.Parallel()
	w := &world{[]data.Pair{data.P("l", data.OfList(nil)), data.P("u", data.Value{})}, 100_000, 16 << 20}
	tmpl, err := erb.Parse(`<% @l << 'x' %><% scope.setvar('h', {}) %><% scope.lookupvar('h')[:k] = 1 %><%= scope.lookupvar('h')[:k] %>` +
		`<%= has_variable?('u') %><%= scope.include?('u') %><%= scope.exist?('u') %><%= %w[a].include?scope.lookupvar('l').first %>`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tmpl.Render(w)
	if want := "1falsefalsetruefalse"; out != want || err != nil {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
	if v, _ := w.Variable("changed l"); v.Inspect() != `["x"]` {
		t.Errorf("the list became %s", v.Inspect())
	}
}

// Each of these is what Ruby makes of the template.
func TestMoreOfRuby(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`<% a, (b, c), *d = 1, [2, 3], 4, 5 %><%= [a, b, c, d].inspect %>`:                       "[1, 2, 3, [4, 5]]",
		`<% a = *1..3 %><%= a.inspect %><% x = *nil %><%= x.inspect %>`:                          "[1, 2, 3][]",
		`<%= case when 1 > 2 then 1 else 2 end %>`:                                               "2",
		`<% if /(?<yr>\d+)/ =~ "in 2020" %><%= yr %><% end %>`:                                   "2020",
		`<%= "Hello"[..2] %> <%= "Hello"[1..] %>`:                                                "Hel ello",
		`<%= %i[a b].inspect %> <%= "a\101\7".inspect %>`:                                        `[:a, :b] "aA\a"`,
		`<%= [1, [], [2, []]].join("-") %>|<%= [nil, 1].join("-") %>`:                            "1--2-|-1",
		`<%= [0.1, 0.2, 0.3].sum %> <%= [3, 1].minmax.inspect %>`:                                "0.6 [1, 3]",
		`<%= [1, 2, 2].tally.inspect %> <%= [1, 2, 3].rotate.inspect %>`:                         "{1=>1, 2=>2} [2, 3, 1]",
		`<%= "a.b.c".rpartition(".").inspect %> <%= "abc".dup.insert(1, "X") %>`:                 `["a.b", ".", "c"] aXbc`,
		`<%= Hash["a", 1].inspect %> <%= "abc" =~ /b(.)/ %><%= Regexp.last_match(1) %>`:          `{"a"=>1} 1c`,
		`<%= "abc".gsub(/b/) { $&.upcase } %> <%= "0x1f".to_i(16) %> <%= Integer("0x1f", 16) %>`: "aBc 31 31",
		`<%= "a".freeze.frozen? %> <%= self.class %> <%= "%.1f" % 99.55 %>`:                      "true Puppet::Parser::TemplateWrapper 99.6",
	} {
		if got, err := rendered(source); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", source, got, err, want)
		}
	}
}
