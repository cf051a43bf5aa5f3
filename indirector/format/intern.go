package format

import (
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// Options change how bytes are read. The zero value reads what Puppet reads.
type Options struct {
	Limits Limits
	// Lenient reads for display what Puppet would refuse: YAML with tags of
	// other classes, times without quotes, reports of Puppet 2 and 3. Each is
	// noted. Rules FMT-06, FMT-REP-08.
	Lenient bool
}

// Notes are the parts of an input that real Puppet would refuse or lose, one
// sentence each; usually there are none.
type Notes []string

// Intern reads an instance of the model. An error is an *[Error] in Puppet's
// words: "Could not intern from json: …".
func Intern(f *Format, class string, b []byte, o Options) (indirector.Instance, Notes, error) {
	i, notes, err := intern(f, class, b, o)
	if err != nil {
		return nil, notes, &Error{"intern from", f.Name, err}
	}
	return i, notes, nil
}

// InternMultiple reads a list of instances of the model.
func InternMultiple(f *Format, class string, b []byte, o Options) ([]indirector.Instance, Notes, error) {
	all, notes, err := internMultiple(f, class, b, o)
	if err != nil {
		return nil, notes, &Error{"intern_multiple from", f.Name, err}
	}
	return all, notes, nil
}

func intern(f *Format, class string, b []byte, o Options) (indirector.Instance, Notes, error) {
	c, ok := model.Lookup(class)
	if !ok {
		return nil, nil, fmt.Errorf("there is no model %q", class)
	}
	switch f.codec {
	case yamlCodec:
		return internYAML(c, b, o)
	case binaryCodec:
		i, err := internBinary(c, b)
		return i, nil, err
	}
	v, err := textOr(f, c, b, o)
	if err != nil {
		return nil, nil, err
	}
	return fromData(c, unwrap(f, v), nil, o)
}

// fromData makes an instance of data, with its rich data read.
func fromData(c *model.Class, v data.Value, notes Notes, o Options) (indirector.Instance, Notes, error) {
	i, err := c.FromData(v)
	if err != nil {
		return nil, notes, err
	}
	notes, err = readRich(i, notes, o.Lenient)
	return i, notes, err
}

func internMultiple(f *Format, class string, b []byte, o Options) ([]indirector.Instance, Notes, error) {
	c, ok := model.Lookup(class)
	if !ok {
		return nil, nil, fmt.Errorf("there is no model %q", class)
	}
	if f.codec == yamlCodec {
		return internYAMLList(c, b, o)
	}
	if f.codec == textCodec && c.Formats[0] == f.Name {
		var all []indirector.Instance
		for part := range strings.SplitSeq(string(b), between) {
			i, err := c.FromData(data.OfString(part))
			if err != nil {
				return nil, nil, err
			}
			all = append(all, i)
		}
		return all, nil, nil
	}
	v, err := decode(f, b, o.Limits)
	if err != nil {
		return nil, nil, err
	}
	if v.Kind() != data.List {
		return nil, nil, fmt.Errorf("undefined method `collect' for a %s", v.Kind())
	}
	all := make([]indirector.Instance, v.Len())
	var notes Notes
	for n, x := range v.List() {
		if all[n], notes, err = fromData(c, unwrap(f, x), notes, o); err != nil {
			return nil, notes, err
		}
	}
	return all, notes, nil
}

// textOr reads text as itself for models in the format s, and other formats as
// data.
func textOr(f *Format, c *model.Class, b []byte, o Options) (data.Value, error) {
	if f.codec != textCodec || c.Formats[0] != f.Name {
		return decode(f, b, o.Limits)
	}
	if most := o.Limits.Bytes; most > 0 && len(b) > most {
		return data.Value{}, fmt.Errorf("the text is longer than %d bytes", most)
	}
	return data.OfString(string(b)), nil
}

// decode reads the data of a format whose instances are data hashes.
func decode(f *Format, b []byte, l Limits) (data.Value, error) {
	switch f.codec {
	case jsonCodec:
		return DecodeJSON(b, l)
	case psonCodec:
		return DecodePSON(b, l)
	case msgpackCodec:
		return DecodeMsgpack(b, l)
	}
	return data.Value{}, fmt.Errorf("nothing can be read from %s", f.MediaType)
}

// unwrap takes the instance out of the envelope that Puppet 3 put around PSON.
// Rule FMT-03.
func unwrap(f *Format, v data.Value) data.Value {
	if f.codec == psonCodec && v.Kind() == data.Hash {
		if inner := v.Get("data"); inner.Truthy() {
			return inner
		}
	}
	return v
}

func internBinary(c *model.Class, b []byte) (indirector.Instance, error) {
	switch c.Name {
	case "file_bucket_file":
		return model.NewFileBucketFile("sha256", b)
	case "ocsp":
		return &model.OCSPRequest{DER: b}, nil
	case "file_content":
		return &model.FileContent{Path: "/this/is/a/fake/path", Contents: model.Bytes(b)}, nil
	}
	return nil, errors.New(c.Ruby + " does not respond to from_binary; can not intern instances from application/octet-stream")
}
