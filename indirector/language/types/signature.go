package types

import (
	"strings"

	"indirtui/indirector/data"
)

// A signature is what a function takes.
type signature struct {
	names    []string
	types    []Type
	required int
}

// newSignature reads parameters of the form "Integer radix; Boolean abs?"; a question
// mark is behind those that may be left out.
func newSignature(params string, lookup Lookup) signature {
	var s signature
	for param := range strings.SplitSeq(params, ";") {
		param = strings.TrimSpace(param)
		if param == "" {
			continue
		}
		at := strings.LastIndexByte(param, ' ')
		name, optional := strings.CutSuffix(param[at+1:], "?")
		t, err := Parse(param[:at], lookup)
		if err != nil {
			panic("types: parameter " + param + ": " + err.Error())
		}
		s.names, s.types = append(s.names, name), append(s.types, t)
		if !optional {
			s.required++
		}
	}
	return s
}

func (s signature) sizes() interval {
	return interval{from: int64(s.required), to: int64(len(s.types))}
}

// tuple returns the type of the lists of arguments that the function takes.
func (s signature) tuple() tupleType {
	size := s.sizes()
	return tupleType{s.types, &size}
}

func (s signature) takes(args []data.Value) bool { return isInstance(s.tuple(), data.OfList(args)) }

// String returns the parameters as messages show them.
func (s signature) String() string {
	params := make([]string, len(s.names))
	for i, name := range s.names {
		t, mark := s.types[i], ""
		if i >= s.required {
			mark = "?"
			if inner, ok := isContained(t, optionalOf); ok && inner != nil {
				t = inner
			}
		}
		params[i] = t.String() + " " + name + mark
	}
	return strings.Join(params, ", ")
}

// mismatches returns what is wrong with arguments: with the first that is.
func (s signature) mismatches(args []data.Value, at *place) []mismatch {
	if got := exactly(len(args)); !s.sizes().covers(got) {
		return []mismatch{missized(wrongCount, at, s.sizes(), got)}
	}
	for i, v := range args {
		if actual := Infer(v); !assignable(s.types[i], actual) {
			if found := describe(s.types[i], actual, at.at("parameter '"+s.names[i]+"'")); len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

// rejection describes why none of the signatures of a function takes arguments. Rule
// LANG-TYPE-31.
func rejection(name string, signatures []signature, args []data.Value) string {
	all := make([][]mismatch, len(signatures))
	for i, s := range signatures {
		all[i] = s.mismatches(args, &place{alternative: true})
	}
	if merged := mergeMismatches(nil, wrongCount, all); len(merged) == 1 {
		return "'" + name + "'" + merged[0].String()
	}
	begin, indent := "The function '"+name+"' was called with arguments it does not accept. It expects one of:\n  ", "  "
	if len(signatures) == 1 {
		begin, indent = "'"+name+"' expects ", ""
	}
	var lines []string
	for i, s := range signatures {
		lines = append(lines, indent+"("+s.String()+")")
		for _, m := range all[i] {
			m.at = m.at.without(nil)
			lines = append(lines, indent+"  rejected:"+m.String())
		}
	}
	return begin + strings.TrimPrefix(strings.Join(lines, "\n"), indent)
}
