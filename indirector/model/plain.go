package model

import (
	"fmt"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// Plain returns the instance as Puppet writes it with the setting rich_data off:
// in the parameters of catalogs and resources rich values become strings, except
// Sensitive, and so do the keys of hashes. The warnings are Puppet's. If there
// are none, Plain returns the instance itself. Rule: rich data, 4.1.
func Plain(i indirector.Instance) (indirector.Instance, []string) {
	switch x := i.(type) {
	case *Resource:
		r := *x
		warnings := r.plain()
		if len(warnings) == 0 {
			return i, nil
		}
		return &r, warnings
	case *Catalog:
		return x.plain()
	}
	return i, nil
}

// PlainSentence sums the warnings of [Plain] up. Pain P38.
func PlainSentence(warnings []string) string {
	what := "1 typed value was"
	if n := len(warnings); n > 1 {
		what = fmt.Sprintf("%d typed values were", n)
	}
	return fmt.Sprintf("%s written as text, because the setting rich_data is off: %s", what, warnings[0])
}

func (c *Catalog) plain() (indirector.Instance, []string) {
	d := *c
	d.Resources = append([]Resource(nil), c.Resources...)
	var warnings []string
	for i := range d.Resources {
		warnings = append(warnings, d.Resources[i].plain()...)
	}
	if len(warnings) == 0 {
		return c, nil
	}
	return &d, warnings
}

func (r *Resource) plain() []string {
	if r.Parameters.Len() == 0 {
		return nil
	}
	p := plainer{prefix: r.Ref()}
	r.Parameters = p.value("", r.Parameters)
	return p.warnings
}

type plainer struct {
	prefix   string // Puppet appends the path of each warning, and keeps it
	warnings []string
}

func (p *plainer) warn(path, what, text string) {
	p.prefix += path
	p.warnings = append(p.warnings, fmt.Sprintf("%s contains %s. It will be converted to the String '%s'", p.prefix, what, text))
}

func (p *plainer) value(path string, v data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			l[i] = p.value(fmt.Sprintf("%s[%d]", path, i), x)
		}
		return data.OfList(l)
	case data.Hash:
		if t := v.Get("__ptype"); t.Kind() == data.String {
			return p.rich(path, t.Str(), v)
		}
		h := make([]data.Pair, v.Len())
		for i, x := range v.Hash() {
			h[i] = data.Pair{Key: x.Key, Value: p.value(at(path, x.Key.Text()), x.Value)}
		}
		return data.OfHash(h)
	}
	return v
}

func at(path, key string) string { return path + "['" + key + "']" }

func (p *plainer) rich(path, name string, v data.Value) data.Value {
	switch name {
	case "Hash":
		return p.hash(path, v.Get("__pvalue").List())
	case "Sensitive":
		return v.With("__pvalue", p.value(path, v.Get("__pvalue")))
	}
	text := literal(v)
	what := article(name, v) + " value"
	if name == "Default" {
		what = "the special value default"
	}
	p.warn(path, what, text)
	return data.OfString(text)
}

// hash converts a hash encoded as a list of keys and values.
func (p *plainer) hash(path string, l []data.Value) data.Value {
	var h []data.Pair
	for i := 0; i+1 < len(l); i += 2 {
		k := l[i]
		text := k.Text()
		if k.Kind() == data.Hash {
			text = literal(k)
		}
		if k.Kind() != data.String {
			p.warn(path, "a hash with "+article(k.Get("__ptype").Str(), k)+" key", text)
		}
		h = append(h, data.P(text, p.value(at(path, text), l[i+1])))
	}
	return data.OfHash(h)
}

var rubyNames = map[string]string{
	"Timestamp": "Puppet::Pops::Time::Timestamp", "Timespan": "Puppet::Pops::Time::Timespan", "Binary": "Puppet::Pops::Types::PBinaryType::Binary",
	"SemVer": "SemanticPuppet::Version", "SemVerRange": "SemanticPuppet::VersionRange", "Error": "Puppet::DataTypes::Error", "Default": "Symbol",
}

// article returns the Ruby class of a value after "a" or "an".
func article(ptype string, v data.Value) string {
	name := ptype
	switch ruby, ok := rubyNames[ptype]; {
	case ok:
		name = ruby
	case ptype == "URI":
		name = "URI::" + uriClass(v.Get("__pvalue").Str())
	case strings.HasPrefix(ptype, "Pcore::"):
		name = pcoreName(ptype) + "-Type"
	case ptype == "" && v.Kind() == data.Bool:
		name = map[bool]string{true: "TrueClass", false: "FalseClass"}[v.Bool()]
	case ptype == "":
		name = rubyClasses[v.Kind()]
	}
	if strings.ContainsRune("AEIOU", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// uriClass returns Ruby's class of a URI with that scheme.
func uriClass(uri string) string {
	scheme, _, _ := strings.Cut(uri, ":")
	switch s := strings.ToUpper(scheme); s {
	case "HTTP", "HTTPS", "FTP", "LDAP", "LDAPS", "WS", "WSS":
		return s
	case "FILE":
		return "File"
	case "MAILTO":
		return "MailTo"
	}
	return "Generic"
}

func pcoreName(ptype string) string {
	return strings.TrimSuffix(strings.TrimPrefix(ptype, "Pcore::"), "Type")
}

// literal returns a value as in a manifest, except that the top of a rich value
// made of a text is that text.
func literal(v data.Value) string {
	switch name := v.Get("__ptype").Str(); name {
	case "Timestamp", "Timespan", "Binary", "SemVer", "SemVerRange", "URI":
		return v.Get("__pvalue").Text()
	}
	return source(v)
}

func source(v data.Value) string {
	switch v.Kind() {
	case data.Nil:
		return "undef"
	case data.String, data.Symbol:
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v.Str()) + "'"
	case data.List:
		return "[" + join(v.List()) + "]"
	case data.Hash:
		return richSource(v)
	}
	return v.Inspect()
}

func richSource(v data.Value) string {
	name := v.Get("__ptype").Str()
	switch {
	case name == "":
		return pairs(v)
	case name == "Default":
		return "default"
	case name == "Regexp":
		return "/" + strings.ReplaceAll(v.Get("__pvalue").Text(), "/", `\/`) + "/"
	case strings.HasPrefix(name, "Pcore::"):
		return typeSource(pcoreName(name), v.Without("__ptype"))
	}
	if value, ok := v.Lookup("__pvalue"); ok {
		return name + "(" + source(value) + ")"
	}
	return name + "(" + pairs(v.Without("__ptype")) + ")"
}

func typeSource(name string, arguments data.Value) string {
	if arguments.Len() == 0 {
		return name
	}
	var l []data.Value
	for _, p := range arguments.Hash() {
		l = append(l, p.Value)
	}
	return name + "[" + join(l) + "]"
}

func join(l []data.Value) string {
	s := make([]string, len(l))
	for i := range l {
		s[i] = source(l[i])
	}
	return strings.Join(s, ", ")
}

func pairs(v data.Value) string {
	s := make([]string, v.Len())
	for i, p := range v.Hash() {
		s[i] = source(p.Key) + " => " + source(p.Value)
	}
	return "{" + strings.Join(s, ", ") + "}"
}
