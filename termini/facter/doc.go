// Package facter collects the facts of this host, in the structured shape of
// Facter 4.3, and serves them as the terminus facter of the indirection facts.
//
//	facts, problems, err := facter.Collect(ctx, facter.Options{
//		ExternalDirs: facter.DefaultExternalDirs(os.Getuid() == 0, os.Getenv("HOME")),
//	})
//	facts.Dig("os", "release", "major") // "12"
//
// The facts are read in this process, from the kernel and from files; nothing
// is run but uname (which alone knows what it calls the processor) and the
// executables among the external facts. With Options.Command a real facter is
// run instead. On Linux these are known:
//
//	dmi, disks, facterversion, filesystems, fips_enabled, hypervisors, identity,
//	is_virtual, kernel, kernelmajversion, kernelrelease, kernelversion,
//	load_averages, memory, mountpoints, networking, os, partitions, path,
//	processors, ssh, system_uptime, timezone, virtual
//
// and with Options.Legacy the flat facts that repeat them. Elsewhere there are
// facterversion, identity, kernel and its versions, networking, os, path,
// processors.count and timezone.
//
// # Differences from Facter
//
// A fact that cannot be known is absent; a guess never takes its place. Keys,
// types, units and the formats of numbers are those of Facter, except for what
// follows. A test compares both where Facter is installed, and holds the same
// list.
//
//   - facterversion is 4.3.0, the version whose shape this is. No Facter ran.
//   - Custom facts are Ruby: those of the module stdlib are known here, Options.Ruby
//     evaluates others, else each file is a Problem. ruby and augeas, which are facts
//     of an interpreter, come with these and are absent otherwise.
//   - cloud, ec2_metadata, ec2_userdata, az_metadata and gce are absent: they are
//     asked over the network, and collecting must not wait for that.
//   - aio_agent_version, xen.domains, zfs and zpool are absent.
//   - is_virtual, virtual, hypervisors and system_uptime: Facter runs virt-what,
//     lspci and dmidecode, here the files of the kernel are read. The versions of
//     VMware and VirtualBox are absent. A processor that reports a hypervisor
//     which nothing names gives is_virtual, but not virtual. Facter gives
//     none of these facts where it may not read /proc/1/environ as root; here what
//     may be read is used.
//   - Facter takes a virtual machine for a real one without virt-what and lspci,
//     and has no mount points without the library sys-filesystem; packages only
//     recommend these. Here neither is needed.
//   - os.distro is absent where only lsb_release would know it, and the legacy
//     facts lsbdist* are those of os.distro.
//   - disks.*.serial, disks.*.wwn and the content of partitions come
//     from the database of udev instead of lsblk and blkid. Without udev they are
//     absent.
//   - networking: leases that only the command dhcpcd knows, and addresses that
//     are only sources of routes, are absent. A name server gets a quarter of a
//     second to return the domain.
//   - mountpoints: a file system that does not answer has no sizes (Facter writes
//     zeros), and one behind a network has a second to do so.
//   - A group of facter.conf that is cached is not asked at all if the cache has
//     all of its facts; Facter asks again for what it knows not to be there, and
//     writes the file anew each time.
//
// # facter.conf
//
// [ReadConfig] reads it: directories, whether legacy facts are hidden, which
// facts, groups and files are blocked, and which are cached for how long. The files
// of the cache are Facter's: it reads ours, and we read its. They are left as they
// are where a caller only looks.
//
// # External facts
//
// As in Facter, the files *.yaml, *.json, *.txt (lines of key=value) and
// executables (YAML, JSON or lines of key=value on stdout) of each directory,
// hidden ones excepted. *.yml is not read, and a Problem. Names become small
// letters, the variables FACTER_name of the environment win over files, the
// earlier directory over the later, the last name in a directory over the
// others, and all of them over the core fact of the same name, as a whole. A
// fact without a value is none.
//
// What is wrong with a file is a [Problem] and the others still count (a YAML
// or JSON file that holds no hash ends Facter itself). Executables run without
// a shell, unless they name no interpreter, with an empty stdin (Facter gives them one that never ends), and are
// killed with all their children when their time is up; what they write on
// stderr and an exit code other than zero are Problems, but do not matter
// otherwise. Output that a process left behind still holds open is read for a
// second.
//
// Times in the output of executables keep their spelling (Facter rewrites those
// that YAML reads as a time), as do dates in YAML.
package facter
