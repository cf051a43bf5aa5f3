// Package model holds the models of the indirections: facts, nodes, catalogs,
// reports, resources, files.
//
// Each is a plain struct with the fields that Puppet knows. Nothing that was
// read is lost: keys unknown to Puppet are kept in Extra, in order, and a value
// of an unexpected kind (a number for a name, an explicit null) is written as
// it was read unless the field was changed.
//
//	value, err := format.DecodeJSON(text, format.Limits{})
//	class, _ := model.Lookup("facts")
//	instance, err := class.FromData(value)
//	facts := instance.(*model.Facts)
//
// Every class reads its data hash with FromData, whose errors are Puppet's, and
// writes it with [ToData] in Puppet's order of keys. Rule FMT-01. Instances are
// immutable once they are handed over.
package model

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// A Class describes one model.
type Class struct {
	Name     string // as Puppet names the indirection: "facts"
	Ruby     string // as YAML tags and messages name it: "Puppet::Node::Facts"
	Formats  []string
	Expires  bool // the expiration is part of the data hash; only facts. Rule IND-EXP-05
	FromData func(data.Value) (indirector.Instance, error)
	has      func(indirector.Instance) bool // whether an instance is of the class
}

// Formats that every class with a data hash supports, the preferred first.
var plain = []string{"json", "msgpack", "pson", "yaml"}

var classes = [...]Class{
	{Name: "facts", has: is[*Facts], Ruby: "Puppet::Node::Facts", Formats: plain, Expires: true, FromData: instance(factsFromData)},
	{Name: "node", has: is[*Node], Ruby: "Puppet::Node", Formats: plain, FromData: instance(nodeFromData)},
	{
		Name: "catalog", has: is[*Catalog], Ruby: "Puppet::Resource::Catalog", FromData: instance(catalogFromData),
		Formats: []string{"rich_data_json", "json", "rich_data_msgpack", "msgpack", "pson", "yaml", "dot"},
	},
	{Name: "report", has: is[*Report], Ruby: "Puppet::Transaction::Report", Formats: plain, FromData: instance(reportFromData)},
	{Name: "resource", has: is[*Resource], Ruby: "Puppet::Resource", Formats: plain, FromData: instance(resourceFromData)},
	{Name: "file_metadata", has: is[*FileMetadata], Ruby: "Puppet::FileServing::Metadata", Formats: plain, FromData: instance(metadataFromData)},
	{Name: "file_content", has: is[*FileContent], Ruby: "Puppet::FileServing::Content", Formats: []string{"binary"}, FromData: noData("Puppet::FileServing::Content")},
	{Name: "file_bucket_file", has: is[*FileBucketFile], Ruby: "Puppet::FileBucket::File", Formats: []string{"binary"}, FromData: noData("Puppet::FileBucket::File")},
	{Name: "status", has: is[*Status], Ruby: "Puppet::Status", Formats: plain, FromData: instance(statusFromData)},
	{Name: "certificate", has: is[*Certificate], Ruby: "Puppet::SSL::Certificate", Formats: []string{"s"}, Expires: true, FromData: fromPEM(NewCertificate)},
	{Name: "certificate_request", has: is[*CertificateRequest], Ruby: "Puppet::SSL::CertificateRequest", Formats: []string{"s"}, FromData: fromPEM(NewCertificateRequest)},
	{Name: "certificate_revocation_list", has: is[*CRL], Ruby: "Puppet::SSL::CertificateRevocationList", Formats: []string{"s"}, FromData: fromPEM(func(_ string, text []byte) (*CRL, error) { return NewCRL(text) })},
	{Name: "certificate_status", has: is[*CertificateStatus], Ruby: "Puppet::SSL::Host", Formats: plain, FromData: instance(certificateStatusFromData)},
	{Name: "key", has: is[*PrivateKey], Ruby: "Puppet::SSL::Key", Formats: []string{"s"}, FromData: instance(keyFromData)},
	{Name: "ocsp", has: func(i indirector.Instance) bool { return is[*OCSPRequest](i) || is[*OCSPResponse](i) }, Ruby: "Puppet::SSL::Ocsp::Request", Formats: []string{"binary"}, FromData: instance(ocspFromData)},
}

// Lookup returns the class of a model and whether there is one.
func Lookup(model string) (*Class, bool) {
	for i := range classes {
		if classes[i].Name == model {
			return &classes[i], true
		}
	}
	return nil, false
}

// ClassOf returns the class of an instance; nil for [Raw] and for types that
// are not of this package.
func ClassOf(i indirector.Instance) *Class {
	for c := range classes {
		if classes[c].has(i) {
			return &classes[c]
		}
	}
	return nil
}

func is[T indirector.Instance](i indirector.Instance) bool {
	_, ok := i.(T)
	return ok
}

// Supports reports whether instances of c can be written in the named format.
// YAML takes everything.
func (c *Class) Supports(format string) bool {
	return format == "yaml" || slices.Contains(c.Formats, format)
}

// ToData returns the data hash of an instance, and false for one that has none:
// file contents are bytes, and nothing else.
func ToData(i indirector.Instance) (data.Value, bool) {
	switch x := i.(type) {
	case interface{ Data() data.Value }:
		return x.Data(), true
	case indirector.Name:
		return data.OfString(string(x)), true
	}
	return data.Value{}, false
}

// A Raw is a value that is not of the requested model: the yaml terminus
// returns it for a plain mapping or an empty file. Rule TERM-FILE-05.
type Raw struct {
	Name  string // the key it was found under
	Value data.Value
}

