package facter

import (
	"bufio"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"indirtui/indirector/data"
)

// groups are what Facter finds out by itself.
func (c *collector) groups() []group {
	return []group{
		{"kernel", kernelNames, c.kernel},
		{"os", osNames, c.os},
		{"processors", processorNames, c.processors},
		{"memory", memoryNames, c.memory},
		{"disks, partitions and mount points", storageNames, c.storage},
		{"networking", networkingNames, c.networking},
		{"identity", identityNames, c.identity},
		{"virtual", virtualNames, c.virtual},
		{"dmi", dmiNames, c.dmi},
		{"ssh", sshNames, c.ssh},
		{"others", restNames, c.rest},
	}
}

func (c *collector) kernel(h, _ *hash) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return
	}
	rel := unix.ByteSliceToString(u.Release[:])
	h.text("kernel", unix.ByteSliceToString(u.Sysname[:]))
	h.text("kernelrelease", rel)
	if numbers := digits.FindAllString(rel, 3); numbers != nil {
		h.text("kernelversion", strings.Join(numbers, "."))
	}
	major := strings.SplitN(rel, ".", 3)
	h.text("kernelmajversion", strings.Join(major[:min(2, len(major))], "."))
}

var digits = regexp.MustCompile(`\d+`)

// osRelease reads /etc/os-release. As in Facter, quotes are deleted wherever
// they are.
func (c *collector) osRelease() map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(c.read("/etc/os-release")) {
		k, v, ok := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), `"`, ""), "=")
		if ok {
			m[strings.ToLower(k)] = v
		}
	}
	if v := m["version_id"]; v != "" {
		m["point_version"] = v
		if !strings.Contains(v, ".") {
			m["point_version"] += ".0"
		}
	}
	if strings.Contains(strings.ToLower(m["id"]), "opensuse") {
		m["id"] = "opensuse"
	}
	return m
}

// The families whose members Facter treats alike, each with the words that
// name a member.
var families = [...]struct {
	name  string
	words []string
}{
	{"RedHat", []string{
		"redhat", "rhel", "fedora", "centos", "scientific", "ascendos", "cloudlinux", "psbm", "oraclelinux",
		"ovs", "oel", "amazon", "xenserver", "xcp-ng", "virtuozzo", "photon", "mariner",
	}},
	{"Debian", []string{"debian", "ubuntu", "huaweios", "linuxmint", "devuan", "kde"}},
	{"Suse", []string{"sles", "sled", "suse"}},
	{"Gentoo", []string{"gentoo"}},
	{"Archlinux", []string{"arch", "manjaro"}},
	{"Mandrake", []string{"mandrake", "mandriva", "mageia"}},
}

// A distribution is how Facter reads one kind of Linux.
type distribution struct{ name, family string }

var distributions = map[string]distribution{
	"debian": {"debian", "Debian"}, "raspbian": {"debian", "Debian"}, "elementary": {"debian", "Debian"},
	"devuan": {"devuan", "Debian"}, "ubuntu": {"ubuntu", "Debian"}, "linuxmint": {"linuxmint", "Debian"},
	"rhel": {"rhel", "RedHat"}, "fedora": {"rhel", "RedHat"}, "centos": {"rhel", "RedHat"}, "scientific": {"rhel", "RedHat"},
	"ol": {"rhel", "RedHat"}, "oel": {"rhel", "RedHat"}, "ovs": {"rhel", "RedHat"}, "amzn": {"amzn", "RedHat"},
	"sles": {"sles", "Suse"}, "sled": {"sles", "Suse"}, "opensuse": {"sles", "Suse"},
	"alpine": {"alpine", ""},
}

func distributionOf(osr map[string]string) distribution {
	for _, id := range append([]string{osr["id"]}, strings.Fields(osr["id_like"])...) {
		if d, ok := distributions[strings.ToLower(id)]; ok {
			return d
		}
	}
	return distribution{}
}

func familyOf(osr map[string]string) string {
	id := cmp.Or(osr["id_like"], osr["id"])
	for _, f := range families {
		if slices.ContainsFunc(f.words, func(w string) bool { return strings.Contains(strings.ToLower(id), w) }) {
			return capitalize(f.name)
		}
	}
	return capitalize(id)
}

