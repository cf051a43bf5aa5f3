package transaction

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/host/files"
)

// A state is what is kept of resources between runs, in Puppet's state file: when they
// were looked at, and values that are watched. A nil state keeps nothing. Rule 9.1.
type state struct {
	file    string
	names   []string // of resources, in order
	entries map[string]*entry
	strange bool // the file has something else
}

type entry struct {
	names  []string
	values map[string]data.Value
}

const corrupted = "State got corrupted"

// loadState reads the state file. log takes what is wrong with it: that is not part of
// a report, because the agent reads it before it keeps lines.
func loadState(file string, keep bool, log func(level, message string)) *state {
	s := &state{file: file, entries: map[string]*entry{}}
	doc, ok := loadYAML(file, "Checksumfile", keep, log)
	if !ok {
		return s
	}
	if doc.Kind() != data.Hash {
		log("err", corrupted)
		s.strange = true
		return s
	}
	for _, p := range doc.Hash() {
		s.touch(p.Key.Text()) // it may be empty
		for _, q := range p.Value.Hash() {
			v, name := q.Value, q.Key.Str()
			if name == "checked" || name == "synced" { // others are texts, even of times
				v = readTime(v)
			}
			s.setNamed(p.Key.Text(), name, v)
		}
	}
	return s
}

// loadYAML reads a file of state. One that is broken is put aside, unless it is to be
// kept as it is.
func loadYAML(file, what string, keep bool, log func(level, message string)) (data.Value, bool) {
	info, err := os.Stat(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return data.Value{}, false
	}
	if err == nil && !info.Mode().IsRegular() {
		log("warning", fmt.Sprintf("%s %s is not a file, ignoring", what, file))
		return data.Value{}, false
	}
	text, err := os.ReadFile(file)
	if err == nil {
		var doc *psych.Document
		if doc, err = psych.Decode(text, psych.Limits{}); err == nil {
			return doc.Value, true
		}
	}
	detail := psych.Message(err, file)
	message := fmt.Sprintf("%s %s is corrupt (%s); replacing", what, file, detail)
	if what != "Checksumfile" {
		message += "\nWrapped exception:\n" + detail
	}
	log("err", message)
	if keep {
		return data.Value{}, false
	}
	if err := os.Rename(file, file+".bad"); err != nil {
		log("err", fmt.Sprintf("Could not rename corrupt %s; remove manually", file))
	}
	return data.Value{}, false
}

func (s *state) values(r *Resource) map[string]data.Value {
	if s == nil || s.entries[r.String()] == nil {
		return nil
	}
	values := map[string]data.Value{}
	for name, v := range s.entries[r.String()].values {
		values[name] = v
	}
	return values
}

func (s *state) set(r *Resource, name string, v data.Value) {
	if s != nil {
		s.setNamed(r.String(), name, v)
	}
}

func (s *state) setNamed(ref, name string, v data.Value) {
	e := s.touch(ref)
	if _, ok := e.values[name]; !ok {
		e.names = append(e.names, name)
	}
	e.values[name] = v
}

// touch makes an entry, as Puppet does even when it only looks.
func (s *state) touch(ref string) *entry {
	e := s.entries[ref]
	if e == nil {
		e = &entry{values: map[string]data.Value{}}
		s.entries[ref] = e
		s.names = append(s.names, ref)
	}
	return e
}

// checked is when a resource was looked at last, or the zero time.
func (s *state) checked(r *Resource) time.Time {
	if s == nil {
		return time.Time{}
	}
	at, _ := timeOf(s.touch(r.String()).values["checked"])
	return at
}

// save writes the state file without entries that were not looked at since oldest.
func (s *state) save(oldest time.Time) error {
	if s == nil || s.file == "" {
		return nil
	}
	all := make([]data.Pair, 0, len(s.names))
	for _, ref := range s.names {
		e := s.entries[ref]
		if at, ok := timeOf(e.values["checked"]); ok && at.Before(oldest) {
			continue
		}
		pairs := make([]data.Pair, len(e.names))
		for i, name := range e.names {
			pairs[i] = data.Pair{Key: data.OfSymbol(name), Value: e.values[name]}
		}
		all = append(all, data.P(ref, data.OfHash(pairs)))
	}
	return writeState(s.file, data.OfHash(all))
}

func writeState(file string, v data.Value) error {
	return files.Write(file, psych.Encode(v, ""), files.Options{Mode: 0o660})
}

// A moment is a time of a state file, which is written without quotes.
type moment struct{ time.Time }

func (m moment) String() string { return m.Format("2006-01-02 15:04:05.000000000 -07:00") }

// EqualRich implements data.RichValue.
func (m moment) EqualRich(o data.RichValue) bool {
	other, ok := o.(moment)
	return ok && m.Equal(other.Time)
}

func stateTime(t time.Time) data.Value { return data.OfRich(moment{t}) }

func timeOf(v data.Value) (time.Time, bool) {
	m, ok := v.Rich().(moment)
	return m.Time, ok
}

// readTime makes a time of a text that is one: YAML reads both alike here.
func readTime(v data.Value) data.Value {
	if v.Kind() != data.String {
		return v
	}
	for _, layout := range []string{"2006-01-02 15:04:05.999999999 -07:00", "2006-01-02 15:04:05.999999999 Z", "2006-01-02 15:04:05.999999999 -0700"} {
		if t, err := time.Parse(layout, strings.TrimSpace(v.Str())); err == nil {
			return stateTime(t)
		}
	}
	return v
}
