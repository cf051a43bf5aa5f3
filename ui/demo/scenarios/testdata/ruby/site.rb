# Plays scenarios on real Puppet: each in a fork of its own, over the directory of a
# stage. The file that is named on the command line has them, separated by lines
#
#   == NAME|APPLICATION|DIRECTORY
require 'puppet'
require 'puppet/application/agent'
require 'puppet/application/apply'
require 'puppet/application/device'
require 'puppet/util/command_line'
require 'puppet/configurer'
require 'puppet/face'

# What Puppet Server does when it starts, in its puppet_config.rb.
def start_server
  Puppet.settings.preferred_run_mode = :server
  Puppet.initialize_settings(CONFIGURED)
  Puppet.settings.initialize_app_defaults(Puppet::Settings.app_defaults_for_run_mode(Puppet::Util::RunMode[:server]).merge(:name => 'server', :facts_terminus => 'json'))
  Puppet::ApplicationSupport.push_application_context(Puppet::Util::RunMode[:server])
  Puppet.settings.use :main, :server, :ssl, :metrics
  Puppet::FileServing::Content.indirection.set_global_setting(:terminus_class, :file_server)
  Puppet::FileServing::Metadata.indirection.set_global_setting(:terminus_class, :file_server)
  Puppet::FileBucket::File.indirection.set_global_setting(:terminus_class, :file)
  Puppet::Node.indirection.set_global_setting(:cache_class, Puppet[:node_cache_terminus])
  Puppet::ApplicationSupport.configure_indirector_routes('server')
end

# What a command of Puppet does before it runs.
def start(name)
  return start_server if name == 'server'
  Puppet.initialize_settings(CONFIGURED)
  app = Puppet::Application.find(name).new(Puppet::Util::CommandLine.new('puppet', [name]))
  Puppet.settings.preferred_run_mode = app.class.run_mode.name
  app.initialize_app_defaults
  Puppet::ApplicationSupport.push_application_context(app.class.run_mode, app.class.get_environment_mode)
  app.options[:setdest] = true
  app.preinit if name == 'device'
  app.setup if %w[agent apply device].include?(name)
  app.configure_indirector_routes
end

def of(name)
  Puppet::Indirector::Indirection.instance(name)
end

def find(indirection, key, options = {})
  of(indirection).find(key, options)
end

# What Puppet raises is seen by the probe.
def failing
  yield
rescue StandardError => e
  warn "#{e.class}: #{e.message}" if ENV['SHOW']
  nil
end

def facts
  Puppet::Node::Facts.new('n1', 'kernel' => 'Linux')
end

def catalog(name)
  Puppet::Resource::Catalog.new(name, Puppet::Node::Environment.remote(:production))
end

# A terminus answers every find with the same instance, where that of the scenario
# stands for a server, or its answer takes long.
def answers(indirection, instance, *terminus)
  of(indirection).terminus(*terminus).define_singleton_method(:find) { |_request| instance }
end

# Likewise every save.
def stores(indirection)
  of(indirection).terminus.define_singleton_method(:save) { |_request| nil }
end

# A file was written so many seconds ago.
def date(path, ago)
  File.utime(Time.now - ago, Time.now - ago, path)
end

# Edits a file.
def edit(path)
  File.write(path, yield(File.read(path)))
end

# Cached facts expire in so many seconds.
def expire_in(path, seconds)
  edit(path) { |s| s.sub(/(expiration: ).*/) { $1 + (Time.now + seconds).strftime("'%Y-%m-%d %H:%M:%S.%N %:z'") } }
end

def configurer
  Puppet::Configurer.new('0b5e0a52-30a4-4f43-a9a6-4a1d1c1f6f10')
end

running = 0
File.read(ARGV[0]).split(/^== /).drop(1).each do |scenario|
  first, script = scenario.split("\n", 2)
  name, application, dir = first.split('|')
  pid = fork do
    ARGV.replace([application])
    $0 = 'puppet'
    DIR = dir
    CONFIGURED = %w[conf var code run log public].zip(%w[confdir vardir codedir rundir logdir publicdir]).flat_map { |d, s| ["--#{s}", "#{dir}/#{d}"] } +
                 ['--ssldir', "#{dir}/ssl", '--certname', 'n1', '--color', 'false']
    begin
      start(application)
      Puppet::Util::Log.close_all unless ENV['SHOW']
      eval(script, binding, "scenario.rb", 1)
    rescue StandardError, ScriptError => e
      puts "failed|#{name}|#{e.class}: #{e.message} #{(e.backtrace || [])[0, 4].join(' ')}".tr("\n", ' ')
      $stdout.flush
    end
  end
  puts "played|#{name}|#{pid}"
  $stdout.flush
  running += 1
  Process.wait && running -= 1 if running > 1
end
Process.waitall
