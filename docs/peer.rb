# Times the indirector of the Puppet that is installed, case by case, under the
# names and on the instances of BenchmarkPeer in termini and in termini/compiler, and
# prints the median of five rounds as JSON: nanoseconds per call.
#
#   ruby docs/peer.rb [WHAT...]     all, or the cases whose names begin so
require 'fileutils'
require 'json'
require 'tmpdir'
require 'puppet'

DATA = File.expand_path('../termini/testdata/bench', __dir__)
Puppet::Util::Log.level = :warning

# median takes five rounds of at least a fifth of a second each.
def median
  clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }
  yield
  rounds = Array.new(5) do
    calls = 0
    start = clock.call
    loop do
      10.times { yield }
      calls += 10
      break if clock.call - start > 200_000_000
    end
    (clock.call - start) / calls
  end
  rounds.sort[2]
end

# wanted tells whether a case is to be timed.
def wanted(name)
  ARGV.empty? || ARGV.any? { |what| name.start_with?(what) }
end

LANGUAGE = File.expand_path('../indirector/language', __dir__)
MODULES = "#{LANGUAGE}/syntax/testdata/lang/modules"
NODE = 'node1.example.test'

# site lays out what is compiled in a case.
def site(dir, name)
  FileUtils.rm_rf("#{dir}/code")
  env = "#{dir}/code/environments/production"
  FileUtils.mkdir_p([File.dirname(env), "#{dir}/code/modules"])
  if name == 'compile_100_resources'
    FileUtils.mkdir_p(env)
    FileUtils.cp("#{LANGUAGE}/compile/testdata/hundred.pp", "#{env}/site.pp")
    conf = {}
  else
    FileUtils.cp_r("#{MODULES}/#{File.basename(name)}", env)
    conf = YAML.load_file("#{env}/case.yaml")
  end
  File.write("#{env}/environment.conf", "manifest = site.pp\n")
  (conf['modules'] || []).each { |m| FileUtils.ln_s("/usr/share/puppet/modules/#{m}", "#{dir}/code/modules/#{m}") }
  facts = conf['facts'] ? YAML.load_file("#{MODULES}/facts/#{conf['facts']}.yaml") : {}
  [facts, conf['extensions'] || {}]
end

# compile asks the compiler for a catalog, by what is kept of the files or not.
def compile(facts, extensions, dir)
  environments = lambda do
    all = Puppet::Environments::Directories.new("#{dir}/code/environments", ["#{dir}/code/modules"])
    Puppet::Environments::Cached.new(all)
  end
  kept = environments.call
  trusted = Puppet::Context::TrustedInformation.new('remote', NODE, extensions, {})
  lambda do |cold|
    known = cold ? environments.call : kept
    Puppet.override(environments: known, trusted_information: trusted) do
      env = known.get!(:production)
      Puppet.override(current_environment: env) do
        instance = Puppet::Node::Facts.new(NODE, facts.dup)
        Puppet::Resource::Catalog.indirection.find(NODE, facts: instance, facts_format: 'application/json', environment: env)
      end
    end
  end
end

def route(model, terminus, cache = nil)
  model.indirection.terminus_class = terminus
  model.indirection.cache_class = cache
end

Dir.mktmpdir do |dir|
  Puppet.initialize_settings(['--confdir', dir, '--vardir', dir])
  Puppet.push_context(Puppet.base_context(Puppet.settings))
  %i[clientyamldir client_datadir].each { |name| FileUtils.mkdir_p(Puppet[name]) }
  facts = Puppet::Node::Facts.from_data_hash(JSON.parse(File.read("#{DATA}/facts.json")))
  facts.expiration = nil
  catalog = Puppet::Resource::Catalog.from_data_hash(JSON.parse(File.read("#{DATA}/catalog.json")))
  result = {}
  [[facts, %i[memory yaml json]], [catalog, %i[yaml json msgpack]]].each do |instance, termini|
    model = instance.class
    kind = model.indirection.name
    termini.each do |terminus|
      next unless wanted("save_#{terminus}_#{kind}") || wanted("find_#{terminus}_#{kind}")

      route(model, terminus)
      result["save_#{terminus}_#{kind}"] = median { model.indirection.save(instance) }
      result["find_#{terminus}_#{kind}"] = median { model.indirection.find(instance.name) }
    rescue LoadError, Puppet::Error => e
      warn "#{terminus} #{kind}: skipped, #{e.message}"
    end
  end
  if wanted('find_cached_facts')
    route(Puppet::Node::Facts, :json, :memory)
    Puppet::Node::Facts.indirection.save(facts)
    result['find_cached_facts'] = median { Puppet::Node::Facts.indirection.find(facts.name) }
  end
  Puppet[:codedir] = "#{dir}/code"
  Puppet[:environment_timeout] = 'unlimited'
  Puppet[:node_terminus] = 'plain'
  Puppet::Node.indirection.cache_class = nil
  route(Puppet::Node, :plain)
  route(Puppet::Node::Facts, :memory)
  route(Puppet::Resource::Catalog, :compiler)
  %w[compile_100_resources modules/004-apache-vhosts modules/005-apache-mods modules/019-ntp-hiera modules/032-roles-and-profiles].each do |name|
    next unless wanted(name)

    facts, extensions = site(dir, name)
    run = compile(facts, extensions, dir)
    warn "#{name}: #{run.call(false).resources.size} resources"
    result[name] = median { run.call(false) }
    result["#{name}/cold"] = median { run.call(true) }
  end
  puts JSON.pretty_generate(result)
end
