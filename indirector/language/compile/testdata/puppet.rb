# What real Puppet makes of manifests: for each line of standard input, a JSON object with
# "code" and perhaps "strict", the line with "catalog" or "error", and "logs".
#
#   ruby puppet.rb < recorded.jsonl > again.jsonl
require 'json'
require 'puppet'
require 'tmpdir'

# A destination of logs.
class Rows
  attr_reader :rows

  def initialize
    @rows = []
  end
end
Puppet::Util::Log.newdesttype(:rows) do
  match 'Rows'
  def initialize(rows)
    @rows = rows.rows
  end

  def handle(message)
    @rows << [message.level.to_s, message.message.to_s, message.source == 'Puppet' ? message.line : nil]
  end
end

def compile(environment)
  known = Puppet::Environments::Static.new(environment)
  trusted = Puppet::Context::TrustedInformation.new('remote', 'node1.example.test', {}, {})
  Puppet.override(environments: known, current_environment: environment, trusted_information: trusted, rich_data: true) do
    node = Puppet::Node.new('node1.example.test', environment: environment)
    catalog = Puppet::Parser::Compiler.compile(node).filter(&:virtual?)
    out = JSON.parse(Puppet::Network::FormatHandler.format(:rich_data_json).render(catalog))
    { catalog: out.merge('version' => '<VERSION>', 'catalog_uuid' => '<UUID>') }
  end
rescue Puppet::Error => e
  { error: e.message }
end

Dir.mktmpdir do |dir|
  Puppet.initialize_settings(['--confdir', dir, '--vardir', dir, '--codedir', dir, '--certname', 'node1.example.test'])
  Puppet::Util::Log.level = :info
  site = File.join(dir, 'site.pp')
  STDIN.each_line do |row|
    asked = JSON.parse(row)
    File.write(site, asked['code'])
    Puppet[:strict] = (asked['strict'] || 'warning').to_sym
    Puppet::Util::Log.close_all
    logs = Rows.new
    Puppet::Util::Log.newdestination(logs)
    answer = compile(Puppet::Node::Environment.create(:production, [], site))
    Puppet::Util::Log.close_all
    row = asked.slice('code', 'strict').merge(answer).merge(logs: logs.rows)
    puts JSON.generate(row).gsub(site, '<ENV>/site.pp').gsub(/:0x0000[0-9a-f]+/, ':0xXXXX')
    STDOUT.flush
  end
end
