package client

import (
	"net"
	"net/url"
	"regexp"
	"strings"

	"indirtui/indirector"
)

// Proxies choose the proxy of an address. Each part of the environment is
// stronger than its setting. Rule REST-CLI-08.
type proxies struct {
	via     *url.URL // nil is none
	without []*regexp.Regexp
	ports   []bool // whether an expression includes the port
}

func newProxies(s indirector.Settings, getenv func(string) string) proxies {
	get := func(name string) string {
		v, _ := s.Get(name)
		if v == "none" {
			return ""
		}
		return v
	}
	env := func(names ...string) string {
		for _, n := range names {
			if v := getenv(n); v != "" {
				return v
			}
		}
		return ""
	}
	host, port, user, password := get("http_proxy_host"), get("http_proxy_port"), get("http_proxy_user"), get("http_proxy_password")
	if u, err := url.Parse(env("http_proxy", "HTTP_PROXY")); err == nil && u.Host != "" {
		host, port = u.Hostname(), portOf(u)
		if u.User != nil {
			user = u.User.Username()
			password, _ = u.User.Password()
		}
	}
	var p proxies
	if host == "" {
		return p
	}
	p.via = &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	if user != "" {
		p.via.User = url.UserPassword(user, password)
	}
	without := env("no_proxy", "NO_PROXY")
	if without == "" {
		without = get("no_proxy")
	}
	for entry := range strings.SplitSeq(without, ",") {
		entry = strings.TrimSpace(entry)
		name, port, _ := strings.Cut(entry, ":")
		if name == "" {
			continue
		}
		// An entry is a suffix, as in Puppet: example.com is also badexample.com.
		pattern := strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, ".*")
		if port != "" {
			pattern += ":" + regexp.QuoteMeta(port)
		}
		p.without = append(p.without, regexp.MustCompile(pattern+"$"))
		p.ports = append(p.ports, port != "")
	}
	return p
}

// of returns the proxy for u, nil if none.
func (p *proxies) of(u *url.URL) (*url.URL, error) {
	if p.via == nil {
		return nil, nil
	}
	for i, r := range p.without {
		dest := u.Hostname()
		if p.ports[i] {
			dest += ":" + portOf(u)
		}
		if r.MatchString(dest) {
			return nil, nil
		}
	}
	return p.via, nil
}
