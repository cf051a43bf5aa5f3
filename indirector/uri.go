package indirector

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// A URI is what a URI key holds besides the key. Rules IND-REQ-04 to
// IND-REQ-09.
type URI struct {
	Text     string // as given
	Protocol string // "" for file:
	Server   string // "" if the URI names no host
	Port     int    // 0 for file: and for unknown protocols without a port
}

// isURI reports whether key is a word followed by ":/". An absolute path is
// not, a Windows path on POSIX is. Puppet tests each line. Rule IND-REQ-04.
func isURI(key string) bool {
	if !strings.Contains(key, ":/") {
		return false
	}
	found := false
	for line := range strings.SplitSeq(key, "\n") {
		if strings.HasPrefix(line, "/") {
			return false
		}
		found = found || beginsURI(line)
	}
	return found
}

func beginsURI(line string) bool {
	for i := range len(line) {
		switch c := line[i]; {
		case c == ':':
			return i > 0 && i+1 < len(line) && line[i+1] == '/'
		case c != '_' && !isAlnum(c):
			return false
		}
	}
	return false
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// schemePorts are the schemes that Ruby knows; wss is not among them.
var schemePorts = map[string]int{"http": 80, "https": 443, "ldap": 389, "ldaps": 636, "ftp": 21, "ws": 80}

// parseURI takes a URI key apart. Percent sequences are not decoded, as Puppet
// encodes the text first. Rules IND-REQ-05 to IND-REQ-09.
func (x *Indirector) parseURI(r *Request) error {
	text := r.Key
	e := rich.EncodeURI(text)
	bad := func(format string, args ...any) error {
		return &Failure{
			Class:   "ArgumentError",
			Message: fmt.Sprintf("Could not understand URL %s: ", text) + fmt.Sprintf(format, args...),
			Hidden:  "scheme and host may hold letters, digits and a few signs only; no space, no underscore in the scheme, no brackets in the path",
		}
	}
	uri := &URI{Text: text, Protocol: strings.ToLower(strings.TrimSuffix(e.Scheme, ":"))}
	uri.Port = schemePorts[uri.Protocol]
	switch authority, ok := strings.CutPrefix(e.Authority, "//"); {
	case !isASCII(e.Scheme + e.Authority):
		return bad("URI must be ascii only %s", dump(e.String()))
	case !isScheme(e.Scheme), strings.ContainsAny(e.Path, "[]"),
		ok && !uri.setAuthority(authority), !ok && authority != "":
		return bad("bad URI(is not URI?): %s", data.InspectString(e.String()))
	case uri.Protocol == "mailto" && e.Query == "":
		return bad("missing opaque part for mailto URL")
	}
	r.URI = uri
	path := rich.UnescapeURI(e.Path)
	switch uri.Protocol {
	case "file":
		uri.Protocol, uri.Server, uri.Port = "", "", 0
		r.Key = path
		return nil
	case "ftp":
		// One slash is the server's; ";type=" and the rest are not part of the
		// path.
		path, _, _ = strings.Cut(strings.TrimPrefix(path, "/"), ";type=")
	case "puppet":
		if uri.Port == 0 {
			uri.Port = x.serverPort()
		}
	case "filebucket":
		uri.Protocol = "https"
	}
	r.Key = strings.TrimPrefix(path, "/")
	return nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// isScheme reports whether s, with its colon, is the scheme of a URI.
func isScheme(s string) bool {
	for i := range len(s) - 1 {
		if c := s[i]; !isAlnum(c) && strings.IndexByte("+-.", c) < 0 {
			return false
		}
	}
	return len(s) > 1 && s[0] >= 'A'
}

// dump is Ruby's String#dump: ASCII only.
func dump(s string) string {
	var b strings.Builder
	for _, r := range data.InspectString(s) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return controls.ReplaceAllString(b.String(), `\x$1`)
}

var controls = regexp.MustCompile(`\\u00([01][0-9A-F]|7F)`)

var hosts = regexp.MustCompile(`\A(?:\[v[[:xdigit:]]+\.[!$&-.0-;=A-Z_a-z~]+\]|(?:%[[:xdigit:]]{2}|[!$&-.0-9;=A-Z_a-z~])*)\z`)

var users = regexp.MustCompile(`\A(?:%[[:xdigit:]]{2}|[!$&-.0-;=A-Z_a-z~])*\z`)

// setAuthority reads user@host:port and reports whether it is well formed.
func (u *URI) setAuthority(s string) bool {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		if !users.MatchString(s[:i]) {
			return false
		}
		s = s[i+1:]
	}
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		host, port = s[:i], s[i+1:]
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 62)
		if err != nil {
			return false
		}
		u.Port = int(n)
	}
	u.Server = host
	if inner, ok := strings.CutPrefix(host, "["); ok && !strings.HasPrefix(inner, "v") {
		address, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && address.Is6() && address.Zone() == "" && strings.HasSuffix(inner, "]")
	}
	return hosts.MatchString(host)
}

func (x *Indirector) serverPort() int {
	port, _ := x.around.Load().Settings.Get("serverport")
	if n, err := strconv.Atoi(port); err == nil {
		return n
	}
	return 8140
}
