package types

import "strings"

// serviceProviders are how a service is done on the systems that Puppet knows.
var serviceProviders = []*Provider{
	{
		Name: "service", Doc: "The simplest: what the resource names.",
		Features: strings.Fields("refreshable"),
	},
	{
		Name: "base", Doc: "Start and stop commands that the resource names itself, and the process table.", Parents: []string{"service"},
		Features: strings.Fields("refreshable"),
		Commands: []Command{{Name: "kill", Path: "kill"}},
	},
	{
		Name: "init", Doc: "Init scripts in /etc/init.d.", Parents: []string{"base", "service"},
		Features: strings.Fields("refreshable"),
		Confines: []Confine{{Kind: "not", Name: "operatingsystem", Values: []string{"debian", "ubuntu"}}, {Kind: "not", Name: "osfamily", Values: []string{"redhat"}}},
	},
	{
		Name: "bsd", Doc: "rc scripts switched on in /etc/rc.conf.d.", Parents: []string{"init", "base", "service"},
		Features: strings.Fields("enableable refreshable"),
		Confines: []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"freebsd", "dragonfly"}}},
	},
	{
		Name: "daemontools", Doc: "Services below the supervise of daemontools.", Parents: []string{"base", "service"},
		Features: strings.Fields("enableable refreshable"),
		Commands: []Command{{Name: "svc", Path: "/usr/bin/svc"}, {Name: "svstat", Path: "/usr/bin/svstat"}},
	},
	{
		Name: "debian", Doc: "Init scripts, switched on and off by update-rc.d.", Parents: []string{"init", "base", "service"},
		Features:   strings.Fields("enableable refreshable"),
		Confines:   []Confine{{Kind: "false", Name: "systemd"}},
		DefaultFor: []Facts{{"operatingsystem": {"cumuluslinux"}, "operatingsystemmajrelease": {"1", "2"}}, {"operatingsystem": {"debian"}, "operatingsystemmajrelease": {"5", "6", "7"}}, {"operatingsystem": {"devuan"}}},
		Commands:   []Command{{Name: "update_rc", Path: "/usr/sbin/update-rc.d"}, {Name: "invoke_rc", Path: "/usr/sbin/invoke-rc.d"}, {Name: "service", Path: "/usr/sbin/service"}},
	},
	{
		Name: "freebsd", Doc: "rc scripts of FreeBSD.", Parents: []string{"init", "base", "service"},
		Features:   strings.Fields("enableable refreshable"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"freebsd", "dragonfly"}}},
		DefaultFor: []Facts{{"operatingsystem": {"freebsd", "dragonfly"}}},
	},
	{
		Name: "gentoo", Doc: "Init scripts with rc-update.", Parents: []string{"init", "base", "service"},
		Features: strings.Fields("enableable refreshable"),
		Confines: []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"gentoo"}}},
		Commands: []Command{{Name: "update", Path: "/sbin/rc-update"}},
	},
	{
		Name: "launchd", Doc: "launchd of macOS.", Parents: []string{"base", "service"},
		Features:   strings.Fields("enableable refreshable"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"darwin"}}, {Kind: "feature", Name: "cfpropertylist"}},
		DefaultFor: []Facts{{"operatingsystem": {"darwin"}}},
		Commands:   []Command{{Name: "launchctl", Path: "/bin/launchctl"}},
	},
	{
		Name: "openbsd", Doc: "rcctl of OpenBSD.", Parents: []string{"init", "base", "service"},
		Features:   strings.Fields("enableable flaggable refreshable"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"openbsd"}}},
		DefaultFor: []Facts{{"operatingsystem": {"openbsd"}}},
		Commands:   []Command{{Name: "rcctl", Path: "/usr/sbin/rcctl"}},
	},
	{
		Name: "openrc", Doc: "OpenRC of Gentoo.", Parents: []string{"base", "service"},
		Features:   strings.Fields("enableable refreshable"),
		DefaultFor: []Facts{{"operatingsystem": {"gentoo"}}, {"operatingsystem": {"funtoo"}}},
		Commands:   []Command{{Name: "rcstatus", Path: "/bin/rc-status"}, {Name: "rcservice", Path: "/sbin/rc-service"}, {Name: "rcupdate", Path: "/sbin/rc-update"}},
	},
	{
		Name: "openwrt", Doc: "Init scripts of OpenWrt.", Source: "init", Parents: []string{"init", "base", "service"},
		Features:   strings.Fields("enableable refreshable"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"openwrt"}}},
		DefaultFor: []Facts{{"operatingsystem": {"openwrt"}}},
	},
	{
		Name: "rcng", Doc: "rc scripts of NetBSD.", Parents: []string{"bsd", "init", "base", "service"},
		Features:   strings.Fields("enableable refreshable"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"netbsd", "cargos"}}},
		DefaultFor: []Facts{{"operatingsystem": {"netbsd", "cargos"}}},
	},
	{
		Name: "redhat", Doc: "Init scripts, switched on and off by chkconfig.", Source: "init", Parents: []string{"init", "base", "service"},
		Features:   strings.Fields("enableable refreshable"),
		DefaultFor: []Facts{{"osfamily": {"redhat"}}, {"osfamily": {"suse"}, "operatingsystemmajrelease": {"10", "11"}}},
		Commands:   []Command{{Name: "chkconfig", Path: "/sbin/chkconfig"}, {Name: "service", Path: "/sbin/service"}},
	},
	{
		Name: "runit", Doc: "Services below the runsvdir of runit.", Parents: []string{"daemontools", "base", "service"},
		Features: strings.Fields("enableable refreshable"),
		Commands: []Command{{Name: "sv", Path: "/usr/bin/sv"}},
	},
	{
		Name: "smf", Doc: "The service management facility of Solaris.", Parents: []string{"base", "service"},
		Features:   strings.Fields("enableable refreshable"),
		Confines:   []Confine{{Kind: "fact", Name: "osfamily", Values: []string{"solaris"}}},
		DefaultFor: []Facts{{"osfamily": {"solaris"}}},
		Commands:   []Command{{Name: "adm", Path: "/usr/sbin/svcadm"}, {Name: "svcs", Path: "/usr/bin/svcs"}, {Name: "svccfg", Path: "/usr/sbin/svccfg"}},
	},
	{
		Name: "src", Doc: "The system resource controller of AIX.", Parents: []string{"base", "service"},
		Features:   strings.Fields("enableable refreshable"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"aix"}}},
		DefaultFor: []Facts{{"operatingsystem": {"aix"}}},
		Commands:   []Command{{Name: "stopsrc", Path: "/usr/bin/stopsrc", Optional: true}, {Name: "startsrc", Path: "/usr/bin/startsrc", Optional: true}, {Name: "refresh", Path: "/usr/bin/refresh", Optional: true}, {Name: "lssrc", Path: "/usr/bin/lssrc", Optional: true}, {Name: "lsitab", Path: "/usr/sbin/lsitab", Optional: true}, {Name: "mkitab", Path: "/usr/sbin/mkitab", Optional: true}, {Name: "rmitab", Path: "/usr/sbin/rmitab", Optional: true}, {Name: "chitab", Path: "/usr/sbin/chitab", Optional: true}},
	},
	{
		Name: "systemd", Doc: "Units of systemd, by systemctl.", Parents: []string{"base", "service"},
		Features:      strings.Fields("enableable maskable refreshable"),
		Confines:      []Confine{{Kind: "true", Name: "systemd"}},
		DefaultFor:    []Facts{{"osfamily": {"archlinux"}}, {"osfamily": {"redhat"}, "operatingsystemmajrelease": {"7", "8", "9"}}, {"osfamily": {"redhat"}, "operatingsystem": {"fedora"}}, {"osfamily": {"suse"}}, {"osfamily": {"coreos"}}, {"operatingsystem": {"amazon"}, "operatingsystemmajrelease": {"2"}}, {"operatingsystem": {"debian"}}, {"operatingsystem": {"LinuxMint"}}, {"operatingsystem": {"ubuntu"}}, {"operatingsystem": {"cumuluslinux"}, "operatingsystemmajrelease": {"3", "4"}}},
		NotDefaultFor: []Facts{{"operatingsystem": {"debian"}, "operatingsystemmajrelease": {"5", "6", "7"}}, {"operatingsystem": {"LinuxMint"}, "operatingsystemmajrelease": {"10", "11", "12", "13", "14", "15", "16", "17"}}, {"operatingsystem": {"ubuntu"}, "operatingsystemmajrelease": {"10.04", "12.04", "14.04", "14.10"}}},
		Commands:      []Command{{Name: "systemctl", Path: "systemctl"}},
	},
	{
		Name: "upstart", Doc: "Jobs of Upstart.", Parents: []string{"debian", "init", "base", "service"},
		Features: strings.Fields("enableable refreshable"),
		Confines: []Confine{{Kind: "any", Any: []Facts{
			{"operatingsystem": {"ubuntu"}},
			{"osfamily": {"redhat"}, "operatingsystemrelease": {`/^6\./`}},
			{"operatingsystem": {"amazon"}, "operatingsystemmajrelease": {`/\d{4}/`}},
			{"operatingsystem": {"linuxmint"}},
		}}},
		DefaultFor: []Facts{{"operatingsystem": {"ubuntu"}, "operatingsystemmajrelease": {"10.04", "12.04", "14.04", "14.10"}}, {"operatingsystem": {"LinuxMint"}, "operatingsystemmajrelease": {"10", "11", "12", "13", "14", "15", "16", "17"}}},
		Commands:   []Command{{Name: "start", Path: "/sbin/start"}, {Name: "stop", Path: "/sbin/stop"}, {Name: "restart", Path: "/sbin/restart"}, {Name: "status_exec", Path: "/sbin/status"}, {Name: "initctl", Path: "/sbin/initctl"}},
	},
	{
		Name: "windows", Doc: "Services of Windows.", Parents: []string{"service"},
		Features:   strings.Fields("configurable_timeout delayed_startable enableable manages_logon_credentials manual_startable refreshable"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"windows"}}},
		DefaultFor: []Facts{{"operatingsystem": {"windows"}}},
	},
}
