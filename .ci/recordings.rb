# usage: ruby recordings.rb SEED COUNT SET
# Random inputs for the tools that record real Puppet: requests, routes, keys,
# URIs, served files and hostile bytes, COUNT of them in all, below SET.
require 'yaml'
require 'json'
require 'fileutils'

R = Random.new(Integer(ARGV.fetch(0)))
COUNT = Integer(ARGV.fetch(1))
SET = ARGV.fetch(2)

def one(*of) = of[R.rand(of.size)]
def some(list, chance = 0.3) = list.select { R.rand < chance }
def several(share) = Array.new([COUNT * share / 100, 1].max) { |i| yield i }

def write(name, value)
  path = File.join(SET, name)
  FileUtils.mkdir_p(File.dirname(path))
  File.write(path, YAML.dump(JSON.parse(JSON.generate(value)))) # without aliases
end

RAISES = %w[raise raise_runtime raise_argument raise_ioerror].freeze
FINDS = %w[hit miss expired hit_expiring hit_bare slow false] + RAISES
VERBS = %w[find find head search save destroy expire].freeze
ACTS = { 'find' => FINDS, 'head' => ['true', 'false', 'nil', *RAISES], 'search' => %w[list list_expired list_strings empty nil not_array] + RAISES,
         'save' => ['nil', 'true', *RAISES], 'destroy' => ['string', 'nil', *RAISES], 'filter' => %w[keep drop other raise raise_runtime] }.freeze
FLAGS = %w[ignore_cache ignore_terminus ignore_cache_save].freeze

# script is what a scripted terminus does, the filter always the same. It cannot
# filter what has no name.
def script(verbs)
  s = some(verbs, 0.7).to_h { |v| [v, v != 'filter' && R.rand < 0.2 ? Array.new(3) { one(*ACTS[v]) } : one(*ACTS[v])] }
  s.delete('filter') if Array(s['find']).include?('false')
  s
end

def step
  verb = one(*VERBS)
  s = { 'verb' => verb }
  options = some(FLAGS).to_h { |f| [f, one(true, true, false)] }
  options['environment'] = one('production', 'staging', 'nope') if R.rand < 0.1
  options['fail_on_404'] = true if R.rand < 0.1
  s['options'] = options unless options.empty?
  s['key'] = one('k1', 'k2', 'a b', 'x/y', verb == 'expire' ? 'k3' : '') if R.rand < 0.5
  if verb == 'save'
    s['instance'] = 'other' if R.rand < 0.1
    s['name'] = one('k1', 'k2') if R.rand < 0.3
  end
  s
end

write('dispatch/inputs/indirection.yaml', several(40) do |i|
  c = { 'id' => format('random-%05d', i), 'main' => script(%w[find head search save destroy filter]), 'steps' => Array.new(1 + R.rand(3)) { step } }
  c['main']['authorized?'] = one(true, false) if R.rand < 0.1
  c['cache'] = script(%w[find save destroy]) if R.rand < 0.7
  c.delete('cache') if c['cache'] == {}
  c
end)

TERMINI = %w[yaml json msgpack memory rest plain exec none compiler store_configs floppy] + ['', ':yaml', nil, 'Yaml', 5].freeze
INDIRECTIONS = %w[catalog facts node report resource file_content file_metadata file_bucket_file data_binding gadget].freeze
def routes
  return one('', '--- 5', "--- []\n", "%YAML 1.2\n---\nagent: {facts: {terminus: yaml}}\n", "agent:\n  facts: yaml\n", "agent: 5\n", "a: [", "agent:\n") if R.rand < 0.1
  some(%w[agent apply server master user], 0.5).to_h do |app|
    [app, some(INDIRECTIONS, 0.2).to_h { |i| [i, { 'terminus' => one(*TERMINI), 'cache' => one(*TERMINI) }.reject { R.rand < 0.4 }] }]
  end
end
write('dispatch/inputs/routes.yaml', several(10) { |i| { 'id' => format('random-%05d', i), 'application' => one(*%w[agent apply server master user]), 'routes' => routes } })

PIECES = ['a', 'b.c', '..', '/', '\\', "\0", ':', ' ', 'é', "\n", '%2e', '.', '*', 'C', '-', '~', '?', '#', '@', '[', ']', '%', '日'].freeze
def key(n = 5) = Array.new(R.rand(n)) { one(*PIECES) }.join
write('dispatch/inputs/keys.yaml', 'termini' => [%w[node yaml], %w[facts json]], 'verbs' => %w[path find destroy], 'keys' => several(3) { key }.uniq,
                                   'node_name_keys' => several(5) { key }.uniq, 'environment_names' => several(5) { key }.uniq)
write('dispatch/inputs/uris.yaml', several(10) do |i|
  { 'id' => format('random-%05d', i), 'key' => one('', 'puppet:', 'puppet://', 'puppet:///', 'https://h.example.test', 'file:///', 'filebucket://h:99/', 'http:', 'x:', 'a') +
    one('', 'h', 'h:8150', 'u:p@h', '[::1]:1', 'h_x') + one('', '/') + key }
end)

OPTIONS = { 'links' => ['', 'manage', 'follow', 'ignore', 'foo', nil, ' '], 'checksum_type' => ['', 'md5', 'sha256', 'foo', nil, 'mtime', 'none', 'ctime'],
            'source_permissions' => ['', 'use', 'ignore', 'use_when_creating', 'foo', nil], 'recurse' => ['', 'true', 'false', true, false, '1', 1, 'foo', nil, 0, 'remote'],
            'recurselimit' => ['', '-1', '0', '1', '2', 1, -1, 'infinite', 'foo', nil, '1.5', '010'], 'ignore' => ['', '*.txt', ['*.txt', '.svn'], [], nil, 'deep', '**'],
            'max_files' => ['', '-1', '0', '1', '3', 3, '100', 'foo', nil], 'unknown' => ['x'] }.freeze
