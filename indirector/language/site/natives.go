package site

import (
	"crypto/sha1"
	"fmt"
	"math"
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
)

// others are functions in Ruby of modules other than stdlib that this program has, by the
// names of functions, which begin with that of the module.
var others = map[string]*eval.Builtin{
	"apache::bool2httpd":    {Name: "apache::bool2httpd", Ways: []eval.Way{{Params: "Any arg", Do: onOrOff}}},
	"memcached::max_memory": {Name: "memcached::max_memory", Ways: []eval.Way{{Params: "Any arg", Do: maxMemory}}},
	"mysql::password":       {Name: "mysql::password", Ways: []eval.Way{{Params: "String password", Do: mysqlPassword}}},
}

// queryPuppetDB returns what PuppetDB answers. Rule PDB-QRY-07.
func queryPuppetDB(c *eval.Invocation) (data.Value, error) {
	h, ok := c.Host().(host)
	if !ok || h.s.o.Query == nil {
		return data.Value{}, eval.Errorf("puppetdb_query() needs PuppetDB, and there is none here")
	}
	v, err := h.s.o.Query(c.Context(), c.Arg(0))
	if err != nil {
		return data.Value{}, err
	}
	return v, c.Made(v)
}

// onOrOff returns On or Off for what is true or false, and other values as texts.
func onOrOff(c *eval.Invocation) (data.Value, error) {
	v := c.Arg(0)
	text := eval.RubyText(v)
	isText, small := v.Kind() == data.String, strings.ToLower(text)
	switch {
	case v.IsNil(), v.Kind() == data.Bool && !v.Bool(), isText && strings.Contains(small, "false"):
		text = "Off"
	case v.Kind() == data.Bool, isText && strings.Contains(small, "true"):
		text = "On"
	}
	return data.OfString(text), c.Spend(len(text))
}

var mysqlHash = regexp.MustCompile(`(?m)\*[A-F0-9]{40}$`)

// mysqlPassword returns the hash of a password as MySQL's PASSWORD() makes it.
func mysqlPassword(c *eval.Invocation) (data.Value, error) {
	password := c.Arg(0).Str()
	if password == "" || mysqlHash.MatchString(password) {
		return c.Arg(0), nil
	}
	once := sha1.Sum([]byte(password))
	return data.OfString(fmt.Sprintf("*%X", sha1.Sum(once[:]))), nil
}

// maxMemory returns so many megabytes, or the share of a host's memory that a text with a
// percent sign is; 95 percent if nothing is given.
func maxMemory(c *eval.Invocation) (data.Value, error) {
	arg, share := c.Arg(0), "95%"
	if arg.Truthy() {
		if share = arg.Text(); !strings.HasSuffix(share, "%") {
			if arg.Kind() == data.Int {
				return arg, nil
			}
			return data.OfInt(int64(fn.LeadingFloat(share))), nil
		}
	}
	facts, _ := c.Variable("::facts")
	size, ok := facts.Get("memorysize").AsStr()
	if !ok {
		return data.Value{}, eval.Errorf("undefined method `[]' for nil:NilClass")
	}
	m := memorySize.FindStringSubmatch(size)
	power, known := map[string]float64{"": 0, "k": 10, "M": 20, "G": 30, "T": 40, "E": 50}[m[2]]
	if !known {
		return data.Value{}, eval.Errorf("memcached_max_memory(): Unknown prefix %s", m[2])
	}
	megabytes := math.Trunc(fn.LeadingFloat(m[1])*math.Pow(2, power)) / (1 << 20)
	return data.OfInt(int64(math.Floor(math.Floor(megabytes) * (fn.LeadingFloat(share) / 100)))), nil
}

// memorySize is a number and the first letter of its unit, as the fact has them.
var memorySize = regexp.MustCompile(`([0-9.e+-]*)\s*([^bB]?)`)
