package site

import (
	"crypto/sha1"
	"fmt"
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

// others are functions in Ruby of modules other than stdlib that this program has, by the
// names of functions, which begin with that of the module.
var others = map[string]*eval.Builtin{
	"apache::bool2httpd": {Name: "apache::bool2httpd", Ways: []eval.Way{{Params: "Any arg", Do: onOrOff}}},
	"mysql::password":    {Name: "mysql::password", Ways: []eval.Way{{Params: "String password", Do: mysqlPassword}}},
}

// onOrOff returns On or Off for what is true or false, and other values as texts.
func onOrOff(c *eval.Invocation) (data.Value, error) {
	v := c.Arg(0)
	text, err := c.Text(v)
	if err != nil {
		return data.Value{}, err
	}
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
