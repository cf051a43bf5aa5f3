package types_test

import (
	"testing"

	"indirtui/indirector/language/types"
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
