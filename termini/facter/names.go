package facter

import (
	"slices"
	"strings"
)

// The names of core facts, as Facter resolves, blocks and caches them, one after
// the other: that in the structure, then its legacy aliases, with equals signs
// between. An alias with a point and an asterisk is a pattern of names. A legacy
// fact that is no alias has nothing in front.
const (
	kernelNames = `kernel kernelmajversion kernelrelease kernelversion`
	osNames     = `os.architecture=architecture os.distro.codename os.distro.description os.distro.id
		os.distro.release=lsbdistrelease=lsbmajdistrelease=lsbminordistrelease os.distro.specification=lsbrelease
		os.family=osfamily os.hardware=hardwaremodel os.name=operatingsystem
		os.release=operatingsystemmajrelease=operatingsystemrelease os.selinux.config_mode=selinux_config_mode
		os.selinux.config_policy=selinux_config_policy os.selinux.current_mode=selinux_current_mode
		os.selinux.enabled=selinux os.selinux.enforced=selinux_enforced os.selinux.policy_version=selinux_policyversion
		=lsbdistcodename =lsbdistdescription =lsbdistid`
	processorNames = `processors.cores processors.count=processorcount processors.isa=hardwareisa processors.models
		processors.physicalcount=physicalprocessorcount processors.speed processors.threads =processor.*`
	memoryNames = `memory.swap.available=swapfree memory.swap.available_bytes=swapfree_mb memory.swap.capacity
		memory.swap.total=swapsize memory.swap.total_bytes=swapsize_mb memory.swap.used memory.swap.used_bytes
		memory.system.available=memoryfree memory.system.available_bytes=memoryfree_mb memory.system.capacity
		memory.system.total=memorysize memory.system.total_bytes=memorysize_mb memory.system.used memory.system.used_bytes`
	storageNames    = `disks=blockdevices=blockdevice_.*_model=blockdevice_.*_size=blockdevice_.*_vendor mountpoints partitions`
	networkingNames = `networking.dhcp networking.domain=domain networking.fqdn=fqdn networking.hostname=hostname
		networking.interfaces networking.ip=ipaddress networking.ip6=ipaddress6 networking.mac=macaddress networking.mtu
		networking.netmask=netmask networking.netmask6=netmask6 networking.network=network networking.network6=network6
		networking.primary networking.scope6=scope6 =dhcp_servers =interfaces =ipaddress_.* =ipaddress6_.* =macaddress_.*
		=mtu_.* =netmask_.* =netmask6_.* =network_.* =network6_.* =scope6_.*`
	identityNames = `identity.gid identity.group=gid identity.privileged identity.uid identity.user=id`
	virtualNames  = `hypervisors.docker hypervisors.hyperv hypervisors.kvm hypervisors.lxc hypervisors.openvz
		hypervisors.systemd_nspawn hypervisors.virtualbox hypervisors.vmware hypervisors.xen is_virtual virtual`
	dmiNames = `dmi.bios.release_date=bios_release_date dmi.bios.vendor=bios_vendor dmi.bios.version=bios_version
		dmi.board.asset_tag=boardassettag dmi.board.manufacturer=boardmanufacturer dmi.board.product=boardproductname
		dmi.board.serial_number=boardserialnumber dmi.chassis.asset_tag=chassisassettag dmi.chassis.type=chassistype
		dmi.manufacturer=manufacturer dmi.product.name=productname dmi.product.serial_number=serialnumber
		dmi.product.uuid=uuid`
	sshNames  = `ssh =ssh.*key =sshfp_.*`
	fewNames  = `facterversion path timezone`
	restNames = fewNames + ` filesystems fips_enabled load_averages system_uptime.days=uptime_days
		system_uptime.hours=uptime_hours system_uptime.seconds=uptime_seconds system_uptime.uptime=uptime`
)

// A group is core facts that are found out together.
type group struct {
	name    string // for the trace
	names   string
	collect func(h, legacy *hash)
}

