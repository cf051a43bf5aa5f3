package types

import (
	"slices"
	"strconv"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// Types in texts are read by a parser of their own in Puppet, with other errors than those of
// programs: it asks for the number of parameters first.

// parameterCounts are how many parameters the types take in a text, by their names. A most of
// -1 is any number.
var parameterCounts = map[string]struct {
	least, most int
	required    string
}{
	"Array": {1, 3, "1 to 3"}, "Hash": {2, 4, "2 to 4"}, "Collection": {1, 2, "1 to 2"}, "Class": {1, 1, "1"}, "Regexp": {1, 1, "1"},
	"Pattern": {1, -1, "1 or more"}, "URI": {1, 1, "1"}, "Variant": {1, -1, "1 or more"}, "Tuple": {1, -1, "1 or more"}, "Struct": {1, 1, "1"},
	"Boolean": {1, 1, "1"}, "Integer": {1, 2, "1 or 2"}, "Float": {1, 2, "1 or 2"}, "String": {1, 2, "1 to 2"}, "Object": {1, 1, "1"},
	"Iterable": {1, 1, "1"}, "Iterator": {1, 1, "1"}, "Sensitive": {0, 1, "0 to 1"}, "Optional": {1, 1, "1"}, "NotUndef": {0, 1, "0 to 1"},
	"Type": {1, 1, "1"}, "Runtime": {2, 2, "2"}, "Timespan": {0, 2, "0 to 2"}, "Timestamp": {0, 2, "0 to 2"}, "SemVer": {1, -1, "1 or more"},
}

func countError(name, required string, given int) error {
	return errorf("Invalid number of type parameters specified: %s requires %s, %d provided", name, required, given)
}

// fromText returns a type with parameters that stand in a text.
func (c constants) fromText(n *syntax.Access, t Type, args []data.Value) (data.Value, error) {
	switch x := t.(type) {
	case referenceType:
		return OfType(referenceType{c.source(n)}), nil
	case *aliasType:
		return data.Value{}, errorf("Not a parameterized type <%s>", c.source(n.Left))
	case plain:
		if x != objectType && x != typeSetType {
			return data.Value{}, errorf("Not a parameterized type <%s>", c.source(n.Left))
		}
	}
	if err := c.checkCount(n, t, args); err != nil {
		return data.Value{}, err
	}
	if err := checkTextParameters(t, args); err != nil {
		return data.Value{}, err
	}
	if !fitsText(simpleName(t), args) {
		return data.Value{}, c.unfit(n)
	}
	if _, ok := t.(tupleType); ok {
		var err error
		if args, err = standIns(args); err != nil {
			return data.Value{}, err
		}
	}
	return Parametrize(t, args)
}

// checkCount reports a number of parameters that a type does not take.
func (c constants) checkCount(n *syntax.Access, t Type, args []data.Value) error {
	name, given := simpleName(t), len(args)
	switch x := t.(type) {
	case resourceType:
		switch {
		case x.name == "" && (given < 1 || given > 2):
			return countError("Resource", "1 or 2", given)
		case x.name != "" && given != 1:
			return countError(c.source(n.Left), "1", given)
		}
	case enumType:
		if len(words(args)) == 0 {
			return countError(name, "1 or more", 0)
		}
	}
	if count, ok := parameterCounts[name]; ok && (given < count.least || count.most >= 0 && given > count.most) {
		return countError(name, count.required, given)
	}
	return nil
}

// words returns the parameters of an Enum without the one that lets case not matter.
func words(args []data.Value) []data.Value {
	if last := len(args) - 1; last >= 0 && args[last].Kind() == data.Bool {
		return args[:last]
	}
	return args
}

// checkTextParameters reports parameters that Puppet has words of their own for.
func checkTextParameters(t Type, args []data.Value) error {
	switch t.(type) {
	case enumType:
		if slices.ContainsFunc(words(args), func(v data.Value) bool { return !isText(v) }) {
			return errorf("Enum parameters must be identifiers or strings")
		}
	case booleanType:
		if args[0].Kind() != data.Bool {
			return errorf("Boolean parameter must be true or false")
		}
	case patternType:
		for _, a := range args {
			if !checks["Pattern"].fits(a) {
				// The message lacks the quote at its end.
				return errorf("Only String, Regexp, Pattern-Type, and Regexp-Type are allowed: got '%s", rubyClass(a))
			}
		}
	}
	return nil
}

// standIns returns the parameters of a Tuple with types for values, which stand for theirs, but
// for the ends of a size.
func standIns(args []data.Value) ([]data.Value, error) {
	out := slices.Clone(args)
	for i, a := range args {
		if isTypeValue(a) || isBound(a) {
			continue
		}
		t, err := typeOfArgument(a)
		if err != nil {
			return nil, err
		}
		out[i] = OfType(t)
	}
	return out, nil
}

// fitsText reports whether the parameters of a type are of the kinds that it takes in a text,
// as far as Puppet looks at them there.
func fitsText(name string, args []data.Value) bool {
	switch name {
	case "Init":
		return len(args) > 0 && isTypeValue(args[0])
	case "Variant", "Iterable", "Iterator", "Type", "Sensitive":
		return all(isTypeValue, args)
	case "Optional", "NotUndef":
		return all(func(v data.Value) bool { return isText(v) || isTypeValue(v) }, args)
	case "Integer", "Float":
		return len(args) > 1 || isBound(args[0]) || name == "Float" && args[0].Kind() == data.Float
	case "Tuple":
		last := len(args) - 1
		return last == 0 || !isRangeParameter(args[last-1]) || isRangeParameter(args[last])
	case "Struct":
		return args[0].Kind() == data.Hash
	case "String", "Collection":
		return fitsSize(args)
	case "Array":
		if len(args) == 2 && !isTypeValue(args[0]) {
			return all(isRangeParameter, args)
		}
		return isTypeValue(args[0]) && fitsSize(args[1:])
	case "Hash":
		if len(args) == 2 && !all(isTypeValue, args) {
			return all(isRangeParameter, args)
		}
		return all(isTypeValue, args[:2]) && fitsSize(args[2:])
	}
	return true
}

func all(fits func(data.Value) bool, args []data.Value) bool {
	return !slices.ContainsFunc(args, func(v data.Value) bool { return !fits(v) })
}

// fitsSize reports whether parameters are a size: a type of integers, or the ends of a range.
func fitsSize(args []data.Value) bool {
	if len(args) == 1 {
		if t, _ := AsType(args[0]); t != nil && simpleName(t) == "Integer" {
			return true
		}
	}
	return all(isRangeParameter, args)
}

// isRangeParameter reports whether a value can be an end of a range: also the text of a
// number.
func isRangeParameter(v data.Value) bool {
	if s, ok := text(v); ok {
		_, err := strconv.ParseInt(s, 10, 64)
		return s == defaultWord || err == nil
	}
	return isBound(v)
}
