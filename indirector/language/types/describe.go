package types

// describe returns what is wrong with a type where another is expected; nothing if it
// can be assigned.
func describe(expected, actual Type, path []step) []mismatch {
	if name := unresolvedIn(expected, nil); name != "" {
		return []mismatch{{kind: unresolved, path: path, key: name}}
	}
	return describeNormal(normalize(expected), expected, actual, path)
}

// describeNormal is given the type in its normal form, and as it was written, which
// is what is shown.
func describeNormal(expected, original, actual Type, path []step) []mismatch {
	switch t := expected.(type) {
	case variantType:
		return describeVariant(t, original, actual, path)
	case structType:
		return describeStruct(t, original, actual, path)
	case hashType:
		return describeHash(t, original, actual, path)
	case tupleType:
		return describeTuple(t, original, actual, path, wrongSize)
	case arrayType:
		return describeArray(t, original, actual, path)
	case callableType:
		return describeCallable(t, original, actual, path)
	case patternType, enumType:
		return []mismatch{mismatched(noMatch, path, original, actual)}
	case *aliasType:
		return describeNormal(normalize(t.resolved), expected, actual, path)
	case containedType:
		if t.container == optionalOf {
			if actual == undefType || t.inner == nil {
				return nil
			}
			if _, alias := original.(*aliasType); !alias {
				original = expected
			}
			return describeNormal(t.inner, original, actual, path)
		}
	}
	if assignable(expected, actual) {
		return nil
	}
	return []mismatch{mismatched(wrongType, path, original, actual)}
}

func describeVariant(t variantType, original, actual Type, path []step) []mismatch {
	types := t.types
	if _, ok := isContained(original, optionalOf); ok {
		types = append([]Type{undefType}, types...)
	}
	var all [][]mismatch
	for i, x := range types {
		found := describe(x, actual, variant(path, i))
		if len(found) == 0 {
			return nil
		}
		all = append(all, found)
	}
	merged := mergeMismatches(len(path), wrongSize, all)
	if _, alias := original.(*aliasType); alias && len(merged) == 1 {
		return []mismatch{mismatched(wrongType, path, original, actual)}
	}
	return merged
}

// mergeMismatches makes one mismatch of those of all alternatives, if they are of one
// kind and at one place; else it returns all. Rule LANG-TYPE-31.
func mergeMismatches(position int, size mismatchKind, alternatives [][]mismatch) []mismatch {
	var all []mismatch
	for _, found := range alternatives {
		all = append(all, found...)
	}
	for _, kind := range []mismatchKind{size, wrongType} {
		if merged, ok := mergeKind(all, kind, len(alternatives)); ok {
			all = []mismatch{merged}
			break
		}
	}
	if len(all) == 1 {
		all[0] = all[0].without(position)
	}
	return all
}

// mergeKind joins the mismatches of a kind if there are as many as alternatives.
func mergeKind(all []mismatch, kind mismatchKind, alternatives int) (mismatch, bool) {
	var some []mismatch
	for _, m := range all {
		if m.kind.is(kind) {
			some = append(some, m)
		}
	}
	if len(some) != alternatives || len(some) == 0 {
		return mismatch{}, false
	}
	out := some[0]
	for _, m := range some[1:] {
		if m.place() != out.place() {
			return mismatch{}, false
		}
		if kind.is(wrongSize) {
			hull := out.expected.(integerType).hull(m.expected.(integerType).interval)
			out.expected = integerType{interval: hull}
		} else {
			out = mismatched(out.kind, out.path, newVariant([]Type{out.expected, m.expected}), out.actual)
		}
	}
	return out, true
}

func describeArray(t arrayType, original, actual Type, path []step) []mismatch {
	var out []mismatch
	size, _ := sizeOf(actual)
	switch a := actual.(type) {
	case tupleType:
		if !t.size.orAny().covers(size) {
			return []mismatch{missized(wrongSize, path, t.size.orAny(), size)}
		}
		for i, x := range a.types {
			if !assignable(t.element, x) {
				out = append(out, describe(t.element, x, at(path, "index %d", i))...)
			}
		}
		return out
	case arrayType:
		if !t.size.orAny().covers(size) {
			return []mismatch{missized(wrongSize, path, t.size.orAny(), size)}
		}
		actual = newArray(a.element, nil)
	}
	return []mismatch{mismatched(wrongType, path, original, actual)}
}

