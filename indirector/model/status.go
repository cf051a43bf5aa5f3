package model

import (
	"indirtui/indirector/data"
)

// A Status is that of a server. Puppet 6 was the last to have it.
type Status struct {
	Name    string
	IsAlive bool
	Version string
	Extra   []data.Pair
	odd     odd
}

// Key returns the name under which s was asked for.
func (s *Status) Key() string { return s.Name }

func statusFromData(v data.Value) (*Status, error) {
	if inner := v.Get("status"); inner.Kind() == data.Hash {
		v = inner
	}
	pairs, err := hashOf(v)
	if err != nil {
		return nil, err
	}
	s := new(Status)
	fields := s.fields()
	s.Extra, err = s.odd.read(pairs, fields[:])
	return s, err
}

func (s *Status) fields() [2]field {
	return [...]field{{"is_alive", asFlag, &s.IsAlive}, {"version", asText, &s.Version}}
}

func (s *Status) Data() data.Value {
	fields := s.fields()
	return s.odd.write(fields[:], s.Extra)
}
