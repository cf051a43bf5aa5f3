class ntp(Array[String] $servers, Boolean $iburst = true) {
  file { '/etc/ntp.conf':
    content => $servers.map |$s| { "server ${s}\n" }.join(''),
    mode    => '0644',
  }
  service { 'ntp': ensure => running, subscribe => File['/etc/ntp.conf'] }
  notify { "hello ${facts['kernel']}": }
}
