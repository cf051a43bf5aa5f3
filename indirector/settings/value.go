package settings

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxValue is the length in bytes that interpolation may reach.
const maxValue = 64 << 10

var errTooLong = fmt.Errorf("value grows beyond %d bytes", maxValue)

// A resolver turns candidates into values. It remembers those in progress to
// detect settings that refer to each other.
type resolver struct {
	s     *Settings
	done  map[string]resolved
	doing []string
}

type resolved struct {
	raw
	err error
}

func (s *Settings) resolver() *resolver { return &resolver{s: s, done: map[string]resolved{}} }

// resolve returns the value of a setting, interpolated and in the form of its
// type. With an error comes the text as it was written.
func (r *resolver) resolve(name string) resolved {
	if v, ok := r.done[name]; ok {
		return v
	}
	for i, n := range r.doing {
		if n == name {
			return resolved{err: loopError{append(r.doing[i:len(r.doing):len(r.doing)], name)}}
		}
	}
	r.doing = append(r.doing, name)
	v := r.value(name)
	r.doing = r.doing[:len(r.doing)-1]
	var loop loopError
	if !errors.As(v.err, &loop) || len(r.doing) == 0 {
		r.done[name] = v
	}
	return v
}

func (r *resolver) value(name string) resolved {
	def := r.s.definition(name)
	written := r.lookup(name)
	if written.kind == nothing || name == "code" {
		return resolved{raw: written}
	}
	v := written
	if v.kind == text {
		var err error
		if v.text, err = r.interpolate(name, v.text); err != nil {
			return resolved{written, err}
		}
	}
	v, err := r.s.munge(def, v)
	if err != nil {
		return resolved{written, err}
	}
	return resolved{raw: v}
}

// lookup returns the winner before interpolation.
func (r *resolver) lookup(name string) raw {
	c := r.s.winner(name)
	if c.value.kind == later {
		return r.compute(name)
	}
	return c.value
}

type loopError struct{ names []string }

func (e loopError) Error() string {
	return "settings refer to each other: " + strings.Join(e.names, " → ")
}

var variable = regexp.MustCompile(`\$(\w+)|\$\{(\w+)\}`)

func (r *resolver) interpolate(setting, s string) (string, error) {
	if !strings.Contains(s, "$") {
		return s, nil
	}
	var b strings.Builder
	rest := 0
	for _, at := range variable.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(s[rest:at[0]])
		rest = at[1]
		start, end := at[2], at[3]
		if start < 0 {
			start, end = at[4], at[5]
		}
		value, err := r.variable(setting, s[at[0]:at[1]], s[start:end])
		if err != nil {
			return "", err
		}
		if b.WriteString(value); b.Len() > maxValue {
			return "", errTooLong
		}
	}
	b.WriteString(s[rest:])
	return b.String(), nil
}

// variable returns what stands for an expression, "$name" or "${name}", in the
// value of a setting.
func (r *resolver) variable(setting, expression, name string) (string, error) {
	if name == "environment" && setting != "config_version" {
		return expression, nil // Puppet leaves it as it is, and warns
	}
	if name == "run_mode" {
		return r.s.options.RunMode, nil
	}
	var v resolved
	if r.s.definition(name) != nil {
		v = r.resolve(name)
	}
	var inner interpolationError
	switch {
	case errors.As(v.err, &inner):
		return "", interpolationError(fmt.Sprintf(msgConvertWrap, setting, inner))
	case v.err != nil:
		return "", v.err
	case v.kind == nothing:
		return "", interpolationError(fmt.Sprintf(msgConvert, setting, expression))
	}
	return v.text, nil
}

// A puppetError is an error in Puppet's words.
type puppetError string

func (e puppetError) Error() string { return string(e) }

func errorf(format string, args ...any) error { return puppetError(fmt.Sprintf(format, args...)) }

// An interpolationError is a puppetError that names every setting on its way.
type interpolationError string

func (e interpolationError) Error() string { return string(e) }

// munge checks a value against the type of its setting and brings it into the
// form that Puppet prints: durations in seconds, absolute paths, no blanks in
// lists. The messages are Puppet's.
func (s *Settings) munge(def *Definition, v raw) (raw, error) {
	if def == nil {
		return v, nil
	}
	if def.Type == "alias" {
		def = s.definition(def.Values[0])
	}
	if m := mungers[def.Type]; m != nil {
		return m(s, def, v)
	}
	return v, nil
}

type munger func(s *Settings, def *Definition, v raw) (raw, error)

// mungers are the types whose values are checked or changed.
var mungers = map[string]munger{
	"boolean":                mungeBoolean,
	"terminus":               mungeTerminus,
	"integer":                mungeInteger,
	"port":                   mungeInteger,
	"duration":               mungeDuration,
	"ttl":                    mungeDuration,
	"enum":                   mungeEnum,
	"symbolic_enum":          mungeEnum,
	"file":                   mungeFile,
	"directory":              mungeFile,
	"file_or_directory":      mungeFile,
	"path":                   mungePath,
	"autosign":               mungeAutosign,
	"certificate_revocation": mungeRevocation,
	"priority":               mungePriority,
	"array":                  mungeList,
	"http_extra_headers":     mungeList,
	"server_list":            mungeList,
}

