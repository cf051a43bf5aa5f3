// Package format turns instances into bytes and back, in Puppet's formats and
// under their names.
//
//	f, _ := format.ByName("json")
//	b, err := format.Render(f, facts)
//	instance, notes, err := format.Intern(f, "facts", b)
//
// Bytes and errors are Puppet's, byte for byte. Notes name what real Puppet
// would refuse or lose. The codecs between bytes and [data.Value] can be used
// alone: [DecodeJSON], [AppendJSON], [DecodePSON], [AppendPSON],
// [DecodeMsgpack], [AppendMsgpack].
package format

import (
	"slices"
	"strings"
)

// A Format is one of Puppet's formats. Rules FMT-01, FMT-09.
type Format struct {
	Name      string // "rich_data_json"
	MediaType string // "application/vnd.puppet.rich+json"
	Weight    int    // of two formats that would do, the heavier is offered first
	Extension string // of files, without the dot
	Charset   string // "UTF-8", or "" for bytes
	codec     codec
}

// String returns the name as Puppet prints it.
func (f *Format) String() string { return "Puppet::Network::Format[" + f.Name + "]" }

// A codec is how instances are encoded.
type codec uint8

const (
	none codec = iota
	jsonCodec
	psonCodec
	msgpackCodec
	yamlCodec
	dotCodec
	binaryCodec
	textCodec
	consoleCodec
	flatCodec
)

// formats are in the order in which Puppet declares them, which matters when
// two have the same weight.
var formats = [...]Format{
	{"msgpack", "application/x-msgpack", 20, "msgpack", "", msgpackCodec},
	{"yaml", "text/yaml", 5, "yaml", "", yamlCodec},
	{"s", "text/plain", 5, "txt", "UTF-8", textCodec},
	{"binary", "application/octet-stream", 1, "binary", "", binaryCodec},
	{"pson", "text/pson", 10, "pson", "", psonCodec},
	{"json", "application/json", 15, "json", "UTF-8", jsonCodec},
	{"dot", "text/dot", 5, "dot", "", dotCodec},
	{"console", "text/x-console-text", 0, "console", "", consoleCodec},
	{"flat", "text/x-flat-text", 0, "flat", "", flatCodec},
	{"rich_data_json", "application/vnd.puppet.rich+json", 30, "rich_data_json", "UTF-8", jsonCodec},
	{"rich_data_msgpack", "application/vnd.puppet.rich+msgpack", 35, "rich_data_msgpack", "", msgpackCodec},
}

func find(is func(*Format) bool) (*Format, bool) {
	for i := range formats {
		if is(&formats[i]) {
			return &formats[i], true
		}
	}
	return nil, false
}

// ByName returns the format of that name, in any case of letters.
func ByName(name string) (*Format, bool) {
	return find(func(f *Format) bool { return strings.EqualFold(f.Name, name) })
}

// ByMediaType returns the format of that media type. A media type with
// parameters is unknown, as in Puppet; see [ByContentType].
func ByMediaType(mediaType string) (*Format, bool) {
	return find(func(f *Format) bool { return strings.EqualFold(f.MediaType, mediaType) })
}

// ByContentType returns the format of a Content-Type header, without its
// parameters.
func ByContentType(header string) (*Format, bool) {
	mediaType, _, _ := strings.Cut(header, ";")
	return ByMediaType(strings.TrimSpace(mediaType))
}

// ByExtension returns the first format with that file extension.
func ByExtension(extension string) (*Format, bool) {
	return find(func(f *Format) bool { return f.Extension == extension })
}

// Suitable returns those of the supported formats that are accepted, in the
// order in which they are. Qualities do not count; "*/*" is the first of those
// supported. Names and media types are accepted alike.
func Suitable(accepted, supported []string) []*Format {
	var suitable []*Format
	for _, a := range accepted {
		name, _, _ := strings.Cut(a, ";q=")
		if name == "*/*" {
			if len(supported) == 0 {
				continue
			}
			name = supported[0]
		}
		lookup := ByName
		if strings.Contains(name, "/") {
			lookup = ByMediaType
		}
		if f, ok := lookup(name); ok && slices.Contains(supported, f.Name) {
			suitable = append(suitable, f)
		}
	}
	return suitable
}
