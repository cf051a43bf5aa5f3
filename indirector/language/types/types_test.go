package types_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/types"
)

func parse(tb testing.TB, text string) types.Type {
	tb.Helper()
	t, err := types.Parse(text, nil)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return t
}

// LANG-TYPE-20: every type accepts itself, and what accepts a type accepts what that
// accepts.
func TestAssignable(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(7, 7))}
	var all []types.Type
	for range 1500 {
		text := g.typ(2)
		x := parse(t, text)
		if !types.Assignable(x, x) && !notReflexive.MatchString(text) {
			t.Errorf("%s does not accept itself", text)
		}
		if !notTransitive.MatchString(text) && len(all) < 150 {
			all = append(all, x)
		}
	}
	for i, a := range all {
		for j, b := range all {
			if i == j || !types.Assignable(a, b) {
				continue
			}
			for _, c := range all {
				if types.Assignable(b, c) && !types.Assignable(a, c) {
					t.Errorf("%s accepts %s, and that %s, but the first does not accept the last", a, b, c)
				}
			}
		}
	}
}

// Types that in Puppet do not accept themselves, and types of which the first accepts
// the second, and that the third, but not the first the third: those without
// parameters that accept all of their kind or nothing, aliases of themselves, which
// are taken for granted when they are met twice, and what has no elements.
var (
	notReflexive  = regexp.MustCompile(`\bVariant(?:$|[^\[])|Pattern\[|Iterable|Iterator|NotUndef`)
	notTransitive = regexp.MustCompile(`\b(?:Variant|Optional)(?:$|[^\[])|Pattern|Enum|Iterable|Data|Init|Struct|Tuple|0, 0|Any|NotUndef`)
)

// LANG-TYPE-21: the type of a value accepts the value, in detail and in general.
func TestInfer(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(8, 8))}
	for range 2000 {
		code := g.value(3)
		v, err := evaluate(code)
		if err != nil {
			continue
		}
		for _, x := range []types.Type{types.Infer(v), types.Reduced(v), types.Generalized(v)} {
			if !types.Instance(x, v) && !undefined(v) {
				t.Errorf("%s is no instance of %s", code, x)
			}
		}
		if detailed, general := types.Infer(v), types.Generalized(v); !undefined(v) && !types.Assignable(general, detailed) {
			t.Errorf("%s: %s does not accept %s", code, general, detailed)
		}
	}
}

// undefined reports whether undef lies within a value: the common type of undef and
// another is the other.
func undefined(v data.Value) bool {
	for _, x := range v.List() {
		if x.IsNil() || undefined(x) {
			return true
		}
	}
	for _, p := range v.Hash() {
		if p.Value.IsNil() || undefined(p.Value) {
			return true
		}
	}
	if s, ok := types.Unwrap(v); ok {
		return undefined(s)
	}
	return false
}

// LANG-TYPE-22: what is printed is read as the same type.
func TestPrint(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(9, 9))}
	for range 3000 {
		text := g.typ(3)
		if strings.Contains(text, "Sensitive[") && strings.Contains(text, "Enum[") {
			continue // a secret forgets first the values of an Enum, then the sizes that are left
		}
		x := parse(t, text)
		if y := parse(t, x.String()); !x.Equal(y) {
			t.Errorf("%s is printed as %s, which is read as %s", text, x, y)
		}
	}
}

// LANG-TYPE-23: normalisation does not change what is accepted, and happens once.
func TestNormalize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Variant[Enum[a], Enum[b]]":               "Enum['a', 'b']",
		"Variant[Undef, Integer]":                 "Optional[Integer]",
		"Optional[Optional[Integer]]":             "Optional[Integer]",
		"Variant[Integer[1, 3], Integer[4, 6]]":   "Integer[1, 6]",
		"Variant[Integer[1, 2], Integer[4, 6]]":   "Variant[Integer[1, 2], Integer[4, 6]]",
		"Variant[Pattern[/a/], Pattern[/b/]]":     "Pattern[/a/, /b/]",
		"NotUndef[Integer]":                       "Integer",
		"NotUndef[Optional[Integer]]":             "Integer",
		"Array[Variant[Enum[a], Enum[b]], 1]":     "Array[Enum['a', 'b'], 1]",
		"Variant[Enum[a, true], Enum['B', true]]": "Enum['a', 'b', true]",
	} {
		x := types.Normalize(parse(t, text))
		if x.String() != want || types.Normalize(x).String() != want {
			t.Errorf("%s: got %s, want %s", text, x, want)
		}
	}
}

