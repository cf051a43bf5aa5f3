package hiera

import (
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// without serves what lookups need of the Puppet language where there is none: the
// simple types, and errors that name what is missing.
type without struct{ c *Compile }

var floatType = &kind{is: floatKind, from: math.Inf(-1), to: math.Inf(1)}

// Assert implements Language for simple types.
func (without) Assert(subject, text string, v data.Value) error {
	p := &typeParser{text: text}
	t := p.parse()
	p.blanks()
	if t == nil || p.at < len(text) {
		return lacking("the type %s needs the Puppet language, which is not in this program", text)
	}
	return assertType(subject, t, v)
}

// Convert implements Language for Integer without a radix and for Sensitive, which
// is rich data then.
func (w without) Convert(to []data.Value, v data.Value) (data.Value, string, error) {
	name := ""
	if len(to) > 0 {
		name = to[0].Text()
	}
	switch {
	case name == "Sensitive" && len(to) == 1:
		w.c.secret = true
		return data.OfHash([]data.Pair{data.P("__ptype", data.OfString(name)), data.P("__pvalue", v)}), "[Sensitive]", nil
	case name == "Integer" && len(to) == 1:
		if n, ok, err := integerFrom(v); ok || err != nil {
			return n, "[Integer]", err
		}
	}
	return v, "", lacking("a new %s, which the Puppet language makes: it is not in this program", name)
}

var (
	integerText = regexp.MustCompile(`\A([+-]?)\s*(0[xX][0-9A-Fa-f]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)\z`)
	errInteger  = "'new' The string '%s' cannot be converted to Integer"
)

// integerFrom converts what plainly is a number.
func integerFrom(v data.Value) (n data.Value, ok bool, err error) {
	switch v.Kind() {
	case data.Int, data.Big:
		return v, true, nil
	case data.Bool:
		if v.Bool() {
			return data.OfInt(1), true, nil
		}
		return data.OfInt(0), true, nil
	case data.Float:
		if f := math.Trunc(v.Float()); math.Abs(f) < 1<<62 {
			return data.OfInt(int64(f)), true, nil
		}
	case data.String:
		m := integerText.FindStringSubmatch(v.Str())
		if m == nil {
			return v, false, argumentError(errInteger, v.Str())
		}
		i, _ := new(big.Int).SetString(m[1]+m[2], 0)
		return data.OfBig(i), true, nil
	}
	return v, false, nil
}

// Function finds the file of a function in the language or in Ruby, and returns
// one that refuses. Where Puppet has none either there is none.
func (w without) Function(name string) (Function, bool) {
	dir, path := w.c.o.EnvironmentDir, name
	if module, rest, ok := strings.Cut(name, "::"); ok {
		path = rest
		if module != "environment" {
			if dir, ok = w.c.module(module); !ok {
				return nil, false
			}
		}
	}
	path = filepath.FromSlash(strings.ReplaceAll(path, "::", "/"))
	for _, file := range []string{
		filepath.Join(dir, "functions", path+".pp"),
		filepath.Join(dir, "lib", "puppet", "functions", filepath.FromSlash(strings.ReplaceAll(name, "::", "/"))+".rb"),
	} {
		if _, err := os.Stat(file); err == nil {
			return func(*Context, ...data.Value) (data.Value, bool, error) {
				return data.Value{}, false, lacking("the function '%s' (%s) needs the Puppet language, which is not in this program", name, file)
			}, true
		}
	}
	return nil, false
}

// A typeParser reads simple types.
type typeParser struct {
	text string
	at   int
}

var simpleTypes = map[string]func() *kind{
	"Any": func() *kind { return anyType }, "Undef": func() *kind { return undefType }, "Boolean": func() *kind { return booleanType },
	"Integer": func() *kind { return integerType(lowest, highest) }, "Float": func() *kind { return floatType },
	"Numeric": func() *kind { return &kind{is: numericKind} }, "String": func() *kind { return stringType },
	"Scalar": func() *kind { return &kind{is: scalarKind} }, "Data": func() *kind { return dataType },
	"ScalarData": func() *kind { return &kind{is: scalarDataKind} },
	"Array":      func() *kind { return arrayOf(nil, 0, highest) }, "Hash": func() *kind { return hashType },
}

// parse returns the type at the position, or nil if it is no simple one.
func (p *typeParser) parse() *kind {
	p.blanks()
	from := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) {
		p.at++
	}
	name := p.text[from:p.at]
	p.blanks()
	if p.at >= len(p.text) || p.text[p.at] != '[' {
		if f := simpleTypes[name]; f != nil {
			return f()
		}
		return nil
	}
	p.at++
	switch name {
	case "Integer", "String":
		return p.ranged(name)
	case "Enum":
		return p.enum()
	case "Optional", "Variant", "Array", "Hash":
		return p.nested(name)
	}
	return nil
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (p *typeParser) blanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// next skips a comma, or reports the closing bracket.
func (p *typeParser) next() (more, ok bool) {
	p.blanks()
	if p.at >= len(p.text) {
		return false, false
	}
	c := p.text[p.at]
	p.at++
	return c == ',', c == ',' || c == ']'
}

func (p *typeParser) ranged(name string) *kind {
	limits := [2]int64{lowest, highest}
	if name == "String" {
		limits[0] = 0
	}
	for i := 0; ; i++ {
		p.blanks()
		from := p.at
		for p.at < len(p.text) && (isWord(p.text[p.at]) || p.text[p.at] == '-') {
			p.at++
		}
		word := p.text[from:p.at]
		n, err := strconv.ParseInt(word, 10, 64)
		switch {
		case i > 1 || err != nil && word != "default":
			return nil
		case err == nil:
			limits[i] = n
		}
		more, ok := p.next()
		if !ok {
			return nil
		}
		if !more {
			break
		}
	}
	if limits[0] > limits[1] {
		return nil
	}
	if name == "Integer" {
		return integerType(limits[0], limits[1])
	}
	return &kind{is: stringKind, min: limits[0], max: limits[1]}
}

func (p *typeParser) enum() *kind {
	t := &kind{is: enumKind}
	for {
		p.blanks()
		if p.at >= len(p.text) || p.text[p.at] != '\'' && p.text[p.at] != '"' {
			return nil
		}
		word, _, ok := strings.Cut(p.text[p.at+1:], p.text[p.at:p.at+1])
		if !ok || strings.ContainsAny(word, `\$`) {
			return nil
		}
		t.words = append(t.words, word)
		p.at += len(word) + 2
		more, ok := p.next()
		if !ok {
			return nil
		}
		if !more {
			return t
		}
	}
}

func (p *typeParser) nested(name string) *kind {
	var types []*kind
	for {
		t := p.parse()
		if t == nil {
			return nil
		}
		types = append(types, t)
		more, ok := p.next()
		if !ok {
			return nil
		}
		if !more {
			break
		}
	}
	switch {
	case name == "Variant":
		return &kind{is: variantKind, types: types}
	case name == "Hash" && len(types) == 2:
		return hashOf(types[0], types[1])
	case len(types) != 1:
		return nil
	case name == "Optional":
		return optional(types[0])
	case name == "Array":
		return arrayOf(types[0], 0, highest)
	}
	return nil
}
