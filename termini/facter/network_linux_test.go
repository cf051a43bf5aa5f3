package facter

import (
	"net/netip"
	"testing"

	"indirtui/indirector/data"
)

func TestLinkFacts(t *testing.T) {
	t.Parallel()
	links := []*link{
		{name: "bond0", index: 1, mtu: 1500, mac: "02:00:00:00:00:01"},
		{
			name: "eth0", index: 2, mtu: 9000, mac: "02:00:00:00:00:01", masterIndex: 1,
			bindings4: bind("169.254.0.1/16", "10.1.2.3/20"), bindings6: bind("fe80::1/64", "fd00::2/64", "2001:db8::1/48", "fec0::1/10", "::1.2.3.4/96", "::5/128"),
		},
		{name: "eth0:1", bindings4: bind("10.1.2.4/32")},
	}
	c := system(t, map[string]string{
		"/proc/net/bonding/bond0":     "Slave Interface: eth1\nPermanent HW addr: 02:00:00:00:00:0a\n\nSlave Interface: eth0\nPermanent HW addr: 02:00:00:00:00:0b\n",
		"/proc/net/if_inet6":          "20010db8000000000000000000000001 02 30 00 81     eth0\nbad\n",
		"/run/systemd/netif/leases/2": "# x\nADDRESS=10.1.2.3\nSERVER_ADDRESS=10.1.0.1\n",
	})
	c.expand(links)
	want := []string{
		`{"mac"=>"02:00:00:00:00:01", "mtu"=>1500}`,
		`{"bindings"=>[{"address"=>"169.254.0.1", "netmask"=>"255.255.0.0", "network"=>"169.254.0.0"}, {"address"=>"10.1.2.3", "netmask"=>"255.255.240.0", "network"=>"10.1.0.0"}], ` +
			`"bindings6"=>[{"address"=>"fe80::1", "netmask"=>"ffff:ffff:ffff:ffff::", "network"=>"fe80::", "scope6"=>"link"}, ` +
			`{"address"=>"fd00::2", "netmask"=>"ffff:ffff:ffff:ffff::", "network"=>"fd00::", "scope6"=>"global"}, ` +
			`{"address"=>"2001:db8::1", "netmask"=>"ffff:ffff:ffff::", "network"=>"2001:db8::", "scope6"=>"global", "flags"=>["temporary", "permanent"]}, ` +
			`{"address"=>"fec0::1", "netmask"=>"ffc0::", "network"=>"fec0::", "scope6"=>"site"}, ` +
			`{"address"=>"::1.2.3.4", "netmask"=>"ffff:ffff:ffff:ffff:ffff:ffff::", "network"=>"::", "scope6"=>"compat,global"}, ` +
			`{"address"=>"::5", "netmask"=>"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "network"=>"::5", "scope6"=>"compat,global"}], ` +
			`"dhcp"=>"10.1.0.1", "ip"=>"10.1.2.3", "netmask"=>"255.255.240.0", "network"=>"10.1.0.0", ` +
			`"ip6"=>"2001:db8::1", "netmask6"=>"ffff:ffff:ffff::", "network6"=>"2001:db8::", "scope6"=>"global", "mac"=>"02:00:00:00:00:0b", "mtu"=>9000}`,
		`{"bindings"=>[{"address"=>"10.1.2.4", "netmask"=>"255.255.255.255", "network"=>"10.1.2.4"}], "ip"=>"10.1.2.4", "netmask"=>"255.255.255.255", "network"=>"10.1.2.4"}`,
	}
	for i, l := range links {
		if got := data.OfHash(l.facts()).String(); got != want[i] {
			t.Errorf("%s:\ngot  %s\nwant %s", l.name, got, want[i])
		}
	}
	if got := c.primary(links); got != "eth0" {
		t.Errorf("primary: got %q, want the first with an address of its own", got)
	}
}

func bind(prefixes ...string) []binding {
	var bs []binding
	for _, p := range prefixes {
		bs = append(bs, binding{addr: netip.MustParsePrefix(p)})
	}
	return bs
}

func TestPrimaryByRoute(t *testing.T) {
	t.Parallel()
	c := system(t, map[string]string{"/proc/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n" +
		"eth1\t000200C0\t0\t1\t0\t0\t0\t00FFFFFF\n*\t00000000\t0\t1\t0\t0\t0\t00000000\nwan\t00000000\t0\t3\t0\t0\t0\t00000000\n"})
	if got := c.primary(nil); got != "wan" {
		t.Errorf("got %q, want wan", got)
	}
}

func TestLeases(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"dhclient":       {"/var/lib/dhcp/dhclient.eth0.leases": "lease {\n  interface \"eth0\";\n  option dhcp-server-identifier 10.0.0.9;\n}\n"},
		"NetworkManager": {"/var/lib/NetworkManager/internal-1-eth0.lease": "SERVER_ADDRESS=10.0.0.9\n"},
	} {
		if got := system(t, files).dhcp(&link{name: "eth0", index: 3}); got != "10.0.0.9" {
			t.Errorf("%s: got %q, want 10.0.0.9", name, got)
		}
		if got := system(t, files).dhcp(&link{name: "wlan0", index: 4}); got != "" {
			t.Errorf("%s: got %q for another interface", name, got)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	c := system(t, map[string]string{
		"/etc/hosts":         "127.0.0.1 localhost\n10.0.0.1 web.example.org web # web2\n10.0.0.2 db\n",
		"/etc/nsswitch.conf": "hosts: files myhostname dns\n",
		"/etc/resolv.conf":   "search one.example two.example\n domain no.example\n",
	})
	for host, want := range map[string]string{"web": "web.example.org", "WEB": "web.example.org", "db": "", "web2": "", "other": ""} {
		if got := c.canonical(host); got != want {
			t.Errorf("canonical(%q): got %q, want %q", host, got, want)
		}
	}
	if got := c.searchDomain(); got != "one.example" {
		t.Errorf("domain: got %q, want one.example", got)
	}
}
