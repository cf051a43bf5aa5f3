# usage: ruby rich.rb SEED COUNT > rich/cases.jsonl
# Random rich data, well formed and malformed, as a parameter x of a resource,
# and what real Puppet reads and writes: lines of {given, written} or
# {given, error, ruby_error}. The words of errors that are Ruby's are free.
exec('ruby', '--disable=error_highlight', '--disable=did_you_mean', $PROGRAM_NAME, *ARGV) if defined?(ErrorHighlight)
require 'puppet'
require 'json'
require 'tmpdir'

ENV['TZ'] = 'UTC'
dir = Dir.mktmpdir
at_exit { FileUtils.remove_entry(dir) }
Puppet.initialize_settings(%w[conf code var run log].flat_map { |d| ["--#{d}dir", File.join(dir, d)] })
Puppet::Util::Log.level = :crit
environment = Puppet::Node::Environment.create(:production, [])
Puppet.push_context({ environments: Puppet::Environments::Static.new(environment), current_environment: environment,
                      rich_data: true, loaders: Puppet::Pops::Loaders.new(environment) }, 'rich')

R = Random.new(Integer(ARGV.fetch(0)))
def one(*of) = of[R.rand(of.size)]
def maybe(chance = 3) = R.rand(chance).zero? ? yield : nil
def digits(n) = Array.new(1 + R.rand(n)) { R.rand(10) }.join

TEXTS = {
  'Timespan' => -> { one('', '-') + one(-> { digits(3) }, -> { "#{digits(3)}-#{digits(2)}:#{digits(2)}:#{digits(2)}" }, -> { "#{digits(2)}:#{digits(2)}" },
                                        -> { "#{digits(4)}:#{digits(2)}:#{digits(2)}" }, -> { "#{digits(7)}-#{digits(2)}:#{digits(2)}" }, -> { digits(25) }, -> { ' 5' }, -> { '' }).call +
                     one('', '', '.', '.' + digits(9), '.' + digits(11), '.500', '.005') },
  'Timestamp' => -> { one('2020', '1', '-5', '0000', '99999', '1969').dup << '-' << one('01', '2', '12', '13', '0') << '-' << one('01', '31', '29', '3', '32') <<
                      (maybe(4) { '' } || one('T', ' ', '  ', 't', '') + one('10:20:30', '1:2:3', '24:00:00', '24:01:00', '23:59:60', '23:59:61', '10:20', '25:00:00') +
                       one('', '', '.5', '.123456789', '.1234567891', '.', '.-5') ) + one('', '', ' UTC', 'UTC', ' CET', ' est dst', ' +02:00', ' -0330', '+5', ' gmt+2', ' XYZ', ' Z', ' Pacific standard time', ' x', ' +1.5') },
  'SemVer' => -> { one('1.2.3', '0.0.0', '1.2', '01.2.3', '10.20.30', 'v1.2.3', '') + one('', '', '-a', '-1', '-01', '-a.b.1', '-', '-é') + one('', '', '+b', '+', '+01', '+a.b', "\n") },
  'SemVerRange' => -> { Array.new(1 + R.rand(3)) { one('', '', '>', '>=', '<', '<=', '~', '^', '=', '~>', '> ', '>v', '!', '=>') + one('1.2.3', '1', '1.x', '*', '2.0.X', '1.2.3-a', '1.2.3-01', '01', 'x.1-01', '') }
                        .join(one(' ', '  ', ' - ', ' || ', '||')) },
  'Regexp' => -> { Array.new(1 + R.rand(4)) { one('a', '.', '*', '(', ')', '[a-z]', '[', '/', '\\d', '\\', '(?i)', '^', '$', '|', '{2}', '+', '(?<n>', '\\1', 'x') }.join },
  'URI' => -> { one('', 'http:', 'HTTP:', 'https:', 'ftp:', 'file:', 'mailto:', 'ldap:', 'x-y:', '1a:', 'puppet:') + one('', '//a', '//A:80', '//u:p@h:8080', '//@h', '//[::1]:443', '//[::1', '//1.2.3.4', '//localhost', '//a b', '//a:', 'a@b', '//é') +
                one('', '/', '/b/c', '//d', 'e', '/%41', '/%', '/%2Fx', '/a b') + one('', '', '?q=1', '?a b', '?%zz', "?'<x>", '?') + one('', '', '#f', '#', '#a#b') },
  'Binary' => -> { one('aGk=', 'aGk', '', 'aGk=aGk=', 'a', '====', "aG\nk=", 'AP8=', 'AP9=', 'a-_=', ' aGk=') }
}.freeze