// LANG-TYPE-25: an alias that is nothing but itself is an error, one that is part of
// itself is not.
func TestAliases(t *testing.T) {
	t.Parallel()
	define := func(text string) (types.Type, error) {
		return types.NewAlias("Tree", func(self types.Type) (types.Type, error) {
			return types.Parse(text, func(name string) types.Type {
				if name == "tree" {
					return self
				}
				return nil
			})
		})
	}
	for _, text := range []string{"Tree", "Variant[Tree, Tree]"} {
		if x, err := define(text); err == nil || err.Error() != "Type alias 'Tree' cannot be resolved to a real type" {
			t.Errorf("%s: got %v, %v, want an error", text, x, err)
		}
	}
	tree, err := define("Variant[Integer, Array[Tree]]")
	if err != nil {
		t.Fatal(err)
	}
	leaf := data.OfInt(1)
	deep := leaf
	for range 1000 {
		deep = data.OfList([]data.Value{deep, leaf})
	}
	if !types.Instance(tree, deep) || types.Instance(tree, data.OfList([]data.Value{data.OfString("a")})) {
		t.Errorf("%s has the wrong instances", tree)
	}
	if got, want := types.Mismatch("v", tree, data.OfString("a")), "v expects a Tree = Variant[Integer, Array[Tree]] value, got String"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Types may be used, and aliases of shared ones made, by several goroutines.
func TestParallel(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			x, err := types.NewAlias("X", func(types.Type) (types.Type, error) {
				return types.Parse("Variant[Data, RichData, Init[Integer]]", nil)
			})
			if err != nil || !types.Instance(x, data.OfList([]data.Value{data.OfInt(1)})) {
				t.Errorf("%v: %v", x, err)
			}
		})
	}
	all.Wait()
}

// Aliases that are alternatives of each other end, too.
func TestMutualAliases(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"a": "Variant[B, Integer]", "b": "Variant[C, String]", "c": "Optional[Variant[A, Boolean]]"}
	made := map[string]types.Type{}
	var named func(name string) types.Type
	named = func(name string) types.Type {
		if x, ok := made[name]; ok {
			return x
		}
		x, err := types.NewAlias(strings.ToUpper(name), func(self types.Type) (types.Type, error) {
			made[name] = self
			return types.Parse(texts[name], named)
		})
		if err != nil {
			t.Fatal(err)
		}
		made[name] = x
		return x
	}
	named("a")
	for name, x := range made {
		for _, v := range []data.Value{data.OfInt(1), data.OfString("s"), data.OfBool(true), {}} {
			if !types.Instance(x, v) {
				t.Errorf("%v is no %s", v, name)
			}
		}
		if types.Instance(x, data.OfFloat(1)) || types.Mismatch("v", x, data.OfFloat(1)) == "" || types.Assignable(x, parse(t, "Float")) {
			t.Errorf("1.0 is a %s", name)
		}
		for _, y := range made {
			if !types.Assignable(x, y) {
				t.Errorf("%s does not accept %s", x, y)
			}
		}
	}
}

// What a few letters ask for may be more than any memory holds, or any clock counts.
func TestLimits(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"Array(Integer[-9223372036854775807, 9223372036854775807])": "has more than 1048576 elements",
		"Array(Integer[-9223372036854775807, 9223372036854775806])": "has more than 1048576 elements",

		"Array(9000000000)":                    "9000000000 has more than 1048576 elements",
		"Hash(1048578)":                        "1048578 has more than 1048576 elements",
		"String(1, '%9999999d')":               "is wider than 1048576",
		"String(1, '%.99999999999999999999d')": "is wider than 1048576",
		"Timespan(1e20)":                       "unsupported",
		"Timespan({days => 9000000000000000})": "unsupported",
		"Timestamp(-1e20)":                     "unsupported",
		"Timespan[1e20]":                       "unsupported",
		`Pattern[/(?~a)/]`:                     "unsupported",
	} {
		if v, err := evaluate(code); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want the error %s", code, v, err, want)
		}
	}
	const backwards = `\A(?=((a+)+)+\z)`
	wild, text := parse(t, "Optional[Pattern[/"+backwards+"/]]"), data.OfString(strings.Repeat("a", 60)+"!")
	if ok, err := types.Check(wild, text); ok || !errors.Is(err, onig.ErrLimit) {
		t.Errorf("got %v, %v, want %v", ok, err, onig.ErrLimit)
	}
	if got, want := types.Mismatch("x", wild, text), "x regular expression /"+backwards+"/: limit of regular expressions: no answer within 1s"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	deep := parse(t, strings.Repeat("Array[Optional[", 200)+"Any"+strings.Repeat("]]", 200))
	wide := parse(t, "Variant["+strings.Repeat("Struct[{'a' => Integer}], Enum['b'], ", 500)+"Undef]")
	for _, x := range []types.Type{deep, wide, types.Normalize(deep), types.Normalize(wide)} {
		if !types.Assignable(x, x) {
			t.Errorf("%.80s does not accept itself", x)
		}
	}
}

