package stdlib

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/types"
)

// validators are functions that fail unless values are of a kind.
func validators() map[string]older {
	out := map[string]older{
		"validate_augeas":            {do: validateAugeas},
		"validate_cmd":               {least: 2, most: 3, wrong: "validate_cmd(): wrong number of arguments (%d; must be 2 or 3)", do: validateCommand},
		"validate_integer":           {least: 1, most: 3, wrong: "validate_integer(): Wrong number of arguments; must be 1, 2 or 3, got %d", do: validateInteger},
		"validate_numeric":           {least: 1, most: 3, wrong: "validate_numeric(): Wrong number of arguments; must be 1, 2 or 3, got %d", do: validateNumeric},
		"validate_re":                {least: 2, most: 3, wrong: "validate_re(): wrong number of arguments (%d; must be 2 or 3)", do: validateRegexp},
		"validate_slength":           {least: 2, most: 3, wrong: "validate_slength(): Wrong number of arguments (%d; must be 2 or 3)", do: validateLength},
		"validate_x509_rsa_key_pair": {least: 2, most: 2, wrong: "validate_x509_rsa_key_pair(): wrong number of arguments (%d; must be 2)", do: validateKeyPair},
	}
	each := func(name string, check func(v data.Value) error) {
		out[name] = older{least: 1, wrong: name + "(): wrong number of arguments (%d; must be > 0)", do: func(c *call) (data.Value, error) {
			for _, v := range c.Args {
				if err := check(v); err != nil {
					return undef, err
				}
			}
			return undef, nil
		}}
	}
	kind := func(words string, is func(data.Value) bool) func(data.Value) error {
		return func(v data.Value) error {
			if is(v) {
				return nil
			}
			return refusef("%s is not %s.  It looks to be a %s", v.Inspect(), words, eval.ClassName(v))
		}
	}
	text := func(words string, is func(data.Value) bool) func(data.Value) error {
		return func(v data.Value) error {
			switch {
			case !isString(v):
				return refusef("%s is not a string.", v.Inspect())
			case !is(v):
				return refusef("%s is not a %s", v.Inspect(), words)
			}
			return nil
		}
	}
	address := func(of func(netip.Prefix) bool) func(data.Value) bool {
		return func(v data.Value) bool {
			p, ok := parseAddress(v.Str())
			return ok && of(p)
		}
	}
	each("validate_array", kind("an Array", isList))
	each("validate_bool", kind("a boolean", isBool))
	each("validate_hash", kind("a Hash", isHash))
	each("validate_string", kind("a string", func(v data.Value) bool { return isString(v) || v.IsNil() }))
	each("validate_domain_name", text("syntactically correct domain name", isDomainName))
	each("validate_email_address", text("valid email address", isEmailAddress))
	each("validate_ip_address", text("valid IP address.", address(func(netip.Prefix) bool { return true })))
	each("validate_ipv4_address", text("valid IPv4 address.", address(isIPv4)))
	each("validate_ipv6_address", text("valid IPv6 address.", address(isIPv6)))
	each("validate_absolute_path", func(v data.Value) error {
		paths := []data.Value{v}
		if isList(v) {
			paths = v.List()
		}
		for _, p := range paths {
			if !isAbsolutePath(p) {
				return refusef("%s is not an absolute path.", p.Inspect())
			}
		}
		return nil
	})
	for name, f := range out {
		f.statement = true
		out[name] = f
	}
	return out
}

func validateAugeas(*call) (data.Value, error) {
	return undef, refusef("validate_augeas(): this function requires the augeas feature. See http://docs.puppetlabs.com/guides/augeas.html#pre-requisites for how to activate it.")
}

// validateCommand lets a command look at a text.
func validateCommand(c *call) (data.Value, error) {
	if c.set.Validate == nil {
		return undef, eval.Unsupported("validate_cmd(): commands of manifests")
	}
	command := c.Arg(1)
	err := c.set.Validate(c.Invocation, c.Arg(0).Text(), command.Text())
	if err == nil {
		return undef, nil
	}
	message := "validate_cmd(): failed to validate content with command " + command.Inspect()
	if given := c.Arg(2); given.Truthy() {
		message = given.Text()
	}
	return undef, refusef("%s\n%s", message, err)
}

// A bound checks numbers against the largest and the smallest that is allowed.
type bound struct {
	name     string
	max, min data.Value // undef if there is none
	input    string     // what messages show
}

func (b *bound) check(n data.Value) error {
	if !b.max.IsNil() {
		if order, _ := eval.Compare(n, b.max); order > 0 {
			return refusef("%s(): Expected %s to be smaller or equal to %s, got %s.", b.name, b.input, b.max.Text(), b.input)
		}
	}
	if !b.min.IsNil() {
		if order, _ := eval.Compare(n, b.min); order < 0 {
			return refusef("%s(): Expected %s to be greater or equal to %s, got %s.", b.name, b.input, b.min.Text(), b.input)
		}
	}
	return nil
}

func validateInteger(c *call) (data.Value, error) {
	return undef, validateNumber(c, "validate_integer", "an Integer", func(s string) (data.Value, error) {
		n, err := fn.ParseInteger(s)
		if err != nil {
			return undef, err
		}
		return data.OfBig(n), nil
	})
}

