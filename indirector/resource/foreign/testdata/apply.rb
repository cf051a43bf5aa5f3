# Applies catalogs with real Puppet: each line of the input is {"catalog", "noop"}, each of
# the output a list of what was logged, as [level, source, message].

require 'json'
require 'puppet'

confdir, vardir, modulepath = ARGV
Puppet.initialize_settings(["--confdir=#{confdir}", "--vardir=#{vardir}"])
env = Puppet::Node::Environment.create(:production, modulepath.split(':'))
Puppet.push_context(Puppet.base_context(Puppet.settings), 'apply')
Puppet.push_context({ current_environment: env, loaders: Puppet::Pops::Loaders.new(env) }, 'apply')
env.each_plugin_directory { |dir| $LOAD_PATH << dir unless $LOAD_PATH.include?(dir) }
Puppet.settings.use(:main)

lines = []
Puppet::Util::Log.newdesttype(:lines) do
  match(/\Alines\z/)
  define_method(:handle) { |l| lines << [l.level.to_s, l.source.to_s, l.message.to_s] unless l.source == 'Facter' }
end
Puppet::Util::Log.level = :info
Puppet::Util::Log.newdestination('lines')

STDIN.each_line do |line|
  question = JSON.parse(line)
  lines.clear
  Puppet[:noop] = question['noop']
  begin
    catalog = Puppet::Resource::Catalog.convert_from('json', JSON.generate(question['catalog'])).to_ral
    catalog.host_config = true
    catalog.finalize
    catalog.apply
  rescue StandardError => e
    Puppet.err("Failed to apply catalog: #{e.message}")
  end
  puts JSON.generate(lines)
end
