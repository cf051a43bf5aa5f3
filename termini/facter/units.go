package facter

import (
	"math"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// size writes bytes for people: "256.00 GiB", "512 bytes".
func size(bytes int64) string {
	if bytes < 1024 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	units := [...]string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	exp := int(math.Log2(float64(bytes)) / 10)
	n := math.Round(100*float64(bytes)/math.Pow(1024, float64(exp))) / 100
	if n == 1024 && exp < len(units) {
		exp, n = exp+1, 1
	}
	s := data.FormatFloat(n)
	if _, digits, _ := strings.Cut(s, "."); len(digits) == 1 {
		s += "0"
	}
	return s + " " + units[exp-1]
}

// hertz writes a frequency for people: "2.60 GHz". Zero is "".
func hertz(hz int64) string {
	if hz <= 0 {
		return ""
	}
	units := [...]string{"", "k", "M", "G", "T", "P", "E"}
	unit, i := int64(1), 0
	for hz/unit >= 1000 {
		unit, i = unit*1000, i+1
	}
	f := math.Round(100*float64(hz)/float64(unit)) / 100
	return strconv.FormatFloat(f, 'f', 2, 64) + " " + units[i] + "Hz"
}

// percent writes the share of used in total: "12.46%".
func percent(used, total int64) string {
	return strconv.FormatFloat(float64(used)/float64(total)*100, 'f', 2, 64) + "%"
}

// capacity is percent as mount points have it.
func capacity(used, total int64) string {
	switch {
	case used == total:
		return "100%"
	case used > 0:
		return percent(used, total)
	}
	return "0%"
}

// megabytes is the unit of legacy facts.
func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// memory is memory.system and memory.swap.
func memory(total, free int64) hash {
	var h hash
	used := total - free
	h.text("available", size(free))
	h.num("available_bytes", free)
	h.text("capacity", percent(used, total))
	h.text("total", size(total))
	h.num("total_bytes", total)
	h.text("used", size(used))
	h.num("used_bytes", used)
	return h
}

// release takes a version apart: full, major and, if there is one, minor.
func release(version string) hash {
	var h hash
	if version == "" {
		return h
	}
	parts := strings.Split(version, ".")
	h.text("full", version)
	h.text("major", parts[0])
	if len(parts) > 1 {
		h.text("minor", parts[1])
	}
	return h
}

// uptime writes seconds as Facter does.
func uptime(seconds int64) hash {
	var h hash
	hours := seconds / 3600
	days := hours / 24
	text := strconv.FormatInt(days, 10) + " days"
	switch days {
	case 0:
		minutes := strconv.FormatInt(seconds/60%60, 10)
		if len(minutes) < 2 {
			minutes = "0" + minutes
		}
		text = strconv.FormatInt(hours, 10) + ":" + minutes + " hours"
	case 1:
		text = "1 day"
	}
	h.num("seconds", seconds)
	h.num("hours", hours)
	h.num("days", days)
	h.text("uptime", text)
	return h
}

// capitalize is Ruby's: the first letter large, the others small.
func capitalize(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
}
