package facter

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"indirtui/indirector/data"
)

// A link is a network interface, or an alias of one, which has only a name
// and addresses.
type link struct {
	name        string
	index       int // 0 for an alias
	mtu         int64
	mac         string
	bindings4   []binding
	bindings6   []binding
	ip, ip6     *binding // the ones that stand for the others
	dhcp        string
	masterIndex int
}

type binding struct {
	addr  netip.Prefix
	flags []string // of IPv6; nil if the kernel does not list the address
}

func (c *collector) networking(h, legacy *hash) {
	links, err := interfaces()
	if err != nil {
		c.problem("networking.interfaces", "ask the kernel: %s", err)
	}
	c.expand(links)
	host, domain, fqdn := c.hostname()

	var all, ifaces hash
	for _, l := range links {
		ifaces.value(l.name, data.OfHash(l.facts()))
	}
	all.text("domain", domain)
	all.text("fqdn", fqdn)
	all.text("hostname", host)
	all.hash("interfaces", ifaces)
	legacy.text("domain", domain)
	legacy.text("fqdn", fqdn)
	legacy.text("hostname", host)

	primary := c.primary(links)
	all.text("primary", primary)
	for _, p := range ifaces.get(primary).Hash() {
		if key := p.Key.Str(); key != "bindings" && key != "bindings6" {
			all.value(key, p.Value)
		}
	}
	h.hash("networking", all)
	legacyNetworking(legacy, all, ifaces)
}

// The flat names of the facts of the primary interface, and, with an
// underscore and its name, of each one.
var flatNames = [...]struct{ flat, key string }{
	{"ipaddress", "ip"},
	{"ipaddress6", "ip6"},
	{"macaddress", "mac"},
	{"netmask", "netmask"},
	{"netmask6", "netmask6"},
	{"network", "network"},
	{"network6", "network6"},
	{"scope6", "scope6"},
	{"mtu", "mtu"},
}

func legacyNetworking(legacy *hash, all, ifaces hash) {
	var names []string
	servers := hash{data.P("system", all.get("dhcp"))} // null if there is none, as in Facter
	for _, p := range ifaces {
		name := p.Key.Str()
		names = append(names, name)
		servers.value(name, p.Value.Get("dhcp"))
		for _, f := range flatNames {
			legacy.value(f.flat+"_"+name, p.Value.Get(f.key))
		}
	}
	for _, f := range flatNames {
		if f.key != "mtu" {
			legacy.value(f.flat, all.get(f.key))
		}
	}
	slices.Sort(names)
	legacy.text("interfaces", strings.Join(names, ","))
	if len(ifaces) > 0 {
		legacy.hash("dhcp_servers", servers)
	}
}

func (l *link) facts() hash {
	var h hash
	h.value("bindings", bindingList(l.bindings4))
	h.value("bindings6", bindingList(l.bindings6))
	h.text("dhcp", l.dhcp)
	if l.ip != nil {
		h.text("ip", address(l.ip.addr.Addr()))
		h.text("netmask", netmask(l.ip.addr))
		h.text("network", address(l.ip.addr.Masked().Addr()))
	}
	if l.ip6 != nil {
		h.text("ip6", address(l.ip6.addr.Addr()))
		h.text("netmask6", netmask(l.ip6.addr))
		h.text("network6", address(l.ip6.addr.Masked().Addr()))
		h.text("scope6", scope(l.ip6.addr.Addr()))
	}
	h.text("mac", l.mac)
	if l.index != 0 {
		h.num("mtu", l.mtu)
	}
	return h
}

func bindingList(bs []binding) data.Value {
	if bs == nil {
		return data.Value{}
	}
	list := make([]data.Value, len(bs))
	for i, b := range bs {
		var h hash
		h.text("address", address(b.addr.Addr()))
		h.text("netmask", netmask(b.addr))
		h.text("network", address(b.addr.Masked().Addr()))
		if b.addr.Addr().Is6() {
			h.text("scope6", scope(b.addr.Addr()))
		}
		if b.flags != nil {
			h.value("flags", data.OfStrings(b.flags))
		}
		list[i] = data.OfHash(h)
	}
	return data.OfList(list)
}

