# What real Puppet makes of manifests that call functions in Ruby: for each line of standard
# input, a JSON object with "code", a line with "resources" or "error", and "logs".
require 'json'
require 'puppet'
require 'puppet/pops'
require 'timeout'

Puppet.initialize_settings(%w[--confdir /nonexistent --vardir /nonexistent])
Puppet[:strict] = :warning
logs = []
Puppet::Util::Log.level = :info
Puppet::Util::Log.newdesttype(:kept) { match 'kept'; define_method(:handle) { |m| logs << "#{m.level}: #{m.source == 'Puppet' ? '' : "#{m.source}: "}#{m.message}" } }
Puppet::Util::Log.newdestination('kept')
# As for an agent, whose plugins are one directory of Ruby's.
$LOAD_PATH.concat(ARGV.fetch(0).split(':').flat_map { |dir| Dir["#{dir}/*/lib"] })
facts = { 'os' => { 'name' => 'Debian' }, 'memorysize' => '2.00 GiB' }

STDIN.each_line do |row|
  asked = JSON.parse(row)
  logs.clear
  answer =
    begin
      Puppet::Util::Warnings.clear_warnings
      Puppet.clear_deprecation_warnings
      Puppet[:code] = asked['code']
      environment = Puppet::Node::Environment.create(:production, ARGV.fetch(0).split(':'))
      loaders = Puppet::Environments::Static.new(environment)
      Puppet.override(environments: loaders, current_environment: environment) do
        node = Puppet::Node.new('node1.example.test', facts: Puppet::Node::Facts.new('node1.example.test', facts), environment: environment)
        node.merge(facts)
        catalog = Timeout.timeout(20) { Puppet::Parser::Compiler.compile(node) }
        Puppet.override(rich_data: true) do
          { resources: catalog.to_data_hash['resources'].map { |r| [r['type'], r['title'], r['parameters'] || {}] }.reject { |r| %w[Stage Class].include?(r[0]) && r[2].empty? } }
        end
      end
    rescue Puppet::Error => e
      { error: e.message }
    rescue Exception => e
      { error: e.message, fatal: e.class.name }
    end
  puts JSON.generate({ code: asked['code'], logs: logs.reject { |l| l.start_with?('err') } }.merge(answer))
  STDOUT.flush
end
