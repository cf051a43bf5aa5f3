package facter

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"indirtui/indirector/data"
)

// A mount is one line of /proc/self/mounts.
type mount struct{ device, path, filesystem, options string }

func (c *collector) mounts() []mount {
	var ms []mount
	for line := range strings.Lines(c.read("/proc/self/mounts")) {
		if f := strings.Fields(line); len(f) >= 4 {
			ms = append(ms, mount{octal(f[0]), octal(f[1]), f[2], octal(f[3])})
		}
	}
	return ms
}

// octal undoes the escapes of the kernel: \040 is a blank.
func octal(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return octals.ReplaceAllStringFunc(s, func(e string) string {
		n, _ := strconv.ParseUint(e[1:], 8, 8)
		return string([]byte{byte(n)})
	})
}

var octals = regexp.MustCompile(`\\[0-3][0-7][0-7]`)

// storage are the facts about mount points, disks and partitions.
func (c *collector) storage(h, legacy *hash) {
	var points hash
	mounted := make(map[string]string) // device to its first path
	for _, m := range c.mounts() {
		system := strings.HasPrefix(m.path, "/proc") || strings.HasPrefix(m.path, "/sys")
		if system && m.filesystem != "tmpfs" || m.filesystem == "autofs" {
			continue
		}
		if m.device == "/dev/root" {
			m.device = c.rootDevice()
		}
		if _, ok := mounted[m.device]; !ok {
			mounted[m.device] = m.path
		}
		points.put(strings.ToValidUTF8(m.path, "�"), data.OfHash(c.mountpoint(m)))
	}
	h.hash("mountpoints", points)
	c.disks(h, legacy)
	c.partitions(h, mounted)
}

// mountpoint is one entry of mountpoints. Its sizes are absent if the file
// system does not report them.
func (c *collector) mountpoint(m mount) hash {
	var h hash
	options := strings.Split(m.options, ",")
	for i := range options {
		options[i] = strings.ToValidUTF8(strings.TrimSpace(options[i]), "�")
	}
	h.text("device", m.device)
	h.text("filesystem", m.filesystem)
	h.value("options", data.OfStrings(options))
	st, err := c.statfs(m)
	if err != nil {
		c.problem("mountpoints."+m.path, "sizes are unknown: %s", err)
		return h
	}
	block := cmp.Or(int64(st.Frsize), int64(st.Bsize))
	total := int64(st.Blocks) * block
	available := int64(st.Bavail) * block
	used := total - int64(st.Bfree)*block
	h.text("available", size(available))
	h.num("available_bytes", available)
	h.text("capacity", capacity(used, used+available))
	h.text("size", size(total))
	h.num("size_bytes", total)
	h.text("used", size(used))
	h.num("used_bytes", used)
	return h
}

// The file systems whose other end may be gone, so that asking them hangs.
var remote = regexp.MustCompile(`^(nfs|cifs|smb|fuse|ceph|9p|afs|lustre|gluster|glusterfs|gfs|ocfs|sshfs)`)

var errNoAnswer = errors.New("no answer within a second")

// statfs asks the file system. One behind a network is asked on the side, and
// given up after a second: the call itself can not be ended, and its goroutine
// waits as long as the kernel does.
func (c *collector) statfs(m mount) (unix.Statfs_t, error) {
	if !remote.MatchString(m.filesystem) {
		var st unix.Statfs_t
		err := unix.Statfs(m.path, &st)
		return st, err
	}
	type answer struct {
		st  unix.Statfs_t
		err error
	}
	done := make(chan answer, 1) // room for an answer that comes too late
	go func() {
		var a answer
		a.err = unix.Statfs(m.path, &a.st)
		done <- a
	}()
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.st, a.err
	case <-timer.C:
		return unix.Statfs_t{}, errNoAnswer
	case <-c.ctx.Done():
		return unix.Statfs_t{}, c.ctx.Err()
	}
}

// rootDevice is the root of the kernel's command line; an id becomes a path of
// /dev.
func (c *collector) rootDevice() string {
	root := ""
	for _, word := range strings.Fields(c.read("/proc/cmdline")) {
		if v, ok := strings.CutPrefix(word, "root="); ok {
			root = v
			break
		}
	}
	kind, id, byID := strings.Cut(root, "=")
	if !byID || strings.ContainsAny(id, "/") {
		return root
	}
	link, err := os.Readlink(c.root + "/dev/disk/by-" + strings.ToLower(kind) + "/" + id)
	if err != nil {
		return root
	}
	return "/dev/" + filepath.Base(link)
}