// address writes a as the C library does: the low half of an IPv6 address that
// is nothing but an IPv4 address has points.
func address(a netip.Addr) string {
	if b := a.As16(); a.Is6() && [12]byte(b[:12]) == [12]byte{} && (b[12] != 0 || b[13] != 0) {
		return "::" + netip.AddrFrom4([4]byte(b[12:])).String()
	}
	return a.String()
}

func netmask(p netip.Prefix) string {
	mask := net.CIDRMask(p.Bits(), p.Addr().BitLen())
	a, _ := netip.AddrFromSlice(mask)
	return a.String()
}

func scope(a netip.Addr) string {
	prefix := ""
	if b := a.As16(); [12]byte(b[:12]) == [12]byte{} {
		if low := binary.BigEndian.Uint32(b[12:]); low > 1 {
			prefix = "compat,"
		}
	}
	switch {
	case a.IsLinkLocalUnicast():
		return prefix + "link"
	case siteLocal.Contains(a):
		return prefix + "site"
	case a.IsLoopback():
		return prefix + "host"
	}
	return prefix + "global"
}

var (
	siteLocal   = netip.MustParsePrefix("fec0::/10")
	uniqueLocal = netip.MustParsePrefix("fc00::/7")
)

// ignored reports whether an address stands for its interface only if there is
// no other.
func ignored(a netip.Addr) bool {
	return a.IsLoopback() || a.IsLinkLocalUnicast() || uniqueLocal.Contains(a)
}

func standFor(bs []binding) *binding {
	if len(bs) == 0 {
		return nil
	}
	i := slices.IndexFunc(bs, func(b binding) bool { return !ignored(b.addr.Addr()) })
	return &bs[max(i, 0)]
}

// expand adds to the links what the kernel does not list with them.
func (c *collector) expand(links []*link) {
	flags := c.flags6()
	for _, l := range links {
		for i, b := range l.bindings6 {
			l.bindings6[i].flags = flags[l.name][b.addr.Addr()]
		}
		l.ip, l.ip6 = standFor(l.bindings4), standFor(l.bindings6)
		l.dhcp = c.dhcp(l)
		for _, m := range links {
			if l.masterIndex != 0 && m.index == l.masterIndex {
				l.mac = first(c.permanentMAC(m.name, l.name), l.mac)
			}
		}
	}
}

// permanentMAC is the address that a member of a bond had before it joined.
func (c *collector) permanentMAC(bond, member string) string {
	found := false
	for line := range strings.Lines(c.read("/proc/net/bonding/" + bond)) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case k == "Slave Interface":
			found = v == member
		case found && k == "Permanent HW addr":
			return v
		}
	}
	return ""
}

// The names of the flags of an IPv6 address, by bit.
var flagNames = [...]string{"temporary", "noad", "optimistic", "dadfailed", "homeaddress", "deprecated", "tentative", "permanent"}

func (c *collector) flags6() map[string]map[netip.Addr][]string {
	all := make(map[string]map[netip.Addr][]string)
	for line := range strings.Lines(c.read("/proc/net/if_inet6")) {
		f := strings.Fields(line)
		if len(f) != 6 || len(f[0]) != 32 {
			continue
		}
		var groups [8]string
		for i := range groups {
			groups[i] = f[0][4*i : 4*i+4]
		}
		addr, err := netip.ParseAddr(strings.Join(groups[:], ":"))
		bits, err2 := strconv.ParseUint(f[4], 16, 64)
		if err != nil || err2 != nil {
			continue
		}
		names := []string{}
		for i, name := range flagNames {
			if bits&(1<<i) != 0 {
				names = append(names, name)
			}
		}
		if all[f[5]] == nil {
			all[f[5]] = make(map[netip.Addr][]string)
		}
		all[f[5]][addr] = names
	}
	return all
}

