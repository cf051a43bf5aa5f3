package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/listfile"
	"indirtui/indirector/resource/types"
)

// A list does resources that are records of files: its default one, and those that
// resources name. Rules RES-PROV-06 and RES-PROV-07.
type list struct {
	format *listfile.Format
	usual  string      // the default target; "" is none
	mode   fs.FileMode // of a new file
	log    logger
	// fields are those that a record without them lacks. What a record never has is
	// what the resource wants.
	fields []string
	store  store

	// key is what a record and its resource have in common; nil is the name.
	key func(get func(name string) data.Value) string
	// accepts reports whether a record is that of the resource with its key. It may be nil.
	accepts func(rec *listfile.Record, r *types.Resource) bool
	// adopt finds a resource for a record without one, or nil. It may be nil.
	adopt func(rec *listfile.Record, left map[string]*types.Resource) *types.Resource
	// ready is asked before a record is written. It may be nil.
	ready func(ctx context.Context, s System, r *types.Resource, target string) error

	records  []*listfile.Record
	mine     map[*types.Resource]*listfile.Record
	targets  []string // that were read or written
	modified []string
	kept     []string // that are in the bucket
	failed   map[string]error
	unnamed  int
}

// A store reads and writes targets.
type store interface {
	read(ctx context.Context, s System, target string) (string, error)
	write(ctx context.Context, s System, target, text string, mode fs.FileMode) error
	keep(ctx context.Context, s System, target string) error // in the bucket
}

func newList(l list) *list {
	l.mine, l.failed = map[*types.Resource]*listfile.Record{}, map[string]error{}
	if l.store == nil {
		l.store = flat{l.log}
	}
	if l.key == nil {
		l.key = func(get func(name string) data.Value) string { return get("name").Text() }
	}
	return &l
}

// flat keeps each target in a file.
type flat struct{ log logger }

func (flat) read(ctx context.Context, s System, target string) (string, error) {
	text, err := s.ReadFile(ctx, target)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	if err != nil {
		return "", notRead(target, reason(err))
	}
	return string(text), nil
}

func (f flat) write(ctx context.Context, s System, target, text string, mode fs.FileMode) error {
	return f.wrote(target, s.Replace(ctx, target, []byte(text), mode))
}

// wrote logs that a target could not be written.
func (f flat) wrote(target string, err error) error {
	if err != nil {
		message := "Puppet::Util::FileType::FileTypeFlat could not write " + target + ": " + inRuby("rb_sysopen", err).Error()
		f.log.line(Line{Level: "err", Message: message})
		return &indirector.Failure{Message: message, Origin: "file", Path: target, Err: err}
	}
	return nil
}

func (f flat) keep(ctx context.Context, s System, target string) error {
	if _, err := s.Stat(ctx, target); err != nil {
		return nil // there is nothing yet
	}
	_, err := keep(ctx, s, f.log, target, "")
	return err
}

// keep writes a file to the bucket, and returns its sum.
func keep(ctx context.Context, s System, log logger, name, bucket string) (string, error) {
	log.line(Line{Level: "info", Message: "Computing checksum on file " + name})
	sum, known, err := s.Backup(ctx, name, bucket)
	if known {
		log.line(Line{Level: "info", Message: "FileBucket got a duplicate file {sha256}" + sum})
	}
	return sum, err
}

func notRead(target, why string) error {
	return &indirector.Failure{Message: "Puppet::Util::FileType::FileTypeFlat could not read " + target + ": " + why, Origin: "file", Path: target}
}

