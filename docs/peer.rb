# Times the indirector of the Puppet that is installed, case by case, under the
# names and on the instances of BenchmarkPeer in termini, and prints the median
# of five rounds as JSON: nanoseconds per call.
#
#   ruby docs/peer.rb
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
      route(model, terminus)
      result["save_#{terminus}_#{kind}"] = median { model.indirection.save(instance) }
      result["find_#{terminus}_#{kind}"] = median { model.indirection.find(instance.name) }
    rescue LoadError, Puppet::Error => e
      warn "#{terminus} #{kind}: skipped, #{e.message}"
    end
  end
  route(Puppet::Node::Facts, :json, :memory)
  Puppet::Node::Facts.indirection.save(facts)
  result['find_cached_facts'] = median { Puppet::Node::Facts.indirection.find(facts.name) }
  puts JSON.pretty_generate(result)
end