def text(type) = { '__ptype' => type, '__pvalue' => TEXTS[type].call }

def type(depth = 0)
  deep = -> { depth > 2 ? { '__ptype' => 'Pcore::StringType' } : type(depth + 1) }
  size = -> { { '__ptype' => 'Pcore::IntegerType', 'from' => one(0, 1, -2, nil), 'to' => one(0, 3, nil, { '__ptype' => 'Default' }) }.reject { maybe(4) { true } } }
  one(
    -> { { '__ptype' => 'Pcore::' + one(*%w[Any Binary Default Scalar ScalarData SemVerRange Undef Unit Boolean Numeric Integer Float String Callable Sensitive CatalogEntry Timespan Timestamp Regexp Enum Pattern Tuple Struct Variant No]) + 'Type' } },
    -> { { '__ptype' => 'Pcore::IntegerType', 'from' => one(1, 5, nil, 'a', 2.5), 'to' => one(3, nil, 7, { '__ptype' => 'Default' }) } },
    -> { { '__ptype' => 'Pcore::ArrayType', 'element_type' => deep[], 'size_type' => size[] }.reject { maybe(5) { true } } },
    -> { { '__ptype' => 'Pcore::HashType', 'key_type' => deep[], 'value_type' => deep[], 'size_type' => size[] }.reject { |k, _| k == 'size_type' && R.rand(2).zero? } },
    -> { { '__ptype' => 'Pcore::' + one(*%w[Optional NotUndef Type Iterable Iterator Sensitive]) + 'Type', 'type' => deep[] } },
    -> { { '__ptype' => 'Pcore::EnumType', 'values' => one(%w[b a], %w[x x], [], 'a', ['a', 1]), 'case_insensitive' => one(true, false) }.reject { |k, _| k == 'case_insensitive' && R.rand(2).zero? } },
    -> { { '__ptype' => 'Pcore::' + one('Tuple', 'Variant') + 'Type', 'types' => [deep[], deep[]] } },
    -> { { '__ptype' => 'Pcore::StructType', 'elements' => [{ '__ptype' => 'Pcore::StructElement', 'key_type' => { '__ptype' => 'Pcore::StringType', 'size_type_or_value' => 'a' }, 'value_type' => deep[] }] } },
    -> { { '__ptype' => 'Pcore::PatternType', 'patterns' => [{ '__ptype' => 'Pcore::RegexpType', 'pattern' => one('a', text('Regexp')) }] } },
    -> { { '__ptype' => 'Pcore::' + one('Timespan', 'Timestamp') + 'Type', 'from' => one('5', 5, nil, text('Timespan')), 'to' => one('9', '2020-01-01', nil) } },
    -> { { '__ptype' => 'Pcore::ResourceType', 'type_name' => one('File', nil), 'title' => one('/a', nil) } },
    -> { { '__ptype' => 'Pcore::ClassType', 'class_name' => one('a', nil), 'b' => 1 }.reject { |k, _| k == 'b' && R.rand(4) > 0 } },
    -> { { '__ptype' => 'Pcore::CallableType', 'param_types' => deep[], 'block_type' => nil, 'return_type' => deep[] }.take(2 + R.rand(3)).to_h },
    -> { { '__ptype' => 'Pcore::RuntimeType', 'runtime' => one('ruby', 5), 'name_or_pattern' => one('A', 5, nil) } },
    -> { { '__ptype' => 'Pcore::StringType', 'size_type_or_value' => one('a', size[], nil) } }
  ).call
end

