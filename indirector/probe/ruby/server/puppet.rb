# Stands in front of Puppet in the load path of Puppet Server: loads the probe,
# then the next puppet.rb of the load path, as if neither were there.
begin
  require File.expand_path('../../probe.rb', __FILE__)
  IndirtuiProbe.server = true
rescue LoadError, StandardError => e
  warn "indirtui: the probe was not loaded: #{e.class}: #{e.message}"
end
indirtui_here = File.expand_path(File.dirname(__FILE__))
indirtui_next = $LOAD_PATH.map { |d| d.to_s }.reject { |d| File.expand_path(d) == indirtui_here }.
                map { |d| File.join(d, 'puppet.rb') }.find { |f| File.file?(f) }
raise LoadError, 'cannot load such file -- puppet' unless indirtui_next
require indirtui_next
IndirtuiProbe.loaded if defined?(IndirtuiProbe)