func nameOf(osr map[string]string) string {
	words := strings.Fields(osr["name"])
	if len(words) == 0 {
		return ""
	}
	lower := strings.ToLower(osr["name"])
	starts := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(lower, p) })
	}
	name := words[0]
	switch {
	case starts("red", "oracle", "arch", "manjaro"):
		name = strings.Join(words[:min(2, len(words))], "")
	case strings.HasSuffix(lower, "mariner"):
		name = words[len(words)-1]
	}
	switch {
	case starts("arch", "manjaro"):
		name = capitalize(name)
	case starts("virtuozzo"):
		name += "Linux"
	}
	return name
}

func (c *collector) os(h, legacy *hash) {
	var u unix.Utsname
	machine := ""
	if unix.Uname(&u) == nil {
		machine = unix.ByteSliceToString(u.Machine[:])
	}
	osr := c.osRelease()
	d := distributionOf(osr)
	family := d.family
	if family == "" {
		family = familyOf(osr)
	}
	name := nameOf(osr)
	if d.name == "linuxmint" {
		name = capitalize(osr["id"])
	}
	architecture := machine
	switch {
	case intel32.MatchString(machine):
		architecture = "i386"
	case machine == "x86_64" && family == "Debian":
		architecture = "amd64"
	}
	rel, distro := c.release(d, osr), c.distro(d, osr)

	var facts hash
	facts.text("architecture", architecture)
	facts.hash("distro", distro)
	facts.text("family", family)
	facts.text("hardware", machine)
	facts.text("name", name)
	facts.hash("release", rel)
	selinux := c.selinux(legacy)
	facts.hash("selinux", selinux)
	h.hash("os", facts)

	legacy.text("architecture", architecture)
	legacy.text("hardwaremodel", machine)
	legacy.text("operatingsystem", name)
	legacy.text("osfamily", family)
	legacy.value("operatingsystemmajrelease", rel.get("major"))
	legacy.value("operatingsystemrelease", rel.get("full"))
	if len(distro) > 0 && c.exists("/usr/bin/lsb_release") {
		legacy.value("lsbdistcodename", distro.get("codename"))
		legacy.value("lsbdistdescription", distro.get("description"))
		legacy.value("lsbdistid", distro.get("id"))
		legacy.value("lsbdistrelease", distro.get("release").Get("full"))
		legacy.value("lsbmajdistrelease", distro.get("release").Get("major"))
		legacy.value("lsbminordistrelease", distro.get("release").Get("minor"))
	}
}

var intel32 = regexp.MustCompile(`i[3456]86|pentium`)

// release is os.release, which each distribution keeps somewhere else.
func (c *collector) release(d distribution, osr map[string]string) hash {
	version := osr["point_version"]
	fromFile := func(path string) hash {
		if v := c.line(path); v != "" {
			return release(v)
		}
		return release(version)
	}
	switch d.name {
	case "debian":
		return c.debianRelease()
	case "devuan":
		return fromFile("/etc/devuan_version")
	case "alpine":
		return fromFile("/etc/alpine-release")
	case "rhel":
		if _, after, ok := strings.Cut(c.line("/etc/redhat-release"), "release"); ok {
			if v := strings.Fields(after); len(v) > 0 {
				return release(v[0])
			}
		}
		return release(version)
	case "amzn":
		return release(first(amazonRelease(c.line("/etc/system-release")), version))
	case "linuxmint":
		if m := mintRelease.FindStringSubmatch(c.read("/etc/linuxmint/info")); m != nil {
			return release(m[1])
		}
		return release(version)
	case "sles":
		h := release(version)
		if major, _, ok := strings.Cut(version, "."); ok {
			h = nil
			h.text("full", version)
			h.text("major", major)
			h.text("minor", version[strings.LastIndexByte(version, '.')+1:])
		}
		return h
	}
	if d.name == "" && osr["id"] == "gentoo" {
		return release(version)
	}
	// Ubuntu, and every Linux that Facter knows nothing special about.
	return whole(version)
}

// whole is the release of those whose major version has a point.
func whole(version string) hash {
	var h hash
	h.text("full", version)
	h.text("major", version)
	return h
}

var mintRelease = regexp.MustCompile(`(?m)^RELEASE=(\d+)`)

