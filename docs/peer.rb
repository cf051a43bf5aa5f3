# Times the indirector of the Puppet that is installed, case by case, under the
# names and on the instances of BenchmarkPeer in termini, termini/compiler and termini/ral,
# and prints the median of five rounds as JSON: nanoseconds per call; of cases with /cpu
# the time of processors of this process and its children.
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

# resources times a case of termini/ral: calls that are long, so that there are three.
def resources(result, name)
  return unless wanted(name)

  times = lambda do
    t = Process.times
    [Process.clock_gettime(Process::CLOCK_MONOTONIC), t.utime + t.stime + t.cutime + t.cstime]
  end
  yield
  rounds = Array.new(3) do
    before = times.call
    yield
    times.call.zip(before).map { |after, start| ((after - start) * 1e9).round }
  end
  result[name], result["#{name}/cpu"] = rounds.transpose.map { |all| all.sort[1] }
end

# catalog_of is one of these resources: [type, title, parameters].
def catalog_of(resources)
  rows = resources.map { |type, title, parameters| { type: type, title: title, kind: 'compilable_type', tags: [type.downcase], exported: false, parameters: parameters } }
  data = { name: 'n1', version: 1, catalog_format: 2, environment: 'production', classes: [], edges: [], resources: rows }
  Puppet::Resource::Catalog.from_data_hash(JSON.parse(JSON.generate(data)))
end

# apply converts a catalog and walks over it, without files of state.
def apply(catalog, noop)
  Puppet[:noop] = noop
  ral = catalog.to_ral
  ral.finalize
  report = Puppet::Transaction::Report.new
  transaction = Puppet::Transaction.new(ral, report, Puppet::Graph::SequentialPrioritizer.new)
  transaction.evaluate
  report.finalize_report
  raise 'there are failures' if transaction.any_failed?
end

# many_files are files that are as they should be.
def many_files(dir)
  FileUtils.mkdir_p("#{dir}/files")
  Array.new(1000) do |i|
    text = "#{i}\n" * 100
    File.write("#{dir}/files/f#{i}", text)
    File.chmod(0o644, "#{dir}/files/f#{i}")
    ['File', "#{dir}/files/f#{i}", { ensure: 'file', content: text, mode: '0644' }]
  end
end

# many_entries is a directory with 10 000 files below it.
def many_entries(dir)
  100.times do |i|
    FileUtils.mkdir_p("#{dir}/top/d#{i}")
    99.times { |j| File.write("#{dir}/top/d#{i}/f#{j}", '') }
  end
  [['File', "#{dir}/top", { ensure: 'directory', recurse: true, mode: '0644' }]]
end

# many_edges are resources that do nothing, each of which requires two others.
def many_edges
  eval('Puppet::Type.newtype(:probe) { newparam(:name) { isnamevar } }', binding, "#{__dir__}/probe.rb") # Puppet wants an absolute path
  Array.new(10_000) do |i|
    before = [1, 1 + (i * 7919) % 50].select { |back| back <= i }.map { |back| "Probe[r#{i - back}]" }
    ['Probe', "r#{i}", { require: before }]
  end
end

# runs times what is applied, and what is searched.
def runs(result, dir)
  Puppet.override(current_environment: Puppet::Node::Environment.create(:production, []), loaders: nil) do
    resources_of = { 'noop_1000_files' => -> { many_files(dir) }, 'recurse_10000_entries' => -> { many_entries(dir) }, 'graph_10000_resources' => -> { many_edges } }
    resources_of.each do |name, make|
      catalog = catalog_of(make.call) if wanted(name)
      resources(result, name) { apply(catalog, true) }
    end
    turn = 0
    resources(result, 'apply_200_files') do
      top = "#{dir}/#{turn += 1}"
      apply(catalog_of([['File', top, { ensure: 'directory' }]] + Array.new(200) { |i| ['File', "#{top}/f#{i}", { content: "#{turn} #{i}\n", mode: '0640' }] }), false)
    end
    packages = Puppet::Type.type(:package)
    resources(result, 'search_package') { packages.provider(:apt).instances.map { |is| packages.new(name: is.name, provider: is).to_resource } } # all providers of a machine may take long, or fail
    resources(result, 'search_service') { Puppet::Resource.indirection.search('service/') } if File.exist?('/run/systemd/system')
  end
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
  runs(result, dir)
  puts JSON.pretty_generate(result)
end
