Puppet::Functions.create_function(:'r::log') do
  dispatch(:e) { param 'String', :k }
  def e(k) Puppet.warning('w '+k); Puppet.notice('n'); Puppet.debug('d'); Puppet.info('i'); Puppet.err('e');  Puppet.warn_once('deprecation', 'key', 'once') ; Puppet.deprecation_warning('dep') ; nil end
end
