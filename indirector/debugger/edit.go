package debugger

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// An Edit changes one thing about a request that waits:
//
//	key=web02  env=qa  terminus=yaml  cache=off  ignore_cache=false
//	opt.NAME=VALUE  opt.NAME=          an option; without a value it is removed
//	value={"name": "web01", …}|@FILE   the answer so far, or what is to be saved
//	$NAME=VALUE                        a variable of the program that it waits in, see readVariable
type Edit struct{ Name, Value string }

func (e Edit) String() string { return quote(e.Name) + "=" + quoteValue(e.Value) }

// quoteValue leaves "" as it is: opt.NAME= removes the option.
func quoteValue(s string) string {
	if s == "" {
		return ""
	}
	return quote(s)
}

const editAdvice = "write key=, env=, terminus=, cache=, a flag such as ignore_cache=true, opt.NAME= or value=; in a program $NAME="

// EditNames returns the fields that can be edited, without options.
func EditNames() []string {
	return append([]string{"key", "env", "terminus", "cache", "value"}, (^traces.Flags(0)).Names()...)
}

// ParseEdit reads NAME=VALUE. A flag alone is switched on.
func ParseEdit(text string) (Edit, error) {
	name, value, given := strings.Cut(text, "=")
	flag := traces.ParseFlag(name) != 0
	switch {
	case name == "environment":
		name = "env"
	case flag && !given:
		return Edit{name, "true"}, nil
	case !given:
		return Edit{}, &SyntaxError{What: fmt.Sprintf("%q is no NAME=VALUE", text), Advice: editAdvice}
	case flag && value != "true" && value != "false":
		return Edit{}, &SyntaxError{What: fmt.Sprintf("%s is true or false, not %q", name, value)}
	}
	switch {
	case flag, slices.Contains(EditNames(), name):
	case strings.HasPrefix(name, "opt.") && len(name) > len("opt."):
	case variableName.MatchString(name):
		if _, err := readVariable(value); err != nil {
			return Edit{}, &SyntaxError{What: name + ": " + err.Error(), Advice: "write a value in JSON, or a text"}
		}
	default:
		return Edit{}, &SyntaxError{What: fmt.Sprintf("%q cannot be edited", name), Advice: editAdvice}
	}
	if name == "cache" && (value == "none" || value == "false") {
		value = indirector.Off
	}
	return Edit{name, value}, nil
}

// A Change is an edit with the value before and after.
type Change struct{ Name, Was, Is string }

func (c Change) String() string { return c.Name + ": " + orNone(c.Was) + " -> " + orNone(c.Is) }

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// A draft is the request as it would go on.
type draft struct {
	req      indirector.Request
	value    any
	hasValue bool // value was edited
	vars     []data.Pair
	changes  []Change
}

// disabled returns "" if a field can be edited, else why not.
func disabled(st *indirector.State, name string) string {
	return cmp.Or(unread(st, name), st.Home.Disabled(name))
}

// unread returns "" if a step to come reads the field, else why none does.
func unread(st *indirector.State, name string) string {
	if variable, ok := strings.CutPrefix(name, "$"); ok {
		return noVariable(st.Code, variable)
	}
	if st.Code != nil {
		return "the terminus is at work: what it asks for meanwhile can be changed where that is held"
	}
	if st.Point.Step == traces.Caller {
		if name == "value" && st.Request.Verb != indirector.Save && st.Request.Verb != indirector.Destroy {
			return ""
		}
		return "no step is left that would look at it"
	}
	verb, cached := st.Request.Verb, st.Trace.Cache.Winner().Terminus
	cached = strings.TrimSuffix(cached, indirector.Off)
	before := func(s traces.Step) bool { return st.Point.Step < s || st.Point.Step == s && !st.Done }
	var last traces.Step
	switch name {
	case "ignore_cache", "terminus", "fail_on_404":
		last = traces.Terminus
		if name == "ignore_cache" {
			last = traces.CacheRead
		}
		if name == "terminus" && verb == indirector.Find {
			last = traces.Filter
			if !before(traces.Terminus) {
				last = traces.Terminus // another terminus would filter what it has not answered
			}
		}
	case "ignore_terminus":
		last = traces.Terminus
	case "ignore_cache_save":
		last = traces.CacheWrite
	case "cache":
		last = traces.CacheWrite
	case "value":
		if verb == indirector.Save {
			last = traces.Terminus
			break
		}
		if !st.Done && st.Served == traces.ByNone {
			return "nobody has answered yet; inject an answer instead"
		}
		return ""
	default: // key, env, options
		last = traces.Terminus
		if cached != "" || st.Point.Step == traces.Route && !st.Done {
			last = traces.CacheWrite
		}
	}
	if last == traces.CacheRead && (verb == indirector.Save || verb == indirector.Destroy || verb == indirector.Search) {
		return verb.String() + " reads no cache"
	}
	if before(last) {
		return ""
	}
	return "the " + last.String() + " step is done"
}