// reason is an error of a file without its operation and path.
func reason(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// defaultTarget is the usual file, where this system has it.
func (l *list) defaultTarget(s System) string {
	if strings.HasPrefix(l.usual, "/") {
		return s.Path(l.usual)
	}
	return l.usual
}

// allTargets are the default one, those known, and those that resources name.
func (l *list) allTargets(s System, all []*types.Resource) []string {
	targets := append([]string{l.defaultTarget(s)}, l.targets...)
	for _, r := range all {
		if want := r.Value("target"); want.Kind() == data.String {
			targets = append(targets, want.Str())
		}
	}
	var unique []string
	for _, t := range targets {
		if !slices.Contains(unique, t) && t != "" {
			unique = append(unique, t)
		}
	}
	return unique
}

// read reads one target. Each record knows where it is from.
func (l *list) read(ctx context.Context, s System, target string) ([]*listfile.Record, error) {
	if !slices.Contains(l.targets, target) {
		l.targets = append(l.targets, target)
	}
	text, err := l.store.read(ctx, s, target)
	if late := (*lateError)(nil); errors.As(err, &late) {
		l.failed[target] = late
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	records, err := l.format.Parse(text, target, l.unnamed)
	switch {
	case errors.Is(err, listfile.ErrEncoding):
		return nil, notRead(target, err.Error())
	case err != nil:
		return nil, &indirector.Failure{Class: "NoMethodError", Message: err.Error(), Origin: "decode", Path: target}
	}
	for _, r := range records {
		if r.IsText() {
			continue
		}
		if r.Get("unmanaged").Truthy() {
			l.unnamed++
		}
		r.Values["ensure"] = data.OfSymbol("present")
		r.Values["target"] = data.OfString(target)
		r.Values["on_disk"] = data.OfBool(true)
	}
	return records, nil
}

// A lateError keeps a target from being read, and fails the resources only when it is
// written.
type lateError struct{ message string }

func (e *lateError) Error() string { return e.message }

// Prefetch reads all targets and finds the records of resources.
func (l *list) Prefetch(ctx context.Context, s System, all []*types.Resource) error {
	l.records, l.unnamed = nil, 0
	clear(l.mine)
	for _, target := range l.allTargets(s, all) {
		records, err := l.read(ctx, s, target)
		if err != nil {
			return err
		}
		l.records = append(l.records, records...)
	}
	byKey := make(map[string]*types.Resource, len(all))
	for _, r := range all {
		byKey[l.key(r.Value)] = r
	}
	left := maps.Clone(byKey)
	for _, rec := range l.records {
		if rec.IsText() {
			continue
		}
		if r := byKey[l.key(rec.Get)]; r != nil && (l.accepts == nil || l.accepts(rec, r)) {
			l.mine[r] = rec
		} else if l.adopt != nil {
			if r := l.adopt(rec, left); r != nil {
				delete(left, l.key(r.Value))
				rec.Values["name"] = data.OfString(r.Name())
				l.mine[r] = rec
			}
		}
	}
	return nil
}

// Instances are the records of the default target, and of those that are known.
func (l *list) Instances(ctx context.Context, s System) ([]Instance, error) {
	var all []Instance
	for _, target := range l.allTargets(s, nil) {
		records, err := l.read(ctx, s, target)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if !r.IsText() {
				all = append(all, Instance{Name: r.String("name"), Properties: l.properties(r)})
			}
		}
	}
	return all, nil
}

// properties are the values of a record that resources have.
func (l *list) properties(rec *listfile.Record) []data.Pair {
	pairs := []data.Pair{data.P("ensure", l.get(rec, "ensure", data.Value{}))}
	for _, name := range slices.Sorted(maps.Keys(rec.Values)) {
		if name != "ensure" && name != "name" {
			pairs = append(pairs, data.P(name, l.get(rec, name, data.Value{})))
		}
	}
	for _, name := range l.fields {
		if _, ok := rec.Values[name]; !ok {
			pairs = append(pairs, data.P(name, absent))
		}
	}
	return pairs
}

// record returns the record of a resource, or one that is not there yet.
func (l *list) record(r *types.Resource) *listfile.Record {
	rec := l.mine[r]
	if rec == nil {
		i := slices.IndexFunc(l.records, func(rec *listfile.Record) bool { return !rec.IsText() && l.key(rec.Get) == l.key(r.Value) })
		if rec = (&listfile.Record{Kind: l.format.Name, Values: map[string]data.Value{"ensure": absent}}); i >= 0 {
			rec = l.records[i]
		}
		l.mine[r] = rec
	}
	return rec
}

// get is a value of a record: what is a field and lacks is absent, and what never is in a
// record is as it is wanted.
func (l *list) get(rec *listfile.Record, name string, wanted data.Value) data.Value {
	if v := rec.Get(name); v.Truthy() {
		return v
	}
	if name == "ensure" || slices.Contains(l.fields, name) {
		return absent
	}
	return wanted
}

// Retrieve returns the values of r's record.
func (l *list) Retrieve(_ context.Context, _ System, r *types.Resource) ([]data.Pair, error) {
	rec := l.record(r)
	return retrieved(r, l.get(rec, "ensure", data.Value{}), func(name string) (data.Value, error) {
		return l.get(rec, name, first(r.Should(name))), nil
	})
}

// retrieved asks for the properties that r has: ensure, and the others if it is there.
func retrieved(r *types.Resource, ensure data.Value, get func(name string) (data.Value, error)) ([]data.Pair, error) {
	is := []data.Pair{data.P("ensure", ensure)}
	for _, name := range r.Properties() {
		if name == "ensure" {
			continue
		}
		v := absent
		if !isAbsent(ensure) {
			var err error
			if v, err = get(name); err != nil {
				return nil, err
			}
		}
		is = append(is, data.P(name, v))
	}
	return is, nil
}

func isAbsent(v data.Value) bool { return v.Kind() == data.Symbol && v.Str() == "absent" }

func first(values []data.Value) data.Value {
	if len(values) == 0 {
		return data.Value{}
	}
	return values[0]
}

// Set prepares the record of r; Flush writes it.
func (l *list) Set(ctx context.Context, s System, r *types.Resource, property string) error {
	rec := l.record(r)
	if property != "ensure" {
		l.modify(r, rec)
		rec.Values[property] = r.Value(property)
		return nil
	}
	if isAbsent(r.Value("ensure")) {
		l.modify(r, rec)
		rec.Values["ensure"] = absent
		return nil
	}
	for _, name := range r.Properties() {
		if v := r.Value(name); v.Truthy() {
			rec.Values[name] = v
		}
	}
	l.modify(r, rec)
	return nil
}

// modify marks the target where the record is, and the one where it is wanted.
func (l *list) modify(r *types.Resource, rec *listfile.Record) {
	want := r.Value("target")
	if want.Kind() == data.String && !data.Equal(want, rec.Get("target")) {
		l.mark(want.Str())
	}
	if at := rec.String("target"); at != "" {
		l.mark(at)
	}
}

func (l *list) mark(target string) {
	if !slices.Contains(l.modified, target) {
		l.modified = append(l.modified, target)
	}
}

// Flush writes each target that was modified, as a whole.
func (l *list) Flush(ctx context.Context, s System, r *types.Resource) error {
	rec := l.record(r)
	if rec.String("target") == "" {
		target := l.defaultTarget(s)
		if want := r.Value("target"); want.Kind() == data.String {
			target = want.Str()
		}
		rec.Values["target"] = data.OfString(target)
		l.mark(target)
	}
	for _, name := range r.Type.Namevars {
		if rec.Get(name).IsNil() {
			rec.Values[name] = r.Value(name)
		}
	}
	if l.ready != nil {
		if err := l.ready(ctx, s, r, rec.String("target")); err != nil {
			return err
		}
	}
	if !rec.Get("on_disk").Truthy() {
		rec.Values["on_disk"] = data.OfBool(true)
		l.records = append(l.records, rec)
		l.mark(rec.String("target"))
	}
	targets := slices.Sorted(slices.Values(l.modified))
	l.modified = nil
	for _, target := range targets {
		if err := l.flush(ctx, s, target); err != nil {
			return err
		}
	}
	return nil
}

func (l *list) flush(ctx context.Context, s System, target string) error {
	if err := l.failed[target]; err != nil {
		return &indirector.Failure{Message: fmt.Sprintf("Failed to read %s's records when prefetching them. Reason: %s", target, err)}
	}
	var records []*listfile.Record
	for _, rec := range l.records {
		if rec.IsText() && rec.Target == target || rec.String("target") == target && !isAbsent(rec.Get("ensure")) {
			records = append(records, rec)
		}
	}
	if err := l.backUp(ctx, s, target); err != nil {
		return err
	}
	text, err := l.format.Write(records, s.Now())
	if own := (*listfile.FormatError)(nil); errors.As(err, &own) {
		return &indirector.Failure{Message: own.Message}
	}
	if err != nil {
		return &indirector.Failure{Class: "ArgumentError", Message: err.Error()}
	}
	return l.store.write(ctx, s, target, text, cmp.Or(l.mode, 0o600))
}

// backUp keeps what a target is before it is written for the first time.
func (l *list) backUp(ctx context.Context, s System, target string) error {
	if slices.Contains(l.kept, target) {
		return nil
	}
	if err := l.store.keep(ctx, s, target); err != nil {
		return err
	}
	l.kept = append(l.kept, target)
	return nil
}