TREE = [['mounts/site/a.txt', 'a'], ['mounts/site/sub/b.conf', 'b'], ['mounts/site/sub/deep/c.txt', 'c'], ['mounts/site/.hidden', 'h'],
        ['modules/web/files/index.html', 'x'], ['modules/web/files/conf/site.conf', 's'], ['modules/web/lib/facter/web.rb', 'w'], ['modules/web/facts.d/ext.txt', 'k=v']]
       .map { |path, content| { 'path' => path, 'content' => content } } +
       [['link_file', 'a.txt'], ['link_dir', 'sub'], ['link_broken', 'nowhere'], ['link_up', '../x']].map { |path, to| { 'path' => "mounts/site/#{path}", 'type' => 'link', 'target' => to } }
KEYS = %w[site/a.txt site/link_file site/link_dir site/link_broken site/link_up site site/sub site/sub/deep allowed allowed/b.conf modules/web/index.html modules/web
          plugins plugins/facter pluginfacts nope nope/x site/nope <ENV>/mounts/site/a.txt <ENV>/mounts/site <ENV>/mounts/site/link_broken <ENV>/nothing
          site/ site//a.txt site/./a.txt site/../site/a.txt puppet:///site/sub puppet:///modules/web/conf /site/a.txt].push('', ' ').freeze
CONFS = ["[site]\n  path <ENV>/mounts/site\n[allowed]\n  path <ENV>/mounts/site/sub\n  allow *\n", nil, "[site]\n path <ENV>/mounts/site\n allow *\n deny x\n",
         "[site]\n  path <ENV>/mounts/site\n[site]\n path /x\n", " [site]\npath <ENV>/mounts/site\n"].freeze
several(30) { R.rand }.each_slice(200).with_index do |slice, i|
  requests = slice.map do
    q = { 'verb' => one('find', 'search'), 'key' => one(*KEYS) }
    options = some(OPTIONS.keys, 0.25).to_h { |k| [k, one(*OPTIONS[k])] }
    q['options'] = options unless options.empty?
    q['indirection'] = 'file_content' if R.rand < 0.25
    q['terminus'] = 'file' if q['key'].include?('<ENV>') || R.rand < 0.1
    q['terminus'] = 'selector' if R.rand < 0.15
    q['raw'] = true if R.rand < 0.7
    q
  end
  write("fileserver/random-#{i}.yaml", 'tree' => TREE, 'fileserver_conf' => CONFS[i % CONFS.size], 'settings' => { 'default_file_terminus' => 'file_server' }, 'requests' => requests)
end

TEXTS = { 'facts' => ['{"name":"n","values":{"a":1,"b":[1,{"c":null}]},"timestamp":"2020-01-01T00:00:00Z","expiration":"2199-01-01T00:00:00Z"}'],
          'node' => ['{"name":"n","parameters":{"a":1},"classes":{"x":{}},"environment":"production"}'],
          'catalog' => ['{"name":"n","version":1,"environment":"production","tags":["a"],"resources":[{"type":"File","title":"/a","tags":["f"],"exported":false,"parameters":{"mode":"1"}},{"type":"Class","title":"main"}],"edges":[{"source":"Class[main]","target":"File[/a]"}],"classes":["settings"]}'],
          'report' => ['{"host":"h","time":"2020-01-01T00:00:00Z","configuration_version":1,"transaction_uuid":"u","report_format":12,"puppet_version":"7","status":"ok","logs":[{"level":"notice","message":"m","source":"s","tags":["t"],"time":"2020-01-01T00:00:00Z","file":null,"line":1}],"metrics":{"time":{"name":"time","label":"Time","values":[["a","A",0.5]]}},"resource_statuses":{}}'],
          'resource' => ['{"type":"File","title":"/a","tags":["f"],"exported":false,"parameters":{"mode":"1"}}'],
          'file_metadata' => ['{"path":"/a","relative_path":null,"links":"manage","owner":1,"group":1,"mode":420,"checksum":{"type":"md5","value":"{md5}x"},"type":"file","destination":null}'] }.freeze
SWAPS = ['null', '5', '""', '[]', '{}', 'true', '"x"', '1.5', '{"a":1}', '["a"]', '"20200101"'].freeze

# damage replaces some values of a document.
def damage(v)
  return one(*SWAPS.map { |s| JSON.parse("[#{s}]")[0] }) if R.rand < 0.06
  case v
  when Hash then v.reject { R.rand < 0.03 }.to_h { |k, e| [k, damage(e)] }
  when Array then v.map { |e| damage(e) }
  else v
  end
end
CLASSES = { 'facts' => 'Puppet::Node::Facts', 'node' => 'Puppet::Node', 'catalog' => 'Puppet::Resource::Catalog', 'report' => 'Puppet::Transaction::Report', 'resource' => 'Puppet::Resource' }.freeze
write('formats/hostile/random.yaml', several(20) do |i|
  model = one(*TEXTS.keys)
  v = damage(JSON.parse(TEXTS[model][0]))
  via = one('format:json', 'format:pson', 'format:yaml', 'terminus:yaml', 'terminus:json')
  via = 'format:json' if !%w[facts node catalog report].include?(model) && via.start_with?('terminus')
  via = 'format:json' if model == 'file_metadata'
  text = via.end_with?('yaml') ? YAML.dump(v).sub('---', R.rand < 0.7 && CLASSES[model] ? "--- !ruby/object:#{CLASSES[model]}" : '---') : JSON.generate(v)
  text = text[0, R.rand(text.size)] if R.rand < 0.05
  { 'id' => format('random-%05d', i), 'model' => model, 'via' => via, 'text' => text }
end)
