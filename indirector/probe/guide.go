package probe

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Guide returns what to set so that processes that are started elsewhere attach
// themselves: services, cron, and Puppet Server. Dir is where the probe was
// written; "" is that it still has to be.
func Guide(socket, dir string) string {
	var b strings.Builder
	if dir == "" {
		dir = "/opt/indirtui/probe"
		fmt.Fprintf(&b, "First write the probe to where these processes can read it:\n\n  indirtui attach --print-probe %s\n\n", dir)
	}
	probe := filepath.Join(dir, "probe.rb")
	fmt.Fprintf(&b, `A service, as the agent's: systemctl edit puppet, then restart it

  [Service]
  Environment=RUBYOPT=-r%[1]s
  Environment=%[2]s=%[3]s

In the packages of Puppet's makers /opt/puppetlabs/bin/puppet unsets RUBYOPT;
ExecStart must name /opt/puppetlabs/puppet/bin/puppet.

A command, or a line of cron:

  RUBYOPT=-r%[1]s %[2]s=%[3]s puppet agent -t

Puppet Server reads no RUBYOPT: in conf.d/puppetserver.conf, then restart it

  jruby-puppet: {
    ruby-load-path: [%[4]s, <what stood here>]
    environment-vars: { %[2]s: %[3]s }
  }

Its user must be able to enter the directory of the socket: start indirtui as
that user, or as root with --for puppet.
`, probe, EnvSocket, socket, filepath.Join(dir, "server"))
	return b.String()
}
