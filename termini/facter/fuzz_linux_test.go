package facter

import (
	"os"
	"path/filepath"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

// kernelFiles are what is read of the system, each with those who read it.
var kernelFiles = []struct {
	path string
	read func(c *collector, h, legacy *hash)
}{
	{"/etc/os-release", (*collector).os},
	{"/etc/redhat-release", (*collector).os},
	{"/etc/debian_version", (*collector).os},
	{"/etc/selinux/config", (*collector).os},
	{"/proc/cpuinfo", (*collector).processors},
	{"/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", (*collector).processors},
	{"/proc/meminfo", (*collector).memory},
	{"/sys/class/dmi/id/chassis_type", (*collector).dmi},
	{"/etc/ssh/ssh_host_rsa_key.pub", (*collector).ssh},
	{"/proc/filesystems", (*collector).rest},
	{"/proc/loadavg", (*collector).rest},
	{"/proc/uptime", func(c *collector, h, _ *hash) {
		n, _ := c.uptime()
		h.num("uptime", n)
	}},
	{"/proc/self/mounts", func(c *collector, h, _ *hash) {
		for _, m := range c.mounts() {
			h.text("device", m.device)
		}
	}},
	{"/proc/cmdline", func(c *collector, h, _ *hash) { h.text("root", c.rootDevice()) }},
	{"/proc/net/bonding/bond0", func(c *collector, h, _ *hash) { h.text("mac", c.permanentMAC("bond0", "eth0")) }},
	{"/proc/net/if_inet6", func(c *collector, _, _ *hash) { c.flags6() }},
	{"/proc/net/route", func(c *collector, h, _ *hash) { h.text("primary", c.primary([]*link{{name: "eth0"}})) }},
	{"/etc/hosts", func(c *collector, h, _ *hash) { h.text("fqdn", c.canonical("web01")) }},
	{"/etc/resolv.conf", func(c *collector, h, _ *hash) { h.text("domain", c.searchDomain()) }},
	{"/etc/nsswitch.conf", func(c *collector, h, _ *hash) { h.bool("files", c.knowsItself()) }},
	{"/sys/block/sda/dev", func(c *collector, h, _ *hash) { c.udev("/sys/block/sda") }},
	{"/sys/block/sda/size", (*collector).disks},
	{"/sys/block/sda/sda1/size", func(c *collector, h, _ *hash) { c.partitions(h, nil) }},
	{"/proc/1/cgroup", func(c *collector, h, _ *hash) { c.container() }},
	{"/proc/self/cgroup", func(c *collector, h, _ *hash) { h.text("image", c.image()) }},
	{"/proc/self/status", func(c *collector, h, _ *hash) { h.text("vserver", c.vserver()) }},
	{"/proc/xen/capabilities", func(c *collector, h, _ *hash) { h.hash("hypervisors", c.hypervisors("xen0", "", "")) }},
}

// FuzzKernelFiles reads anything as a file of the system. The facts of it can
// always be written.
func FuzzKernelFiles(f *testing.F) {
	for i, file := range kernelFiles {
		b, _ := os.ReadFile(file.path) // where there is none, the text is made up
		f.Add(uint8(i), string(b[:min(len(b), 4096)]))
		f.Add(uint8(i), "0-3,8:2\n\tx : 99999999999999999999 kB\n/dev/sda1 /a\\040b ext4 rw 0 0\nID=\"debian\"\nnameserver")
	}
	root := f.TempDir()
	for _, file := range kernelFiles {
		if err := os.MkdirAll(filepath.Dir(root+file.path), 0o755); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		file := kernelFiles[int(which)%len(kernelFiles)]
		c := newCollector(t.Context(), Options{})
		c.root = root
		if err := os.WriteFile(root+file.path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(root + file.path)
		var h, legacy hash
		file.read(c, &h, &legacy)
		for _, facts := range []hash{h, legacy} {
			if _, err := format.AppendJSON(nil, data.OfHash(facts)); err != nil {
				t.Errorf("%s: %v", file.path, err)
			}
		}
	})
}
