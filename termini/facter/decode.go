package facter

import (
	"fmt"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
)

// maxNodes are the values in one file.
const maxNodes = 1 << 18

// decodeJSON reads one JSON value as Ruby does.
func decodeJSON(text string) (data.Value, error) {
	return format.DecodeJSON([]byte(text), format.Limits{Bytes: maxText, Items: maxNodes})
}

// decodeYAML reads a YAML document as Ruby's safe loader does, which makes no
// objects but those of the permitted classes. Times and dates stay the text
// that they were written as.
func decodeYAML(text string, permitted ...string) (data.Value, error) {
	doc, err := psych.Decode([]byte(text), psych.Limits{
		Bytes: 2 * maxText, Depth: maxDepth, Nodes: maxNodes, Aliases: maxNodes, KeepBOM: true,
	})
	if err != nil {
		return data.Value{}, err
	}
	if f, refused := doc.Refused(permitted...); refused {
		return data.Value{}, fmt.Errorf("line %d: tried to load unspecified class: %s", f.Line, f.Class)
	}
	return doc.Value, nil
}
