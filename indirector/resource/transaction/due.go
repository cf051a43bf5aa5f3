package transaction

import (
	"math"
	"slices"
	"strconv"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// due reports whether a schedule lets a resource be applied now that was looked at
// before. All that is set must match. Rule RES-SKIP-03.
func due(s *types.Resource, before, now time.Time) bool {
	before = before.In(now.Location())
	ranges := s.Value("range")
	if !ranges.IsNil() && !slices.ContainsFunc(ranges.List(), func(r data.Value) bool { return inRange(s, r, now) }) {
		return false
	}
	if period := s.Value("period"); !period.IsNil() && !periodPassed(s, period.Text(), before, now) {
		return false
	}
	return !ranges.IsNil() || onWeekday(s, now)
}

// inRange reports whether now is between two clock times. A range over midnight began
// today or yesterday, whose weekday counts.
func inRange(s *types.Resource, r data.Value, now time.Time) bool {
	ends := r.List()
	if len(ends) != 2 {
		return false
	}
	from, to := clockOn(now, 0, ends[0]), clockOn(now, 0, ends[1])
	if from.Before(to) {
		return between(now, from, to) && onWeekday(s, now)
	}
	if between(now, from, clockOn(now, 1, ends[1])) {
		return onWeekday(s, now)
	}
	return between(now, clockOn(now, -1, ends[0]), to) && onWeekday(s, now.AddDate(0, 0, -1))
}

func between(t, from, to time.Time) bool { return !t.Before(from) && !t.After(to) }

// clockOn is a time like [4, 30, 0] on the day so many days after now.
func clockOn(now time.Time, days int, clock data.Value) time.Time {
	var n [3]int
	for i, v := range clock.List() {
		if i < len(n) {
			n[i] = int(v.Int())
		}
	}
	return time.Date(now.Year(), now.Month(), now.Day()+days, n[0], n[1], n[2], 0, now.Location())
}

func onWeekday(s *types.Resource, t time.Time) bool {
	days := s.Value("weekday")
	if days.IsNil() {
		return true
	}
	want := strconv.Itoa(int(t.Weekday()))
	if days.Kind() == data.Hash {
		return slices.ContainsFunc(days.Hash(), func(p data.Pair) bool { return p.Key.Text() == want })
	}
	return slices.ContainsFunc(days.List(), func(v data.Value) bool { return v.Text() == want })
}

var periods = map[string]time.Duration{"hourly": time.Hour, "daily": 24 * time.Hour, "weekly": 7 * 24 * time.Hour, "monthly": 30 * 24 * time.Hour}

func periodPassed(s *types.Resource, period string, before, now time.Time) bool {
	if period == "never" {
		return false
	}
	if s.Value("periodmatch").Text() != "number" {
		repeat, _ := strconv.ParseFloat(s.Value("repeat").Text(), 64) // of any size
		return repeat == 0 || float64(now.Unix()-before.Unix()) >= math.Floor(periods[period].Seconds()/repeat)
	}
	switch period {
	case "hourly":
		return now.Hour() != before.Hour()
	case "daily":
		return now.Day() != before.Day()
	case "monthly":
		return now.Month() != before.Month()
	}
	return before.Weekday() > now.Weekday() || now.Sub(before) > periods["weekly"]
}
