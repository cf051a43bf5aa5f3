package types

import "strings"

// userProviders are how a user is done on the systems that Puppet knows.
var userProviders = []*Provider{
	{
		Name: "aix", Doc: "The commands of AIX.", Parents: []string{""},
		Features:   strings.Fields("manages_aix_lam manages_expiry manages_homedir manages_local_users_and_groups manages_password_age manages_passwords manages_shell"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"aix"}}},
		DefaultFor: []Facts{{"operatingsystem": {"aix"}}},
		Commands:   []Command{{Name: "list", Path: "/usr/sbin/lsuser"}, {Name: "add", Path: "/usr/bin/mkuser"}, {Name: "delete", Path: "/usr/sbin/rmuser"}, {Name: "modify", Path: "/usr/bin/chuser"}, {Name: "chpasswd", Path: "/bin/chpasswd"}},
	},
	{
		Name: "directoryservice", Doc: "The directory service of macOS.",
		Features:   strings.Fields("manages_password_salt manages_passwords manages_shell"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"darwin"}}, {Kind: "feature", Name: "cfpropertylist"}},
		DefaultFor: []Facts{{"operatingsystem": {"darwin"}}},
		Commands:   []Command{{Name: "uuidgen", Path: "/usr/bin/uuidgen"}, {Name: "dsimport", Path: "/usr/bin/dsimport"}, {Name: "dscl", Path: "/usr/bin/dscl"}, {Name: "dscacheutil", Path: "/usr/bin/dscacheutil"}},
	},
	{
		Name: "useradd", Doc: "useradd and its kin; with libuser, local users as well.", Parents: []string{"", ""},
		Features: strings.Fields("allows_duplicates manages_expiry manages_homedir manages_password_age manages_passwords manages_shell system_users"),
		Libuser:  []string{"manages_local_users_and_groups"},
		Commands: []Command{{Name: "add", Path: "useradd"}, {Name: "delete", Path: "userdel"}, {Name: "modify", Path: "usermod"}, {Name: "password", Path: "chage"}, {Name: "chpasswd", Path: "chpasswd"}, {Name: "localadd", Path: "luseradd", Optional: true}, {Name: "localdelete", Path: "luserdel", Optional: true}, {Name: "localmodify", Path: "lusermod", Optional: true}, {Name: "localpassword", Path: "lchage", Optional: true}},
	},
	{
		Name: "hpuxuseradd", Doc: "The commands of HP-UX.", Parents: []string{"useradd", "", ""},
		Features:   strings.Fields("allows_duplicates manages_homedir manages_passwords"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"hp-ux"}}},
		DefaultFor: []Facts{{"operatingsystem": {"hp-ux"}}},
		Commands:   []Command{{Name: "modify", Path: "/usr/sam/lbin/usermod.sam"}, {Name: "delete", Path: "/usr/sam/lbin/userdel.sam"}, {Name: "add", Path: "/usr/sam/lbin/useradd.sam"}},
	},
	{
		Name: "ldap", Doc: "Users in a directory (LDAP).", Parents: []string{""},
		Features: strings.Fields("manages_passwords manages_shell"),
		Confines: []Confine{{Kind: "feature", Name: "ldap"}},
	},
	{
		Name: "openbsd", Doc: "useradd of OpenBSD, with login classes.", Parents: []string{"useradd", "", ""},
		Features:   strings.Fields("manages_expiry manages_homedir manages_loginclass manages_passwords manages_shell system_users"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"openbsd"}}},
		DefaultFor: []Facts{{"operatingsystem": {"openbsd"}}},
		Commands:   []Command{{Name: "add", Path: "useradd"}, {Name: "delete", Path: "userdel"}, {Name: "modify", Path: "usermod"}, {Name: "password", Path: "passwd"}},
	},
	{
		Name: "pw", Doc: "pw of FreeBSD and DragonFly BSD.", Parents: []string{"", "", ""},
		Features:   strings.Fields("allows_duplicates manages_expiry manages_homedir manages_passwords manages_shell"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"freebsd", "dragonfly"}}},
		DefaultFor: []Facts{{"operatingsystem": {"freebsd", "dragonfly"}}},
		Commands:   []Command{{Name: "pw", Path: "pw"}},
	},
	{
		Name: "user_role_add", Doc: "useradd and roleadd of Solaris.", Source: "useradd", Parents: []string{"useradd", "", ""},
		Features:   strings.Fields("allows_duplicates manages_homedir manages_password_age manages_passwords manages_roles manages_shell manages_solaris_rbac"),
		DefaultFor: []Facts{{"osfamily": {"solaris"}}},
		Commands:   []Command{{Name: "add", Path: "useradd"}, {Name: "delete", Path: "userdel"}, {Name: "modify", Path: "usermod"}, {Name: "password", Path: "passwd"}, {Name: "role_add", Path: "roleadd"}, {Name: "role_delete", Path: "roledel"}, {Name: "role_modify", Path: "rolemod"}},
	},
	{
		Name: "windows_adsi", Doc: "Users of Windows.",
		Features:   strings.Fields("manages_homedir manages_passwords manages_roles"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"windows"}}},
		DefaultFor: []Facts{{"operatingsystem": {"windows"}}},
	},
}

// groupProviders are how a group is done on the systems that Puppet knows.
var groupProviders = []*Provider{
	{
		Name: "aix", Doc: "The commands of AIX.", Parents: []string{""},
		Features:   strings.Fields("manages_aix_lam manages_local_users_and_groups manages_members"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"aix"}}},
		DefaultFor: []Facts{{"operatingsystem": {"aix"}}},
		Commands:   []Command{{Name: "list", Path: "/usr/sbin/lsgroup"}, {Name: "add", Path: "/usr/bin/mkgroup"}, {Name: "delete", Path: "/usr/sbin/rmgroup"}, {Name: "modify", Path: "/usr/bin/chgroup"}},
	},
	{
		Name: "directoryservice", Doc: "The directory service of macOS.", Parents: []string{"", ""},
		Features:   strings.Fields("manages_members"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"darwin"}}},
		DefaultFor: []Facts{{"operatingsystem": {"darwin"}}},
		Commands:   []Command{{Name: "dscl", Path: "/usr/bin/dscl"}},
	},
	{
		Name: "groupadd", Doc: "groupadd and its kin; with libuser, local groups as well.", Parents: []string{"", ""},
		Features: strings.Fields("system_groups"),
		Libuser:  []string{"manages_local_users_and_groups", "manages_members"},
		Commands: []Command{{Name: "add", Path: "groupadd"}, {Name: "delete", Path: "groupdel"}, {Name: "modify", Path: "groupmod"}, {Name: "localadd", Path: "lgroupadd", Optional: true}, {Name: "localdelete", Path: "lgroupdel", Optional: true}, {Name: "localmodify", Path: "lgroupmod", Optional: true}},
	},
	{
		Name: "ldap", Doc: "Groups in a directory (LDAP).", Parents: []string{""},
		Confines: []Confine{{Kind: "feature", Name: "ldap"}},
	},
	{
		Name: "pw", Doc: "pw of FreeBSD and DragonFly BSD.", Parents: []string{"", "", ""},
		Features:   strings.Fields("manages_members"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"freebsd", "dragonfly"}}},
		DefaultFor: []Facts{{"operatingsystem": {"freebsd", "dragonfly"}}},
		Commands:   []Command{{Name: "pw", Path: "pw"}},
	},
	{
		Name: "windows_adsi", Doc: "Groups of Windows.",
		Features:   strings.Fields("manages_members"),
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"windows"}}},
		DefaultFor: []Facts{{"operatingsystem": {"windows"}}},
	},
}
