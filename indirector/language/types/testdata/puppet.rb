# What real Puppet makes of expressions: for each line of standard input, a JSON
# object with "code", a line with "string" and "type", or with "error".
#
#   ruby puppet.rb < recorded.jsonl > again.jsonl
require 'json'
require 'puppet'
require 'puppet/pops'

Puppet.initialize_settings(%w[--confdir /nonexistent --vardir /nonexistent])
Puppet::Util::Log.level = :crit
environment = Puppet::Node::Environment.create(:production, [])
loaders = Puppet::Pops::Loaders.new(environment)
parser = Puppet::Pops::Parser::EvaluatingParser.new

Puppet.override(current_environment: environment, loaders: loaders) do
  STDIN.each_line do |row|
    asked = JSON.parse(row)
    answer =
      begin
        compiler = Puppet::Parser::Compiler.new(Puppet::Node.new('node1.example.test', environment: environment))
        scope = compiler.topscope
        Puppet.override(global_scope: scope) do
          program = parser.parse_string(asked['code'])
          loaders.instantiate_definitions(program, loaders.public_environment_loader)
          value = parser.evaluate(scope, program)
          { string: parser.evaluator.string(value, scope), type: Puppet::Pops::Types::TypeCalculator.infer_set(value).to_s }
        end
      rescue Puppet::Error => e
        { error: e.message.delete_suffix(Puppet::Util::Errors.error_location_with_space(e.file, e.line, e.pos)) }
      rescue StandardError, SystemStackError => e
        { ruby: "#{e.class}: #{e.message.lines.first}" }
      end
    puts JSON.generate({ code: asked['code'] }.merge(answer))
    STDOUT.flush
  end
end
