//go:build !linux

package facter

import (
	"net"
	"net/netip"
	"os"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector/data"
)

// groups are the facts that are found the same way everywhere. There are fewer
// than on Linux, which is where Puppet's servers are.
func (c *collector) groups() []group {
	return []group{
		{"kernel and os", kernelNames + " " + osNames, c.system},
		{"processors", processorNames, c.processors},
		{"networking", networkingNames, c.networking},
		{"identity", identityNames, c.identity},
		{"others", fewNames, c.few},
	}
}

// few are the facts that stand alone.
func (c *collector) few(h, _ *hash) {
	h.text("facterversion", Version)
	h.text("path", c.env("PATH"))
	zone, _ := time.Now().Zone()
	h.text("timezone", zone)
}

// Puppet's names of kernels and of the systems on them.
var kernels = map[string]struct{ kernel, name, family string }{
	"darwin":  {"Darwin", "Darwin", "Darwin"},
	"freebsd": {"FreeBSD", "FreeBSD", "FreeBSD"},
	"openbsd": {"OpenBSD", "OpenBSD", "OpenBSD"},
	"netbsd":  {"NetBSD", "NetBSD", "NetBSD"},
	"solaris": {"SunOS", "Solaris", "Solaris"},
	"windows": {"windows", "windows", "windows"},
}

func (c *collector) system(h, legacy *hash) {
	k := kernels[runtime.GOOS]
	version, machine := uname()
	rel := release(version)
	h.text("kernel", k.kernel)
	h.text("kernelrelease", version)
	h.text("kernelversion", version)
	h.value("kernelmajversion", rel.get("major"))

	var facts hash
	facts.text("architecture", machine)
	facts.text("family", k.family)
	facts.text("hardware", machine)
	facts.text("name", k.name)
	facts.hash("release", rel)
	h.hash("os", facts)
	legacy.text("architecture", machine)
	legacy.text("hardwaremodel", machine)
	legacy.text("operatingsystem", k.name)
	legacy.text("osfamily", k.family)
	legacy.value("operatingsystemmajrelease", rel.get("major"))
	legacy.value("operatingsystemrelease", rel.get("full"))
}

func (c *collector) processors(h, legacy *hash) {
	n := int64(runtime.NumCPU())
	h.hash("processors", hash{data.P("count", data.OfInt(n))})
	legacy.num("processorcount", n)
}

func (c *collector) networking(h, legacy *hash) {
	var all, ifaces hash
	name, _ := os.Hostname()
	short, domain, _ := strings.Cut(name, ".")
	all.text("domain", domain)
	all.text("fqdn", name)
	all.text("hostname", short)
	legacy.text("domain", domain)
	legacy.text("fqdn", name)
	legacy.text("hostname", short)

	links, err := net.Interfaces()
	if err != nil {
		c.problem("networking.interfaces", "%s", err)
	}
	for _, l := range links {
		var h hash
		var list4, list6 []data.Value
		addrs, _ := l.Addrs()
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue
			}
			var b hash
			mask, _ := netip.AddrFromSlice(net.CIDRMask(p.Bits(), p.Addr().BitLen()))
			b.text("address", p.Addr().WithZone("").String())
			b.text("netmask", mask.String())
			b.text("network", p.Masked().Addr().String())
			if p.Addr().Is4() {
				list4 = append(list4, data.OfHash(b))
			} else {
				list6 = append(list6, data.OfHash(b))
			}
		}
		if list4 != nil {
			h.value("bindings", data.OfList(list4))
			b := list4[0]
			h.value("ip", b.Get("address"))
			h.value("netmask", b.Get("netmask"))
			h.value("network", b.Get("network"))
		}
		if list6 != nil {
			h.value("bindings6", data.OfList(list6))
			b := list6[0]
			h.value("ip6", b.Get("address"))
			h.value("netmask6", b.Get("netmask"))
			h.value("network6", b.Get("network"))
		}
		h.text("mac", l.HardwareAddr.String())
		h.num("mtu", int64(l.MTU))
		ifaces.value(l.Name, data.OfHash(h))
	}
	all.hash("interfaces", ifaces)
	h.hash("networking", all)
}

func (c *collector) identity(h, legacy *hash) {
	u, err := user.Current()
	if err != nil {
		return
	}
	var id hash
	if uid, err := strconv.ParseInt(u.Uid, 10, 64); err == nil {
		id.num("uid", uid)
		id.bool("privileged", uid == 0)
	}
	account(u, &id, legacy)
	h.hash("identity", id)
}
