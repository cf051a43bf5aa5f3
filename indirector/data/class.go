package data

// RubyClass returns the class of a value in Ruby.
func RubyClass(v Value) string {
	switch v.Kind() {
	case Nil:
		return "NilClass"
	case Bool:
		if v.Bool() {
			return "TrueClass"
		}
		return "FalseClass"
	case Int, Big:
		return "Integer"
	case Float:
		return "Float"
	case Symbol:
		return "Symbol"
	case List:
		return "Array"
	case Hash:
		return "Hash"
	case Rich:
		if c, ok := v.Rich().(interface{ RubyClass() string }); ok {
			return c.RubyClass()
		}
		return "Object"
	default:
		return "String"
	}
}
