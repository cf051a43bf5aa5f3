package types

import "strings"

// packageProviders are how a package is done on the systems that Puppet knows.
func packageProviders() []*Provider {
	return []*Provider{
		{
			Name: "aix", Doc: "installp of AIX.", Parents: []string{""},
			Features:   strings.Fields("installable uninstallable upgradeable versionable"),
			Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"aix"}}},
			DefaultFor: []Facts{{"operatingsystem": {"aix"}}},
			Commands:   []Command{{Name: "lslpp", Path: "/usr/bin/lslpp"}, {Name: "installp", Path: "/usr/sbin/installp"}},
		},
		{
			Name: "appdmg", Doc: "Applications in disk images of macOS.", Parents: []string{""},
			Features: strings.Fields("installable"),
			Confines: []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"darwin"}}, {Kind: "feature", Name: "cfpropertylist"}},
			Commands: []Command{{Name: "hdiutil", Path: "/usr/bin/hdiutil"}, {Name: "curl", Path: "/usr/bin/curl"}, {Name: "ditto", Path: "/usr/bin/ditto"}},
		},
		{
			Name: "apple", Doc: "Packages of macOS, by its installer.", Parents: []string{""},
			Features: strings.Fields("installable"),
			Confines: []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"darwin"}}},
			Commands: []Command{{Name: "installer", Path: "/usr/sbin/installer"}},
		},
		{
			Name: "dpkg", Doc: "dpkg alone: packages from files.", Parents: []string{""},
			Features: strings.Fields("holdable installable purgeable uninstallable upgradeable virtual_packages"),
			Commands: []Command{{Name: "dpkg", Path: "/usr/bin/dpkg"}, {Name: "dpkg_deb", Path: "/usr/bin/dpkg-deb"}, {Name: "dpkgquery", Path: "/usr/bin/dpkg-query"}},
		},
		{
			Name: "apt", Doc: "apt-get of Debian and its kin, with versions and pins.", Source: "dpkg", Parents: []string{"dpkg", ""},
			Features:   strings.Fields("holdable install_options installable purgeable uninstallable upgradeable versionable virtual_packages"),
			DefaultFor: []Facts{{"osfamily": {"debian"}}},
			Commands:   []Command{{Name: "aptget", Path: "/usr/bin/apt-get"}, {Name: "aptcache", Path: "/usr/bin/apt-cache"}, {Name: "aptmark", Path: "/usr/bin/apt-mark"}, {Name: "preseed", Path: "/usr/bin/debconf-set-selections"}},
		},
		{
			Name: "aptitude", Doc: "aptitude.", Source: "dpkg", Parents: []string{"apt", "dpkg", ""},
			Features: strings.Fields("holdable installable purgeable uninstallable upgradeable versionable"),
			Commands: []Command{{Name: "aptitude", Path: "/usr/bin/aptitude"}, {Name: "aptcache", Path: "/usr/bin/apt-cache"}},
		},
		{
			Name: "rpm", Doc: "rpm alone: packages from files.", Parents: []string{""},
			Features: strings.Fields("install_only install_options installable uninstall_options uninstallable upgradeable versionable virtual_packages"),
			Commands: []Command{{Name: "rpm", Path: "rpm"}},
		},
		{
			Name: "aptrpm", Doc: "apt-get on RPM systems.", Source: "rpm", Parents: []string{"rpm", ""},
			Features: strings.Fields("installable purgeable uninstallable upgradeable versionable"),
			Commands: []Command{{Name: "aptget", Path: "apt-get"}, {Name: "aptcache", Path: "apt-cache"}, {Name: "rpm", Path: "rpm"}},
		},
		{
			Name: "sun", Doc: "pkgadd of Solaris.", Parents: []string{""},
			Features:   strings.Fields("install_options installable uninstallable upgradeable"),
			Confines:   []Confine{{Kind: "fact", Name: "osfamily", Values: []string{"solaris"}}},
			DefaultFor: []Facts{{"osfamily": {"solaris"}}},
			Commands:   []Command{{Name: "pkginfo", Path: "/usr/bin/pkginfo"}, {Name: "pkgadd", Path: "/usr/sbin/pkgadd"}, {Name: "pkgrm", Path: "/usr/sbin/pkgrm"}},
		},
		{
			Name: "blastwave", Doc: "Packages of Blastwave for Solaris.", Source: "sun", Parents: []string{"sun", ""},
			Features: strings.Fields("installable uninstallable upgradeable"),
			Confines: []Confine{{Kind: "fact", Name: "osfamily", Values: []string{"solaris"}}},
			Commands: []Command{{Name: "pkgget", Path: "pkg-get"}},
		},
		{
			Name: "yum", Doc: "yum of Red Hat and its kin.", Source: "rpm", Parents: []string{"rpm", ""},
			Features:   strings.Fields("install_only install_options installable purgeable uninstallable upgradeable versionable virtual_packages"),
			DefaultFor: []Facts{{"operatingsystem": {"amazon"}}, {"osfamily": {"redhat"}, "operatingsystemmajrelease": {"4", "5", "6", "7"}}},
			Commands:   []Command{{Name: "cmd", Path: "yum"}, {Name: "rpm", Path: "rpm"}},
		},
		{
			Name: "dnf", Doc: "dnf of Fedora and Red Hat.", Parents: []string{"yum", "rpm", ""},
			Features:      strings.Fields("install_only install_options installable purgeable uninstallable upgradeable versionable virtual_packages"),
			DefaultFor:    []Facts{{"operatingsystem": {"fedora"}}, {"osfamily": {"redhat"}}},
			NotDefaultFor: []Facts{{"operatingsystem": {"fedora"}, "operatingsystemmajrelease": {"19", "20", "21"}}, {"osfamily": {"redhat"}, "operatingsystemmajrelease": {"4", "5", "6", "7"}}},
			Commands:      []Command{{Name: "cmd", Path: "dnf"}, {Name: "rpm", Path: "rpm"}},
		},
		{
			Name: "dnfmodule", Doc: "Modules of dnf: a package that chooses a stream.", Parents: []string{"dnf", "yum", "rpm", ""},
			Features: strings.Fields("disableable installable purgeable supports_flavors uninstallable upgradeable versionable"),
			Commands: []Command{{Name: "dnf", Path: "/usr/bin/dnf"}},
		},
		{
			Name: "fink", Doc: "Fink for macOS.", Source: "dpkg", Parents: []string{"dpkg", ""},
			Features: strings.Fields("holdable installable purgeable uninstallable upgradeable versionable"),
			Commands: []Command{{Name: "fink", Path: "/sw/bin/fink"}, {Name: "aptget", Path: "/sw/bin/apt-get"}, {Name: "aptcache", Path: "/sw/bin/apt-cache"}, {Name: "dpkgquery", Path: "/sw/bin/dpkg-query"}},
		},
		{
			Name: "openbsd", Doc: "pkg_add of OpenBSD.", Parents: []string{""},
			Features:   strings.Fields("install_options installable purgeable supports_flavors uninstall_options uninstallable upgradeable versionable"),
			Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"openbsd"}}},
			DefaultFor: []Facts{{"operatingsystem": {"openbsd"}}},
			Commands:   []Command{{Name: "pkginfo", Path: "pkg_info"}, {Name: "pkgadd", Path: "pkg_add"}, {Name: "pkgdelete", Path: "pkg_delete"}},
		},
		{
			Name: "freebsd", Doc: "pkg_add of old FreeBSD.", Parents: []string{"openbsd", ""},
			Features: strings.Fields("installable purgeable uninstallable upgradeable"),
			Confines: []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"freebsd"}}},
			Commands: []Command{{Name: "pkginfo", Path: "/usr/sbin/pkg_info"}, {Name: "pkgadd", Path: "/usr/sbin/pkg_add"}, {Name: "pkgdelete", Path: "/usr/sbin/pkg_delete"}},
		},
		{
			Name: "gem", Last: true, Doc: "Gems of the Ruby that is in PATH.", Parents: []string{"", ""},
			Features: strings.Fields("install_options installable targetable uninstall_options uninstallable upgradeable version_ranges versionable"),
			Commands: []Command{{Name: "gemcmd", Path: "gem", Optional: true}},
		},
		{
			Name: "hpux", Doc: "swinstall of HP-UX.", Parents: []string{""},
			Features:   strings.Fields("installable uninstallable"),
			Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"hp-ux"}}},
			DefaultFor: []Facts{{"operatingsystem": {"hp-ux"}}},
			Commands:   []Command{{Name: "swinstall", Path: "/usr/sbin/swinstall"}, {Name: "swlist", Path: "/usr/sbin/swlist"}, {Name: "swremove", Path: "/usr/sbin/swremove"}},
		},
		{
			Name: "macports", Doc: "MacPorts.", Parents: []string{""},
			Features: strings.Fields("installable uninstallable upgradeable versionable"),
			Confines: []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"darwin"}}},
			Commands: []Command{{Name: "port", Path: "/opt/local/bin/port"}},
		},
		{
			Name: "nim", Doc: "The network installation manager of AIX.", Source: "aix", Parents: []string{"aix", ""},
			Features: strings.Fields("installable uninstallable upgradeable versionable"),
			Confines: []Confine{{Kind: "exists", Name: "/etc/niminfo"}},
			Commands: []Command{{Name: "nimclient", Path: "/usr/sbin/nimclient"}, {Name: "lslpp", Path: "/usr/bin/lslpp"}, {Name: "rpm", Path: "rpm"}},
		},
		{
			Name: "opkg", Doc: "opkg of OpenWrt.", Parents: []string{""},
			Features:   strings.Fields("installable uninstallable upgradeable"),
			Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"openwrt"}}},
			DefaultFor: []Facts{{"operatingsystem": {"openwrt"}}},
			Commands:   []Command{{Name: "opkg", Path: "opkg"}},
		},
		{
			Name: "pacman", Doc: "pacman of Arch Linux.", Parents: []string{""},
			Features:   strings.Fields("install_options installable uninstall_options uninstallable upgradeable virtual_packages"),
			Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"archlinux", "manjarolinux"}}},
			DefaultFor: []Facts{{"operatingsystem": {"archlinux", "manjarolinux"}}},
			Commands:   []Command{{Name: "pacman", Path: "/usr/bin/pacman"}},
		},
		{
			Name: "pip", Last: true, Doc: "Packages of Python, by pip.", Parents: []string{"", ""},
			Features: strings.Fields("install_options installable targetable uninstallable upgradeable version_ranges versionable"),
		},
		{
			Name: "pip2", Last: true, Doc: "Packages of Python 2, by pip2.", Parents: []string{"pip", "", ""},
			Features: strings.Fields("install_options installable targetable uninstallable upgradeable versionable"),
		},
		{
			Name: "pip3", Last: true, Doc: "Packages of Python 3, by pip3.", Parents: []string{"pip", "", ""},
			Features: strings.Fields("install_options installable targetable uninstallable upgradeable versionable"),
		},
		{
			Name: "pkg", Doc: "The image packaging system of Solaris 11.", Parents: []string{""},
			Features:   strings.Fields("holdable install_options installable uninstallable upgradeable versionable"),
			Confines:   []Confine{{Kind: "fact", Name: "osfamily", Values: []string{"solaris"}}},
			DefaultFor: []Facts{{"osfamily": {"solaris"}, "kernelrelease": {"5.11", "5.12"}}},
			Commands:   []Command{{Name: "pkg", Path: "/usr/bin/pkg"}},
		},
		{
			Name: "pkgdmg", Doc: "Packages in disk images of macOS.", Parents: []string{""},
			Features:   strings.Fields("installable"),
			Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"darwin"}}, {Kind: "feature", Name: "cfpropertylist"}},
			DefaultFor: []Facts{{"operatingsystem": {"darwin"}}},
			Commands:   []Command{{Name: "installer", Path: "/usr/sbin/installer"}, {Name: "hdiutil", Path: "/usr/bin/hdiutil"}, {Name: "curl", Path: "/usr/bin/curl"}},
		},
		{
			Name: "pkgin", Doc: "pkgin of SmartOS and NetBSD.", Parents: []string{""},
			Features:   strings.Fields("installable uninstallable upgradeable versionable"),
			DefaultFor: []Facts{{"operatingsystem": {"smartos", "netbsd"}}},
			Commands:   []Command{{Name: "pkgin", Path: "pkgin"}},
		},
		{
			Name: "pkgng", Doc: "pkg of FreeBSD.", Parents: []string{""},
			Features:   strings.Fields("install_options installable uninstallable upgradeable versionable"),
			Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"freebsd", "dragonfly"}}},
			DefaultFor: []Facts{{"operatingsystem": {"freebsd", "dragonfly"}}},
			Commands:   []Command{{Name: "pkg", Path: "/usr/local/sbin/pkg"}},
		},
		{
			Name: "pkgutil", Doc: "pkgutil for OpenCSW on Solaris.", Source: "sun", Parents: []string{"sun", ""},
			Features: strings.Fields("installable uninstallable upgradeable"),
			Confines: []Confine{{Kind: "fact", Name: "osfamily", Values: []string{"solaris"}}},
			Commands: []Command{{Name: "pkguti", Path: "pkgutil"}},
		},
		{
			Name: "portage", Doc: "Portage of Gentoo.", Parents: []string{""},
			Features:   strings.Fields("install_options installable purgeable reinstallable uninstall_options uninstallable upgradeable versionable virtual_packages"),
			Confines:   []Confine{{Kind: "fact", Name: "osfamily", Values: []string{"gentoo"}}},
			DefaultFor: []Facts{{"osfamily": {"gentoo"}}},
			Commands:   []Command{{Name: "emerge", Path: "/usr/bin/emerge"}, {Name: "eix", Path: "/usr/bin/eix"}, {Name: "qatom_bin", Path: "/usr/bin/qatom"}, {Name: "update_eix", Path: "/usr/bin/eix-update"}},
		},
		{
			Name: "ports", Doc: "Ports of FreeBSD.", Source: "freebsd", Parents: []string{"freebsd", "openbsd", ""},
			Features: strings.Fields("installable purgeable uninstallable upgradeable"),
			Commands: []Command{{Name: "portupgrade", Path: "/usr/local/sbin/portupgrade"}, {Name: "portversion", Path: "/usr/local/sbin/portversion"}, {Name: "portuninstall", Path: "/usr/local/sbin/pkg_deinstall"}, {Name: "portinfo", Path: "/usr/sbin/pkg_info"}},
		},
		{
			Name: "portupgrade", Doc: "Ports of FreeBSD, by portupgrade.", Parents: []string{""},
			Features: strings.Fields("installable uninstallable upgradeable"),
			Commands: []Command{{Name: "portupgrade", Path: "/usr/local/sbin/portupgrade"}, {Name: "portinstall", Path: "/usr/local/sbin/portinstall"}, {Name: "portversion", Path: "/usr/local/sbin/portversion"}, {Name: "portuninstall", Path: "/usr/local/sbin/pkg_deinstall"}, {Name: "portinfo", Path: "/usr/sbin/pkg_info"}},
		},
		{
			Name: "puppet_gem", Last: true, Doc: "Gems of the Ruby that comes with the agent.", Parents: []string{"gem", "", ""},
			Features: strings.Fields("install_options installable uninstall_options uninstallable upgradeable versionable"),
			Confines: []Confine{{Kind: "any", Any: []Facts{{"aio_agent_version": {"/./"}}}}},
			Commands: []Command{{Name: "gemcmd", Path: "/opt/puppetlabs/puppet/bin/gem"}},
		},
		{
			Name: "puppetserver_gem", Last: true, Doc: "Gems of Puppet Server.", Parents: []string{"gem", "", ""},
			Features: strings.Fields("install_options installable uninstall_options uninstallable upgradeable versionable"),
			Confines: []Confine{{Kind: "feature", Name: "hocon"}, {Kind: "fact", Name: "fips_enabled", Values: []string{"false"}}},
			Commands: []Command{{Name: "puppetservercmd", Path: "/opt/puppetlabs/bin/puppetserver"}},
		},
		{
			Name: "rug", Doc: "rug of old SUSE.", Parents: []string{"rpm", ""},
			Features: strings.Fields("installable uninstallable upgradeable versionable"),
			Confines: []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"suse", "sles"}}},
			Commands: []Command{{Name: "rug", Path: "/usr/bin/rug"}, {Name: "rpm", Path: "rpm"}},
		},
		{
			Name: "sunfreeware", Doc: "Packages of Sunfreeware.", Source: "sun", Parents: []string{"blastwave", "sun", ""},
			Features: strings.Fields("installable uninstallable upgradeable"),
			Confines: []Confine{{Kind: "fact", Name: "osfamily", Values: []string{"solaris"}}},
			Commands: []Command{{Name: "pkgget", Path: "pkg-get"}},
		},
		{
			Name: "tdnf", Doc: "tdnf of Photon OS.", Parents: []string{"dnf", "yum", "rpm", ""},
			Features:   strings.Fields("install_options installable purgeable uninstallable upgradeable versionable virtual_packages"),
			DefaultFor: []Facts{{"operatingsystem": {"PhotonOS"}}},
			Commands:   []Command{{Name: "cmd", Path: "tdnf"}, {Name: "rpm", Path: "rpm"}},
		},
		{
			Name: "up2date", Doc: "up2date of old Red Hat.", Source: "rpm", Parents: []string{"rpm", ""},
			Features:   strings.Fields("installable uninstallable upgradeable"),
			Confines:   []Confine{{Kind: "fact", Name: "osfamily", Values: []string{"redhat"}}},
			DefaultFor: []Facts{{"osfamily": {"redhat"}, "lsbdistrelease": {"2.1", "3", "4"}}},
			Commands:   []Command{{Name: "up2date", Path: "/usr/sbin/up2date-nox"}},
		},
		{
			Name: "urpmi", Doc: "urpmi of Mandriva.", Source: "rpm", Parents: []string{"rpm", ""},
			Features:   strings.Fields("installable purgeable uninstallable upgradeable versionable"),
			DefaultFor: []Facts{{"operatingsystem": {"mandriva", "mandrake"}}},
			Commands:   []Command{{Name: "urpmi", Path: "urpmi"}, {Name: "urpmq", Path: "urpmq"}, {Name: "rpm", Path: "rpm"}, {Name: "urpme", Path: "urpme"}},
		},
		{
			Name: "windows", Doc: "Programs of Windows, from MSI and EXE files.", Parents: []string{""},
			Features:   strings.Fields("install_options installable uninstall_options uninstallable versionable"),
			Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"windows"}}},
			DefaultFor: []Facts{{"operatingsystem": {"windows"}}},
		},
		{
			Name: "zypper", Doc: "zypper of SUSE.", Source: "rpm", Parents: []string{"rpm", ""},
			Features:   strings.Fields("install_options installable uninstallable upgradeable versionable virtual_packages"),
			Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"suse", "sles", "sled", "opensuse"}}},
			DefaultFor: []Facts{{"operatingsystem": {"suse", "sles", "sled", "opensuse"}}},
			Commands:   []Command{{Name: "zypper", Path: "/usr/bin/zypper"}},
		},
	}
}
