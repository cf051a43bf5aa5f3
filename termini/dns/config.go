package dns

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"

	"indirtui/indirector"
)

const (
	settingPrefix  = "dns_node_prefix"
	settingServers = "dns_servers"
	settingTimeout = "dns_timeout"
	settingAD      = "dns_require_ad"

	defaultTimeout = 5 * time.Second
	maxServers     = 10
)

// A config is what the settings ask for.
type config struct {
	prefix  string
	servers []string // with ports; none is those of the system
	limit   time.Duration
	signed  bool // answers must be authenticated
}

func newConfig(s indirector.Settings) (*config, error) {
	limit, err := indirector.DurationOf(s, settingTimeout, defaultTimeout)
	if err != nil {
		return nil, err
	}
	c := &config{limit: limit}
	signed, _ := s.Get(settingAD)
	c.signed = signed == "true"
	prefix, source := s.Get(settingPrefix)
	if c.prefix = strings.TrimSuffix(prefix, "."); c.prefix != "" && !isHostName(c.prefix) {
		return nil, fmt.Errorf("setting %s (%s): %q is no part of a host name", settingPrefix, source, prefix)
	}
	servers, source := s.Get(settingServers)
	for _, w := range strings.FieldsFunc(servers, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		address, err := withPort(w)
		if err != nil {
			return nil, fmt.Errorf("setting %s (%s): %w", settingServers, source, err)
		}
		c.servers = append(c.servers, address)
	}
	if len(c.servers) > maxServers {
		return nil, fmt.Errorf("setting %s (%s): more than %d servers", settingServers, source, maxServers)
	}
	return c, nil
}

// withPort reads the address of a server, whose port is 53 unless it is given. Names
// are refused: they would have to be looked up.
func withPort(server string) (string, error) {
	if a, err := netip.ParseAddr(strings.Trim(server, "[]")); err == nil {
		return net.JoinHostPort(a.String(), "53"), nil
	}
	a, err := netip.ParseAddrPort(server)
	if err != nil {
		return "", fmt.Errorf("%q is no address of a name server", server)
	}
	return a.String(), nil
}

// question is the domain name that stands for a key.
func (c *config) question(key string) string {
	if c.prefix == "" {
		return key
	}
	return c.prefix + "." + key
}

const resolvConf = "/etc/resolv.conf"

// asked returns the servers in the order in which they are asked. Those of the system
// are read each time, as they change with the network. Rule DNS-08.
func (c *config) asked() ([]string, error) {
	if len(c.servers) > 0 {
		return c.servers, nil
	}
	system, err := dns.ClientConfigFromFile(resolvConf)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, s := range system.Servers[:min(len(system.Servers), maxServers)] {
		all = append(all, net.JoinHostPort(s, system.Port))
	}
	if all == nil {
		return nil, fmt.Errorf("%s names no server", resolvConf)
	}
	return all, nil
}
