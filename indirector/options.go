package indirector

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/traces"
)

func (c *call) traceOptions() {
	t := c.live.Trace
	t.Options = slices.Grow(t.Options, len(c.req.Options))
	for _, o := range c.req.Options {
		t.Options = append(t.Options, traces.Option{Name: o.Name, Value: c.req.Brief(o)})
	}
}

// Brief formats the value of an option of the request for people: of an instance
// only its type and key, of encoded facts how many there are and their names, and a
// filter of a collector as a manifest has it.
// A long text is cut, but so late that no secret is cut in two before it is
// recognised: what a trace shows of it is cut again after it was redacted.
func (r *Request) Brief(o Option) string {
	const most = 5 * traces.LongestOption
	switch v := o.Value.(type) {
	case string:
		short := v != "" && v[0] == '{' && len(v) <= traces.LongestOption // it is kept in full, and a replay needs it
		if o.Name == "facts" && holdsObject(v) && !short {
			format, _ := r.Option("facts_format").(string)
			return briefFacts(v, format)
		}
		if len(v) > traces.LongestOption {
			return v[:min(len(v), most)] + "…"
		}
		return v
	case data.Value:
		if o.Name == "filter" {
			return data.FilterText(v, most)
		}
	case Instance:
		return "(" + wordsOf(v) + notKept
	}
	return inspect(o.Value)
}

// notKept ends the text of an instance among options.
const notKept = ", not kept)"

// Described reports whether the value of an option, as [Request.Brief] wrote it, is
// only a description of an instance.
func Described(value string) bool {
	return strings.HasPrefix(value, "(") && strings.HasSuffix(value, notKept) ||
		strings.HasPrefix(value, "(*model.") // in older recordings
}

// wordsOf is what an instance is, and of whom.
func wordsOf(v Instance) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T %s", v, v.Key())
}

// holdsObject reports whether a text is a JSON object, perhaps escaped as for a URL.
func holdsObject(s string) bool {
	return strings.HasPrefix(s, "{") || len(s) >= 3 && strings.EqualFold(s[:3], "%7b")
}

// maxCounted is up to which length facts are counted, in bytes: it is done while
// the request waits.
const maxCounted = 1 << 20

// briefFacts describes encoded facts. Their values are not kept: a trace would
// hold a part of them that nothing can be made of.
func briefFacts(s, format string) string {
	size, as := bytesOf(len(s)), wordOf(format)
	if s[0] == '%' {
		as += ", URL-encoded"
	}
	names, ok := factNames(s)
	if !ok {
		return "(" + size + " of " + as + ", not counted)"
	}
	count := strconv.Itoa(len(names)) + " facts"
	if len(names) == 1 {
		count = "1 fact"
	}
	text := "(" + count + ", " + size + " of " + as
	const end = ", …)"
	for i, name := range names {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		if len(text)+len(separator)+len(name)+len(end) > traces.LongestOption {
			return text + end
		}
		text += separator + name
	}
	return text + ")"
}

// factNames returns the names of encoded facts in order, and whether they could
// be read. Puppet's client escapes them before it writes them into a form, and
// a server unescapes them.
func factNames(s string) ([]string, bool) {
	if len(s) > maxCounted {
		return nil, false
	}
	if s[0] == '%' {
		var err error
		if s, err = url.QueryUnescape(s); err != nil {
			return nil, false
		}
	}
	var facts struct{ Values map[string]ignored }
	if json.Unmarshal([]byte(s), &facts) != nil || facts.Values == nil {
		return nil, false
	}
	names := make([]string, 0, len(facts.Values))
	for name := range facts.Values {
		names = append(names, strings.ToValidUTF8(name, "\uFFFD"))
	}
	slices.Sort(names)
	return names, true
}

// ignored is a value of which only its place counts.
type ignored struct{}

func (*ignored) UnmarshalJSON([]byte) error { return nil }

// wordOf is the short word for a format that a request names.
func wordOf(format string) string {
	switch {
	case format == "", len(format) > 40:
		return "an unnamed format"
	case format == "application/json", format == "text/json":
		return "json"
	}
	return format
}

// bytesOf writes a size as the screen does.
func bytesOf(n int) string {
	if n < 10_000 {
		return strconv.Itoa(n) + " B"
	}
	return strconv.Itoa(n/1000) + " kB"
}