// apply makes an edit. The draft is the caller's.
func (d *draft) apply(st *indirector.State, e Edit) error {
	if why := disabled(st, e.Name); why != "" {
		return fmt.Errorf("edit %s: %s", e.Name, why)
	}
	if strings.HasPrefix(e.Name, "$") {
		return d.assign(st.Code, e)
	}
	r := &d.req
	was := current(d, e.Name)
	switch flag := traces.ParseFlag(e.Name); {
	case flag != 0 && e.Value == "true":
		r.Flags |= flag
	case flag != 0:
		r.Flags &^= flag
	case e.Name == "key":
		if e.Value == "" {
			return errors.New("edit key: a request has a key")
		}
		r.Key, r.URI = e.Value, nil
	case e.Name == "env":
		r.Environment = e.Value
	case e.Name == "terminus", e.Name == "cache":
		if e.Name == "terminus" {
			r.Terminus = e.Value
		} else {
			r.Cache = e.Value
		}
		r.By, r.Source = traces.FromYou, "debugger"
	case e.Name == "value":
		v, err := readValue(r, e.Value, "")
		if err != nil {
			return err
		}
		if r.Verb == indirector.Save {
			inst := v.(indirector.Instance)
			if st.Trier != nil {
				if err := st.Trier.Try(inst); err != nil {
					return err
				}
			}
			r.Instance = inst
		} else {
			d.value, d.hasValue = v, true
		}
	default:
		name := strings.TrimPrefix(e.Name, "opt.")
		r.Options = slices.DeleteFunc(slices.Clone(r.Options), func(o indirector.Option) bool { return o.Name == name })
		if e.Value != "" {
			r.Options = append(r.Options, indirector.Option{Name: name, Value: e.Value})
		}
	}
	is := current(d, e.Name)
	if e.Name == "value" {
		was, is = "the "+was, "yours"
	}
	d.change(Change{e.Name, was, is})
	return nil
}

// change adds a change in place of the one before of the same name.
func (d *draft) change(c Change) {
	d.changes = slices.DeleteFunc(d.changes, func(before Change) bool {
		if before.Name == c.Name {
			c.Was = before.Was
			return true
		}
		return false
	})
	if c.Was != c.Is {
		d.changes = append(d.changes, c)
	}
}

// current formats the present value of a field.
func current(d *draft, name string) string {
	r := &d.req
	switch flag := traces.ParseFlag(name); {
	case flag != 0 && r.Flags&flag != 0:
		return "true"
	case flag != 0:
		return "false"
	}
	switch name {
	case "key":
		return r.Key
	case "env":
		return r.Environment
	case "terminus":
		return r.Terminus
	case "cache":
		return r.Cache
	case "value":
		return "answer"
	}
	for _, o := range r.Options {
		if "opt."+o.Name == name {
			return fmt.Sprint(o.Value)
		}
	}
	return ""
}

// maxValue is the largest value to inject, in bytes.
const maxValue = 16 << 20

// readText returns the text of a value, perhaps from a file, and the format
// that the file name suggests.
func readText(text, formatName string) (b []byte, name string, err error) {
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return []byte(text), formatName, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("read the value: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxValue:
		return nil, "", fmt.Errorf("read the value: %s is no file of at most %d MB", path, maxValue>>20)
	}
	if b, err = os.ReadFile(path); err != nil {
		return nil, "", fmt.Errorf("read the value: %w", err)
	}
	if f, ok := format.ByExtension(strings.TrimPrefix(filepath.Ext(path), ".")); ok && formatName == "" {
		formatName = f.Name
	}
	return b, formatName, nil
}

// readValue reads an answer to the request or, of a save, an instance. Errors
// are in Puppet's words where it has any.
func readValue(req *indirector.Request, text, formatName string) (any, error) {
	b, formatName, err := readText(text, formatName)
	if err != nil {
		return nil, err
	}
	switch req.Verb {
	case indirector.Head:
		switch s := strings.TrimSpace(string(b)); s {
		case "true", "false":
			return s == "true", nil
		}
		return nil, errors.New("read the value: a head is answered with true or false")
	case indirector.Destroy, indirector.Expire:
		return nil, fmt.Errorf("read the value: a %s is answered with nil, or fails", req.Verb)
	}
	return decode(req.Indirection, req.Key, formatName, b, req.Verb == indirector.Search)
}

// decode reads bytes as the REST family does.
func decode(indirection, key, formatName string, b []byte, many bool) (any, error) {
	formatName = cmp.Or(formatName, "json")
	class, known := model.Lookup(indirection)
	if known && class.Formats[0] == "binary" {
		formatName = "binary"
	}
	f, ok := format.ByName(formatName)
	switch {
	case !ok:
		return nil, fmt.Errorf("no format is called %q", formatName)
	case !known && formatName == "json":
		v, err := format.DecodeJSON(b, format.Limits{})
		return &model.Raw{Name: key, Value: v}, err
	case !known:
		return nil, fmt.Errorf("instances of %s are read from JSON only", indirection)
	case many:
		list, _, err := format.InternMultiple(f, class.Name, b, format.Options{})
		return list, err
	}
	inst, _, err := format.Intern(f, class.Name, b, format.Options{})
	if err != nil {
		return nil, err
	}
	return inst, nil
}
