package facter

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// virtual finds out whether this is a real machine, and if not, what it runs in.
// Facter asks virt-what, lspci and dmidecode; the files that these read are
// read here instead.
func (c *collector) virtual(h, _ *hash) {
	pci, dmi := c.pciHypervisor(), c.dmiHypervisor()
	name := c.platform(pci, dmi)
	if name != "" && c.platform("", dmi) == "" && !c.has("virt-what") && !c.has("lspci") {
		c.problem("virtual", "is %s by the devices of the kernel; Facter has physical here, as neither virt-what nor lspci is installed", name)
	}
	if name == "" && slices.Contains(strings.Fields(c.read("/proc/cpuinfo")), "hypervisor") {
		// The processor reports a hypervisor, and nothing names it.
		h.bool("is_virtual", true)
		c.problem("virtual", "there is a hypervisor, but neither DMI nor PCI nor /proc names it")
	} else {
		name = first(name, c.image(), "physical")
		h.text("virtual", name)
		h.bool("is_virtual", !slices.Contains(physical, name))
	}
	h.hash("hypervisors", c.hypervisors(name, pci, dmi))
}

// has reports whether a command is installed where Facter looks.
func (c *collector) has(command string) bool {
	dirs := append(filepath.SplitList(c.env("PATH")), "/bin", "/sbin", "/usr/sbin")
	return slices.ContainsFunc(dirs, func(dir string) bool { return c.exists(filepath.Join(dir, command)) })
}

// The values of virtual that belong to the real machine.
var physical = []string{"physical", "xen0", "vmware_server", "vmware_workstation", "openvzhn", "vserver_host"}

func (c *collector) platform(pci, dmi string) string {
	container, _ := c.container()
	bios := c.line("/sys/class/dmi/id/bios_vendor")
	switch {
	case container != "":
		return container
	case strings.Contains(bios, "Google"):
		return "gce"
	}
	if s := first(c.openVZ(), c.vserver(), c.xen()); s != "" {
		return s
	}
	if strings.Contains(bios, "Amazon EC2") {
		return "kvm"
	}
	return first(dmi, pci)
}

// container is the kind of container that process 1 runs in, and its name. It
// looks at what may be read: Facter wants to read the environment of process 1
// too before it looks at anything.
func (c *collector) container() (kind, id string) {
	cgroup, environ := c.read("/proc/1/cgroup"), c.read("/proc/1/environ")
	if m := dockerGroup.FindStringSubmatch(cgroup); m != nil {
		kind, id = "docker", m[1]
	}
	if m := lxcGroup.FindStringSubmatch(cgroup); m != nil {
		return "lxc", m[1]
	}
	switch {
	case strings.Contains(environ, "container=lxc"):
		return "lxc", id
	case kind == "" && strings.Contains(environ, "container=systemd-nspawn"):
		return "systemd_nspawn", c.line("/etc/machine-id")
	}
	return kind, id
}

// image is the kind of container that virt-what finds where the machine is a
// real one, and no control group names it.
func (c *collector) image() string {
	group := c.read("/proc/self/cgroup")
	switch {
	case c.exists("/.dockerenv"), c.exists("/.dockerinit"), strings.Contains(group, "/docker/"):
		return "docker"
	case strings.Contains("\x00"+c.read("/proc/1/environ"), "\x00container=podman"), strings.Contains(group, "/libpod-"):
		return "podman"
	}
	return ""
}

var (
	dockerGroup = regexp.MustCompile(`docker/(.+)`)
	lxcGroup    = regexp.MustCompile(`(?m)^/lxc/([^/\n]+)`)
)

// The names of products and what they mean, in the order of asking.
var products = [...]struct{ product, name string }{
	{"VMware", "vmware"},
	{"VirtualBox", "virtualbox"},
	{"Parallels", "parallels"},
	{"KVM", "kvm"},
	{"Virtual Machine", "hyperv"},
	{"RHEV Hypervisor", "rhev"},
	{"oVirt Node", "ovirt"},
	{"HVM domU", "xenhvm"},
	{"Bochs", "bochs"},
	{"OpenBSD", "vmm"},
	{"BHYVE", "bhyve"},
}

