package flatfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// FactsYAMLFiles are YAMLFiles with the search of facts.
type FactsYAMLFiles struct{ YAMLFiles }

// FactsDataFiles are DataFiles with the search of facts.
type FactsDataFiles struct{ DataFiles }

// Search returns the names of the nodes whose facts meet all options. The key
// does not count. Rules TERM-FQ-01 to TERM-FQ-05.
func (t *FactsYAMLFiles) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	return t.query(ctx, req, func(path string) (indirector.Instance, error) { return t.load(ctx, path, "") })
}

// Search returns the names of the nodes whose facts meet all options. The key
// does not count. Rules TERM-FQ-01 to TERM-FQ-05.
func (t *FactsDataFiles) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	return t.query(ctx, req, func(path string) (indirector.Instance, error) { return t.load(ctx, path, "") })
}

func (f *files) query(ctx context.Context, req *indirector.Request, load func(path string) (indirector.Instance, error)) ([]indirector.Instance, error) {
	conditions := make([]condition, len(req.Options))
	for i, o := range req.Options {
		conditions[i] = newCondition(o)
		if why := conditions[i].hopeless(); why != "" {
			traces.Explain(ctx, why)
		}
	}
	paths, err := f.glob("*" + f.ext)
	if err != nil {
		return nil, err
	}
	names := []indirector.Instance{}
	for _, p := range paths {
		inst, err := load(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has gone since the directory was read
		}
		if err != nil {
			return nil, err
		}
		if inst == indirector.False {
			continue
		}
		facts, ok := inst.(*model.Facts)
		if !ok {
			return nil, &indirector.Failure{
				Class: "NoMethodError", Message: "undefined method `name' for " + rubyName(inst),
				Origin: "decode", Path: p, Hidden: "the file holds no facts, and one such file fails the whole search",
			}
		}
		matches, err := all(conditions, facts)
		if err != nil {
			return nil, err
		}
		if matches {
			names = append(names, indirector.Name(facts.Name))
		}
	}
	return names, nil
}

// A condition is one option of a facts search: type.name.operator = value.
type condition struct {
	kind, name, operator string
	value                any
	text                 string     // of the value, as Ruby's to_s
	time                 model.Time // of meta.timestamp
	err                  error      // that the value is no time
}

// newCondition takes an option apart. What comes after the third dot is not
// looked at. Rule TERM-FQ-01.
func newCondition(o indirector.Option) condition {
	parts := append(strings.Split(o.Name, "."), "", "", "")
	c := condition{kind: parts[0], name: parts[1], operator: parts[2], value: o.Value, text: rubyText(o.Value)}
	c.operator = cmp.Or(c.operator, "eq")
	if c.kind == "meta" && c.name == "timestamp" {
		c.time, c.err = model.ParseTime(c.text)
	}
	return c
}

var operators = []string{"eq", "ne", "lt", "le", "gt", "ge"}

// hopeless returns why no node can meet the condition, or "". Rule TERM-FQ-04.
func (c *condition) hopeless() string {
	switch {
	case c.kind == "meta" && c.name != "timestamp":
		return fmt.Sprintf("there is no meta.%s, only meta.timestamp", c.name)
	case c.kind != "facts" && c.kind != "meta":
		return fmt.Sprintf("%q is no condition: there are facts.<name> and meta.timestamp", c.kind)
	case !slices.Contains(operators, c.operator):
		return traces.NestedFact(c.name, c.operator)
	}
	return ""
}

