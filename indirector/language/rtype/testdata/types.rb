#!/usr/bin/env ruby
# usage: types.rb >types.json
#        types.rb MODULEPATH NAME... >types.json
# Writes what a compiler has to know of resource types, as the Puppet that is
# installed has them: of those that are built in, with the metaparameters, or of
# those by these names in modules. No texts of documentation. A type that cannot be
# loaded has the key "error" only.
require 'puppet'
require 'json'
require 'tmpdir'

# A regular expression as types.go knows it.
def title(regexp, attributes)
  { 'pattern' => regexp.source, 'options' => regexp.options & 7, 'attributes' => attributes.map { |a| a[0].to_s },
    'converted' => attributes.any? { |a| a[1] && a[1].call('Ab-/1') != 'Ab-/1' } }.reject { |_, v| v == false }
end

def describe(type)
  titles = begin
    type.title_patterns.map { |regexp, attributes| title(regexp, attributes) }
  rescue StandardError, NotImplementedError
    nil
  end
  h = { 'keys' => type.key_attributes.map(&:to_s), 'titles' => titles,
        'properties' => type.properties.map { |p| p.name.to_s }, 'parameters' => type.parameters.map(&:to_s) }
  h['many'] = true unless type.isomorphic?
  h
end

def table(entries)
  "{\n" + entries.map { |name, entry| "    #{JSON.generate(name)}: #{JSON.generate(entry)}" }.join(",\n") + "\n  }"
end

Dir.mktmpdir('types') do |dir|
  path, *names = ARGV
  Puppet.initialize_settings(['--confdir', dir, '--codedir', dir, '--vardir', dir])
  Puppet::Util::Log.close_all
  if path
    environment = Puppet::Node::Environment.create(:production, path.split(':'))
    loaded = Puppet.override(current_environment: environment) do
      path.split(':').each { |d| $LOAD_PATH.concat(Dir[File.join(d, '*', 'lib')].sort) }
      names.to_h do |name|
        type = Puppet::Type.type(name.to_sym)
        [name, type ? describe(type) : { 'error' => 'none' }]
      rescue ScriptError, StandardError => e
        [name, { 'error' => e.class.name }]
      end
    end
    puts "{\n  \"types\": #{table(loaded)}\n}"
  else
    lib = $LOADED_FEATURES.grep(%r{/puppet/type\.rb\z}).map { |f| File.dirname(f) }.first
    names = Dir[File.join(lib, 'type', '*.rb')].map { |f| File.basename(f, '.rb') }.sort
    metaparameters = []
    Puppet::Type.eachmetaparam { |n| metaparameters << n.to_s }
    puts "{\n  \"metaparameters\": #{JSON.generate(metaparameters)},\n  \"types\": #{table(names.to_h { |n| [n, describe(Puppet::Type.type(n.to_sym))] })}\n}"
  end
end
