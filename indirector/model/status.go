package model

import (
	"indirtui/indirector/data"
)

// A Status says that a server is alive. Puppet 6 was the last to have it.
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
	for _, p := range pairs {
		switch k, v := key(p), p.Value; k {
		case "is_alive":
			s.IsAlive = s.odd.flag(k, v)
		case "version":
			s.Version = s.odd.text(k, v)
		default:
			s.Extra = append(s.Extra, p)
		}
	}
	s.odd.absent(pairs, "is_alive", "version")
	return s, nil
}

// Data returns the data hash.
func (s *Status) Data() data.Value {
	h := []data.Pair{
		data.P("is_alive", s.odd.ofFlag("is_alive", s.IsAlive)),
		data.P("version", s.odd.ofText("version", s.Version)),
	}
	return data.OfHash(append(h, s.Extra...))
}
