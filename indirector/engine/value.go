package engine

import (
	"fmt"
	"io"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/mask"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// Renderer returns how a store sees instances: as JSON, masked by m. Content
// that is a reader is not read.
func Renderer(m *mask.Mask) func(model string, instance any) traces.Value {
	return func(model string, instance any) traces.Value {
		v, ok := dataOf(instance)
		if !ok {
			return traces.Value{}
		}
		return render(m, model, v)
	}
}

func render(m *mask.Mask, name string, v data.Value) traces.Value {
	masked, hidden := m.Value(v)
	body, err := format.AppendJSON(nil, masked)
	if err != nil { // bytes that are no UTF-8: PSON can carry them
		if body, err = format.AppendPSON(nil, masked); err != nil {
			return traces.Value{Model: name}
		}
	}
	return traces.Value{Model: name, Format: "json", Size: len(body), Body: body, Masked: len(hidden)}
}

// Data returns an answer as data, in the clear: for who asked, not for who
// keeps. It reports false for content that cannot be had as data.
func Data(answer any) (data.Value, bool) { return dataOf(answer) }

func dataOf(answer any) (data.Value, bool) {
	switch v := answer.(type) {
	case nil:
		return data.Value{}, false
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
