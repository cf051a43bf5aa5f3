package model

import (
	"fmt"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// Facts are the facts of a node. Rules FMT-FACT-01 to FMT-FACT-06.
type Facts struct {
	Name      string
	Values    data.Value // a hash; any value if it was read from a file
	Timestamp Time       // when they were collected; zero is unset
	Expires   Time       // zero is never; part of the data hash
	Extra     []data.Pair
	odd       odd
}

var _ indirector.Expirer = (*Facts)(nil)

func (f *Facts) Key() string { return f.Name }

// Expiration returns when f ends to be fresh; zero is never.
func (f *Facts) Expiration() time.Time { return f.Expires.Time() }

func (f *Facts) WithExpiration(t time.Time) indirector.Instance {
	c := *f
	c.Expires = At(t)
	return &c
}

// Get returns a top-level fact, or nil.
func (f *Facts) Get(name string) data.Value { return f.Values.Get(name) }

func factsFromData(v data.Value) (*Facts, error) {
	pairs, err := hashOf(v)
	if err != nil {
		return nil, err
	}
	f := new(Facts)
	var timestamp, expiration data.Value
	for _, p := range pairs {
		switch key(p) {
		case "name":
			f.Name = f.odd.text("name", p.Value)
		case "values":
			f.Values = p.Value
		case "timestamp":
			timestamp = p.Value
		case "expiration":
			expiration = p.Value
		default:
			f.Extra = append(f.Extra, p)
		}
	}
	// In YAML of Puppet 2 the timestamp is among the values, and wins. Rule
	// FMT-FACT-03.
	inner, err := f.embedded()
	if err != nil {
		return nil, err
	}
	if inner.Truthy() {
		timestamp = inner
	}
	if f.Timestamp, err = f.odd.time("timestamp", timestamp); err != nil {
		return nil, err
	}
	f.Expires, err = f.odd.time("expiration", expiration)
	return f, err
}

// embedded takes the timestamp out of the values.
func (f *Facts) embedded() (data.Value, error) {
	const name = "_timestamp"
	switch f.Values.Kind() {
	case data.Hash:
		for _, p := range f.Values.Hash() {
			if key(p) == name {
				f.Values = f.Values.Without(name)
				return p.Value, nil
			}
		}
		return data.Value{}, nil
	case data.List:
		return data.Value{}, nil
	case data.String: // Ruby deletes these letters from a string
		return data.OfString(strings.Map(func(r rune) rune {
			if strings.ContainsRune(name, r) {
				return -1
			}
			return r
		}, f.Values.Str())), nil
	}
	return data.Value{}, undefined("delete", f.Values)
}

// Data returns the data hash: name, values, and the times that are set.
func (f *Facts) Data() data.Value {
	h := make([]data.Pair, 0, 4+len(f.Extra))
	h = append(h, data.P("name", f.odd.ofText("name", f.Name)), data.P("values", f.Values))
	h = f.appendTime(h, "timestamp", f.Timestamp)
	h = f.appendTime(h, "expiration", f.Expires)
	return data.OfHash(append(h, f.Extra...))
}

func (f *Facts) appendTime(h []data.Pair, name string, t Time) []data.Pair {
	if v := f.odd.ofTime(name, t); !v.IsNil() {
		return append(h, data.P(name, v))
	}
	return h
}

// String names f for messages.
func (f *Facts) String() string { return fmt.Sprintf("facts of %s", f.Name) }

// LocalFacts returns the facts that Puppet adds to those it collected: the name of
// this node, the version of Puppet that is claimed, and whether nothing is to be
// changed.
func LocalFacts(certname, version string, noop bool) []data.Pair {
	return []data.Pair{
		data.P("clientcert", data.OfString(certname)),
		data.P("clientversion", data.OfString(version)),
		data.P("clientnoop", data.OfBool(noop)),
	}
}

// SanitizeFacts returns v as Puppet stores facts: strings, numbers, booleans, lists
// and hashes stay, and everything else becomes a string; nil becomes "".
func SanitizeFacts(v data.Value) data.Value {
	switch v.Kind() {
	case data.List, data.Hash:
		return v.Map(SanitizeFacts)
	case data.Nil, data.Symbol:
		return data.OfString(v.Text())
	}
	return v
}
