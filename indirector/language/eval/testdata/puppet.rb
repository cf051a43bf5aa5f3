# What real Puppet makes of programs: for each line of standard input, a JSON object with
# "code", a line with "string" and "type", or with "error", "line" and "column".
#
#   ruby puppet.rb < recorded.jsonl > again.jsonl
require 'json'
require 'puppet'
require 'puppet/pops'
require 'timeout'

Puppet.initialize_settings(%w[--confdir /nonexistent --vardir /nonexistent])
Puppet::Util::Log.level = :crit
Process.setrlimit(:AS, 1 << 30)
environment = Puppet::Node::Environment.create(:production, [])
parser = Puppet::Pops::Parser::EvaluatingParser.new

STDIN.each_line do |row|
  asked = JSON.parse(row)
  compiler = Puppet::Parser::Compiler.new(Puppet::Node.new('node1.example.test', environment: environment))
  scope = compiler.topscope
  loaders = compiler.loaders
  answer = Puppet.override(current_environment: environment, loaders: loaders) do
    Puppet.override(global_scope: scope) do
      program = parser.parse_string(asked['code'])
      loaders.instantiate_definitions(program, loaders.private_environment_loader)
      value = Timeout.timeout(1, SystemStackError) { parser.evaluate(scope, program) }
      { string: parser.evaluator.string(value, scope), type: Puppet::Pops::Types::TypeCalculator.infer_set(value).to_s }
    end
  rescue Puppet::Error => e
    { error: e.message.delete_suffix(Puppet::Util::Errors.error_location_with_space(e.file, e.line, e.pos)), line: e.line, column: e.pos }
  rescue StandardError, SystemStackError, NoMemoryError => e
    { ruby: "#{e.class}: #{e.message.lines.first}" }
  end
  # What cuts a text amid a character, as String does with a precision, gives no text of JSON.
  answer = answer.transform_values { |v| v.is_a?(String) ? v.scrub : v }
  puts JSON.generate({ code: asked['code'] }.merge(answer))
  STDOUT.flush
end
