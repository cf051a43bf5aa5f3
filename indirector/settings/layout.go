package settings

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Layout is where a package of Puppet keeps its files.
type Layout uint8

// The layouts. Zero is whichever is installed, the vendor's if none is.
const (
	AnyLayout    Layout = iota
	VendorLayout        // /etc/puppetlabs/puppet, ~/.puppetlabs
	DebianLayout        // /etc/puppet, ~/.puppet
)

// directories are, by setting, the defaults that depend on the user and the
// package.
type directories map[string]string

func (l Layout) directories(o Options) directories {
	vendor := directories{
		"confdir":         "/etc/puppetlabs/puppet",
		"codedir":         "/etc/puppetlabs/code",
		"vardir":          "/opt/puppetlabs/puppet/cache",
		"publicdir":       "/opt/puppetlabs/puppet/public",
		"rundir":          "/var/run/puppetlabs",
		"logdir":          "/var/log/puppetlabs/puppet",
		"ssldir":          "$confdir/ssl",
		"cadir":           "/etc/puppetlabs/puppetserver/ca",
		"basemodulepath":  "$codedir/modules:/opt/puppetlabs/puppet/modules",
		"vendormoduledir": "/opt/puppetlabs/puppet/vendor_modules",
	}
	debian := directories{
		"confdir":         "/etc/puppet",
		"codedir":         "/etc/puppet/code",
		"vardir":          "/var/cache/puppet",
		"publicdir":       "/var/cache/puppet/public",
		"rundir":          "/run/puppet",
		"logdir":          "/var/log/puppet",
		"ssldir":          debianSSL,
		"cadir":           "/etc/puppet/puppetserver/ca",
		"basemodulepath":  "$codedir/modules:/usr/share/puppet/modules",
		"vendormoduledir": "/usr/share/puppet/vendor_modules",
	}
	user := map[Layout]directories{
		VendorLayout: {
			"confdir":   ".puppetlabs/etc/puppet",
			"codedir":   ".puppetlabs/etc/code",
			"vardir":    ".puppetlabs/opt/puppet/cache",
			"publicdir": ".puppetlabs/opt/puppet/public",
			"rundir":    ".puppetlabs/var/run",
			"logdir":    ".puppetlabs/var/log",
		},
		DebianLayout: {
			"confdir":   ".puppet/etc",
			"codedir":   ".puppet/code",
			"vardir":    ".puppet/cache",
			"publicdir": ".puppet/cache/public",
			"rundir":    ".puppet/var/run",
			"logdir":    ".puppet/var/log",
		},
	}
	if l == AnyLayout {
		l = installed(o, vendor["confdir"], debian["confdir"])
	}
	dirs := vendor
	if l == DebianLayout {
		dirs = debian
	}
	if o.Root {
		return dirs
	}
	if l == DebianLayout && !owned(debianSSL) {
		dirs["ssldir"] = "$confdir/ssl"
	}
	for name, dir := range user[l] {
		dirs[name] = filepath.Join(o.Home, dir)
	}
	return dirs
}

const debianSSL = "/var/lib/puppet/ssl"

// installed returns the layout of this host. A given ConfDir decides if it is
// the system's directory of either.
func installed(o Options, vendor, debian string) Layout {
	switch filepath.Clean(o.ConfDir) {
	case vendor:
		return VendorLayout
	case debian:
		return DebianLayout
	}
	if _, err := os.Stat(vendor); err == nil {
		return VendorLayout
	}
	if _, err := os.Stat(debian); err == nil {
		return DebianLayout
	}
	return VendorLayout
}

// hostname is the name of this host and its domain, as far as this host knows
// without asking the network.
func hostname() (host, domain string) {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	host, domain, ok := strings.Cut(name, ".")
	if ok {
		return host, domain
	}
	for fields := range fieldsOf("/etc/hosts") {
		if len(fields) < 2 || !slices.Contains(fields[1:], host) {
			continue
		}
		if h, d, ok := strings.Cut(fields[1], "."); ok && h == host {
			return host, d
		}
	}
	for fields := range fieldsOf("/etc/resolv.conf") {
		if len(fields) > 1 && (fields[0] == "domain" || fields[0] == "search") {
			return host, strings.TrimSuffix(fields[1], ".")
		}
	}
	return host, ""
}

// fieldsOf yields the words of each line of a file, or nothing if the file
// cannot be read.
func fieldsOf(path string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		f, err := os.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			line, _, _ := strings.Cut(s.Text(), "#")
			if fields := strings.Fields(line); len(fields) > 0 && !yield(fields) {
				return
			}
		}
	}
}