// dhcp is the server that gave a link its address, from what the clients keep:
// systemd-networkd, dhclient and NetworkManager.
func (c *collector) dhcp(l *link) string {
	if l.index != 0 {
		if m := serverAddress.FindStringSubmatch(c.read("/run/systemd/netif/leases/" + strconv.Itoa(l.index))); m != nil {
			return strings.TrimSpace(m[1])
		}
	}
	about := regexp.MustCompile(`interface.*` + regexp.QuoteMeta(l.name))
	for _, dir := range [...]string{"/var/lib/dhclient/", "/var/lib/dhcp/", "/var/lib/dhcp3/", "/var/lib/NetworkManager/", "/var/db/"} {
		for _, name := range c.names(dir) {
			if !dhclientLease.MatchString(name) {
				continue
			}
			text := c.read(dir + name)
			if m := serverIdentifier.FindStringSubmatch(text); m != nil && about.MatchString(text) {
				return m[1]
			}
		}
	}
	const manager = "/var/lib/NetworkManager/"
	for _, name := range c.names(manager) {
		if strings.Contains(name, "internal") && strings.HasSuffix(name, l.name+".lease") {
			if m := serverAddress.FindStringSubmatch(c.read(manager + name)); m != nil {
				return strings.TrimSpace(m[1])
			}
		}
	}
	return ""
}

var (
	serverAddress    = regexp.MustCompile(`SERVER_ADDRESS=(.*)`)
	serverIdentifier = regexp.MustCompile(`dhcp-server-identifier ([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)`)
	dhclientLease    = regexp.MustCompile(`dhclient.*\.lease`)
)

// primary is the interface of the default route, or else the first that has an
// address worth a name.
func (c *collector) primary(links []*link) string {
	for line := range strings.Lines(c.read("/proc/net/route")) {
		f := strings.Fields(line)
		if len(f) > 7 && f[1] == "00000000" && f[7] == "00000000" && f[0] != "*" {
			return f[0]
		}
	}
	for _, l := range links {
		for _, b := range slices.Concat(l.bindings4, l.bindings6) {
			if !ignored(b.addr.Addr()) {
				return l.name
			}
		}
	}
	return ""
}

// hostname returns the name of the host, its domain and both together, as
// Facter derives them.
func (c *collector) hostname() (host, domain, fqdn string) {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "", "", ""
	}
	host, domain, _ = strings.Cut(name, ".")
	if domain == "" {
		fqdn = c.canonical(host)
		if rest, ok := strings.CutPrefix(fqdn, host+"."); ok {
			domain = rest
		}
	}
	if domain == "" {
		domain = c.searchDomain()
	}
	switch {
	case fqdn != "":
		return host, domain, fqdn
	case domain != "":
		return host, domain, host + "." + domain
	}
	return host, "", host
}

// nameTimeout is how long a name server may take. A silent one must not hold
// up everything else.
const nameTimeout = 250 * time.Millisecond

// canonical returns the full name that the resolver knows for host, or "" if
// that is host itself: of /etc/hosts, or else of the name server.
func (c *collector) canonical(host string) string {
	for line := range strings.Lines(c.read("/etc/hosts")) {
		line, _, _ = strings.Cut(line, "#")
		if f := strings.Fields(line); len(f) > 1 && slices.ContainsFunc(f[1:], func(n string) bool { return strings.EqualFold(n, host) }) {
			if strings.EqualFold(f[1], host) {
				return ""
			}
			return f[1]
		}
	}
	if c.knowsItself() {
		return ""
	}
	ctx, cancel := context.WithTimeout(c.ctx, nameTimeout)
	defer cancel()
	name, err := (&net.Resolver{PreferGo: true}).LookupCNAME(ctx, host)
	if err != nil {
		if ctx.Err() != nil && c.ctx.Err() == nil {
			c.problem("networking.fqdn", "the name server did not answer within %s", nameTimeout)
		}
		return ""
	}
	if name = strings.TrimSuffix(name, "."); strings.EqualFold(name, host) {
		return ""
	}
	return name
}

// knowsItself reports whether the system answers for its own name before it
// asks a name server.
func (c *collector) knowsItself() bool {
	for line := range strings.Lines(c.read("/etc/nsswitch.conf")) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "hosts:" {
			continue
		}
		own := slices.Index(f, "myhostname")
		dns := slices.IndexFunc(f, func(s string) bool { return s == "dns" || s == "resolve" })
		return dns < 0 || own >= 0 && own < dns
	}
	return false
}