const sysBlock = "/sys/block"

func (c *collector) disks(h, legacy *hash) {
	var disks hash
	var names []string
	for _, name := range c.names(sysBlock) {
		dir := sysBlock + "/" + name
		if !c.exists(dir + "/device") {
			continue
		}
		var d hash
		udev := c.udev(dir)
		model, vendor := c.line(dir+"/device/model"), c.line(dir+"/device/vendor")
		d.text("model", model)
		d.text("serial", first(udev["SCSI_IDENT_SERIAL"], udev["ID_SCSI_SERIAL"], udev["ID_SERIAL_SHORT"], udev["ID_SERIAL"], c.line(dir+"/device/serial")))
		sectors, err := strconv.ParseInt(c.line(dir+"/size"), 10, 64)
		if err == nil {
			d.text("size", size(sectors*512))
			d.num("size_bytes", sectors*512)
		}
		switch c.line(dir + "/queue/rotational") {
		case "0":
			d.text("type", "ssd")
		case "1":
			d.text("type", "hdd")
		}
		d.text("vendor", vendor)
		d.text("wwn", first(udev["ID_WWN_WITH_EXTENSION"], udev["ID_WWN"]))
		disks.value(name, data.OfHash(d))
		names = append(names, name)

		legacy.text("blockdevice_"+name+"_model", model)
		if err == nil {
			legacy.num("blockdevice_"+name+"_size", sectors*512)
		}
		legacy.text("blockdevice_"+name+"_vendor", vendor)
	}
	h.hash("disks", disks)
	legacy.text("blockdevices", strings.Join(names, ","))
}

// udev returns the entry of a block device in the database of udev.
func (c *collector) udev(dir string) map[string]string {
	m := make(map[string]string)
	number := c.line(dir + "/dev")
	if number == "" {
		return m
	}
	for line := range strings.Lines(c.read("/run/udev/data/b" + number)) {
		if kv, ok := strings.CutPrefix(strings.TrimSpace(line), "E:"); ok {
			k, v, _ := strings.Cut(kv, "=")
			m[k] = hexes.ReplaceAllStringFunc(v, func(e string) string {
				n, _ := strconv.ParseUint(e[2:], 16, 8)
				return string([]byte{byte(n)})
			})
		}
	}
	return m
}

var hexes = regexp.MustCompile(`\\x[0-9a-f]{2}`)

func (c *collector) partitions(h *hash, mounted map[string]string) {
	var parts hash
	add := func(name, dir, backing string) {
		var p hash
		udev := c.udev(dir)
		p.text("backing_file", backing)
		p.text("filesystem", udev["ID_FS_TYPE"])
		p.text("label", first(udev["ID_FS_LABEL_ENC"], udev["ID_FS_LABEL"]))
		p.text("mount", mounted[name])
		p.text("partlabel", udev["ID_PART_ENTRY_NAME"])
		p.text("partuuid", udev["ID_PART_ENTRY_UUID"])
		sectors, _ := strconv.ParseInt(c.line(dir+"/size"), 10, 64)
		p.text("size", size(sectors*512))
		p.num("size_bytes", sectors*512)
		p.text("uuid", first(udev["ID_FS_UUID_ENC"], udev["ID_FS_UUID"]))
		parts.value(name, data.OfHash(p))
	}
	for _, block := range c.names(sysBlock) {
		dir := sysBlock + "/" + block
		switch {
		case c.exists(dir + "/device"):
			for _, sub := range c.names(dir) {
				if strings.Contains(sub, block) && c.exists(dir+"/"+sub+"/size") {
					add("/dev/"+sub, dir+"/"+sub, "")
				}
			}
		case c.exists(dir + "/dm"):
			name := "/dev/" + block
			if mapped := c.line(dir + "/dm/name"); mapped != "" {
				name = "/dev/mapper/" + mapped
			}
			add(name, dir, "")
		case c.exists(dir + "/loop"):
			add("/dev/"+block, dir, c.line(dir+"/loop/backing_file"))
		}
	}
	if c.exists(sysBlock) { // Facter's is empty where there are none
		h.value("partitions", data.OfHash(parts))
	}
}

// first returns the first of texts that is not empty.
func first(texts ...string) string {
	if i := slices.IndexFunc(texts, func(s string) bool { return s != "" }); i >= 0 {
		return texts[i]
	}
	return ""
}
