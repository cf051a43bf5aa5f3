package types_test

import (
	"fmt"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// facts returns some 15 kB of nested values, as facts are.
func facts() data.Value {
	var top []data.Pair
	for i := range 60 {
		disk := data.OfHash([]data.Pair{
			data.P("size", data.OfString("465.76 GiB")), data.P("size_bytes", data.OfInt(int64(500107862016+i))), data.P("vendor", data.OfString("ATA")),
			data.P("removable", data.OfBool(i%2 == 0)), data.P("load", data.OfFloat(0.5)), data.P("partitions", data.OfStrings([]string{"sda1", "sda2", "sda3"})),
			data.P("mount", data.OfHash([]data.Pair{data.P("device", data.OfString("/dev/sda1")), data.P("options", data.OfStrings([]string{"rw", "relatime", "errors=remount-ro"}))})),
		})
		top = append(top, data.P(fmt.Sprint("fact_", i), disk))
	}
	return data.OfHash(top)
}

// twentyKeys returns a Struct of twenty keys, and an instance.
func twentyKeys(b *testing.B) (types.Type, data.Value) {
	b.Helper()
	var members []string
	var h []data.Pair
	for i := range 20 {
		kind := []string{"String[1]", "Integer[0, 65535]", "Optional[Boolean]", "Enum['present', 'absent']", "Array[String]"}[i%5]
		members = append(members, fmt.Sprintf("'key_%d' => %s", i, kind))
		v := []data.Value{data.OfString("text"), data.OfInt(8080), data.OfBool(true), data.OfString("present"), data.OfStrings([]string{"a", "b"})}[i%5]
		h = append(h, data.P(fmt.Sprint("key_", i), v))
	}
	t, err := types.Parse("Struct[{"+strings.Join(members, ", ")+"}]", nil)
	if err != nil {
		b.Fatal(err)
	}
	return t, data.OfHash(h)
}

func BenchmarkInfer(b *testing.B) {
	v := facts()
	b.Run("detailed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			types.Infer(v)
		}
	})
	b.Run("reduced", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			types.Reduced(v)
		}
	})
}

func BenchmarkInstance(b *testing.B) {
	twenty, v := twentyKeys(b)
	for _, tt := range []struct {
		name string
		t    types.Type
		v    data.Value
	}{
		{"struct of 20 keys", twenty, v},
		{"facts of Data", types.Standard()["data"], facts()},
		{"facts of RichData", types.Standard()["richdata"], facts()},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !types.Instance(tt.t, tt.v) {
					b.Fatal("no instance")
				}
			}
		})
	}
}

func BenchmarkMismatch(b *testing.B) {
	t, v := twentyKeys(b)
	v = v.With("key_1", data.OfString("x"))
	b.ReportAllocs()
	for b.Loop() {
		if types.Mismatch("Class[Ntp]:", t, v) == "" {
			b.Fatal("no mismatch")
		}
	}
}

func BenchmarkParse(b *testing.B) {
	const text = "Variant[Enum['present', 'absent'], Struct[{'a' => Integer[1, 5], Optional['b'] => Array[String[1], 1]}]]"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := types.Parse(text, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	integer, text := types.Standard()["integer"], types.Standard()["string"]
	v := facts()
	b.Run("Integer", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := types.New(integer, []data.Value{data.OfString("0x1f")}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("String of facts", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := types.New(text, []data.Value{v}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
