package rich

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// The grammar of RFC 3986 as Ruby has it.
const (
	hex      = `[0-9A-Fa-f]`
	h16      = hex + `{1,4}`
	octet    = `(?:[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5]|[0-9])`
	ipv4     = octet + `\.` + octet + `\.` + octet + `\.` + octet
	ls32     = `(?:` + h16 + `:` + h16 + `|` + ipv4 + `)`
	ipv6     = `(?:` + h16 + `:){6}` + ls32 + `|::(?:` + h16 + `:){5}` + ls32 + `|(?:` + h16 + `)?::(?:` + h16 + `:){4}` + ls32 + `|(?:(?:` + h16 + `:){0,1}` + h16 + `)?::(?:` + h16 + `:){3}` + ls32 + `|(?:(?:` + h16 + `:){0,2}` + h16 + `)?::(?:` + h16 + `:){2}` + ls32 + `|(?:(?:` + h16 + `:){0,3}` + h16 + `)?::` + h16 + `:` + ls32 + `|(?:(?:` + h16 + `:){0,4}` + h16 + `)?::` + ls32 + `|(?:(?:` + h16 + `:){0,5}` + h16 + `)?::` + h16 + `|(?:(?:` + h16 + `:){0,6}` + h16 + `)?::`
	escaped  = `%` + hex + hex
	unitary  = `(?:` + escaped + `|[!$&-.0-;=@-Z_a-z~])`
	segments = `(?:/` + unitary + `*)*`

	authority = `//(?:((?:` + escaped + `|[!$&-.0-;=A-Z_a-z~])*)@)?(\[(?:` + ipv6 + `|v` + hex + `+\.[!$&-.0-;=A-Z_a-z~]+)\]|(?:` + escaped + `|[!$&-.0-9;=A-Z_a-z~])*)(?::([0-9]*))?(` + segments + `)`
	tail      = `(?:\?([^#]*))?(?:#((?:` + escaped + `|[!$&-.0-;=@-Z_a-z~/?])*))?\z`
)

// The groups are scheme, userinfo, host, port, path of an authority, another
// absolute path, opaque part or relative path, query, fragment.
var (
	absoluteURI = regexp.MustCompile(`\A([A-Za-z][+\-.0-9A-Za-z]*):(?:` + authority + `|(/(?:` + unitary + `+` + segments + `)?)|(` + unitary + `+` + segments + `)|)` + tail)
	relativeURI = regexp.MustCompile(`\A()(?:` + authority + `|(/(?:` + unitary + `+` + segments + `)?)|((?:` + escaped + `|[!$&-.0-9;=@-Z_a-z~])+` + segments + `)|)` + tail)
	breaks      = strings.NewReplacer("\t", "", "\r", "", "\n", "")
	badEscape   = regexp.MustCompile(`%[^0-9A-Fa-f]{2}`)
	addresses   = regexp.MustCompile(`\A(?:[^@,;]+@[^@,;]+(?:\z|[,;]))*\z`)
)

var defaultPorts = map[string]int{"http": 80, "https": 443, "ftp": 21, "ldap": 389, "ldaps": 636, "ws": 80, "wss": 443}

