# What real Puppet makes of calls of stdlib's functions: for each line of standard input, a
# JSON object with "code", a line with "string" and "type", or with "error".
require 'json'
require 'puppet'
require 'puppet/pops'
require 'timeout'

modules = ARGV.fetch(0)
Puppet.initialize_settings(%w[--confdir /nonexistent --vardir /nonexistent])
Puppet::Util::Log.level = :crit
environment = Puppet::Node::Environment.create(:production, [modules])
envs = Puppet::Environments::Static.new(environment)
parser = Puppet::Pops::Parser::EvaluatingParser.new

STDIN.each_line do |row|
  asked = JSON.parse(row)
  answer = Puppet.override(environments: envs, current_environment: environment) do
    node = Puppet::Node.new('node1.example.test', environment: environment)
    compiler = Puppet::Parser::Compiler.new(node)
    scope = compiler.topscope
    Puppet.override(loaders: compiler.loaders, global_scope: scope) do
      value = Timeout.timeout(2, SystemStackError) { parser.evaluate(scope, parser.parse_string(asked['code'])) }
      long = value.is_a?(Array) && value.size > 1000
      long ? { skipped: true } : { string: parser.evaluator.string(value, scope), type: Puppet::Pops::Types::TypeCalculator.infer_set(value).to_s }
    rescue Puppet::Error => e
      { error: e.message.delete_suffix(Puppet::Util::Errors.error_location_with_space(e.file, e.line, e.pos)), ruby: !(e.cause.nil? || e.cause.is_a?(Puppet::Error) || e.cause.class == ArgumentError || e.cause.class == TypeError) }
    rescue StandardError, SystemStackError, NoMemoryError => e
      { error: e.message, ruby: true }
    end
  end
  puts JSON.generate({ code: asked['code'] }.merge(answer))
  STDOUT.flush
end