func amazonRelease(s string) string {
	expr := `Amazon Linux (\d+)`
	if strings.Contains(s, "release") {
		expr = `release (\d[\d.]*)`
	}
	if m := regexp.MustCompile(expr).FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

func (c *collector) debianRelease() hash {
	v := c.line("/etc/debian_version")
	h := release(v)
	for i, p := range h {
		if s := p.Value.Str(); p.Key.Str() == "minor" && len(s) > 1 && s[0] == '0' && s[1] != '0' {
			h[i].Value = data.OfString(s[1:])
		}
	}
	return h
}

// distro is os.distro. Where Facter asks lsb_release, there is none: it would
// take half a second, and agrees with os-release where that is known.
func (c *collector) distro(d distribution, osr map[string]string) hash {
	var h hash
	switch d.name {
	case "debian", "ubuntu", "linuxmint", "devuan":
		h.text("codename", first(osr["version_codename"], codename(osr["version"])))
		h.text("description", osr["pretty_name"])
		h.text("id", capitalize(osr["id"]))
		switch d.name {
		case "debian":
			h.hash("release", c.debianRelease())
		case "ubuntu", "linuxmint":
			h.hash("release", whole(osr["point_version"]))
		}
	case "rhel":
		text := c.line("/etc/redhat-release")
		if text == "" {
			h.hash("release", release(osr["point_version"]))
			return h
		}
		before, after, _ := strings.Cut(text, "release")
		h.text("codename", codename(text))
		h.text("description", text)
		words := slices.DeleteFunc(strings.Fields(before), func(w string) bool { return strings.EqualFold(w, "linux") })
		h.text("id", strings.Join(words, ""))
		if v := strings.Fields(after); len(v) > 0 {
			h.hash("release", release(v[0]))
		}
	case "amzn":
		text := c.line("/etc/system-release")
		before, _, _ := strings.Cut(text, "release")
		words := slices.DeleteFunc(strings.Fields(before), func(w string) bool { return strings.EqualFold(w, "linux") })
		h.text("codename", first(codename(text), "n/a"))
		h.text("description", text)
		h.text("id", strings.Join(words, ""))
		h.hash("release", release(first(amazonRelease(text), osr["point_version"])))
	case "sles":
		h.text("codename", first(osr["version_codename"], "n/a"))
		h.text("description", osr["pretty_name"])
		id := "SUSE"
		if strings.HasPrefix(osr["version_id"], "12") {
			id = "SUSE LINUX"
		}
		h.text("id", id)
		h.hash("release", c.release(d, osr))
	}
	return h
}

// codename is the word in parentheses at the end of a version.
func codename(version string) string {
	i := strings.LastIndexByte(version, '(')
	if i < 0 || !strings.HasSuffix(version, ")") {
		return ""
	}
	return version[i+1 : len(version)-1]
}

func (c *collector) selinux(legacy *hash) hash {
	var h hash
	config := c.read("/etc/selinux/config")
	mountpoint := ""
	for _, m := range c.mounts() {
		if m.filesystem == "selinuxfs" {
			mountpoint = m.path
			break
		}
	}
	enabled := mountpoint != "" && config != ""
	h.bool("enabled", enabled)
	legacy.bool("selinux", enabled)
	if !enabled {
		return h
	}
	for line := range strings.Lines(config) {
		k, v, _ := strings.Cut(line, "=")
		switch k {
		case "SELINUX":
			h.text("config_mode", strings.TrimSpace(v))
			legacy.text("selinux_config_mode", strings.TrimSpace(v))
		case "SELINUXTYPE":
			h.text("config_policy", strings.TrimSpace(v))
			legacy.text("selinux_config_policy", strings.TrimSpace(v))
		}
	}
	enforced := c.line(mountpoint+"/enforce") == "1"
	mode := "permissive"
	if enforced {
		mode = "enforcing"
	}
	policy := c.read(mountpoint + "/policyvers")
	h.text("current_mode", mode)
	h.bool("enforced", enforced)
	h.text("policy_version", policy)
	legacy.text("selinux_current_mode", mode)
	legacy.bool("selinux_enforced", enforced)
	legacy.text("selinux_policyversion", policy)
	return h
}

func (c *collector) processors(h, legacy *hash) {
	var models []string
	var count, mhz int64
	physical := make(map[string]bool)
	s := bufio.NewScanner(strings.NewReader(c.read("/proc/cpuinfo")))
	for s.Scan() {
		k, v, _ := strings.Cut(s.Text(), ":")
		v = strings.TrimSpace(v)
		switch strings.TrimSpace(k) {
		case "processor":
			count++
		case "model name", "cpu":
			models = append(models, v)
		case "physical id":
			physical[v] = true
		case "cpu MHz", "clock":
			mhz, _ = strconv.ParseInt(digits.FindString(v), 10, 64)
		}
	}
	if count == 0 {
		return
	}
	const cpus = "/sys/devices/system/cpu"
	if len(physical) == 0 {
		for _, name := range c.names(cpus) {
			if id := c.line(cpus + "/" + name + "/topology/physical_package_id"); cpuDir.MatchString(name) && id != "" {
				physical[id] = true
			}
		}
	}
	threads := listed(c.line(cpus + "/cpu0/topology/thread_siblings_list"))
	siblings := listed(c.line(cpus + "/cpu0/topology/core_siblings_list"))

	var p hash
	if threads > 0 && siblings > 0 {
		p.num("cores", siblings/threads)
		p.num("threads", threads)
	}
	p.num("count", count)
	isa := c.isa()
	p.text("isa", isa)
	p.value("models", data.OfStrings(models))
	p.num("physicalcount", int64(len(physical)))
	p.text("speed", hertz(mhz*1_000_000))
	h.hash("processors", p)

	legacy.text("hardwareisa", isa)
	legacy.num("processorcount", count)
	legacy.num("physicalprocessorcount", int64(len(physical)))
	for i, m := range models {
		legacy.text("processor"+strconv.Itoa(i), m)
	}
}

var cpuDir = regexp.MustCompile(`^cpu\d+$`)

// listed counts the members of a list of the kernel: "0-3,8" has five.
func listed(list string) int64 {
	var n int64
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseInt(first, 10, 32)
		if err != nil {
			continue
		}
		b := a
		if isRange {
			b, _ = strconv.ParseInt(last, 10, 32)
		}
		n += max(b-a+1, 0)
	}
	return n
}