// Key returns the key under which r was found.
func (r *Raw) Key() string { return r.Name }

// Data returns the value itself.
func (r *Raw) Data() data.Value { return r.Value }

// An Envelope gives an instance its expiration; zero is never. The
// WithExpiration of each model returns a copy with another one.
type Envelope struct{ until time.Time }

// Expiration returns when the instance expires; zero is never.
func (e Envelope) Expiration() time.Time { return e.until }

func (e *Envelope) expire(t time.Time) { e.until = t }

// expiring returns c, a copy of an instance, with another expiration.
func expiring[T any, P interface {
	*T
	indirector.Instance
	expire(time.Time)
}](c T, t time.Time) indirector.Instance {
	P(&c).expire(t)
	return P(&c)
}

func instance[T indirector.Instance](f func(data.Value) (T, error)) func(data.Value) (indirector.Instance, error) {
	return func(v data.Value) (indirector.Instance, error) {
		i, err := f(v)
		if err != nil {
			return nil, err
		}
		return i, nil
	}
}

func noData(class string) func(data.Value) (indirector.Instance, error) {
	return func(data.Value) (indirector.Instance, error) {
		return nil, fmt.Errorf("undefined method `from_data_hash' for %s:Class", class)
	}
}

// hashOf returns the pairs of a data hash. Other values fail as Ruby's element
// reference does, except that a string has no pairs.
func hashOf(v data.Value) ([]data.Pair, error) {
	switch v.Kind() {
	case data.Hash:
		return v.Hash(), nil
	case data.String:
		return nil, nil
	case data.List, data.Int, data.Big:
		return nil, errors.New("no implicit conversion of String into Integer")
	}
	return nil, undefined("[]", v)
}

// undefined returns Ruby's error for a method that v lacks.
func undefined(method string, v data.Value) error {
	switch v.Kind() {
	case data.Nil:
		return fmt.Errorf("undefined method `%s' for nil:NilClass", method)
	case data.Bool:
		if v.Bool() {
			return fmt.Errorf("undefined method `%s' for true:TrueClass", method)
		}
		return fmt.Errorf("undefined method `%s' for false:FalseClass", method)
	}
	return fmt.Errorf("undefined method `%s' for %s:%s", method, v.Inspect(), rubyClasses[v.Kind()])
}

var rubyClasses = [...]string{"NilClass", "Boolean", "Integer", "Float", "Integer", "String", "Symbol", "Array", "Hash"}

// key returns the text of a key as Puppet sees it: symbols are other keys.
func key(p data.Pair) string {
	if p.Key.Kind() != data.String {
		return ""
	}
	return p.Key.Str()
}

// odd holds values of known keys that the typed field cannot represent: a null,
// a missing key, a number for a string. It is nearly always nil.
type odd []data.Pair

func (o odd) find(key string) (data.Value, bool) {
	for i := range o {
		if o[i].Key.Str() == key {
			return o[i].Value, true
		}
	}
	return data.Value{}, false
}

// text reads a string field.
func (o *odd) text(key string, v data.Value) string {
	if v.Kind() != data.String || v.Len() == 0 {
		*o = append(*o, data.P(key, v))
	}
	return v.Text()
}

// texts writes a string field; the empty one is written as null unless it was
// read as something else.
func (o odd) ofText(key, s string) data.Value {
	if v, ok := o.find(key); ok && v.Text() == s {
		return v
	}
	if s == "" {
		return data.Value{}
	}
	return data.OfString(s)
}

// number reads an integer field.
func (o *odd) number(key string, v data.Value) int64 {
	if v.Kind() != data.Int || v.Int() == 0 {
		*o = append(*o, data.P(key, v))
	}
	return v.Int()
}

// ofNumber writes an integer field; zero is written as zero unless it was read
// as something else.
func (o odd) ofNumber(key string, n int64) data.Value {
	if v, ok := o.find(key); ok && v.Int() == n {
		return v
	}
	return data.OfInt(n)
}

// ofLine writes the number of a line; zero is written as null unless it was
// read as something else.
func (o odd) ofLine(n int64) data.Value {
	if _, ok := o.find("line"); n == 0 && !ok {
		return data.Value{}
	}
	return o.ofNumber("line", n)
}

// flag reads a boolean field.
func (o *odd) flag(key string, v data.Value) bool {
	if v.Kind() != data.Bool {
		*o = append(*o, data.P(key, v))
	}
	return v.Truthy()
}

// ofFlag writes a boolean field.
func (o odd) ofFlag(key string, b bool) data.Value {
	if v, ok := o.find(key); ok && v.Truthy() == b {
		return v
	}
	return data.OfBool(b)
}

// list reads a list of strings.
func (o *odd) list(key string, v data.Value) []string {
	plain := v.Kind() == data.List
	for _, x := range v.List() {
		plain = plain && x.Kind() == data.String
	}
	if !plain {
		*o = append(*o, data.P(key, v))
	}
	return texts(v)
}

// ofList writes a list of strings.
func (o odd) ofList(key string, s []string) data.Value {
	if v, ok := o.find(key); ok && slices.Equal(texts(v), s) {
		return v
	}
	return data.OfStrings(s)
}

// texts returns the strings of a list of strings; other elements as their text.
func texts(v data.Value) []string {
	l := v.List()
	if len(l) == 0 {
		return nil
	}
	s := make([]string, len(l))
	for i := range l {
		s[i] = l[i].Text()
	}
	return s
}
