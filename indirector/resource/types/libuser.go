package types

// libuserConfs are where Puppet has its configuration of libuser: by Debian's packages, and
// by its own.
var libuserConfs = []string{
	"/usr/lib/ruby/vendor_ruby/puppet/util/libuser.conf", "/opt/puppetlabs/puppet/lib/ruby/vendor_ruby/puppet/util/libuser.conf",
}

// LibuserConf is the configuration that the programs of libuser are given.
func LibuserConf(h Host) string {
	for _, file := range libuserConfs {
		if h.Exists(file) {
			return file
		}
	}
	return libuserConfs[0]
}
