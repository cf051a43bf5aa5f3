// Package command reads requests as users write them, on the command line and
// behind the colon, and writes answers in the format that is asked for.
//
//	find facts web01 terminus=yaml cache=off env=qa ignore_cache opt.recurse=true
package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
)

// Verbs are the words that ask something, in the order of help.
var verbs = []string{"find", "search", "head", "save", "destroy"}

// Verbs returns the words that ask something, in the order of help.
func Verbs() []string { return slices.Clone(verbs) }

// A UsageError reports a line that is not understood: what is wrong, and what to
// do.
type UsageError struct{ What, Advice string }

func (e *UsageError) Error() string {
	if e.Advice == "" {
		return e.What
	}
	return e.What + "; " + e.Advice
}

// Usage is how a request is written.
const Usage = "find|search|head|save|destroy INDIRECTION KEY [terminus=T] [cache=T|none] [env=E] " +
	"[ignore_cache] [ignore_cache_save] [ignore_terminus] [fail_on_404] [run=ID] [NAME=VALUE ...]"

// Request reads the words after a verb: an indirection, a key, and then
// options in any order. Whatever is not a word of ours is an option of the
// request, as termini see it; "opt." may stand before its name. The key of a
// search and of a save may be left out.
func Request(verb string, words []string) (*indirector.Request, error) {
	req := &indirector.Request{Verb: traces.ParseVerb(verb)}
	if req.Verb == traces.NoVerb || req.Verb == traces.Expire {
		return nil, &UsageError{fmt.Sprintf("%q is no verb", verb), "there are: " + strings.Join(verbs, ", ")}
	}
	if len(words) == 0 {
		return nil, &UsageError{verb + " what?", "usage: " + Usage}
	}
	req.Indirection, words = words[0], words[1:]
	if len(words) > 0 && !isOption(words[0]) {
		req.Key, words = words[0], words[1:]
	} else if req.Verb != traces.Search && req.Verb != traces.Save {
		return nil, &UsageError{fmt.Sprintf("%s %s: which key?", verb, req.Indirection), "usage: " + Usage}
	}
	var options []indirector.Option
	for _, w := range words {
		option, err := readOption(req, w)
		if err != nil {
			return nil, err
		}
		if option.Name != "" {
			options = append(options, option)
		}
	}
	// The options that are attributes of a request become that. Rule IND-REQ-02.
	attributes := indirector.NewRequest(req.Indirection, req.Verb, req.Key, nil, options)
	req.Options, req.Remote = attributes.Options, attributes.Remote
	if req.Run == "" {
		req.Run = attributes.Run
	}
	return req, nil
}

// readOption reads one word behind the key into the request. What is not a word of
// ours is returned as an option.
func readOption(req *indirector.Request, w string) (option indirector.Option, err error) {
	name, value, given := strings.Cut(w, "=")
	switch flag := traces.ParseFlag(name); {
	case name == "":
		return option, &UsageError{fmt.Sprintf("%q has no name", w), "write NAME=VALUE"}
	case given && value == "":
		return option, &UsageError{fmt.Sprintf("%q has no value", w), "write NAME=VALUE"}
	case flag != 0 && (!given || value == "true"):
		req.Flags |= flag
	case flag != 0 && value != "false":
		return option, &UsageError{fmt.Sprintf("%q: a flag is true or false", w), ""}
	case flag != 0:
	case !given:
		return option, &UsageError{fmt.Sprintf("%q is not understood", w), "options are written NAME=VALUE; flags are ignore_cache, ignore_cache_save, ignore_terminus, fail_on_404"}
	case name == "terminus":
		req.Terminus = value
	case name == "cache" && (value == "none" || value == "false"):
		req.Cache = indirector.Off
	case name == "cache":
		req.Cache = value
	case name == "env" || name == "environment":
		req.Environment = value
	case name == "run":
		req.Run = value
	case name == "replay":
		req.Replay, err = strconv.ParseUint(strings.TrimPrefix(value, "#"), 10, 64)
		if err != nil {
			err = &UsageError{fmt.Sprintf("%q is no number of a request", value), "write replay=1042"}
		}
	default:
		option = indirector.Option{Name: strings.TrimPrefix(name, "opt."), Value: value}
	}
	return option, err
}

// isOption reports whether a word is one of the options, where a key could
// stand: a flag, or NAME=VALUE.
func isOption(w string) bool {
	name, _, given := strings.Cut(w, "=")
	return traces.ParseFlag(name) != 0 || given && !strings.ContainsAny(name, "/: ") && name != ""
}

// Pair takes terminus=A,B out of words: two termini that are to be asked the
// same. If there are not two, ok is false.
func Pair(words []string) (termini, rest []string, ok bool) {
	for _, w := range words {
		if list, is := strings.CutPrefix(w, "terminus="); is {
			termini = strings.Split(list, ",")
			continue
		}
		rest = append(rest, w)
	}
	return termini, rest, len(termini) == 2
}

// Side has a request ask one of two termini that are compared. A routed cache would
// answer for both, so none is asked, unless the request names one.
func Side(req *indirector.Request, terminus string) error {
	if v := req.Verb; v != indirector.Find && v != indirector.Search && v != indirector.Head {
		return &UsageError{What: "only find, search and head can be compared", Advice: "a save would store it twice"}
	}
	req.Terminus = terminus
	if req.Cache == "" {
		req.Cache = indirector.Off
	}
	return nil
}

// Line writes a request as behind the colon. Request reads it back.
func Line(req *indirector.Request) string {
	words := []string{req.Verb.String(), Quote(req.Indirection)}
	if req.Key != "" {
		words = append(words, Quote(req.Key))
	}
	for _, o := range []struct{ name, value string }{
		{"terminus", req.Terminus}, {"cache", req.Cache}, {"env", req.Environment}, {"run", req.Run},
	} {
		if o.value != "" {
			words = append(words, o.name+"="+Quote(o.value))
		}
	}
	words = append(words, req.Flags.Names()...)
	for _, o := range req.Options {
		words = append(words, "opt."+o.Name+"="+Quote(fmt.Sprint(o.Value)))
	}
	return strings.Join(words, " ")
}

// Split cuts a line into words: at blanks, unless they stand in single or
// double quotes or behind a backslash.
func Split(line string) ([]string, error) {
	var words []string
	for {
		word, rest, ok, err := cut(line)
		if !ok || err != nil {
			return words, err
		}
		words, line = append(words, word), rest
	}
}

// SplitBefore cuts the first n words off a line, as Split does. What stands
// behind them is the last word, as it is written: expressions have quotes of
// their own.
func SplitBefore(line string, n int) ([]string, error) {
	var words []string
	for range n {
		word, rest, ok, err := cut(line)
		if !ok || err != nil {
			return words, err
		}
		words, line = append(words, word), rest
	}
	if line = strings.Trim(line, blanks); line != "" {
		words = append(words, line)
	}
	return words, nil
}

const blanks = " \t"

// cut cuts the first word off a line; ok reports whether there is one.
func cut(line string) (word, rest string, ok bool, err error) {
	var b strings.Builder
	var quote rune
	escaped := false
	for i, r := range line {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, ok = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			quote, ok = r, true
		case r != ' ' && r != '\t':
			b.WriteRune(r)
			ok = true
		case ok:
			return b.String(), line[i:], true, nil
		}
	}
	if quote != 0 {
		return "", "", false, &UsageError{fmt.Sprintf("a %c is not closed", quote), ""}
	}
	if escaped {
		b.WriteByte('\\')
	}
	return b.String(), "", ok, nil
}

// Quote writes a word so that Split gives it back.
func Quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t'\"\\") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
