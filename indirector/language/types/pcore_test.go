package types_test

import (
	"testing"

	"indirtui/indirector/language/types"
	"indirtui/indirector/rich"
)

// Types are written as real Puppet 7.23 writes them into catalogs.
func TestToPcore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Any":                 `{"__ptype"=>"Pcore::AnyType"}`,
		"CatalogEntry":        `{"__ptype"=>"Pcore::CatalogEntryType"}`,
		"Integer":             `{"__ptype"=>"Pcore::IntegerType"}`,
		"Integer[1]":          `{"__ptype"=>"Pcore::IntegerType", "from"=>1}`,
		"Integer[default, 5]": `{"__ptype"=>"Pcore::IntegerType", "from"=>nil, "to"=>5}`,
		"Float[1.0, 2.5]":     `{"__ptype"=>"Pcore::FloatType", "from"=>1.0, "to"=>2.5}`,
		"Boolean[true]":       `{"__ptype"=>"Pcore::BooleanType"}`,
		"String[1]":           `{"__ptype"=>"Pcore::StringType", "size_type_or_value"=>{"__ptype"=>"Pcore::IntegerType", "from"=>1}}`,
		"Enum['a', true]":     `{"__ptype"=>"Pcore::EnumType", "values"=>["a"], "case_insensitive"=>true}`,
		"Pattern[/a/]":        `{"__ptype"=>"Pcore::PatternType", "patterns"=>[{"__ptype"=>"Pcore::RegexpType", "pattern"=>"a"}]}`,
		"Array":               `{"__ptype"=>"Pcore::ArrayType"}`,
		"Array[Integer, 1]": `{"__ptype"=>"Pcore::ArrayType", "element_type"=>{"__ptype"=>"Pcore::IntegerType"}, ` +
			`"size_type"=>{"__ptype"=>"Pcore::IntegerType", "from"=>1}}`,
		"Hash[String, Integer]": `{"__ptype"=>"Pcore::HashType", "key_type"=>{"__ptype"=>"Pcore::StringType"}, "value_type"=>{"__ptype"=>"Pcore::IntegerType"}}`,
		"Tuple[Integer]":        `{"__ptype"=>"Pcore::TupleType", "types"=>[{"__ptype"=>"Pcore::IntegerType"}]}`,
		"Struct[{Optional['b'] => String}]": `{"__ptype"=>"Pcore::StructType", "elements"=>[{"__ptype"=>"Pcore::StructElement", ` +
			`"key_type"=>{"__ptype"=>"Pcore::OptionalType", "type"=>{"__ptype"=>"Pcore::StringType", "size_type_or_value"=>"b"}}, ` +
			`"value_type"=>{"__ptype"=>"Pcore::StringType"}}]}`,
		"Variant[String, Integer]":  `{"__ptype"=>"Pcore::VariantType", "types"=>[{"__ptype"=>"Pcore::StringType"}, {"__ptype"=>"Pcore::IntegerType"}]}`,
		"Sensitive[String]":         `{"__ptype"=>"Pcore::SensitiveType"}`,
		"Type[Integer]":             `{"__ptype"=>"Pcore::TypeType", "type"=>{"__ptype"=>"Pcore::IntegerType"}}`,
		"Callable":                  `{"__ptype"=>"Pcore::CallableType", "param_types"=>nil, "block_type"=>nil, "return_type"=>nil}`,
		"SemVer['>=1.0.0']":         `{"__ptype"=>"Pcore::SemVerType", "ranges"=>[{"__ptype"=>"SemVerRange", "__pvalue"=>">=1.0.0"}]}`,
		"Timestamp":                 `{"__ptype"=>"Pcore::TimestampType"}`,
		"Runtime['ruby', 'String']": `{"__ptype"=>"Pcore::RuntimeType", "runtime"=>"ruby", "name_or_pattern"=>"String"}`,
	} {
		of, err := types.Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := types.ToPcore(of); !ok || v.Inspect() != want {
			t.Errorf("%s:\n got %s\nwant %s", text, v.Inspect(), want)
		}
	}
}

// What was written into a catalog is, as text, the type.
func TestPcoreAsText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Any", "Integer", "Integer[1]", "Integer[default, 5]", "Integer[1, 1]", "Float[1.0, 2.5]", "Numeric", "String", "String[1]", "String[1, 2]",
		"String[0]", "Enum['a', 'b']", "Enum['a', true]", "Pattern[/a\\/b/, /c/]", "Regexp", "Regexp[/a.b/]", "Boolean", "Array", "Array[Integer]",
		"Array[Integer, 1]", "Array[Any, 1, 2]", "Array[0, 0]", "Hash", "Hash[String, Integer]", "Hash[Any, Any, 1]", "Hash[0, 0]", "Tuple[Integer, String]",
		"Tuple[Integer, 1, 3]", "Struct[{'a' => Integer}]", "Struct[{Optional['b'] => String}]", "Struct[{NotUndef['c'] => Optional[String]}]",
		"Struct[{'d' => Optional[String], Optional['e'] => Any}]", "Variant[String, Integer]", "Optional[String]", "Optional['x']", "NotUndef", "NotUndef['x']",
		"Type", "Type[Integer]", "Sensitive", "Iterable[Integer]", "Iterator[String]", "Init[Integer]", "Callable", "Callable[String]",
		"Callable[[0, 0], String]", "Callable[String, 1, 2, Callable]", "Callable[0, 0]", "Collection[1, 2]", "Class", "Class['a::b']", "File", "File['/x']",
		"Resource['foo::bar', 'x']", "Resource", "CatalogEntry", "Runtime", "Runtime['ruby', 'String']", "SemVer", "SemVer['>=1.0.0']", "SemVerRange", "Timestamp",
		"Timespan", "URI", "Binary", "Undef", "Default", "Scalar", "ScalarData", "Data", "RichData", "Unit",
	} {
		of, err := types.Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, ok := types.ToPcore(of)
		if !ok {
			continue
		}
		if got, want := rich.Text(v), of.String(); got != want {
			t.Errorf("%s: got %s, want %s", v, got, want)
		}
	}
}