// ParseURI returns a URI as Ruby writes it again.
func ParseURI(s string) (string, error) {
	if s == "" {
		return "", errorf(emptyURI)
	}
	for i := range len(s) {
		if s[i] >= 0x80 {
			return "", errorf(foreignURI, dump(s))
		}
	}
	pattern := absoluteURI
	m := pattern.FindStringSubmatchIndex(s)
	if m == nil {
		pattern = relativeURI
		if m = pattern.FindStringSubmatchIndex(s); m == nil {
			return "", errorf(badURI, data.InspectString(s))
		}
	}
	group := func(i int) (string, bool) {
		if m[2*i] < 0 {
			return "", false
		}
		return s[m[2*i]:m[2*i+1]], true
	}
	var u uri
	u.scheme, _ = group(1)
	u.scheme = strings.ToLower(u.scheme)
	u.userinfo, _ = group(2)
	u.host, u.hasHost = group(3)
	port, _ := group(4)
	u.port, _ = strconv.Atoi(port)
	u.hasPort = port != ""
	path, _ := group(5)
	absolute, _ := group(6)
	rest, _ := group(7)
	u.path = path + absolute + rest
	u.query, u.hasQuery = group(8)
	u.fragment, u.hasFragment = group(9)
	u.opaque = pattern == absoluteURI && rest != ""
	if !u.opaque {
		u.query = breaks.Replace(u.query)
		if bad := badEscape.FindString(u.query); bad != "" {
			return "", errorf("invalid percent escape: %s", bad)
		}
		u.query = escapeQuery(u.query)
	}
	return u.text()
}

type uri struct {
	scheme, userinfo, host, path, query, fragment string
	port                                          int
	hasHost, hasPort, hasQuery, hasFragment       bool
	opaque                                        bool // path is the whole between scheme and query
}

func (u *uri) text() (string, error) {
	switch u.scheme {
	case "ftp":
		if u.opaque {
			return "", errorf("URI::InvalidURIError")
		}
		u.path = ftpPath(u.path)
	case "ldap", "ldaps":
		if u.opaque || u.hasFragment {
			return "", errorf("bad LDAP URL")
		}
	case "mailto":
		return u.mailto()
	case "file":
		u.userinfo, u.hasPort = "", false
		if u.host == "localhost" {
			u.host = ""
		}
		u.hasHost = true
	}
	var b strings.Builder
	if u.scheme != "" {
		b.WriteString(u.scheme + ":")
	}
	if !u.opaque {
		if u.hasHost || u.scheme == "postgres" {
			b.WriteString("//")
		}
		if u.userinfo != "" {
			b.WriteString(u.userinfo + "@")
		}
		b.WriteString(u.host)
		if u.hasPort && u.port != defaultPorts[u.scheme] {
			fmt.Fprintf(&b, ":%d", u.port)
		}
	}
	b.WriteString(u.path)
	if u.hasQuery {
		b.WriteString("?" + u.query)
	}
	if u.hasFragment {
		b.WriteString("#" + u.fragment)
	}
	return b.String(), nil
}

// ftpPath returns the path as Ruby writes it: one that is not below the
// directory of the login begins with %2F.
func ftpPath(path string) string {
	path = strings.TrimPrefix(path, "/")
	if rest, ok := strings.CutPrefix(path, "%2F"); ok {
		path = "/" + rest
	}
	if rest, ok := strings.CutPrefix(path, "/"); ok {
		path = "%2F" + rest
	}
	return "/" + path
}

func (u *uri) mailto() (string, error) {
	if !u.opaque && !u.hasQuery {
		return "", errorf("missing opaque part for mailto URL")
	}
	to := ""
	if u.opaque {
		to = u.path
	}
	whole := to
	if u.hasQuery {
		whole += "?" + u.query
	}
	if !addresses.MatchString(to) {
		return "", errorf("unrecognised opaque part for mailtoURL: %s", whole)
	}
	text := "mailto:" + to
	if query := strings.TrimRight(u.query, "&"); query != "" {
		text += "?" + query
	}
	if u.hasFragment {
		text += "#" + u.fragment
	}
	return text, nil
}

// escapeQuery escapes what must not stand in a query.
func escapeQuery(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '!', c >= '$' && c <= '&', c >= '(' && c <= ';', c == '=', c >= '?' && c <= '_', c >= 'a' && c <= '~':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// dump returns a text as Ruby's String#dump does.
func dump(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 0x10000:
			fmt.Fprintf(&b, `\u{%X}`, r)
		case r >= 0x80:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			quoted := data.InspectString(string(r))
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return `"` + b.String() + `"`
}
