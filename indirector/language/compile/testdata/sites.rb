# What real Puppet makes of sites: for each line of standard input, a JSON object with the
# "files" of a site by their names, the line with "catalog" or "error", and "logs". The
# files are those of the recordings, lang/catalogs.
#
#   ruby sites.rb < sites.jsonl > again.jsonl
# Ruby decorates the words of its errors.
exec(RbConfig.ruby, '--disable=error_highlight', '--disable=did_you_mean', $PROGRAM_NAME, *ARGV) if defined?(ErrorHighlight)
require 'fileutils'
require 'json'
require 'puppet'
require 'tmpdir'
require 'yaml'

NAME = 'node1.example.test'.freeze
SYSTEM_MODULES = '/usr/share/puppet/modules'.freeze
PUPPET_LIB = File.dirname($LOADED_FEATURES.grep(%r{/puppet\.rb\z}).first)

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
    return if message.message.to_s.start_with?('Compiled catalog', 'Caching')

    row = { level: message.level.to_s, message: message.message.to_s }
    row[:source] = message.source.to_s unless message.source.nil? || message.source.to_s == 'Puppet'
    row[:file] = message.file.to_s if message.file
    row[:line] = message.line if message.line
    @rows << row
  end
end

def read(dir, name)
  path = File.join(dir, name)
  (File.exist?(path) && YAML.load_file(path)) || {}
end

def compile(dir)
  conf = read(dir, 'case.yaml')
  enc = read(dir, 'node.yaml')
  { 'strict' => 'warning', 'strict_variables' => false }.merge(conf['settings'] || {}).each { |k, v| Puppet[k.to_sym] = v }
  name = (enc['environment'] || 'production')
  path = [File.join(dir, 'modules')]
  path << SYSTEM_MODULES if conf['system_modules']
  environment = Puppet::Node::Environment.create(name.to_sym, path, File.join(dir, conf['manifest'] || 'site.pp'))
  known = Puppet::Environments::StaticDirectory.new(name, dir, environment)
  trusted = Puppet::Context::TrustedInformation.new('remote', NAME, conf['extensions'] || {}, conf['external'] || {})
  rich = conf.fetch('rich_data', true)
  Puppet.override(environments: known, current_environment: environment, trusted_information: trusted, rich_data: rich) do
    node = Puppet::Node.new(NAME, environment: environment, classes: enc['classes'] || [], parameters: enc['parameters'] || {})
    node.fact_merge(Puppet::Node::Facts.new(NAME, read(dir, 'facts.yaml')))
    node.add_server_facts('serverversion' => Puppet.version, 'servername' => 'puppet.example.test', 'serverip' => '192.0.2.1')
    catalog = Puppet::Resource::Catalog.indirection.find(NAME, use_node: node)
    out = JSON.parse(Puppet::Network::FormatHandler.format(rich ? :rich_data_json : :json).render(catalog))
    { catalog: out.merge('version' => '<VERSION>', 'catalog_uuid' => '<UUID>', 'code_id' => nil) }
  end
rescue Puppet::Error => e
  { error: e.message }
rescue StandardError, SystemStackError => e
  { error: e.message, ruby: e.class.name }
end

Dir.mktmpdir do |tmp|
  Puppet.initialize_settings(['--confdir', tmp, '--vardir', tmp, '--codedir', tmp, '--certname', NAME])
  Puppet::Util::Log.level = :info
  Puppet::Resource::Catalog.indirection.terminus_class = :compiler
  Puppet::Resource::Catalog.indirection.cache_class = nil
  STDIN.each_line.with_index do |row, i|
    asked = JSON.parse(row).slice('files')
    dir = File.join(tmp, "site#{i}")
    asked['files'].each do |name, text|
      FileUtils.mkdir_p(File.dirname(File.join(dir, name)))
      File.write(File.join(dir, name), text)
    end
    Puppet.clear_deprecation_warnings
    Puppet::Util::Log.close_all
    logs = Rows.new
    Puppet::Util::Log.newdestination(logs)
    answer = compile(dir)
    Puppet::Util::Log.close_all
    logs.rows.reject! { |l| l[:level] == 'err' && l[:message] == answer[:error] }
    text = JSON.generate(asked.merge(answer).merge(logs: logs.rows))
    text = text.gsub(dir, '<ENV>').gsub(SYSTEM_MODULES, '<SYSTEM_MODULES>').gsub(PUPPET_LIB, '<PUPPET_LIB>')
    puts text.gsub(/:0x0{4}[0-9a-f]+/, '')
    STDOUT.flush
    FileUtils.rm_rf(dir)
  end
end
