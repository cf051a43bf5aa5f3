package types

import (
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// scheduleType is when resources may be applied. Rules RES-MISC-04 and RES-SKIP-03.
func scheduleType() *Type {
	return Define(Type{
		Name: "schedule", Doc: "When resources may be applied: they are skipped at other times. All that is set must match.",
		Namevars: []string{"name"}, ApplyTo: "both", Instances: Own,
		Attributes: []*Attribute{
			nameParameter("The name, by which resources choose the schedule."),
			{
				Name: "range", Kind: Parameter, Validate: validateRange, Munge: mungeRange,
				Doc: "The hours of the day, \"2 - 4\" or \"22:30 - 04:00\", or a list of them.",
			},
			{
				Name: "periodmatch", Kind: Parameter, Choices: choices("number", "distance"), Preset: data.OfSymbol("distance"),
				Doc: "How periods are told apart: by the number on the clock (another hour), or by the time that has passed.",
			},
			{
				Name: "period", Kind: Parameter, Choices: choices("hourly", "daily", "weekly", "monthly", "never"),
				Doc: "How often resources are applied.",
			},
			{
				Name: "repeat", Kind: Parameter, Preset: data.OfInt(1), Validate: validateRepeat, Munge: mungeRepeat,
				Doc: "How often within a period.",
			},
			{
				Name: "weekday", Kind: Parameter, Validate: validateWeekday, Munge: mungeWeekday,
				Doc: "Days of the week, as names or as numbers from 0, which is Sunday. With a range over midnight, that on which it begins.",
			},
		},
	})
}

var timeRange = regexp.MustCompile(`\d+(:\d+){0,2}\s*-\s*\d+(:\d+){0,2}`)

func validateRange(_ *Resource, v data.Value) error {
	for _, x := range list(v) {
		if x.Kind() != data.String || !timeRange.MatchString(x.Str()) {
			return refuse("Invalid range value '%s'", x.Text())
		}
	}
	return nil
}

// mungeRange makes [[[hour, minute, second], [hour, minute, second]], ...].
func mungeRange(_ *Resource, v data.Value) (data.Value, error) {
	var ranges []data.Value
	for _, x := range list(v) {
		r, err := parseRange(x.Str())
		if err != nil {
			return v, err
		}
		ranges = append(ranges, r)
	}
	return data.OfList(ranges), nil
}

var dash = regexp.MustCompile(`\s*-\s*`)

func parseRange(s string) (data.Value, error) {
	ends := dash.Split(s, -1)
	for len(ends) > 0 && ends[len(ends)-1] == "" {
		ends = ends[:len(ends)-1] // Ruby's split drops them
	}
	if len(ends) != 2 {
		return data.Value{}, refuse("Invalid range %s", s)
	}
	from, to := clock(ends[0]), clock(ends[1])
	for _, t := range [][]int64{from, to} {
		if t[0] > 23 {
			return data.Value{}, badArgument("Invalid hour '%d'", t[0])
		}
	}
	for _, t := range [][]int64{from, to} {
		if t[1] > 59 {
			return data.Value{}, badArgument("Invalid minute '%d'", t[1])
		}
	}
	return data.OfList([]data.Value{numbers(from), numbers(to)}), nil
}

// clock is hours, minutes and seconds of "4:30".
func clock(s string) []int64 {
	var t []int64
	for part := range strings.SplitSeq(s, ":") {
		t = append(t, leadingNumber(part))
	}
	for len(t) < 3 {
		t = append(t, 0)
	}
	return t
}

var leading = regexp.MustCompile(`^\s*[-+]?\d+(_\d+)*`)

// leadingNumber is Ruby's to_i: the number that a text begins with, else 0.
func leadingNumber(s string) int64 {
	n, _ := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(leading.FindString(s)), "_", ""), 10, 64)
	return n
}

func numbers(ns []int64) data.Value {
	all := make([]data.Value, len(ns))
	for i, n := range ns {
		all[i] = data.OfInt(n)
	}
	return data.OfList(all)
}

var digits = regexp.MustCompile(`(?m)^\d+$`)

func validateRepeat(r *Resource, v data.Value) error {
	if !isInteger(v) && !digits.MatchString(v.Str()) {
		return refuse("Repeat must be a number")
	}
	if match := r.Value("periodmatch"); !match.IsNil() && match.Str() != "distance" && !data.Equal(v, data.OfInt(1)) {
		return refuse("Repeat must be 1 unless periodmatch is 'distance', not '%s'", match.Str())
	}
	return nil
}

func mungeRepeat(_ *Resource, v data.Value) (data.Value, error) {
	if isInteger(v) {
		return v, nil
	}
	return integer(v.Str())
}

var (
	dayNumber = regexp.MustCompile(`(?m)^[0-6]$`)
	dayName   = regexp.MustCompile(`(?mi)^(Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(day)?$`)
	dayNames  = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

func validateWeekday(_ *Resource, v data.Value) error {
	for _, x := range list(v) {
		number := x.Kind() == data.Int && x.Int() >= 0 && x.Int() <= 6
		name := x.Kind() == data.String && (dayNumber.MatchString(x.Str()) || dayName.MatchString(x.Str()))
		if !number && !name {
			return refuse("%s is not a valid day of the week", x.Text())
		}
	}
	return nil
}

// mungeWeekday makes {1 => true} of Monday.
func mungeWeekday(_ *Resource, v data.Value) (data.Value, error) {
	days := data.OfHash(nil)
	for _, x := range list(v) {
		days = withDay(days, weekday(x))
	}
	return days, nil
}

func weekday(v data.Value) int64 {
	if v.Kind() == data.Int {
		return v.Int()
	}
	if dayNumber.MatchString(v.Str()) {
		return leadingNumber(v.Str())
	}
	for i, name := range dayNames {
		if strings.HasPrefix(strings.ToLower(v.Str()), name) {
			return int64(i)
		}
	}
	return 0
}

func withDay(days data.Value, day int64) data.Value {
	for _, p := range days.Hash() {
		if p.Key.Int() == day {
			return days
		}
	}
	return data.OfHash(append(days.Hash(), data.Pair{Key: data.OfInt(day), Value: data.OfBool(true)}))
}