// isa is what uname calls the processor. The kernel does not know it, and the
// answer depends on how uname was built, so it is run: a millisecond.
func (c *collector) isa() string {
	uname, err := exec.LookPath("uname")
	if err != nil {
		return ""
	}
	r := c.run(uname, "-p")
	s := strings.TrimSpace(r.Stdout)
	return s[strings.LastIndexByte(s, '.')+1:]
}

func (c *collector) memory(h, legacy *hash) {
	info := make(map[string]int64)
	for line := range strings.Lines(c.read("/proc/meminfo")) {
		k, v, _ := strings.Cut(line, ":")
		if f := strings.Fields(v); len(f) > 0 {
			n, _ := strconv.ParseInt(f[0], 10, 64)
			info[k] = n * 1024
		}
	}
	total := info["MemTotal"]
	if total == 0 {
		return
	}
	free, ok := info["MemAvailable"]
	if !ok {
		free = info["MemFree"] + info["Buffers"] + info["Cached"]
	}
	var m hash
	m.hash("system", memory(total, free))
	legacy.text("memorysize", size(total))
	legacy.text("memoryfree", size(free))
	legacy.float("memorysize_mb", megabytes(total))
	legacy.float("memoryfree_mb", megabytes(free))
	if total, free := info["SwapTotal"], info["SwapFree"]; total > 0 {
		m.hash("swap", memory(total, free))
		legacy.text("swapsize", size(total))
		legacy.text("swapfree", size(free))
		legacy.float("swapsize_mb", megabytes(total))
		legacy.float("swapfree_mb", megabytes(free))
	}
	h.hash("memory", m)
}

func (c *collector) identity(h, legacy *hash) {
	var id hash
	uid := os.Getuid()
	id.bool("privileged", uid == 0)
	id.num("uid", int64(uid))
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		account(u, &id, legacy)
	}
	h.hash("identity", id)
}

func (c *collector) dmi(h, legacy *hash) {
	var all, bios, board, chassis, product hash
	add := func(to *hash, key, old, file string) {
		v := c.line("/sys/class/dmi/id/" + file)
		if file == "chassis_type" {
			v = chassisType(v)
		}
		to.text(key, v)
		legacy.text(old, v)
	}
	add(&bios, "release_date", "bios_release_date", "bios_date")
	add(&bios, "vendor", "bios_vendor", "bios_vendor")
	add(&bios, "version", "bios_version", "bios_version")
	add(&board, "asset_tag", "boardassettag", "board_asset_tag")
	add(&board, "manufacturer", "boardmanufacturer", "board_vendor")
	add(&board, "product", "boardproductname", "board_name")
	add(&board, "serial_number", "boardserialnumber", "board_serial")
	add(&chassis, "asset_tag", "chassisassettag", "chassis_asset_tag")
	add(&chassis, "type", "chassistype", "chassis_type")
	add(&all, "manufacturer", "manufacturer", "sys_vendor")
	add(&product, "name", "productname", "product_name")
	add(&product, "serial_number", "serialnumber", "product_serial")
	add(&product, "uuid", "uuid", "product_uuid")
	all.hash("bios", bios)
	all.hash("board", board)
	all.hash("chassis", chassis)
	all.hash("product", product)
	h.hash("dmi", all)
}

