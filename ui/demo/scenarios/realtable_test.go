package scenarios_test

// A real is how a situation comes about on real Puppet, or why it does not.
type real struct {
	id, variant string // the first variant whose name contains it
	app         string // agent, apply, server, device
	script      string // Ruby: its last request is the one that is shown,
	shows       string // of this indirection; "" is any
	later       int    // so many of these come after it
	not         string // why there is no script
}

// reals are the fifty. Files, settings and servers are those of the scenario.
var reals = []real{
	{id: "S-01", app: "agent", script: `
c = configurer
find(:catalog, 'n1', :facts_for_catalog => facts)
date("#{Puppet[:client_datadir]}/catalog/n1.json", 3 * 86400 + 3600)
c.send(:retrieve_catalog, facts, {})`},
	{id: "S-02", app: "agent", script: `
c = configurer
find(:catalog, 'n1', :facts_for_catalog => facts)
c.send(:retrieve_catalog, facts, {})`},
	{id: "S-03", app: "agent", script: `
Puppet[:use_cached_catalog] = true
Puppet::Resource::Catalog.indirection.cache.save(Puppet::Indirector::Request.new(:catalog, :save, 'n1', catalog('n1')))
date("#{Puppet[:client_datadir]}/catalog/n1.json", 40 * 86400)
configurer.send(:retrieve_catalog, facts, {})`},
	{id: "S-04", app: "server", script: `
find(:facts, 'n1')
edit("#{DIR}/conf/puppetdb.conf") { |s| s.sub(/localhost:\d+/, 'localhost:1') } # where nothing listens
Puppet::Util::Puppetdb.instance_variable_set(:@config, nil)                    # it is read again
failing { of(:facts).save(facts) }
failing { find(:facts, 'n1', :ignore_cache => true) }
find(:facts, 'n1')`},
	{id: "S-05", app: "agent", script: `
answers(:facts, facts)
find(:facts, 'n1')
expire_in("#{Puppet[:clientyamldir]}/facts/n1.yaml", 17 * 60 + 2)
find(:facts, 'n1')`},
	{id: "S-06", app: "server", script: `
find(:node, 'n1')
date("#{Puppet[:yamldir]}/node/n1.yaml", 30 * 86400)
find(:node, 'n1')`},
	{id: "S-07", app: "server", script: `failing { find(:node, 'n1') }`},
	{id: "S-08", app: "server", script: `find(:node, 'n1')`},
	{id: "S-09", variant: "not there", app: "server", script: `failing { find(:node, 'n1') }`},
	{id: "S-09", variant: "not executable", app: "server", script: `
File.write("#{DIR}/bin/enc", "#!/bin/sh\n")
File.chmod(0644, "#{DIR}/bin/enc")
failing { find(:node, 'n1') }`},
	{id: "S-10", variant: "server section on an agent", app: "agent", script: `find(:facts, 'n1')`},
	{id: "S-10", variant: "master section on an agent", app: "agent", script: `find(:facts, 'n1')`},
	{id: "S-10", variant: "agent section for apply", app: "apply", script: `find(:facts, 'n1')`},
	{id: "S-10", variant: "misspelled", app: "agent", script: `find(:facts, 'n1')`},
	{id: "S-11", app: "agent", script: `
answers(:catalog, catalog('n1'))
find(:catalog, 'n1')`},
	{id: "S-12", variant: "cache: false", app: "server", script: `find(:node, 'n1')`},
	{id: "S-13", not: "Puppet does not start with such a file, so that there is no request; this program goes on without it"},
	{id: "S-14", app: "agent", script: `
answers(:facts, facts)
find(:facts, 'n1')
expire_in("#{Puppet[:clientyamldir]}/facts/n1.yaml", -300)
find(:facts, 'n1', :ignore_terminus => true)`},
	{id: "S-15", app: "agent", script: `
find(:node, 'n1')
configurer.send(:current_server_specified_environment, 'production', 'production', :report => Puppet::Transaction::Report.new)`},
	{id: "S-16", app: "server", script: `
find(:catalog, 'n1', :environment => Puppet.lookup(:environments).get(:production), :check_environment => 'true', :node => 'n1')`},
	{id: "S-17", app: "agent", script: `find(:node, 'n1', :environment => Puppet::Node::Environment.remote(:zz))`},
	{id: "S-18", variant: "about the node", app: "agent", script: `find(:node, 'n1')`},
	{id: "S-18", variant: "about the environment", app: "agent", script: `find(:node, 'n1', :environment => Puppet::Node::Environment.remote(:production))`},
	{id: "S-18", variant: "over the network", app: "agent", script: `find(:node, 'n1')`},
	{id: "S-18", variant: "somebody else", app: "agent", script: `find(:node, 'n1')`},
	{id: "S-19", app: "agent", script: `find(:file_bucket_file, 'filebucket://other.example.com:8140/md5/e1c06d85ae7b8b032bef47e42e4c08f9')`},
	{id: "S-20", app: "agent", script: `
file = Puppet::FileBucket::File.new('text of a file')
of(:file_bucket_file).save(file, file.name + '//etc/motd')
find(:file_bucket_file, file.name)`},
	{id: "S-21", app: "agent", script: `
file = Puppet::FileBucket::File.new('text of a file')
of(:file_bucket_file).save(file, file.name + '//etc/motd')
find(:file_bucket_file, file.name + '//etc/issue')`},
	{id: "S-22", app: "agent", script: `
failing { find(:file_bucket_file, 'md5/ad0234829205b9033196ba818f7a872b') }`},
	{id: "S-23", app: "apply", script: `find(:file_metadata, 'puppet:///modules/m/f')`},
	{id: "S-24", not: "Puppet looks into its modules without a request: which of them have the file, too, is nothing that a probe can see"},
	{id: "S-25", app: "agent", script: `
answers(:catalog, catalog('n1'))
find(:catalog, 'n1')
failing { find(:catalog, 'n1', :ignore_terminus => true) }`},
	{id: "S-26", app: "agent", script: `
answers(:catalog, catalog('other'))
find(:catalog, 'n1', :ignore_cache => true, :ignore_cache_save => true)`},
	{id: "S-27", app: "agent", script: `
answers(:catalog, catalog('n1'))
find(:catalog, 'n1')`},
	{id: "S-28", app: "agent", script: `
answers(:catalog, catalog('n1'))
failing { find(:catalog, 'n1') }`},
	{id: "S-29", app: "server", script: `
FileUtils.rm_rf(Puppet[:yamldir])
failing { of(:node).save(Puppet::Node.new('n1')) }`},
	{id: "S-30", app: "server", script: `find(:node, 'n1')`},
	{id: "S-31", app: "apply", script: `
Puppet.override(:current_environment => Puppet.lookup(:environments).get(:production)) do
  node = Puppet::Node.new('n1', :environment => 'production')
  2.times { find(:catalog, 'n1', :use_node => node, :environment => Puppet.lookup(:current_environment)) }
end`},
	{id: "S-32", app: "agent", later: 1, script: `
configurer.send(:send_report, Puppet::Transaction::Report.new)`},
	{id: "S-33", app: "device", script: `
stores(:report)
of(:report).save(Puppet::Transaction::Report.new)`},
	{id: "S-34", app: "agent", script: `failing { find(:node, 'n1') }`},
	{id: "S-35", not: "Ruby's error has the subject of the certificate, but neither its issuer nor the authorities that are known"},
	{id: "S-36", app: "server", script: `failing { of(:node).head('n1') }`},
	{id: "S-37", app: "server", script: `of(:node).search('n1')`},
	{id: "S-38", app: "server", script: `of(:facts).search('x', 'facts.os.family.eq' => 'Debian')`},
	{id: "S-39", app: "apply", script: `
of(:facts).set_global_setting(:terminus_class, :memory)
of(:facts).save(facts)
Puppet::ApplicationSupport.configure_indirector_routes('apply')
find(:facts, 'n1')`},
	{id: "S-40", app: "catalog", script: `
answers(:catalog, catalog('n1'), :rest)
Puppet::Face[:catalog, :current].download
find(:catalog, 'n1')`},
	{id: "S-41", app: "server", script: `
find(:facts, 'n1')
worker = Thread.new do
  of(:facts).terminus_class = :memory
  find(:facts, 'n1')
end
worker.name = 'worker 1'
worker.join`},
	{id: "S-42", app: "apply", script: `
Puppet.override(:current_environment => Puppet.lookup(:environments).get(:production)) do
  find(:catalog, 'n1', :use_node => Puppet::Node.new('n1', :environment => 'production'), :environment => Puppet.lookup(:current_environment))
end`},
	{id: "S-43", not: "there is no scenario: what is shown would be that there is no request"},
	{id: "S-44", app: "server", script: `of(:node).destroy('n1')`},
	{id: "S-45", app: "apply", script: `find(:file_metadata, 'puppet:///modules/m/a%20b')`},
	{id: "S-46", not: "the first line reports that Puppet fails where this program goes on; in Puppet the error itself comes first"},
	{id: "S-47", app: "server", script: `failing { find(:file_metadata, 'nomount/f', :node => 'web01.example.com') }`},
	{id: "S-48", app: "agent", script: `find(:file_metadata, "$URL/motd")`},
	{id: "S-49", app: "server", script: `failing { find(:facts, 'n1') }`},
	{id: "S-50", app: "agent", script: `
answers(:facts, facts)
find(:facts, 'n1')
path = "#{Puppet[:clientyamldir]}/facts/n1.yaml"
expire_in(path, -1800)
date(path, 0)
find(:facts, 'n1')`},
}
