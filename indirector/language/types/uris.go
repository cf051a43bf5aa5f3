package types

import (
	"net/url"
	"strings"

	"indirtui/indirector/data"
)

// partsOf returns the parts of a URI as a type of URIs names them. What is usual is
// left out.
func partsOf(u uri) data.Value {
	parsed, err := url.Parse(string(u))
	if err != nil {
		return data.Value{}
	}
	var out []data.Pair
	add := func(key, value string) {
		if value != "" {
			out = append(out, data.P(key, data.OfString(value)))
		}
	}
	scheme := strings.ToLower(parsed.Scheme)
	add("scheme", scheme)
	if parsed.User != nil {
		add("userinfo", parsed.User.String())
	}
	add("host", strings.ToLower(strings.TrimSuffix(parsed.Host, ":"+parsed.Port())))
	if port := parsed.Port(); !(port == "80" && scheme == "http") && !(port == "443" && scheme == "https") {
		add("port", port)
	}
	add("path", parsed.EscapedPath())
	add("query", parsed.RawQuery)
	add("fragment", parsed.EscapedFragment())
	add("opaque", parsed.Opaque)
	if out == nil {
		return data.Value{}
	}
	return data.OfHash(out)
}