// searchDomain is the domain that resolv.conf names, or the first that it
// searches.
func (c *collector) searchDomain() string {
	text := c.read("/etc/resolv.conf")
	for _, word := range [...]string{"domain", "search"} {
		for line := range strings.Lines(text) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == word && strings.HasPrefix(line, word) {
				return f[1]
			}
		}
	}
	return ""
}

// interfaces asks the kernel for links and addresses, in its order. An address
// with a label of its own is one of an alias, as getifaddrs has it.
func interfaces() ([]*link, error) {
	messages, err := netlink(syscall.RTM_GETLINK)
	if err != nil {
		return nil, err
	}
	var links []*link
	for _, m := range messages {
		if l := parseLink(&m); l != nil {
			links = append(links, l)
		}
	}
	messages, err = netlink(syscall.RTM_GETADDR)
	if err != nil {
		return links, err
	}
	for _, m := range messages {
		links = addAddress(links, &m)
	}
	return links, nil
}

func netlink(kind int) ([]syscall.NetlinkMessage, error) {
	rib, err := syscall.NetlinkRIB(kind, syscall.AF_UNSPEC)
	if err != nil {
		return nil, os.NewSyscallError("netlink", err)
	}
	return syscall.ParseNetlinkMessage(rib)
}

func parseLink(m *syscall.NetlinkMessage) *link {
	if m.Header.Type != syscall.RTM_NEWLINK || len(m.Data) < syscall.SizeofIfInfomsg {
		return nil
	}
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return nil
	}
	l := &link{index: int(binary.NativeEndian.Uint32(m.Data[4:]))}
	for _, a := range attrs {
		switch {
		case a.Attr.Type == syscall.IFLA_IFNAME:
			l.name = text(a.Value)
		case a.Attr.Type == syscall.IFLA_MTU && len(a.Value) >= 4:
			l.mtu = int64(binary.NativeEndian.Uint32(a.Value))
		case a.Attr.Type == syscall.IFLA_MASTER && len(a.Value) >= 4:
			l.masterIndex = int(binary.NativeEndian.Uint32(a.Value))
		case a.Attr.Type == syscall.IFLA_ADDRESS && len(a.Value) >= 6 && len(a.Value) <= 20:
			if slices.ContainsFunc(a.Value, func(b byte) bool { return b != 0 }) {
				l.mac = net.HardwareAddr(a.Value).String()
			}
		}
	}
	return l
}

func addAddress(links []*link, m *syscall.NetlinkMessage) []*link {
	if m.Header.Type != syscall.RTM_NEWADDR || len(m.Data) < syscall.SizeofIfAddrmsg {
		return links
	}
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return links
	}
	bits, index := int(m.Data[1]), int(binary.NativeEndian.Uint32(m.Data[4:]))
	var addr, local netip.Addr
	label := ""
	for _, a := range attrs {
		switch a.Attr.Type {
		case syscall.IFA_ADDRESS:
			addr, _ = netip.AddrFromSlice(a.Value)
		case syscall.IFA_LOCAL:
			local, _ = netip.AddrFromSlice(a.Value)
		case syscall.IFA_LABEL:
			label = text(a.Value)
		}
	}
	if local.IsValid() {
		addr = local
	}
	i := slices.IndexFunc(links, func(l *link) bool {
		if label != "" {
			return l.name == label
		}
		return l.index == index
	})
	switch {
	case !addr.IsValid() || bits > addr.BitLen() || i < 0 && label == "":
		return links
	case i < 0:
		i = len(links)
		links = append(links, &link{name: label})
	}
	b := binding{addr: netip.PrefixFrom(addr, bits)}
	if addr.Is4() {
		links[i].bindings4 = append(links[i].bindings4, b)
	} else {
		links[i].bindings6 = append(links[i].bindings6, b)
	}
	return links
}

// text is the string in an attribute, which ends with a NUL.
func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