func describeHash(t hashType, original, actual Type, path []step) []mismatch {
	var out []mismatch
	switch a := actual.(type) {
	case structType:
		if size := a.sizes(); !t.size.orAny().covers(size) {
			return []mismatch{missized(wrongSize, path, t.size.orAny(), size)}
		}
		for _, m := range a.members {
			if !assignable(t.key, m.key()) {
				out = append(out, describe(t.key, m.key(), at(path, "key of entry '%s'", m.name))...)
			}
			if !assignable(t.value, m.value) {
				out = append(out, describe(t.value, m.value, at(path, "entry '%s'", m.name))...)
			}
		}
		return out
	case hashType:
		if !t.size.orAny().covers(a.size.orAny()) {
			return []mismatch{missized(wrongSize, path, t.size.orAny(), a.size.orAny())}
		}
		actual = newHash(a.key, a.value, nil)
	}
	return []mismatch{mismatched(wrongType, path, original, actual)}
}

func describeStruct(t structType, original, actual Type, path []step) []mismatch {
	switch a := actual.(type) {
	case structType:
		return describeMembers(t, a, path)
	case hashType:
		if size := t.sizes(); !size.covers(a.size.orAny()) {
			return []mismatch{missized(wrongSize, path, size, a.size.orAny())}
		}
		actual = newHash(a.key, a.value, nil)
	}
	return []mismatch{mismatched(wrongType, path, original, actual)}
}

func describeMembers(t, actual structType, path []step) []mismatch {
	var out []mismatch
	for _, m := range t.members {
		x, ok := actual.find(m.name)
		switch {
		case !ok && !m.optional:
			out = append(out, mismatch{kind: missingKey, path: path, key: m.name})
		case ok:
			if !assignable(m.key(), x.key()) {
				out = append(out, describe(m.key(), x.key(), at(path, "key of entry '%s'", m.name))...)
			}
			if !assignable(m.value, x.value) {
				out = append(out, describe(m.value, x.value, at(path, "entry '%s'", m.name))...)
			}
		}
	}
	for _, m := range actual.members {
		if _, ok := t.find(m.name); !ok {
			out = append(out, mismatch{kind: unknownKey, path: path, key: m.name})
		}
	}
	return out
}

func describeTuple(t tupleType, original, actual Type, path []step, size mismatchKind) []mismatch {
	var out []mismatch
	switch a := actual.(type) {
	case tupleType:
		switch {
		case equal(t, a):
			return nil
		case !t.sizes().covers(a.sizes()):
			return []mismatch{missized(size, path, t.sizes(), a.sizes())}
		case len(t.types) == 0:
			return nil
		}
		for i, x := range a.types {
			i = min(i, len(t.types)-1)
			out = append(out, describe(t.types[i], x, at(path, "index %d", i))...)
		}
		return out
	case arrayType:
		switch {
		case len(t.types) == 0:
			return nil
		case !t.sizes().covers(a.size.orAny()):
			return []mismatch{missized(size, path, t.sizes(), a.size.orAny())}
		}
		for i, x := range t.types {
			out = append(out, describe(x, a.element, at(path, "index %d", i))...)
		}
		return out
	}
	return []mismatch{mismatched(wrongType, path, original, actual)}
}

func describeCallable(t callableType, original, actual Type, path []step) []mismatch {
	a, ok := actual.(callableType)
	if !ok {
		return []mismatch{mismatched(wrongType, path, original, actual)}
	}
	if t.params == nil && t.result == nil {
		return nil
	}
	if t.params != nil && a.params != nil {
		if found := describeTuple(*t.params, *t.params, *a.params, path, wrongCount); len(found) > 0 {
			return found
		}
	}
	if want, got := orAny(t.result), orAny(a.result); !assignable(want, got) {
		return []mismatch{mismatched(wrongType, at(path, "return"), want, got)}
	}
	if want, got := orUndef(t.block), orUndef(a.block); !assignable(got, want) {
		return []mismatch{mismatched(wrongType, at(path, "block"), want, got)}
	}
	return nil
}