def value(depth = 0)
  deep = -> { depth > 3 ? R.rand(9) : value(depth + 1) }
  one(
    -> { one(1, 'a', nil, true, 1.5, '', 'default', 12_345_678_901_234_567_890, 'é') },
    -> { Array.new(R.rand(4)) { deep.call } },
    -> { Array.new(R.rand(4)) { [one('a', 'b', 'c', '__pvalue', ''), deep[]] }.to_h },
    -> { text(one(*TEXTS.keys)) }, -> { text(one(*TEXTS.keys)) }, -> { text(one(*TEXTS.keys)) },
    -> { { '__ptype' => one(*TEXTS.keys - ['Timestamp']), '__pvalue' => one(5, nil, [], {}, { 'a' => 1 }, 1.5, true) } },
    -> { { '__ptype' => one(*TEXTS.keys - ['Timestamp']) }.merge(one({}, { 'value' => 1 })) },
    -> { { '__ptype' => 'Hash', '__pvalue' => one(-> { Array.new(R.rand(6)) { deep.call } }, -> { [1, 'a', 1.0, 'b', '1', 'c', 1, 'd'] }, -> { one(5, 'ab', nil, true, { 'a' => 1 }, ['a', 1], ['__ptype', 1]) }).call } },
    -> { { '__ptype' => 'Sensitive', '__pvalue' => deep[] } },
    -> { { '__ptype' => 'Sensitive' } },
    -> { { '__ptype' => 'Default' }.merge(one({}, { 'a' => 1 })) },
    -> { { '__ptype' => 'Symbol', '__pvalue' => one('a', 'undef', 'default', 5, nil, '') } },
    -> { { '__ptype' => 'Deferred', 'name' => one('upcase', '$a', '', 5), 'arguments' => one([], [deep[]], nil, 'x') }.reject { maybe(4) { true } } },
    -> { { '__ptype' => one('Deferred', 'Error'), '__pvalue' => one('x', 5, nil, {}) } },
    -> { { '__ptype' => 'Error', 'msg' => one('m', 5), 'kind' => one('k', nil), 'details' => one({ 'a' => deep[] }, nil), 'issue_code' => one('c', nil) }.take(R.rand(6)).to_h.merge('__ptype' => 'Error') },
    -> { { 'a' => deep[], 'b' => { 'c' => [deep[], 7] }, 'r' => { '__ptype' => 'LocalRef', '__pvalue' => one("$['x']['a']", "$['x']['b']['c'][1]", "$['x']['b']", "$[x][a]", "$['x']['no']", "$['x']['no']['no']", "$['x']['r']", '$', "$['x'", '$.x.a', 'a b', '', 5, "$['x']['a'][0]", '$y') } } },
    -> { type }, -> { type }, -> { type },
    -> { { '__ptype' => one('My::Thing', 'foo', '', 'a b', 'Foo Bar', 'Any::', '::Foo', 'x::Y', 'Foo-Bar'), 'a' => 1 } },
    -> { { '__ptype' => one(5, nil, true, [1], { 'a' => 1 }), 'b' => deep[] } }
  ).call
end

def read(given)
  catalog = Puppet::Resource::Catalog.convert_from('rich_data_json', JSON.generate('name' => 'n', 'resources' => [{ 'type' => 'Rich', 'title' => 'r', 'parameters' => { 'x' => given } }]))
  { 'given' => { 'x' => given }, 'written' => JSON.parse(catalog.render('rich_data_json'))['resources'][0]['parameters'] }
rescue StandardError, SystemStackError => e
  cause = e.cause || e
  ruby = !cause.class.name.start_with?('Puppet::', 'SemanticPuppet::') && (cause.class != ArgumentError || cause.message =~ /wrong number|comparison of|out of range|base64/)
  { 'given' => { 'x' => given }, 'error' => e.message.delete_prefix("Could not intern from rich_data_json: ").gsub(/:0x\h+[^>]*/, "") }.merge(ruby ? { 'ruby_error' => true } : {})
end

Integer(ARGV.fetch(1)).times { puts JSON.generate(read(value)) }
