package types

import (
	"errors"
	"fmt"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

const timeFormats = "Formats = Variant[String[2],Array[String[2], 1]]"

// seconds returns nanoseconds of seconds.
func seconds(v data.Value) int64 {
	if v.Kind() == data.Float {
		return int64(v.Float() * 1e9)
	}
	return v.Int() * 1e9
}

func timestampConstructor() *constructor {
	parse := func(s string, formats data.Value) (data.Value, error) {
		if !formats.IsNil() {
			return data.Value{}, fmt.Errorf("formats of a Timestamp: %w", errors.ErrUnsupported)
		}
		t, err := rich.ParseTimestamp(s)
		return data.OfRich(timestamp(t.UnixNano())), err
	}
	return &constructor{name: "new_timestamp", aliases: timeFormats, ways: []way{
		{make: func([]data.Value) (data.Value, error) { return data.OfRich(timestamp(time.Now().UnixNano())), nil }},
		{params: "Variant[Integer,Float] seconds", make: func(args []data.Value) (data.Value, error) {
			return data.OfRich(timestamp(seconds(args[0]))), nil
		}},
		{params: "String[1] string; Formats format?; String[1] timezone?", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0].Str(), argument(args, 1))
		}},
		{params: "Struct[{string => String[1], Optional[format] => Formats, Optional[timezone] => String[1]}] hash_arg", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0].Get("string").Str(), args[0].Get("format"))
		}},
	}}
}

// fields are the units of a Timespan in nanoseconds, the smallest last.
var fields = []struct {
	name string
	unit int64
}{
	{"days", 86400e9},
	{"hours", 3600e9},
	{"minutes", 60e9},
	{"seconds", 1e9},
	{"milliseconds", 1e6},
	{"microseconds", 1e3},
	{"nanoseconds", 1},
}

func timespanConstructor() *constructor {
	parse := func(s string, formats data.Value) (data.Value, error) {
		if !formats.IsNil() {
			return data.Value{}, fmt.Errorf("formats of a Timespan: %w", errors.ErrUnsupported)
		}
		t, err := rich.ParseTimespan(s)
		return data.OfRich(timespan(t.Nanoseconds().Int64())), err
	}
	return &constructor{name: "new_timespan", aliases: timeFormats, ways: []way{
		{params: "Variant[Integer,Float] seconds", make: func(args []data.Value) (data.Value, error) {
			return data.OfRich(timespan(seconds(args[0]))), nil
		}},
		{params: "String[1] string; Formats format?", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0].Str(), argument(args, 1))
		}},
		{params: "Integer days; Integer hours; Integer minutes; Integer seconds; Integer milliseconds?; Integer microseconds?; Integer nanoseconds?", make: func(args []data.Value) (data.Value, error) {
			ns := int64(0)
			for i, a := range args {
				ns += a.Int() * fields[i].unit
			}
			return data.OfRich(timespan(ns)), nil
		}},
		{params: "Struct[{string => String[1], Optional[format] => Formats}] hash_arg", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0].Get("string").Str(), args[0].Get("format"))
		}},
		{params: "Struct[{Optional[negative] => Boolean, Optional[days] => Integer, Optional[hours] => Integer, Optional[minutes] => Integer, Optional[seconds] => Integer, " +
			"Optional[milliseconds] => Integer, Optional[microseconds] => Integer, Optional[nanoseconds] => Integer}] hash_arg", make: func(args []data.Value) (data.Value, error) {
			ns := int64(0)
			for _, f := range fields {
				ns += args[0].Get(f.name).Int() * f.unit
			}
			if args[0].Get("negative").Bool() {
				ns = -ns
			}
			return data.OfRich(timespan(ns)), nil
		}},
	}}
}
