package types_test

import (
	"fmt"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

func Example() {
	ports, err := types.Parse("Array[Integer[1, 65535], 1]", nil)
	if err != nil {
		panic(err)
	}
	found := data.OfList([]data.Value{data.OfInt(80), data.OfString("443")})
	fmt.Println(types.Infer(found))
	fmt.Println(types.Mismatch("Found value has wrong type,", ports, found))

	v, err := types.New(parseExample("Integer"), []data.Value{data.OfString("0x1bb")})
	fmt.Println(v, err)
	// Output:
	// Tuple[Integer[80, 80], String]
	// Found value has wrong type, index 1 expects an Integer value, got String
	// 443 <nil>
}

func parseExample(text string) types.Type {
	t, err := types.Parse(text, nil)
	if err != nil {
		panic(err)
	}
	return t
}
