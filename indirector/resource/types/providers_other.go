package types

import "strings"

// execProviders are how an exec is done on the systems that Puppet knows.
var execProviders = []*Provider{
	{
		Name: "posix", Doc: "Runs programs directly, and through a shell only if the command has characters of a shell.", Parents: []string{""},
		Confines:   []Confine{{Kind: "feature", Name: "posix"}},
		DefaultFor: []Facts{{"feature": {"posix"}}},
	},
	{
		Name: "shell", Doc: "Gives every command to /bin/sh.", Parents: []string{"posix", ""},
		Confines: []Confine{{Kind: "feature", Name: "posix"}},
	},
	{
		Name: "windows", Doc: "Runs programs on Windows.", Parents: []string{""},
		Confines:   []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"windows"}}},
		DefaultFor: []Facts{{"operatingsystem": {"windows"}}},
	},
}

// fileProviders are how a file is done on the systems that Puppet knows.
var fileProviders = []*Provider{
	{
		Name: "posix", Doc: "Files of POSIX systems.",
		Features: strings.Fields("manages_symlinks"),
		Confines: []Confine{{Kind: "feature", Name: "posix"}},
	},
	{
		Name: "windows", Doc: "Files of Windows.",
		Features: strings.Fields("manages_symlinks"),
		Confines: []Confine{{Kind: "fact", Name: "operatingsystem", Values: []string{"windows"}}},
	},
}

// cronProviders are how a cron is done on the systems that Puppet knows.
var cronProviders = []*Provider{
	{
		Name: "crontab", Doc: "The crontab of a user, by the command crontab.", Parents: []string{""},
		Commands: []Command{{Name: "crontab", Path: "crontab"}},
	},
}

// hostProviders are how a host is done on the systems that Puppet knows.
var hostProviders = []*Provider{
	{
		Name: "parsed", Doc: "The hosts file.", Parents: []string{""},
		Confines: []Confine{{Kind: "exists", Name: "/etc/hosts"}},
	},
}

// mailaliasProviders are how a mailalias is done on the systems that Puppet knows.
var mailaliasProviders = []*Provider{
	{Name: "aliases", Doc: "The aliases file.", Parents: []string{""}},
}

// mountProviders are how a mount is done on the systems that Puppet knows.
var mountProviders = []*Provider{
	{
		Name: "parsed", Doc: "The fstab, and the commands mount and umount.", Parents: []string{""},
		Features: strings.Fields("refreshable"),
		Commands: []Command{{Name: "mountcmd", Path: "mount"}, {Name: "umount", Path: "umount"}},
	},
}

// sshAuthorizedKeyProviders are how a ssh_authorized_key is done on the systems that Puppet knows.
var sshAuthorizedKeyProviders = []*Provider{
	{Name: "parsed", Doc: "The authorized_keys of a user.", Parents: []string{""}},
}

// sshkeyProviders are how a sshkey is done on the systems that Puppet knows.
var sshkeyProviders = []*Provider{
	{Name: "parsed", Doc: "The known hosts of ssh.", Parents: []string{""}},
}

// augeasProviders are how an augeas is done on the systems that Puppet knows.
var augeasProviders = []*Provider{
	{
		Name: "augeas", Doc: "The library of Augeas.",
		Features: strings.Fields("execute_changes need_to_run? parse_commands"),
		Confines: []Confine{{Kind: "feature", Name: "augeas"}},
	},
}

// selbooleanProviders are how a selboolean is done on the systems that Puppet knows.
var selbooleanProviders = []*Provider{
	{
		Name: "getsetsebool", Doc: "getsebool and setsebool.",
		Commands: []Command{{Name: "getsebool", Path: "/usr/sbin/getsebool"}, {Name: "setsebool", Path: "/usr/sbin/setsebool"}},
	},
}

// selmoduleProviders are how a selmodule is done on the systems that Puppet knows.
var selmoduleProviders = []*Provider{
	{
		Name: "semodule", Doc: "semodule.",
		Commands: []Command{{Name: "semodule", Path: "/usr/sbin/semodule"}},
	},
}
