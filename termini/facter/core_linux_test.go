package facter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

// system returns a collector of a made-up system.
func system(t *testing.T, files map[string]string) *collector {
	t.Helper()
	c := newCollector(t.Context(), Options{})
	c.root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(c.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// The facts of many distributions, as Facter 4.3.0 has them with these files
// below /etc and without lsb_release. What is null there is absent here.
func TestGoldenOS(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/os.json")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := format.DecodeJSON(b, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range cases.List() {
		t.Run(tt.Get("id").Str(), func(t *testing.T) {
			t.Parallel()
			files := make(map[string]string)
			for _, p := range tt.Get("files").Hash() {
				files[p.Key.Str()] = p.Value.Str()
			}
			var h, legacy hash
			system(t, files).os(&h, &legacy)
			got := sorted(h.get("os").Without("architecture", "hardware", "selinux"))
			if want := sorted(known(tt.Get("os"))); !data.Equal(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// known is v without what is null, and without hashes of nothing else.
func known(v data.Value) data.Value {
	var h hash
	for _, p := range v.Hash() {
		x := p.Value
		if x.Kind() == data.Hash {
			if x = known(x); x.Len() == 0 {
				continue
			}
		}
		h.value(p.Key.Str(), x)
	}
	return data.OfHash(h)
}

func TestVirtual(t *testing.T) {
	t.Parallel()
	const dmi = "/sys/class/dmi/id/"
	const pci = "/sys/bus/pci/devices/0000:00:01.0/vendor"
	tests := []struct {
		name  string
		files map[string]string
		want  string // is_virtual, virtual, hypervisors
	}{
		{"physical", nil, `true physical nil`},
		{"hypervisor without a name", map[string]string{"/proc/cpuinfo": "flags\t: fpu hypervisor lahf_lm\n"}, `nil`},
		{"docker", map[string]string{"/proc/1/cgroup": "1:cpu:/docker/abc\n"}, `docker {"docker"=>{"id"=>"abc"}}`},
		{"docker without a group of its own", map[string]string{"/.dockerenv": "", "/proc/1/cgroup": "0::/\n"}, `docker nil`},
		{"docker on a virtual machine", map[string]string{"/.dockerenv": "", pci: "0x1af4\n"}, `kvm {"kvm"=>{}}`},
		{"podman", map[string]string{"/proc/1/environ": "a=b\x00container=podman\x00"}, `podman nil`},
		{"lxc", map[string]string{"/proc/1/cgroup": "1:cpu:/x\n/lxc/web\n"}, `lxc {"lxc"=>{"name"=>"web"}}`},
		{"lxc by environment", map[string]string{"/proc/1/environ": "a=b\x00container=lxc\x00"}, `lxc {"lxc"=>{}}`},
		{
			"nspawn",
			map[string]string{"/proc/1/environ": "container=systemd-nspawn\x00", "/etc/machine-id": "77\n"},
			`systemd_nspawn {"systemd_nspawn"=>{"id"=>"77"}}`,
		},
		{"google", map[string]string{dmi + "bios_vendor": "Google\n", dmi + "sys_vendor": "Google\n"}, `gce {"kvm"=>{"google"=>true}}`},
		{"amazon", map[string]string{dmi + "bios_vendor": "Amazon EC2\n", dmi + "sys_vendor": "Amazon EC2"}, `kvm {"kvm"=>{"amazon"=>true}}`},
		{
			"openstack",
			map[string]string{dmi + "product_name": "OpenStack Nova", dmi + "sys_vendor": "OpenStack Foundation", pci: "0x1af4\n"},
			`kvm {"kvm"=>{"openstack"=>true}}`,
		},
		{"vmware", map[string]string{dmi + "product_name": "VMware7,1", dmi + "sys_vendor": "VMware, Inc."}, `vmware {"vmware"=>{}}`},
		{"virtualbox", map[string]string{dmi + "product_name": "VirtualBox", pci: "0x80ee"}, `virtualbox {"virtualbox"=>{}}`},
		{"hyperv", map[string]string{dmi + "product_name": "Virtual Machine", dmi + "sys_vendor": "Microsoft Corporation"}, `hyperv {"hyperv"=>{}}`},
		{"kvm by PCI", map[string]string{pci: "0x1af4\n"}, `kvm {"kvm"=>{}}`},
		{"xen guest", map[string]string{"/proc/xen/capabilities": ""}, `xenu {"xen"=>{"context"=>"pv", "privileged"=>false}}`},
		{"xen host", map[string]string{"/dev/xen/evtchn": "", "/proc/xen/capabilities": "control_d\n"}, `xen0 {"xen"=>{"context"=>"pv", "privileged"=>true}}`},
		{"openvz guest", map[string]string{"/proc/vz/x": "", "/proc/self/status": "Name:\tx\nenvID:\t7\n"}, `openvzve {"openvz"=>{"id"=>7, "host"=>false}}`},
		{"openvz host", map[string]string{"/proc/vz/x": "", "/proc/self/status": "envID:\t0\n"}, `openvzhn {"openvz"=>{"id"=>0, "host"=>true}}`},
		{"vserver", map[string]string{"/proc/self/status": "VxID:\t3\n"}, `vserver nil`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var h, legacy hash
			system(t, tt.files).virtual(&h, &legacy)
			got := strings.TrimSpace(h.get("virtual").Text() + " " + h.get("hypervisors").String())
			if want := strings.TrimPrefix(tt.want, "true "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			wantVirtual := !strings.Contains(tt.want, "physical") && !strings.HasPrefix(tt.want, "xen0") && !strings.HasPrefix(tt.want, "openvzhn")
			if got := h.get("is_virtual"); got.Kind() != data.Bool || got.Bool() != wantVirtual {
				t.Errorf("is_virtual: got %s, want %t", got, wantVirtual)
			}
		})
	}
}

// A group is one of the methods that add facts.
func TestGroups(t *testing.T) {
	t.Parallel()
	type group = func(*collector, *hash, *hash)
	const block = "/sys/block/sda/"
	tests := []struct {
		name  string
		group group
		files map[string]string
		fact  string // path of keys
		want  string
	}{
		{
			"memory", (*collector).memory,
			map[string]string{"/proc/meminfo": "MemTotal: 2048 kB\nMemFree: 1 kB\nMemAvailable: 1024 kB\nSwapTotal: 0 kB\n"},
			"memory", `{"system"=>{"available"=>"1.00 MiB", "available_bytes"=>1048576, "capacity"=>"50.00%", "total"=>"2.00 MiB", "total_bytes"=>2097152, "used"=>"1.00 MiB", "used_bytes"=>1048576}}`,
		},
		{
			"memory of an old kernel", (*collector).memory,
			map[string]string{"/proc/meminfo": "MemTotal: 100 kB\nMemFree: 10 kB\nBuffers: 20 kB\nCached: 30 kB\n"},
			"memory.system.available", `"60.00 KiB"`,
		},
		{
			"swap", (*collector).memory,
			map[string]string{"/proc/meminfo": "MemTotal: 100 kB\nSwapTotal: 400 kB\nSwapFree: 300 kB\n"},
			"memory.swap.capacity", `"25.00%"`,
		},
		{"no memory", (*collector).memory, nil, "memory", `nil`},
		{
			"disk of udev", (*collector).storage,
			map[string]string{
				block + "device/model": "Disk \n", block + "device/vendor": "ATA\n", block + "size": "2097152\n", block + "queue/rotational": "0\n",
				block + "dev": "8:0\n", "/run/udev/data/b8:0": "E:ID_SERIAL=long\nE:ID_SERIAL_SHORT=short\nE:ID_WWN=0x5\n",
			},
			"disks", `{"sda"=>{"model"=>"Disk", "serial"=>"short", "size"=>"1.00 GiB", "size_bytes"=>1073741824, "type"=>"ssd", "vendor"=>"ATA", "wwn"=>"0x5"}}`,
		},
		{
			"partition", (*collector).storage,
			map[string]string{
				block + "device/model": "", block + "sda1/size": "2048\n", block + "sda1/dev": "8:1\n",
				"/run/udev/data/b8:1": "E:ID_FS_TYPE=ext4\nE:ID_FS_LABEL_ENC=my\\x20disk\nE:ID_FS_UUID=u-1\nE:ID_PART_ENTRY_UUID=p-1\n",
				"/proc/self/mounts":   "/dev/sda1 / ext4 rw 0 0\n/dev/sda1 /home ext4 rw 0 0\n",
			},
			"partitions", `{"/dev/sda1"=>{"filesystem"=>"ext4", "label"=>"my disk", "mount"=>"/", "partuuid"=>"p-1", "size"=>"1.00 MiB", "size_bytes"=>1048576, "uuid"=>"u-1"}}`,
		},
		{
			"mapped and loop", (*collector).storage,
			map[string]string{
				"/sys/block/dm-0/dm/name": "vg-root\n", "/sys/block/dm-0/size": "0\n", "/sys/block/loop0/loop/backing_file": "/img\n",
			},
			"partitions", `{"/dev/mapper/vg-root"=>{"size"=>"0 bytes", "size_bytes"=>0}, "/dev/loop0"=>{"backing_file"=>"/img", "size"=>"0 bytes", "size_bytes"=>0}}`,
		},
		{
			"mount point with a blank, gone", (*collector).storage,
			map[string]string{"/proc/self/mounts": "none /no\\040such/x tmpfs rw,noexec 0 0\n"},
			"mountpoints", `{"/no such/x"=>{"device"=>"none", "filesystem"=>"tmpfs", "options"=>["rw", "noexec"]}}`,
		},
		{"mount points of the system", (*collector).storage, map[string]string{"/proc/self/mounts": "p /proc proc rw 0 0\na /x autofs rw 0 0\n"}, "mountpoints", `nil`},
		{
			"ssh", (*collector).ssh,
			map[string]string{"/etc/ssh/ssh_host_ed25519_key.pub": "ssh-ed25519 QUJD root@x\n", "/etc/ssh/ssh_host_rsa_key.pub": "bad\n"},
			"ssh", `{"ed25519"=>{"fingerprints"=>{"sha1"=>"SSHFP 4 1 3c01bdbb26f358bab27f267924aa2c9a03fcfdb8", "sha256"=>"SSHFP 4 2 b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78"}, "key"=>"QUJD", "type"=>"ssh-ed25519"}}`,
		},
		{
			"dmi", (*collector).dmi,
			map[string]string{"/sys/class/dmi/id/chassis_type": "10\n", "/sys/class/dmi/id/sys_vendor": "ACME\xff \n"},
			"dmi", `{"manufacturer"=>"ACME�", "chassis"=>{"type"=>"Notebook"}}`,
		},
		{
			"processors of POWER", (*collector).processors,
			map[string]string{
				"/proc/cpuinfo": "processor\t: 0\ncpu\t\t: POWER8\nclock\t\t: 3425.000000MHz\nprocessor\t: 1\ncpu\t\t: POWER8\n",
				"/sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n", "/sys/devices/system/cpu/cpu1/topology/physical_package_id": "8\n",
				"/sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0-7\n", "/sys/devices/system/cpu/cpu0/topology/core_siblings_list": "0-31,64-95\n",
			},
			"processors", `{"cores"=>8, "threads"=>8, "count"=>2, "models"=>["POWER8", "POWER8"], "physicalcount"=>2, "speed"=>"3.43 GHz"}`,
		},
		{
			"selinux", (*collector).os,
			map[string]string{
				"/proc/self/mounts":   "selinuxfs /sys/fs/selinux selinuxfs rw 0 0\n",
				"/etc/selinux/config": "# x\nSELINUX=enforcing\nSELINUXTYPE=targeted\n", "/sys/fs/selinux/enforce": "1", "/sys/fs/selinux/policyvers": "33",
			},
			"os.selinux", `{"enabled"=>true, "config_mode"=>"enforcing", "config_policy"=>"targeted", "current_mode"=>"enforcing", "enforced"=>true, "policy_version"=>"33"}`,
		},
		{
			"uptime", (*collector).rest,
			map[string]string{"/proc/uptime": "183845.77 1.0\n"},
			"system_uptime", `{"seconds"=>183845, "hours"=>51, "days"=>2, "uptime"=>"2 days"}`,
		},
		{
			"uptime of a container", (*collector).rest,
			map[string]string{
				"/proc/uptime": "5000.5 1\n", "/proc/1/cgroup": "1:x:/docker/a\n",
				"/proc/1/stat": "1 (a) b) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 140000 0\n",
			},
			"system_uptime", `{"seconds"=>3600, "hours"=>1, "days"=>0, "uptime"=>"1:00 hours"}`,
		},
		{"file systems", (*collector).rest, map[string]string{"/proc/filesystems": "nodev\tproc\n\txfs\n\text4\n\tfuseblk\n"}, "filesystems", `"ext4,xfs"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := system(t, tt.files)
			c.o.Environ = []string{}
			var h, legacy hash
			tt.group(c, &h, &legacy)
			got := data.OfHash(h).Dig(strings.Split(tt.fact, ".")...)
			if tt.fact == "processors" {
				got = got.Without("isa") // of this machine
			}
			if got.String() != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		0: "0 bytes", 1023: "1023 bytes", 1024: "1.00 KiB", 1536: "1.50 KiB", 1048575: "1.00 MiB",
		274877906944: "256.00 GiB", 1 << 60: "1.00 EiB", 1<<63 - 1: "8.00 EiB",
	} {
		if got := size(bytes); got != want {
			t.Errorf("size(%d): got %q, want %q", bytes, got, want)
		}
	}
	for hz, want := range map[int64]string{0: "", 999: "999.00 Hz", 1000: "1.00 kHz", 2_596_000_000: "2.60 GHz", 800_000_000: "800.00 MHz"} {
		if got := hertz(hz); got != want {
			t.Errorf("hertz(%d): got %q, want %q", hz, got, want)
		}
	}
	for _, tt := range []struct {
		used, total int64
		want        string
	}{{0, 0, "100%"}, {0, 5, "0%"}, {5, 5, "100%"}, {1, 3, "33.33%"}} {
		if got := capacity(tt.used, tt.total); got != tt.want {
			t.Errorf("capacity(%d, %d): got %q, want %q", tt.used, tt.total, got, tt.want)
		}
	}
}
