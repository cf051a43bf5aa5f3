package eval

import (
	"net/url"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// member returns a part of a value by its name, if the value has one that is called so:
// an attribute of an object, or a part of a URI. Functions of objects would be in Ruby.
// Rule LANG-EV-06.
func member(v data.Value, name string) (data.Value, bool) {
	if name == "message" && types.Instance(richTypes()["Error"], v) {
		name = "msg"
	}
	if m, ok := types.Member(v, name); ok {
		return m, true
	}
	if kindOf(v) != isURI {
		return v, false
	}
	u, err := url.Parse(v.Text())
	if err != nil {
		return v, false
	}
	text := ""
	switch name {
	case "scheme":
		text = u.Scheme
	case "userinfo":
		text = u.User.String()
	case "host":
		text = strings.TrimSuffix(u.Host, ":"+u.Port())
	case "path":
		text = u.EscapedPath()
	case "query":
		text = u.RawQuery
	case "fragment":
		text = u.EscapedFragment()
	case "opaque":
		text = u.Opaque
	case "port":
		return port(u), true
	default:
		return v, false
	}
	if text == "" {
		return data.Value{}, true
	}
	return data.OfString(text), true
}

// usualPorts are those of schemes that Ruby knows.
var usualPorts = map[string]int64{"http": 80, "https": 443, "ftp": 21, "ldap": 389, "ldaps": 636, "ws": 80, "wss": 443}

func port(u *url.URL) data.Value {
	if n, err := strconv.ParseInt(u.Port(), 10, 64); err == nil {
		return data.OfInt(n)
	}
	if n, ok := usualPorts[u.Scheme]; ok {
		return data.OfInt(n)
	}
	return data.Value{}
}
