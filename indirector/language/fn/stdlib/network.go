package stdlib

import (
	"net/netip"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

// network are functions of addresses and of the interfaces of a node.
func network() map[string]older {
	return map[string]older{
		"enclose_ipv6":       {least: 1, most: 1, wrong: "enclose_ipv6(): Wrong number of arguments given %d for 1", do: encloseIPv6},
		"has_interface_with": {least: 1, most: 2, wrong: "has_interface_with(): Wrong number of arguments given (%d for 1 or 2)", do: hasInterface},
		"has_ip_address":     {least: 1, most: 1, wrong: "has_ip_address(): Wrong number of arguments given (%d for 1)", do: hasFact("ipaddress")},
		"has_ip_network":     {least: 1, most: 1, wrong: "has_ip_network(): Wrong number of arguments given (%d for 1)", do: hasFact("network")},
		"is_ip_address":      {least: 1, most: 1, wrong: "is_ip_address(): Wrong number of arguments given %d for 1", do: isAddress(func(netip.Prefix) bool { return true })},
		"is_ipv4_address":    {least: 1, most: 1, wrong: "is_ipv4_address(): Wrong number of arguments given %d for 1", do: isAddress(isIPv4)},
		"is_ipv6_address":    {least: 1, most: 1, wrong: "is_ipv6_address(): Wrong number of arguments given %d for 1", do: isAddress(isIPv6)},
		"is_mac_address": {least: 1, most: 1, wrong: "is_mac_address(): Wrong number of arguments given %d for 1", do: func(c *call) (data.Value, error) {
			s, ok := c.Args[0].AsStr()
			if !ok {
				return undef, eval.Errorf("%s", eval.NoString(c.Args[0]))
			}
			return boolean(matches(`(?i)^[a-f0-9]{1,2}(:[a-f0-9]{1,2}){5}$`, s) || matches(`(?i)^[a-f0-9]{1,2}(:[a-f0-9]{1,2}){19}$`, s)), nil
		}},
	}
}

func isIPv4(p netip.Prefix) bool { return p.Addr().Is4() }

func isIPv6(p netip.Prefix) bool { return !p.Addr().Is4() }

// parseAddress reads an address with or without the length of its network, or that of
// it written as an address, as Ruby's IPAddr does.
func parseAddress(s string) (netip.Prefix, bool) {
	text, length, hasLength := strings.Cut(s, "/")
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		text = strings.TrimSuffix(inner, "]")
		if !strings.Contains(text, ":") {
			return netip.Prefix{}, false
		}
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	if !hasLength {
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	addr = addr.WithZone("")
	bits, ok := networkLength(length, addr)
	if !ok {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, bits).Masked(), true
}

// networkLength reads the length of a network, which may have the form of an address.
func networkLength(s string, of netip.Addr) (int, bool) {
	if wide, err := netip.ParseAddr(s); err == nil {
		if wide.BitLen() != of.BitLen() {
			return 0, false
		}
		ones := 0
		for _, b := range wide.AsSlice() {
			for bit := 7; bit >= 0 && b>>bit&1 == 1; bit-- {
				ones++
			}
			if b != 0xff {
				break
			}
		}
		full := netip.AddrFrom4([4]byte{255, 255, 255, 255})
		if of.BitLen() == 128 {
			full = netip.AddrFrom16([16]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255})
		}
		if netip.PrefixFrom(full, ones).Masked().Addr() != wide {
			return 0, false
		}
		return ones, true
	}
	if s == "" || strings.Trim(s, "0123456789") != "" || len(s) > 3 {
		return 0, false
	}
	n := 0
	for _, r := range s {
		n = n*10 + int(r-'0')
	}
	return n, n <= of.BitLen()
}

func encloseIPv6(c *call) (data.Value, error) {
	v := c.Args[0]
	if !isString(v) && !isList(v) {
		return undef, refusef("enclose_ipv6(): Wrong argument type given %s expected String or Array", eval.ClassName(v))
	}
	var out []data.Value
	for _, x := range eval.Flatten([]data.Value{v}) {
		if x.IsNil() {
			continue
		}
		if x.Text() != "*" {
			p, ok := parseAddress(x.Text())
			if !ok {
				return undef, refusef("enclose_ipv6(): Wrong argument given %s is not an ip address.", x.Text())
			}
			if isIPv6(p) {
				x = str("[" + p.Addr().String() + "]")
			}
		}
		out = append(out, x)
	}
	return data.OfList(distinct(out)), nil
}

func hasFact(kind string) do {
	return func(c *call) (data.Value, error) {
		c.autoloader("loaded?", "has_interface_with")
		c.autoloader("load", "has_interface_with")
		return c.older("has_interface_with", str(kind), c.Args[0])
	}
}

func hasInterface(c *call) (data.Value, error) {
	all, ok := c.Variable("interfaces")
	if !ok {
		if err := c.NotFound("interfaces"); err != nil {
			return undef, err
		}
	}
	if all.IsNil() {
		return boolean(false), nil
	}
	if !isString(all) {
		return undef, noMethod("split", all)
	}
	interfaces := rubySplit(all.Str(), ",")
	if len(c.Args) == 1 {
		for _, name := range interfaces {
			if isString(c.Args[0]) && c.Args[0].Str() == name {
				return boolean(true), nil
			}
		}
		return boolean(false), nil
	}
	kind, value := c.Args[0].Text(), c.Args[1]
	for _, name := range append([]string{""}, interfaces...) {
		fact := kind
		if name != "" {
			fact += "_" + strings.ToLower(name)
		}
		if v, _ := c.Variable(fact); same(v, value) {
			return boolean(true), nil
		}
	}
	return boolean(false), nil
}

func isAddress(of func(netip.Prefix) bool) do {
	return func(c *call) (data.Value, error) {
		if !isString(c.Args[0]) {
			return boolean(false), nil
		}
		p, ok := parseAddress(c.Args[0].Str())
		return boolean(ok && of(p)), nil
	}
}

// inRange is the function stdlib::ip_in_range.
func inRange(c *call) (data.Value, error) {
	ip, ok := parseAddress(c.Args[0].Str())
	if !ok {
		return undef, eval.Errorf("invalid address: %s", c.Args[0].Str())
	}
	for _, v := range asList(c.Args[1]) {
		network, ok := parseAddress(v.Text())
		if !ok {
			return undef, eval.Errorf("invalid address: %s", v.Text())
		}
		if network.Contains(ip.Addr()) && ip.Bits() >= network.Bits() {
			return boolean(true), nil
		}
	}
	return boolean(false), nil
}