func all(conditions []condition, facts *model.Facts) (bool, error) {
	for i := range conditions {
		ok, err := conditions[i].holds(facts)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// holds reports whether facts meet the condition. Rules TERM-FQ-02, TERM-FQ-03.
func (c *condition) holds(facts *model.Facts) (bool, error) {
	switch {
	case c.err != nil:
		return false, &indirector.Failure{Class: "ArgumentError", Message: c.err.Error(), Err: c.err}
	case c.kind == "facts":
		return c.compareFact(facts.Name, facts.Get(c.name))
	case c.kind != "meta" || c.name != "timestamp":
		return false, nil
	}
	return c.compareTime(facts)
}

// compareFact compares texts for equality, and numbers for order. A fact that
// is missing or false meets nothing, not even ne. One that is neither text nor
// number has no order, and fails the search.
func (c *condition) compareFact(node string, v data.Value) (bool, error) {
	switch {
	case !v.Truthy() || !slices.Contains(operators, c.operator):
		return false, nil
	case c.operator == "eq":
		return v.Text() == c.text, nil
	case c.operator == "ne":
		return v.Text() != c.text, nil
	}
	switch v.Kind() {
	case data.Bool, data.List, data.Hash, data.Symbol:
		return false, &indirector.Failure{
			Class: "NoMethodError", Message: "undefined method `to_f' for " + v.Inspect(),
			Hidden: fmt.Sprintf("the fact %s of %s is neither text nor number", c.name, node),
		}
	}
	return ordered(c.operator, compareFloats(float(v), floatOf(c.text))), nil
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case math.IsNaN(a) || math.IsNaN(b):
		return 2
	}
	return 0
}

func ordered(operator string, order int) bool {
	switch operator {
	case "eq":
		return order == 0
	case "ne":
		return order != 0
	case "lt":
		return order == -1
	case "le":
		return order == -1 || order == 0
	case "gt":
		return order == 1
	case "ge":
		return order == 1 || order == 0
	}
	return false
}

func (c *condition) compareTime(facts *model.Facts) (bool, error) {
	if facts.Timestamp.IsZero() {
		switch c.operator {
		case "eq":
			return false, nil
		case "ne":
			return true, nil
		}
		if !slices.Contains(operators, c.operator) {
			return false, nil
		}
		return false, &indirector.Failure{
			Class: "NoMethodError", Message: fmt.Sprintf("undefined method `%s' for nil:NilClass", map[string]string{"lt": "<", "le": "<=", "gt": ">", "ge": ">="}[c.operator]),
			Hidden: fmt.Sprintf("the facts of %s have no timestamp", facts.Name),
		}
	}
	return ordered(c.operator, facts.Timestamp.Time().Compare(c.time.Time())), nil
}

// float is Ruby's to_f: the number that a text begins with, else zero.
func float(v data.Value) float64 {
	switch v.Kind() {
	case data.Int:
		return float64(v.Int())
	case data.Float:
		return v.Float()
	}
	return floatOf(v.Text())
}

func floatOf(s string) float64 {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	end, digits, point, exponent := 0, false, false, false
scan:
	for i := range len(s) {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			digits, end = true, i+1
		case c == '_' && digits && end == i:
		case c == '.' && digits && !point && !exponent:
			point = true
		case (c == 'e' || c == 'E') && digits && !exponent:
			exponent = true
		case (c == '-' || c == '+') && (i == 0 || s[i-1]|0x20 == 'e'):
		default:
			break scan
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s[:end], "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0
	}
	return f
}

// rubyText is the value of an option as Ruby's to_s.
func rubyText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case data.Value:
		return v.Text()
	case float64:
		return data.FormatFloat(v)
	}
	return fmt.Sprint(v)
}

// ---- the expiration of a file of facts ----

// tail is the number of bytes at the end of a file that are searched before all
// of it is read.
const tail = 512

// expiration returns when the facts of a file expire, without decoding them:
// writers put it at the end.
func expiration(path string, size int64) (time.Time, error) {
	file, err := os.Open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer file.Close()
	b := make([]byte, min(size, tail))
	if _, err := file.ReadAt(b, size-int64(len(b))); err != nil && !errors.Is(err, io.EOF) {
		return time.Time{}, err
	}
	if text, ok := lastExpiration(b); ok {
		t, err := model.ParseTime(text)
		return t.Time(), err
	}
	if b, err = io.ReadAll(io.LimitReader(io.NewSectionReader(file, 0, size), maxPeek)); err != nil {
		return time.Time{}, err
	}
	if !bytes.Contains(b, []byte("expiration")) {
		return time.Time{}, nil
	}
	name := "json"
	if strings.HasSuffix(path, ".yaml") {
		name = "yaml"
	}
	inst, _, err := format.Intern(mustFormat(name), "facts", b, format.Options{Lenient: true})
	if facts, ok := inst.(*model.Facts); ok {
		return facts.Expiration(), nil
	}
	return time.Time{}, err
}

// maxPeek is the size of the largest file that is looked into.
const maxPeek = 64 << 20

// lastExpiration returns the text of an expiration that is the last entry of a
// file: `"expiration":"…"}` of JSON, or a last line `expiration: '…'` of YAML.
func lastExpiration(b []byte) (string, bool) {
	if s, ok := bytes.CutSuffix(b, []byte(`"}`)); ok {
		const key = `,"expiration":"`
		i := bytes.LastIndex(s, []byte(key))
		if i < 0 || bytes.IndexByte(s[i+len(key):], '"') >= 0 {
			return "", false
		}
		return string(s[i+len(key):]), true
	}
	line := bytes.TrimSuffix(b, []byte("\n"))
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	text, ok := bytes.CutPrefix(line, []byte("expiration: '"))
	if !ok {
		return "", false
	}
	return string(bytes.TrimSuffix(text, []byte("'"))), true
}