func mungeBoolean(_ *Settings, def *Definition, v raw) (raw, error) {
	if v.text != "true" && v.text != "false" {
		return v, errorf(msgBoolean, inspect(v), def.Name)
	}
	return raw{v.text, boolean}, nil
}

// mungeTerminus is rule IND-SEL-08.
func mungeTerminus(_ *Settings, _ *Definition, v raw) (raw, error) {
	if v.kind == boolean {
		return v, errorf(msgTerminus, v.text)
	}
	if v.text == "" {
		return raw{}, nil
	}
	return v, nil
}

func mungeInteger(_ *Settings, def *Definition, v raw) (raw, error) {
	n, err := parseInt(v)
	if err != nil {
		return v, errorf(msgInteger, inspect(v), def.Name)
	}
	if def.Type == "port" && (n < 0 || n > 65535) {
		return v, errorf(msgPort, n, def.Name)
	}
	return raw{strconv.FormatInt(n, 10), text}, nil
}

func mungeDuration(_ *Settings, def *Definition, v raw) (raw, error) {
	message := msgDuration
	if def.Type == "ttl" {
		message = msgTTL
		if v.text == "unlimited" {
			return v, nil
		}
	}
	seconds, ok := parseDuration(v)
	if !ok {
		return v, errorf(message, inspect(v), def.Name)
	}
	return raw{strconv.FormatInt(seconds, 10), text}, nil
}

func mungeEnum(_ *Settings, def *Definition, v raw) (raw, error) {
	if v.kind == boolean || !slices.Contains(def.Values, v.text) {
		return v, errorf(msgEnum, v.text, def.Name, strings.Join(def.Values, "', '"))
	}
	return v, nil
}

func mungeFile(s *Settings, _ *Definition, v raw) (raw, error) {
	if v.kind == text && v.text != ":memory:" && v.text != noManifest {
		v.text = s.expand(v.text)
	}
	return v, nil
}

func mungePath(s *Settings, _ *Definition, v raw) (raw, error) {
	if v.kind == text {
		v.text = s.expandPath(v.text)
	}
	return v, nil
}

func mungeAutosign(_ *Settings, _ *Definition, v raw) (raw, error) {
	if v.text == "true" || v.text == "false" {
		return raw{v.text, boolean}, nil
	}
	if !filepath.IsAbs(v.text) {
		return v, errorf(msgAutosign, v.text)
	}
	return v, nil
}

func mungeRevocation(_ *Settings, _ *Definition, v raw) (raw, error) {
	switch v.text {
	case "leaf":
		return v, nil
	case "chain", "true":
		return raw{"chain", text}, nil
	case "false":
		return raw{"false", boolean}, nil
	}
	return v, errorf(msgRevocation, v.text)
}

func mungeList(_ *Settings, def *Definition, v raw) (raw, error) {
	if v.kind == boolean {
		return v, fmt.Errorf("%s is a list, not %s", def.Name, v.text)
	}
	if def.Type != "server_list" { // which Puppet prints as written
		v.text = strings.Join(splitList(v.text), ",")
	}
	return v, nil
}

// inspect writes a value as Ruby's inspect does.
func inspect(v raw) string {
	if v.kind == boolean {
		return v.text
	}
	return strconv.Quote(v.text)
}

func parseInt(v raw) (int64, error) {
	return strconv.ParseInt(strings.Trim(v.text, blank), 0, 64)
}

var duration = regexp.MustCompile(`^(\d+)(y|d|h|m|s)?$`)

var units = map[string]int64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 24 * 3600, "y": 365 * 24 * 3600}

// parseDuration returns seconds. More than fit into a time.Duration are no
// duration.
func parseDuration(v raw) (int64, bool) {
	m := duration.FindStringSubmatch(v.text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit := units[m[2]]
	if err != nil || n > int64(math.MaxInt64/time.Second)/unit {
		return 0, false
	}
	return n * unit, true
}

var digits = regexp.MustCompile(`\d`)

func mungePriority(_ *Settings, def *Definition, v raw) (raw, error) {
	if n, ok := map[string]string{"high": "-10", "normal": "0", "low": "10", "idle": "19"}[v.text]; ok {
		return raw{n, text}, nil
	}
	if v.kind == boolean || !digits.MatchString(v.text) {
		return v, errorf(msgPriority, inspect(v), def.Name)
	}
	if n, err := parseInt(v); err == nil {
		return raw{strconv.FormatInt(n, 10), text}, nil
	}
	return raw{"0", text}, nil
}

func splitList(s string) []string {
	var list []string
	for item := range strings.SplitSeq(s, ",") {
		list = append(list, strings.Trim(item, blank))
	}
	for len(list) > 0 && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// expand makes a path absolute as Ruby's File.expand_path does.
func (s *Settings) expand(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(s.options.Home, path[1:])
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.options.Dir, path)
}

func (s *Settings) expandPath(path string) string {
	var dirs []string
	for dir := range strings.SplitSeq(strings.TrimRight(path, ":"), ":") {
		dirs = append(dirs, s.expand(dir))
	}
	if path == "" {
		return ""
	}
	return strings.Join(dirs, ":")
}
