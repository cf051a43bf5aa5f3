package erb

import (
	"math/big"
	"net/netip"
	"strings"
)

// An address is an IPAddr: one host, or a network.
type address struct{ netip.Prefix }

// newAddress is IPAddr.new. Ruby 3.1 does not name the address in its messages.
func newAddress(c *send) (value, error) {
	t, ok := c.arg(0).(*text)
	if !ok {
		return nil, fail("IPAddr::AddressFamilyError", "address family must be specified")
	}
	text, bits, isNetwork := strings.Cut(t.s, "/")
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
	}
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil && strings.Contains(err.Error(), "leading zero"):
		return nil, fail("IPAddr::InvalidAddressError", "zero-filled number in IPv4 address is ambiguous: ")
	case err != nil:
		return nil, fail("IPAddr::InvalidAddressError", "invalid address: ")
	case !isNetwork:
		return address{netip.PrefixFrom(a, a.BitLen())}, nil
	case strings.Trim(bits, "0123456789") != "" || a.Zone() != "":
		return nil, c.r.unsupported("such a network of IPAddr")
	}
	p, err := netip.ParsePrefix(text + "/" + bits)
	if err != nil {
		return nil, fail("IPAddr::InvalidPrefixError", "invalid length: %s", new(big.Int).SetBytes(a.AsSlice()))
	}
	return address{p.Masked()}, nil
}

func (a address) String() string { return a.Addr().String() }

func addressMethods() map[string]method {
	of := func(c *send) address { return c.self.(address) }
	includes := func(c *send) (value, error) {
		other, ok := c.arg(0).(address)
		if !ok {
			made, err := newAddress(&send{c.r, nil, c.args, nil})
			if err != nil {
				return nil, err
			}
			other = made.(address)
		}
		return of(c).Overlaps(other.Prefix) && of(c).Bits() <= other.Bits(), nil
	}
	return map[string]method{
		"ipv4?":    func(c *send) (value, error) { return of(c).Addr().Is4(), nil },
		"ipv6?":    func(c *send) (value, error) { return of(c).Addr().Is6(), nil },
		"include?": includes, "===": includes,
	}
}
