package engine

import (
	"fmt"
	"io"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// describe describes the contents of a file without reading them, with their
// path. It reports false for other instances.
func describe(instance any) (v data.Value, source string, ok bool) {
	var pairs []data.Pair
	put := func(name, value string) {
		if value != "" {
			pairs = append(pairs, data.P(name, data.OfString(value)))
		}
	}
	var contents model.Contents
	switch f := instance.(type) {
	case *model.Binding:
		return binding(f), "", true
	case *model.FileContent:
		contents = f.Contents
		put("path", f.Path)
		put("relative_path", f.RelativePath)
		put("links", f.Links)
	case *model.FileBucketFile:
		contents = f.Contents
		if f.Checksum != "" {
			put("checksum", "{"+f.ChecksumType+"}"+f.Checksum)
		}
		put("bucket_path", f.BucketPath)
	default:
		return data.Value{}, "", false
	}
	if contents != nil {
		if n := contents.Size(); n >= 0 {
			pairs = append(pairs, data.P("size", data.OfInt(n)))
		}
		if kept, is := contents.(model.Kept); is {
			source = kept.Path()
		}
	}
	return data.OfHash(pairs), source, true
}

// binding is shown below its key, whose name may make it a secret. What was
// decrypted is one in any case.
func binding(b *model.Binding) data.Value {
	v := b.Value
	if b.Secret {
		v = data.OfHash([]data.Pair{data.P("__ptype", data.OfString("Sensitive")), data.P("__pvalue", v)})
	}
	return data.OfHash([]data.Pair{data.P(b.Name, v)})
}

// Data returns an answer as data, not redacted. It reports false for contents.
func Data(answer any) (data.Value, bool) { return dataOf(answer) }

func dataOf(answer any) (data.Value, bool) {
	switch v := answer.(type) {
	case nil:
		return data.Value{}, false
	case data.Value:
		return v, true
	case bool:
		return data.OfBool(v), true
	case int:
		return data.OfInt(int64(v)), true
	case string:
		return data.OfString(v), true
	case []string:
		return data.OfStrings(v), true
	case indirector.Name:
		return data.OfString(string(v)), true
	case []indirector.Instance:
		list := make([]data.Value, 0, len(v))
		for _, inst := range v {
			d, ok := dataOf(inst)
			if !ok {
				d = data.OfString(fmt.Sprintf("(%T %s)", inst, inst.Key()))
			}
			list = append(list, d)
		}
		return data.OfList(list), true
	case io.Reader:
		return data.Value{}, false
	case indirector.Instance:
		if v == indirector.False {
			return data.OfBool(false), true
		}
		return model.ToData(v)
	}
	return data.Value{}, false
}
