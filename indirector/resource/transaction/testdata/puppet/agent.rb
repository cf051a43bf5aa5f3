# Applies catalogs as Puppet's agent does with one of its cache. Reads a line of JSON for each
# run: {dir, catalog, noop}; answers with one: the report, or why there is none.
require 'json'
require 'puppet'
require 'puppet/configurer'
require 'puppet/type/file'
%w[exec notify schedule filebucket stage whit component].each { |t| require "puppet/type/#{t}" }

CERTNAME = 'node1.example.test'.freeze

def settings(q)
  dir = q['dir']
  at = { 'confdir' => 'conf', 'codedir' => 'code', 'vardir' => 'var', 'publicdir' => 'var/public', 'rundir' => 'var/run', 'logdir' => 'var/log', 'ssldir' => 'var/ssl' }
  args = at.flat_map { |name, sub| ["--#{name}", File.join(dir, sub)] }
  args += ['--certname', CERTNAME, '--environment', 'production', '--default_file_terminus', 'file_server']
  q['noop'] ? args + ['--noop'] : args
end

def run(q)
  cache = File.join(q['dir'], 'var', 'client_data', 'catalog')
  FileUtils.mkdir_p(cache)
  File.write(File.join(cache, "#{CERTNAME}.json"), JSON.generate(q['catalog']))
  Puppet.send(:do_initialize_settings_for_run_mode, :agent, settings(q), true, true, {})
  Puppet::Util::Log.level = :info
  Puppet::Util::Log.close_all
  Puppet.settings.use(:main, :agent)
  Puppet::Resource::Catalog.indirection.terminus_class = :compiler
  Puppet::Resource::Catalog.indirection.cache_class = :json
  Puppet[:use_cached_catalog] = true
  Puppet[:report] = false
  env = Puppet::Node::Environment.create(:production, [], Puppet::Node::Environment::NO_MANIFEST)
  envs = Puppet::Environments::StaticDirectory.new('production', q['dir'], env)
  report = Puppet::Transaction::Report.new(nil, 'production', 'a')
  code = Puppet.override(environments: envs, current_environment: env) do
    Puppet::Configurer.new('a').run(report: report, pluginsync: false)
  end
  { 'exit' => code || 1, 'report' => report.to_data_hash }
end

$stdout.sync = true
ENV['TZ'] = 'UTC'
while (line = $stdin.gets)
  r, w = IO.pipe
  pid = fork do
    r.close
    $stdout.reopen($stderr)
    answer = begin
      run(JSON.parse(line))
    rescue Exception => e # rubocop:disable Lint/RescueException
      { 'crash' => "#{e.class}: #{e.message}\n#{(e.backtrace || []).first(5).join("\n")}" }
    end
    w.write(JSON.generate(answer))
    w.close
    exit!(0)
  end
  w.close
  text = r.read
  Process.wait(pid)
  $stdout.puts text
end