// LANG-TYPE-10: a set names the types of another by its own name for that, if the version
// fits.
func TestSets(t *testing.T) {
	t.Parallel()
	made := map[string]types.Type{}
	define := func(name, text string) {
		x, err := types.NewAlias(name, func(types.Type) (types.Type, error) {
			return types.Parse(text, func(name string) types.Type { return made[name] })
		})
		if err != nil {
			t.Fatal(err)
		}
		made[strings.ToLower(name)] = x
	}
	define("Net", "TypeSet[{version => '1.2.0', pcore_version => '1.0.0', types => {Port => Integer[1, 9]}}]")
	define("Web", "TypeSet[{version => '1.0.0', pcore_version => '1.0.0', types => {Ports => Array[N::Port], Own => Ports}, "+
		"references => {N => {name => 'Net', version_range => '1.x'}, Old => {name => 'Net', version_range => '0.x'}}}]")
	ports := data.OfList([]data.Value{data.OfInt(1), data.OfInt(9)})
	for _, name := range []string{"Ports", "own"} {
		if x := types.InSet(made["web"], name); x == nil || !types.Instance(x, ports) || types.Instance(x, data.OfList([]data.Value{data.OfInt(10)})) {
			t.Errorf("%s is %v", name, x)
		}
	}
	if x := types.InSet(made["web"], "N::Port"); x == nil || !types.Instance(x, data.OfInt(5)) {
		t.Errorf("N::Port is %v", x)
	}
	for _, name := range []string{"Old::Port", "Nope", "N::Nope"} {
		if x := types.InSet(made["web"], name); x != nil {
			t.Errorf("%s is %v", name, x)
		}
	}
}

// Object types that are made of each other are compared in time.
func TestNestedObjects(t *testing.T) {
	t.Parallel()
	made := map[string]types.Type{}
	define := func(name, text string) types.Type {
		x, err := types.NewAlias(name, func(types.Type) (types.Type, error) {
			return types.Parse(text, func(name string) types.Type { return made[name] })
		})
		if err != nil {
			t.Fatal(err)
		}
		made[strings.ToLower(name)] = x
		return x
	}
	var last types.Type
	define("O0", "Object[{attributes => {a => Integer}}]")
	for i := range 60 {
		last = define(fmt.Sprint("O", i+1), fmt.Sprintf("Object[{attributes => {a => O%[1]d, b => O%[1]d}}]", i))
	}
	if !last.Equal(last) || last.Equal(made["o1"]) || !types.Assignable(parse(t, "Object"), last) {
		t.Errorf("%s is not itself", last)
	}
}

// Every text is read as a type, or is an error; what is read can be printed and read
// again.
func FuzzParse(f *testing.F) {
	g := generator{rand.New(rand.NewPCG(10, 10))}
	for range 100 {
		f.Add(g.typ(2))
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := types.Parse(text, nil)
		if err != nil {
			return
		}
		y, err := types.Parse(x.String(), nil)
		if err != nil && strings.Contains(err.Error(), "cannot be an empty String") || strings.Contains(text, "Sensitive") {
			return // a NotUndef key may be empty, and is printed without NotUndef
		}
		if err != nil || !x.Equal(y) {
			t.Errorf("%q is printed as %s, which is read as %v, %v", text, x, y, err)
		}
		types.Assignable(x, y)
		types.Mismatch("v", x, data.OfInt(1))
		types.Normalize(x)
	})
}