func validateNumeric(c *call) (data.Value, error) {
	return undef, validateNumber(c, "validate_numeric", "a Numeric", func(s string) (data.Value, error) {
		f, err := fn.ParseFloat(s)
		return data.OfFloat(f), err
	})
}

func validateNumber(c *call, name, kind string, parse func(s string) (data.Value, error)) error {
	b := bound{name: name}
	limit := func(i int, which string) (data.Value, error) {
		s := eval.RubyText(c.Args[i])
		n, err := parse(s)
		if err != nil {
			class := "String" // which the second was made
			if i > 1 {
				class = eval.ClassName(c.Args[i])
			}
			return undef, refusef("%s(): Expected %s argument to be unset or %s, got %s:%s", name, which, kind, s, class)
		}
		return n, nil
	}
	var err error
	if len(c.Args) > 1 && !(len(c.Args) > 2 && c.Args[1].Text() == "") {
		if b.max, err = limit(1, "second"); err != nil {
			return err
		}
	}
	if len(c.Args) > 2 {
		if b.min, err = limit(2, "third"); err != nil {
			return err
		}
	}
	if !b.min.IsNil() && !b.max.IsNil() {
		if order, _ := eval.Compare(b.min, b.max); order > 0 {
			return refusef("%s(): Expected second argument to be larger than third argument, got %s < %s", name, b.max.Text(), b.min.Text())
		}
	}
	input := c.Args[0]
	if isList(input) {
		b.input = input.Inspect()
		for i, v := range input.List() {
			n, err := parse(v.Text())
			if isHash(v) || err != nil {
				return refusef("%s(): Expected element at array position %d to be %s, got %s", name, i, kind, eval.ClassName(v))
			}
			if err := b.check(n); err != nil {
				return err
			}
		}
		return nil
	}
	n, err := parse(input.Text())
	if isHash(input) || err != nil {
		subject := name
		if isHash(input) {
			subject = "validate_integer" // also in the words of validate_numeric
		}
		return refusef("%s(): Expected first argument to be %s or Array, got %s", subject, kind, eval.ClassName(input))
	}
	b.input = n.Inspect()
	return b.check(n)
}

func validateRegexp(c *call) (data.Value, error) {
	v := c.Args[0]
	if !isString(v) {
		return undef, refusef("validate_re(): input needs to be a String, not a %s", eval.ClassName(v))
	}
	for _, source := range eval.Flatten([]data.Value{c.Args[1]}) {
		text := source.Text()
		if own, ok := types.RegexpSource(source); ok {
			text = own
		} else if !isString(source) {
			return undef, eval.Errorf("%s", eval.NoString(source))
		}
		re, err := c.Regexp(text)
		if err != nil {
			return undef, err
		}
		if ok, err := re.Match(v.Str()); ok || err != nil {
			return undef, err
		}
	}
	if message := c.Arg(2); message.Truthy() {
		return undef, refusef("%s", message.Text())
	}
	return undef, refusef("validate_re(): %s does not match %s", v.Inspect(), c.Args[1].Inspect())
}

func validateLength(c *call) (data.Value, error) {
	parse := func(v data.Value, least int64, words string) (int64, error) {
		n, ok := int64(0), isNumber(v)
		if ok {
			n = fn.LeadingInteger(v)
		} else if isString(v) {
			parsed, err := fn.ParseInteger(v.Str())
			if ok = err == nil && parsed.IsInt64(); ok {
				n = parsed.Int64()
			}
		}
		if ok {
			v = data.OfInt(n)
		}
		if !ok || n < least {
			return 0, refusef("validate_slength(): Expected %s, got %s:%s", words, eval.RubyText(v), eval.ClassName(v))
		}
		return n, nil
	}
	most, err := parse(c.Args[1], 1, "second argument to be a positive Numeric")
	if err != nil {
		return undef, err
	}
	least := int64(0)
	if c.Arg(2).Truthy() {
		if least, err = parse(c.Arg(2), 0, "third argument to be unset or a positive Numeric"); err != nil {
			return undef, err
		}
	}
	if most < least {
		return undef, refusef("validate_slength(): Expected second argument to be equal to or larger than third argument")
	}
	input := c.Args[0]
	if !isString(input) && !isList(input) {
		return undef, refusef("validate_slength(): Expected first argument to be a String or Array, got %s", eval.ClassName(input))
	}
	size := input.Len() // of a list also where a string in it is wrong
	if isString(input) {
		size = utf8.RuneCountInString(input.Str())
	}
	for i, v := range asList(input) {
		if !isString(v) {
			return undef, refusef("validate_slength(): Expected element at array position %d to be a String, got %s", i, eval.ClassName(v))
		}
		if n := int64(utf8.RuneCountInString(v.Str())); n < least || n > most {
			return undef, refusef("validate_slength(): Expected length of %s to be between %d and %d, was %d", input.Inspect(), least, most, size)
		}
	}
	return undef, nil
}