// A coreName is one of these names.
type coreName struct {
	core    string // "" if it has only a legacy name
	aliases []string
}

// all takes the names of a group apart.
func (g group) all() []coreName {
	var all []coreName
	for word := range strings.FieldsSeq(g.names) {
		names := strings.Split(word, "=")
		all = append(all, coreName{names[0], names[1:]})
	}
	return all
}

// legacyNames are the legacy names of all groups, but for patterns.
func legacyNames() []string {
	var names []string
	g := group{names: strings.Join([]string{
		kernelNames, osNames, processorNames, memoryNames, storageNames, networkingNames, identityNames, virtualNames, dmiNames, sshNames, restNames,
	}, " ")}
	for _, n := range g.all() {
		names = append(names, n.aliases...)
	}
	return slices.DeleteFunc(names, isPattern)
}

func isPattern(name string) bool { return strings.Contains(name, "*") }

// factGroups are Facter's groups of facts, which facter.conf names, but for legacy:
// see legacyNames.
var factGroups = map[string]string{
	"AIX NIM type":                 "nim_type",
	"EC2":                          "ec2_metadata ec2_userdata",
	"GCE":                          "gce",
	"Xen":                          "xen xendomains",
	"augeas":                       "augeas augeasversion",
	"desktop management interface": "dmi bios_vendor bios_version bios_release_date boardassettag boardmanufacturer boardproductname boardserialnumber chassisassettag manufacturer productname serialnumber uuid chassistype",
	"disks":                        "blockdevices disks",
	"file system":                  "mountpoints filesystems partitions",
	"fips":                         "fips_enabled",
	"hypervisors":                  "hypervisors",
	"id":                           "id gid identity",
	"kernel":                       "kernel kernelversion kernelrelease kernelmajversion",
	"load_average":                 "load_averages",
	"memory":                       "memory memoryfree memoryfree_mb memorysize memorysize_mb swapfree swapfree_mb swapsize swapsize_mb swapencrypted",
	"networking":                   "networking hostname ipaddress ipaddress6 netmask netmask6 network network6 scope6 macaddress interfaces domain fqdn dhcp_servers",
	"operating system":             "os operatingsystem osfamily operatingsystemrelease operatingsystemmajrelease hardwaremodel architecture lsbdistid lsbdistrelease lsbdistcodename lsbdistdescription lsbmajdistrelease lsbminordistrelease lsbrelease macosx_buildversion macosx_productname macosx_productversion macosx_productversion_major macosx_productversion_minor macosx_productversion_patch windows_display_version windows_edition_id windows_installation_type windows_product_name windows_release_id system32 selinux selinux_enforced selinux_policyversion selinux_current_mode selinux_config_mode selinux_config_policy",
	"path":                         "path",
	"processor":                    "processors processorcount physicalprocessorcount hardwareisa",
	"ssh":                          "ssh sshdsakey sshrsakey sshecdsakey sshed25519key sshfp_dsa sshfp_rsa sshfp_ecdsa sshfp_ed25519",
	"system profiler":              "system_profiler sp_boot_mode sp_boot_rom_version sp_boot_volume sp_cpu_type sp_current_processor_speed sp_kernel_version sp_l2_cache_core sp_l3_cache sp_local_host_name sp_machine_model sp_machine_name sp_number_processors sp_os_version sp_packages sp_physical_memory sp_platform_uuid sp_secure_vm sp_serial_number sp_smc_version_system sp_uptime sp_user_name",
	"timezone":                     "timezone",
	"uptime":                       "system_uptime uptime uptime_days uptime_hours uptime_seconds",
	"virtualization":               "virtual is_virtual cloud",
	"ldom":                         "ldom",
	"Solaris zone":                 "zones zonename solaris_zones",
	"ZFS":                          "zfs_version zfs_featurenumbers",
	"ZFS storage pool":             "zpool_version zpool_featureflags zpool_featurenumbers",
}
