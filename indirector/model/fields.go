package model

import "indirtui/indirector/data"

// A field is one key of a data hash: the variable that holds its value, and how
// it is read and written.
type field struct {
	key  string
	kind fieldKind
	to   any // a pointer of the kind's type
}

type fieldKind uint8

const (
	asValue    fieldKind = iota // data.Value
	asText                      // string; "" is null
	asWord                      // string; Ruby may have kept it as a symbol
	asOptional                  // string; left out if it is unset
	asNumber                    // int64
	asLine                      // int64; 0 is null
	asFlag                      // bool
	asTruth                     // bool; always written as one
	asList                      // []string
	asTags                      // []string; Puppet 3 wrote a set
	asTime                      // Time
)

// read reads a data hash into the fields and returns the pairs of other keys.
func (o *odd) read(pairs []data.Pair, fields []field) (extra []data.Pair, err error) {
	var seen uint32 // by position in fields
	next := 0       // hashes mostly have the order of the fields
	for i := range pairs {
		n := indexOf(fields, next, key(pairs[i]))
		if n < 0 {
			extra = append(extra, pairs[i])
			continue
		}
		if err := o.readField(&fields[n], pairs[i].Value); err != nil {
			return nil, err
		}
		seen |= 1 << n
		next = n + 1
	}
	for i := range fields {
		switch fields[i].kind {
		case asNumber, asFlag, asList: // an absent one is null, not zero
			if seen&(1<<i) == 0 {
				*o = append(*o, data.P(fields[i].key, data.Value{}))
			}
		}
	}
	return extra, nil
}

// indexOf returns the position of the field with that key, or -1. It looks at
// next first.
func indexOf(fields []field, next int, key string) int {
	if next < len(fields) && fields[next].key == key {
		return next
	}
	for i := range fields {
		if fields[i].key == key {
			return i
		}
	}
	return -1
}

func (o *odd) readField(f *field, v data.Value) (err error) {
	switch to := f.to.(type) {
	case *data.Value:
		*to = v
	case *string:
		switch {
		case f.kind == asWord && v.Kind() == data.Symbol:
			*to = v.Str()
		case f.kind != asOptional || v.Truthy():
			*to = o.text(f.key, v)
		}
	case *int64:
		*to = o.number(f.key, v)
	case *bool:
		if f.kind == asTruth {
			*to = v.Truthy()
			break
		}
		*to = o.flag(f.key, v)
	case *[]string:
		if f.kind == asTags {
			*to, err = o.tagSet(f.key, v)
			break
		}
		*to = o.list(f.key, v)
	case *Time:
		*to, err = o.moment(f.key, v)
	}
	return err
}

// write returns the data hash of the fields, followed by extra.
func (o odd) write(fields []field, extra []data.Pair) data.Value {
	h := make([]data.Pair, 0, len(fields)+len(extra))
	for i := range fields {
		f := &fields[i]
		v := o.writeField(f)
		if f.kind == asOptional && v.IsNil() {
			continue
		}
		h = append(h, data.P(f.key, v))
	}
	return data.OfHash(append(h, extra...))
}

func (o odd) writeField(f *field) data.Value {
	switch from := f.to.(type) {
	case *data.Value:
		return *from
	case *string:
		return o.ofText(f.key, *from)
	case *int64:
		if f.kind == asLine {
			return o.ofLine(*from)
		}
		return o.ofNumber(f.key, *from)
	case *bool:
		if f.kind == asTruth {
			return data.OfBool(*from)
		}
		return o.ofFlag(f.key, *from)
	case *[]string:
		return o.ofList(f.key, *from)
	case *Time:
		return o.ofTime(f.key, *from)
	}
	panic("model: a field of no kind: " + f.key)
}