// The types of a chassis, from 1, as SMBIOS numbers them. Type 2 is unknown.
var chassisTypes = [...]string{
	"Other", "", "Desktop", "Low Profile Desktop", "Pizza Box", "Mini Tower", "Tower",
	"Portable", "Laptop", "Notebook", "Hand Held", "Docking Station", "All in One", "Sub Notebook",
	"Space-Saving", "Lunch Box", "Main System Chassis", "Expansion Chassis", "SubChassis",
	"Bus Expansion Chassis", "Peripheral Chassis", "Storage Chassis", "Rack Mount Chassis",
	"Sealed-Case PC", "Multi-system", "CompactPCI", "AdvancedTCA", "Blade", "Blade Enclosure",
	"Tablet", "Convertible", "Detachable",
}

func chassisType(number string) string {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(chassisTypes) {
		return ""
	}
	return chassisTypes[n-1]
}

// The kinds of host keys: name, number in SSHFP records.
var sshKinds = map[string]struct {
	name   string
	number int
}{
	"ssh-rsa": {"rsa", 1}, "ssh-dss": {"dsa", 2}, "ecdsa-sha2-nistp256": {"ecdsa", 3}, "ssh-ed25519": {"ed25519", 4},
}

func (c *collector) ssh(h, legacy *hash) {
	var keys hash
	for _, dir := range [...]string{"/etc/ssh", "/usr/local/etc/ssh", "/etc", "/usr/local/etc", "/etc/opt/ssh"} {
		for _, kind := range [...]string{"rsa", "dsa", "ecdsa", "ed25519"} {
			f := strings.Fields(c.read(filepath.Join(dir, "ssh_host_"+kind+"_key.pub")))
			if len(f) < 2 {
				continue
			}
			k, known := sshKinds[f[0]]
			raw, err := base64.StdEncoding.DecodeString(f[1])
			if !known || err != nil {
				continue
			}
			var prints, key hash
			prints.text("sha1", fmt.Sprintf("SSHFP %d 1 %x", k.number, sha1.Sum(raw)))
			prints.text("sha256", fmt.Sprintf("SSHFP %d 2 %x", k.number, sha256.Sum256(raw)))
			key.hash("fingerprints", prints)
			key.text("key", f[1])
			key.text("type", f[0])
			keys.put(k.name, data.OfHash(key))
			legacy.put("ssh"+k.name+"key", data.OfString(f[1]))
			legacy.put("sshfp_"+k.name, data.OfString(prints.get("sha1").Str()+"\n"+prints.get("sha256").Str()))
		}
	}
	h.hash("ssh", keys)
}

// rest are the facts that stand alone.
func (c *collector) rest(h, legacy *hash) {
	h.text("facterversion", Version)
	h.text("path", c.env("PATH"))
	zone, _ := time.Now().Zone()
	h.text("timezone", zone)
	h.bool("fips_enabled", c.line("/proc/sys/crypto/fips_enabled") == "1")

	var systems []string
	for line := range strings.Lines(c.read("/proc/filesystems")) {
		if f := strings.Fields(line); len(f) == 1 && f[0] != "fuseblk" {
			systems = append(systems, f[0])
		}
	}
	slices.Sort(systems)
	h.text("filesystems", strings.Join(systems, ","))

	if f := strings.Fields(c.read("/proc/loadavg")); len(f) >= 3 {
		var load hash
		for i, name := range [...]string{"1m", "5m", "15m"} {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				load.float(name, v)
			}
		}
		h.hash("load_averages", load)
	}
	if s, ok := c.uptime(); ok {
		up := uptime(s)
		h.hash("system_uptime", up)
		legacy.value("uptime", up.get("uptime"))
		legacy.value("uptime_days", up.get("days"))
		legacy.value("uptime_hours", up.get("hours"))
		legacy.value("uptime_seconds", up.get("seconds"))
	}
}

// uptime returns the seconds since the start of the host or, inside Docker, of
// the container.
func (c *collector) uptime() (int64, bool) {
	text, _, _ := strings.Cut(c.read("/proc/uptime"), " ")
	host, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	if name, _ := c.container(); name != "docker" {
		return int64(host), true
	}
	// Field 22 of stat, counted behind the name in parentheses, is the start of
	// the process in hundredths of a second after the host's.
	stat := c.read("/proc/1/stat")
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 20 {
		return 0, false
	}
	ticks, err := strconv.ParseFloat(f[19], 64)
	if err != nil {
		return 0, false
	}
	return int64(host - ticks/100), true
}
