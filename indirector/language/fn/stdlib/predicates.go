package stdlib

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
)

// predicates are functions that answer whether a value is of a kind.
func predicates() map[string]older {
	one := func(name, words string, is func(v data.Value) bool) older {
		return older{least: 1, most: 1, wrong: name + "(): Wrong number of arguments given " + words, do: func(c *call) (data.Value, error) {
			return boolean(is(c.Args[0])), nil
		}}
	}
	some := func(name string, is func(v data.Value) bool) older {
		f := one(name, "(%d for 1)", is)
		f.most = 0
		return f
	}
	return map[string]older{
		"is_absolute_path":      one("is_absolute_path", "(%d for 1)", isAbsolutePath),
		"is_array":              some("is_array", isList),
		"is_bool":               one("is_bool", "(%d for 1)", isBool),
		"is_domain_name":        one("is_domain_name", "%d for 1", isDomainName),
		"is_email_address":      one("is_email_address", "%d for 1", isEmailAddress),
		"is_float":              one("is_float", "%d for 1", isFloat),
		"is_function_available": {least: 1, most: 1, wrong: "is_function_available?(): Wrong number of arguments given %d for 1", do: isFunction},
		"is_hash":               one("is_hash", "(%d for 1)", isHash),
		"is_integer": one("is_integer", "%d for 1", func(v data.Value) bool {
			return isInteger(v) || isString(v) && matches(`^-?(?:(?:[1-9]\d*)|0)$`, v.Str())
		}),
		"is_numeric": one("is_numeric", "%d for 1", func(v data.Value) bool {
			return isNumber(v) || isString(v) && matches(`^-?(?:(?:[1-9]\d*)|0)(?:\.\d+)?(?:[eE]-?\d+)?$`, v.Str())
		}),
		"is_string": some("is_string", func(v data.Value) bool {
			return v.IsNil() || isString(v) && !isNumberText(v.Str())
		}),
		"type3x": {least: 1, most: 1, wrong: "type3x(): Wrong number of arguments given (%d for 1)", do: type3x},
	}
}

// isNumberText reports whether a text is what Ruby prints for the number it begins with.
func isNumberText(s string) bool { return isIntegerText(s) || s == floatText(s) }

func isIntegerText(s string) bool { return matches(`\A(0|-?[1-9]\d*)\z`, s) }

// floatText prints the number that a text begins with.
func floatText(s string) string { return data.FormatFloat(fn.LeadingFloat(s)) }

func isFloat(v data.Value) bool {
	return v.Kind() == data.Float || isString(v) && v.Str() == floatText(v.Str())
}

func isAbsolutePath(v data.Value) bool {
	const slash, name = `[\\/]`, `[^\\/]+`
	return isString(v) && (matches(`^/`, v.Str()) ||
		matches(`(?i)^(?:(?:[A-Z]:`+slash+`)|(?:`+slash+slash+name+slash+name+`)|(?:`+slash+slash+`\?`+slash+name+`))`, v.Str()))
}

func isDomainName(v data.Value) bool {
	if !isString(v) {
		return false
	}
	domain := v.Str()
	if domain == "." {
		return true
	}
	domain = strings.TrimSuffix(domain, ".")
	if domain == "" || len([]rune(domain)) > 255 || strings.Contains(domain, ".") && !matches(`\.[A-Za-z]+$`, domain) {
		return false
	}
	for _, label := range rubySplit(domain, ".") {
		if label == "" || len([]rune(label)) > 63 || label[0] == '-' || label[len(label)-1] == '-' || !matches(`(?i)^[a-z\d-]+$`, label) {
			return false
		}
	}
	return true
}

func isEmailAddress(v data.Value) bool {
	return isString(v) && matches(`\A([\w+\-].?)+@[a-z\d\-]+(\.[a-z]+)*\.[a-z]+\z`, v.Str())
}

// olderOfPuppet are Puppet's own functions of the older kind, and what it has in their
// place for functions of the newer one.
const olderOfPuppet = ` assert_type binary_file break contain create_resources defined dig digest each epp fail file filter
 find_file fqdn_rand generate hiera hiera_array hiera_hash hiera_include include inline_epp inline_template lest lookup map
 match md5 new next realize reduce regsubst require return reverse_each scanf sha1 sha256 shellquote slice split sprintf step
 strftime tag tagged template then type versioncmp with alert crit debug emerg err info notice warning `

// shadowed are functions of the module that nothing calls, since Puppet has others of
// their names; a function that is asked for them finds them.
const shadowed = ` abs camelcase capitalize ceiling chomp chop deprecation dig downcase empty flatten floor getvar join keys lstrip max
 merge min round rstrip size sort strip type unique upcase values `

func isFunction(c *call) (data.Value, error) {
	if !isString(c.Args[0]) {
		return boolean(false), nil
	}
	name := c.Args[0].Str()
	_, ok := c.set.old[name]
	words := strings.Fields(olderOfPuppet + shadowed)
	for _, w := range words {
		ok = ok || w == name
	}
	return boolean(ok), nil
}

func type3x(c *call) (data.Value, error) {
	v := c.Args[0]
	switch {
	case isBool(v):
		return str("boolean"), nil
	case isInteger(v):
		return str("integer"), nil
	case isString(v) && isIntegerText(v.Str()):
		return str("integer"), nil
	case isString(v) && v.Str() == floatText(v.Str()):
		return str("float"), nil
	case isList(v), isHash(v), isString(v), v.Kind() == data.Float:
		return str(strings.ToLower(eval.ClassName(v))), nil
	}
	return undef, refusef("type3x(): Unknown type")
}

// facts are functions that look at facts.
func facts() map[string][]way {
	return map[string][]way{
		"fact": {{"String fact_name", fact}},
		"os_version_gte": {{"String[1] os; String[1] version", func(c *call) (data.Value, error) {
			all, _ := c.Variable("::facts")
			if os := all.Get("operatingsystem"); !isString(os) || os.Str() != c.Args[0].Str() {
				return boolean(false), nil
			}
			order, err := c.function("versioncmp", all.Get("operatingsystemmajrelease"), c.Args[1])
			return boolean(order.Int() >= 0), err
		}}},
	}
}

// fact looks a fact up by its path, whose parts may be quoted.
func fact(c *call) (data.Value, error) {
	name := c.Args[0].Str()
	re, err := c.Regexp(`([^."]+)|(?:")([^"]+)(?:")`)
	if err != nil {
		return undef, err
	}
	v, _ := c.Variable("::facts")
	var walked []string
	all, err := re.FindAll(name, -1)
	if err != nil {
		return undef, err
	}
	for _, at := range all {
		key := strings.Trim(name[at[0]:at[1]], `"`)
		if v.IsNil() {
			return undef, nil
		}
		at := strings.Join(walked, ".")
		switch {
		case isHash(v):
			v = v.Get(key)
		case isList(v):
			if _, err := fn.ParseInteger(key); err != nil {
				c.LogPlain("warning", "fact request for "+name+" returning nil: '"+at+"' is an array; cannot index to '"+key+"'")
			}
			v = elementAt(v.List(), str(key))
		default:
			c.LogPlain("warning", "fact request for "+name+" returning nil: '"+at+"' is not a collection; cannot walk to '"+key+"'")
			v = undef
		}
		if strings.Contains(key, ".") {
			key = `"` + key + `"`
		}
		walked = append(walked, key)
	}
	return v, nil
}