func (c *collector) dmiHypervisor() string {
	product := c.line("/sys/class/dmi/id/product_name")
	for _, p := range products {
		if strings.Contains(product, p.product) {
			return p.name
		}
	}
	return ""
}

// The vendors of virtual PCI devices.
var pciVendors = map[string]string{
	"0x80ee": "virtualbox", "0x5853": "xenhvm", "0x1414": "hyperv", "0x15ad": "vmware", "0x1ab8": "parallels", "0x1af4": "kvm",
}

func (c *collector) pciHypervisor() string {
	const devices = "/sys/bus/pci/devices"
	for _, d := range c.names(devices) {
		if name := pciVendors[c.line(filepath.Join(devices, d, "vendor"))]; name != "" {
			return name
		}
	}
	return ""
}

func (c *collector) status(key string) (string, bool) {
	for line := range strings.Lines(c.read("/proc/self/status")) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == key {
			return f[1], true
		}
	}
	return "", false
}

func (c *collector) openVZ() string {
	if len(c.names("/proc/vz")) == 0 || c.exists("/proc/lve/list") {
		return ""
	}
	id, ok := c.status("envID:")
	switch {
	case !ok:
		return ""
	case id == "0":
		return "openvzhn"
	}
	return "openvzve"
}

func (c *collector) vserver() string {
	id, ok := c.status("s_context:")
	if !ok {
		id, ok = c.status("VxID:")
	}
	switch {
	case !ok:
		return ""
	case id == "0":
		return "vserver_host"
	}
	return "vserver"
}

func (c *collector) xen() string {
	switch {
	case c.exists("/dev/xen/evtchn"):
		return "xen0"
	case c.exists("/proc/xen"), c.exists("/dev/xvda1"):
		return "xenu"
	}
	return ""
}

// hypervisors has an entry for each that is there, with what is known about
// it. Versions, which only dmidecode prints, are absent.
func (c *collector) hypervisors(virtual, pci, dmi string) hash {
	id := func(file string) string { return c.line("/sys/class/dmi/id/" + file) }
	vendor, product, bios := id("sys_vendor"), id("product_name"), id("bios_vendor")
	var h hash
	add := func(name string, is bool, about hash) {
		if is {
			h.value(name, data.OfHash(about))
		}
	}
	kind, container := c.container()
	var inside hash
	switch kind {
	case "docker", "systemd_nspawn":
		inside.text("id", container)
	case "lxc":
		inside.text("name", container)
	}
	add(kind, kind != "", inside)
	add("hyperv", strings.Contains(vendor, "Microsoft") || product == "Virtual Machine", nil)

	var kvm hash
	switch {
	case vendor == "Google":
		kvm.bool("google", true)
	case strings.HasPrefix(vendor, "OpenStack"):
		kvm.bool("openstack", true)
	case strings.HasPrefix(vendor, "Amazon"):
		kvm.bool("amazon", true)
	}
	add("kvm", dmi != "virtualbox" && dmi != "parallels" && (pci == "kvm" || strings.Contains(bios, "Amazon EC2") ||
		strings.Contains(bios, "Google") || strings.Contains(product, "OpenStack")), kvm)

	var openvz hash
	vz := c.openVZ()
	if env, ok := c.status("envID:"); ok {
		if n, err := strconv.ParseInt(env, 10, 64); err == nil {
			openvz.num("id", n)
		}
		openvz.bool("host", vz == "openvzhn")
	}
	add("openvz", vz != "", openvz)
	add("virtualbox", product == "VirtualBox" || pci == "virtualbox", nil)
	add("vmware", product == "VMware" || pci == "vmware" || vendor == "VMware, Inc.", nil)

	var xen hash
	context := "pv"
	if dmi == "xenhvm" || pci == "xenhvm" {
		context = "hvm"
	}
	xen.text("context", context)
	xen.bool("privileged", c.line("/proc/xen/capabilities") == "control_d" || c.xen() == "xen0")
	add("xen", strings.Contains(virtual, "xen"), xen)
	return h
}
