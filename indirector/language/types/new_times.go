package types

import (
	"math"
	"math/big"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

const timeFormats = "Formats = Variant[String[2],Array[String[2], 1]]"

// nanoseconds returns a sum of numbers of units as a time.
func nanoseconds(units []int64, numbers ...data.Value) (moment, error) {
	sum := new(big.Int)
	for i, v := range numbers {
		n := new(big.Int)
		switch v.Kind() {
		case data.Float:
			f := v.Float() * float64(units[i])
			if math.IsInf(f, 0) || math.IsNaN(f) {
				return moment{}, errorf("%s", data.FormatFloat(f))
			}
			big.NewFloat(f).Int(n)
		case data.Big:
			n.Mul(v.Big(), big.NewInt(units[i]))
		default:
			n.Mul(big.NewInt(v.Int()), big.NewInt(units[i]))
		}
		sum.Add(sum, n)
	}
	return momentOf(sum)
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

func parseTimestamp(s string) (moment, error) { return parseTimestampBy(s, data.Value{}, "") }

// parseTimestampBy reads a point in time.
func parseTimestampBy(s string, formats data.Value, zone string) (moment, error) {
	list, several := formatList(formats)
	t, err := rich.ParseTimestampBy(s, list, several, zone)
	return moment{t.Unix(), int64(t.Nanosecond())}, err
}

// seconds returns a number of seconds as a time.
func seconds(v data.Value) (moment, error) { return nanoseconds([]int64{1e9}, v) }

func timestampConstructor() *constructor {
	parse := func(s, formats, zone data.Value) (data.Value, error) {
		m, err := parseTimestampBy(s.Str(), formats, zone.Str())
		return data.OfRich(timestamp{&m}), err
	}
	return &constructor{name: "new_timestamp", aliases: timeFormats, ways: []way{
		{make: func([]data.Value) (data.Value, error) { return OfTimestamp(big.NewInt(time.Now().UnixNano())) }},
		{params: "Variant[Integer,Float] seconds", make: func(args []data.Value) (data.Value, error) {
			m, err := seconds(args[0])
			return data.OfRich(timestamp{&m}), err
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
func nanosecondsIn(h data.Value) (moment, error) {
	numbers := make([]data.Value, len(fields))
	for i, name := range fields {
		numbers[i] = h.Get(name)
	}
	m, err := nanoseconds(units, numbers...)
	if err == nil && h.Get("negative").Bool() {
		return momentOf(new(big.Int).Neg(m.total()))
	}
	return m, err
}

func timespanConstructor() *constructor {
	parse := func(s string, formats data.Value) (data.Value, error) {
		t, err := parseTimespan(s, formats)
		if err != nil {
			return data.Value{}, err
		}
		return OfTimespan(t.Nanoseconds())
	}
	return &constructor{name: "new_timespan", aliases: timeFormats, ways: []way{
		{params: "Variant[Integer,Float] seconds", make: func(args []data.Value) (data.Value, error) {
			m, err := seconds(args[0])
			return data.OfRich(timespan{&m}), err
		}},
		{params: "String[1] string; Formats format?", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0].Str(), argument(args, 1))
		}},
		{params: "Integer days; Integer hours; Integer minutes; Integer seconds; Integer milliseconds?; Integer microseconds?; Integer nanoseconds?", make: func(args []data.Value) (data.Value, error) {
			m, err := nanoseconds(units, args...)
			return data.OfRich(timespan{&m}), err
		}},
		{params: "Struct[{string => String[1], Optional[format] => Formats}] hash_arg", make: func(args []data.Value) (data.Value, error) {
			return parse(args[0].Get("string").Str(), args[0].Get("format"))
		}},
		{params: "Struct[{Optional[negative] => Boolean, Optional[days] => Integer, Optional[hours] => Integer, Optional[minutes] => Integer, Optional[seconds] => Integer, " +
			"Optional[milliseconds] => Integer, Optional[microseconds] => Integer, Optional[nanoseconds] => Integer}] hash_arg", make: func(args []data.Value) (data.Value, error) {
			m, err := nanosecondsIn(args[0])
			return data.OfRich(timespan{&m}), err
		}},
	}}
}
