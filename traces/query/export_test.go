package query

// Fields and Flags are the tables, for tests.
func Fields() []field { return fields }

func Flags() []flag { return flags }
