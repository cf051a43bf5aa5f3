package transaction

import "indirtui/indirector/data"

// A store is what the system had at the end of the last run, in Puppet's transaction
// store; a nil store keeps nothing. Rules 9.1 and RES-COR-01.
type store struct {
	file string
	old  map[string]data.Value // as it was read, by resource
	refs []string
	new  map[string]*entry
	kept map[string]data.Value // of resources that were skipped
}

func loadStore(file string, keep bool, log func(level, message string)) *store {
	s := &store{file: file, old: map[string]data.Value{}, new: map[string]*entry{}, kept: map[string]data.Value{}}
	doc, ok := loadYAML(file, "Transaction store file", keep, log)
	switch {
	case !ok:
	case doc.Kind() != data.Hash:
		log("err", "Transaction store file "+file+" is valid YAML but not returning a hash. Check the file for corruption, or remove it before continuing.")
	default:
		for _, p := range doc.Get("resources").Hash() {
			s.old[p.Key.Text()] = p.Value
		}
	}
	return s
}

// value is the last value of a property; ok is false if there is none.
func (s *store) value(ref, property string) (values []data.Value, ok bool) {
	if s == nil {
		return nil, false
	}
	v := s.old[ref].Dig("parameters", property, "system_value")
	if v.IsNil() {
		return nil, false
	}
	if v.Kind() != data.List {
		return []data.Value{v}, true
	}
	return v.List(), true
}

func (s *store) set(ref, property string, v data.Value) {
	if s == nil {
		return
	}
	e := s.new[ref]
	if e == nil {
		e = &entry{values: map[string]data.Value{}}
		s.new[ref] = e
		s.mention(ref)
	}
	if _, known := e.values[property]; !known {
		e.names = append(e.names, property)
	}
	e.values[property] = v
}

func (s *store) mention(ref string) {
	if s.kept[ref].IsNil() {
		s.refs = append(s.refs, ref)
	}
}

// keep copies what there is of a resource that is skipped. Rule RES-TX-05.
func (s *store) keep(ref string) {
	if s == nil {
		return
	}
	if v := s.old[ref]; !v.IsNil() {
		if s.new[ref] == nil {
			s.mention(ref)
		}
		s.kept[ref] = v
	}
}

func (s *store) save() error {
	if s == nil || s.file == "" {
		return nil
	}
	all := make([]data.Pair, len(s.refs))
	for i, ref := range s.refs {
		v := s.kept[ref]
		if e := s.new[ref]; v.IsNil() && e != nil {
			v = e.parameters()
		}
		all[i] = data.P(ref, v)
	}
	return writeState(s.file, data.OfHash([]data.Pair{data.P("resources", data.OfHash(all))}))
}

func (e *entry) parameters() data.Value {
	pairs := make([]data.Pair, len(e.names))
	for i, name := range e.names {
		pairs[i] = data.P(name, data.OfHash([]data.Pair{data.P("system_value", e.values[name])}))
	}
	return data.OfHash([]data.Pair{data.P("parameters", data.OfHash(pairs))})
}