func validateKeyPair(c *call) (data.Value, error) {
	for _, v := range c.Args {
		if !isString(v) {
			return undef, refusef("%s is not a string.", v.Inspect())
		}
	}
	certificate, err := x509.ParseCertificate(der(c.Args[0].Str()))
	if err != nil {
		return undef, refusef("Not a valid x509 certificate: %s", err)
	}
	key, err := parseKey(der(c.Args[1].Str()))
	if err != nil {
		return undef, refusef("Not a valid RSA key: %s", err)
	}
	holder := &x509.Certificate{PublicKey: &key.PublicKey, PublicKeyAlgorithm: x509.RSA}
	if holder.CheckSignature(certificate.SignatureAlgorithm, certificate.RawTBSCertificate, certificate.Signature) != nil {
		return undef, refusef("Certificate signature does not match supplied key")
	}
	return undef, nil
}

// der returns the bytes of the first block of PEM, or the text itself.
func der(s string) []byte {
	if block, _ := pem.Decode([]byte(s)); block != nil {
		return block.Bytes
	}
	return []byte(s)
}

func parseKey(b []byte) (*rsa.PrivateKey, error) {
	if key, err := x509.ParsePKCS1PrivateKey(b); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(b)
	if err != nil {
		return nil, err
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("it is of another kind")
	}
	return private, nil
}

// A replacement is what the module logs when one of its older functions is called by the
// name that a newer one has as well.
type replacement struct{ key, message string }

// renamed are the functions of the newer kind that log, and call the older of their name.
func renamed() map[string]replacement {
	out := map[string]replacement{}
	for name, kind := range map[string]string{
		"is_absolute_path": "Absolute_Path", "is_array": "Array", "is_bool": "Bool", "is_float": "Float", "is_ip_address": "Ip_address",
		"is_ipv4_address": "Ipv4", "is_ipv6_address": "Ipv6", "is_numeric": "Numeric", "is_string": "String",
	} {
		key := name
		if name == "is_ipv6_address" {
			key = "is_ipv4_address" // the module's own mistake
		}
		out[name] = replacement{key, "This method is deprecated, please use match expressions with Stdlib::Compat::" + kind +
			" instead. They are described at https://docs.puppet.com/puppet/latest/reference/lang_data_type.html#match-expressions."}
	}
	for name, kind := range map[string]string{
		"absolute_path": "Stdlib::Compat::Absolute_Path", "array": "Stdlib::Compat::Array", "bool": "Stdlib::Compat::Bool", "hash": "Stdlib::Compat::Hash",
		"integer": "Stdlib::Compat::Integer", "ip_address": "Stdlib::Compat::Ip_Address", "ipv4_address": "Stdlib::Compat::Ipv4_Address",
		"ipv6_address": "Stdlib::Compat::Ipv6_address", "numeric": "Stdlib::Compat::Numeric", "re": "Pattern[]", "slength": "String[]",
		"string": "Stdlib::Compat::String",
	} {
		out["validate_"+name] = replacement{"validate_" + name, "This method is deprecated, please use the stdlib validate_legacy function,\n" +
			"                    with " + kind + ". There is further documentation for validate_legacy function in the README."}
	}
	return out
}

// legacy are functions that hold a value against a type, and against what an older
// function does.
func legacy() map[string][]way {
	return map[string][]way{
		"is_a": {{"Any value; Type type", func(c *call) (data.Value, error) {
			t, _ := types.AsType(c.Args[1])
			ok, err := c.Check(t, c.Args[0])
			return boolean(ok), err
		}}},
		"validate_legacy": {{anything, func(c *call) (data.Value, error) {
			// Messages count and show the scope as the first parameter.
			builtin := &eval.Builtin{Name: "validate_legacy", Ways: c.set.ways([]way{
				{"Any scope; Type target_type; String function_name; Any value; Any args*", validateLegacy},
				{"Any scope; String type_string; String function_name; Any value; Any args*", validateLegacy},
			})}
			with := *c.Invocation
			with.Block = nil
			v, _, err := with.Call("validate_legacy", append([]data.Value{undef}, c.Args...), eval.Library{"validate_legacy": builtin})
			return v, err
		}}},
	}
}

func validateLegacy(c *call) (data.Value, error) {
	t, ok := types.AsType(c.Args[1])
	if !ok {
		var err error
		if t, err = c.TypeNamed(c.Args[1].Str()); err != nil {
			return undef, eval.Errorf("The expression <%s> is not a valid type specification.", strings.TrimSuffix(c.Args[1].Str(), "\n"))
		}
	}
	name, value := c.Args[2].Str(), c.Args[3]
	_, err := c.older(name, c.Args[3:]...)
	refused, isRefusal := err.(*refusal)
	if err != nil && !isRefusal {
		return undef, err
	}
	switch {
	case eval.Accepts(t, value) && refused != nil:
		c.LogPlain("notice", "Accepting previously invalid value for target type '"+t.String()+"'")
		return undef, nil
	case eval.Accepts(t, value):
		return undef, nil
	}
	text := eval.Mismatch("validate_legacy("+name+")", t, value)
	if refused == nil {
		return undef, c.deprecate("validate_legacy", text)
	}
	return undef, refusef("%s", text)
}
