package types

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

const timeFormats = "Formats = Variant[String[2],Array[String[2], 1]]"

// nanoseconds returns a sum of numbers of units as a time, which has 64 bits here: some
// three hundred years. Puppet has no limit.
func nanoseconds(units []int64, numbers ...data.Value) (int64, error) {
	sum := new(big.Int)
	for i, v := range numbers {
		n := new(big.Int)
		switch v.Kind() {
		case data.Float:
			if f := v.Float() * float64(units[i]); !math.IsInf(f, 0) && !math.IsNaN(f) {
				big.NewFloat(f).Int(n)
			}
		case data.Big:
			n.Mul(v.Big(), big.NewInt(units[i]))
		default:
			n.Mul(big.NewInt(v.Int()), big.NewInt(units[i]))
		}
		sum.Add(sum, n)
	}
	if !sum.IsInt64() {
		return 0, fmt.Errorf("times of %s nanoseconds: %w", sum, errors.ErrUnsupported)
	}
	return sum.Int64(), nil
}

// parseTimespan reads a length of time in one of the formats, or in the usual ones.
func parseTimespan(s string, formats data.Value) (rich.Timespan, error) {
	if formats.IsNil() {
		return rich.ParseTimespan(s)
	}
	list, several := formatList(formats)
	return rich.ParseTimespanBy(s, list, several)
}

// formatList returns formats, of which there may be several.
func formatList(v data.Value) (formats []string, several bool) {
	switch v.Kind() {
	case data.Nil:
		return nil, false
	case data.List:
		return texts(v.List()), true
	}
	return []string{v.Str()}, false
}

func parseTimestamp(s string) (int64, error) { return parseTimestampBy(s, data.Value{}, "") }

// parseTimestampBy reads a point in time, which must be one that 64 bits can hold.
func parseTimestampBy(s string, formats data.Value, zone string) (int64, error) {
	list, several := formatList(formats)
	t, err := rich.ParseTimestampBy(s, list, several, zone)
	if err != nil {
		return 0, err
	}
	return nanoseconds([]int64{1e9, 1}, data.OfInt(t.Unix()), data.OfInt(int64(t.Nanosecond())))
}

// seconds returns a number of seconds as a time.
func seconds(v data.Value) (int64, error) { return nanoseconds([]int64{1e9}, v) }

func timestampConstructor() *constructor {
	parse := func(s, formats, zone data.Value) (data.Value, error) {
		ns, err := parseTimestampBy(s.Str(), formats, zone.Str())
		return data.OfRich(timestamp(ns)), err
	}
	return &constructor{name: "new_timestamp", aliases: timeFormats, ways: []way{
		{make: func([]data.Value) (data.Value, error) { return data.OfRich(timestamp(time.Now().UnixNano())), nil }},
		{params: "Variant[Integer,Float] seconds", make: func(args []data.Value) (data.Value, error) {
			ns, err := seconds(args[0])
			return data.OfRich(timestamp(ns)), err
		}},
		{params: "String[1] string; Formats format?; String[1] timezone?", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0], argument(args, 1), argument(args, 2))
		}},
		{params: "Struct[{string => String[1], Optional[format] => Formats, Optional[timezone] => String[1]}] hash_arg", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0].Get("string"), args[0].Get("format"), args[0].Get("timezone"))
		}},
	}}
}

// fields and units are what a Timespan is made of, and how many nanoseconds that is.
var (
	fields = []string{"days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"}
	units  = []int64{86400e9, 3600e9, 60e9, 1e9, 1e6, 1e3, 1}
)

// nanosecondsIn returns the length of the fields of a hash.
func nanosecondsIn(h data.Value) (int64, error) {
	numbers := make([]data.Value, len(fields))
	for i, name := range fields {
		numbers[i] = h.Get(name)
	}
	ns, err := nanoseconds(units, numbers...)
	if h.Get("negative").Bool() {
		ns = -ns
	}
	return ns, err
}

func timespanConstructor() *constructor {
	parse := func(s string, formats data.Value) (data.Value, error) {
		t, err := parseTimespan(s, formats)
		if err != nil {
			return data.Value{}, err
		}
		ns, err := nanoseconds([]int64{1}, data.OfBig(t.Nanoseconds()))
		return data.OfRich(timespan(ns)), err
	}
	return &constructor{name: "new_timespan", aliases: timeFormats, ways: []way{
		{params: "Variant[Integer,Float] seconds", make: func(args []data.Value) (data.Value, error) {
			ns, err := seconds(args[0])
			return data.OfRich(timespan(ns)), err
		}},
		{params: "String[1] string; Formats format?", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0].Str(), argument(args, 1))
		}},
		{params: "Integer days; Integer hours; Integer minutes; Integer seconds; Integer milliseconds?; Integer microseconds?; Integer nanoseconds?", make: func(args []data.Value) (data.Value, error) {
			ns, err := nanoseconds(units, args...)
			return data.OfRich(timespan(ns)), err
		}},
		{params: "Struct[{string => String[1], Optional[format] => Formats}] hash_arg", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0].Get("string").Str(), args[0].Get("format"))
		}},
		{params: "Struct[{Optional[negative] => Boolean, Optional[days] => Integer, Optional[hours] => Integer, Optional[minutes] => Integer, Optional[seconds] => Integer, " +
			"Optional[milliseconds] => Integer, Optional[microseconds] => Integer, Optional[nanoseconds] => Integer}] hash_arg", make: func(args []data.Value) (data.Value, error) {
			ns, err := nanosecondsIn(args[0])
			return data.OfRich(timespan(ns)), err
		}},
	}}
}
