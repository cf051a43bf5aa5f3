# What real Puppet makes of sources: for each line of standard input, a JSON object
# with "code" and perhaps "epp", "file" and "strict", a line with "pn" or
# "error", "line" and "column", and "logs". An answer may be asked again.
#
#   ruby puppet.rb < trees.jsonl > again.jsonl
require 'json'
require 'puppet'
require 'puppet/pops'
require 'puppet/pops/pn'

Puppet.initialize_settings(%w[--confdir /nonexistent --vardir /nonexistent])
environment = Puppet::Node::Environment.create(:production, [])
logs = []
Puppet::Util::Log.newdesttype(:collected) do
  match :collected
  def initialize(*) = nil
  define_method(:handle) { |m| logs << m if %i[warning err].include?(m.level) }
end
Puppet::Util::Log.newdestination(:collected)
Puppet::Util::Log.level = :warning

def place(detail)
  { line: detail.line, column: detail.pos }.compact
end

Puppet.override(current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment)) do
  STDIN.each_line do |row|
    asked = JSON.parse(row)
    Puppet[:strict] = (asked['strict'] || 'warning').to_sym
    logs.clear
    parser = asked['epp'] ? Puppet::Pops::Parser::EvaluatingParser::EvaluatingEppParser.new : Puppet::Pops::Parser::EvaluatingParser.new
    answer =
      begin
        tree = parser.parse_string(asked['code'], asked['file'])
        { pn: Puppet::Pops::Model::PNTransformer.transform(tree).to_s }
      rescue Puppet::ParseError => e
        { error: e.message.delete_suffix(Puppet::Util::Errors.error_location_with_space(e.file, e.line, e.pos)) }.merge(place(e))
      rescue StandardError, SystemStackError => e
        { ruby: "#{e.class}: #{e.message.lines.first}" }
      end
    answer[:logs] = logs.map { |m| { level: m.level, message: m.message.to_s, line: m.line, column: m.pos }.compact } unless logs.empty?
    puts JSON.generate(asked.slice('code', 'epp', 'file', 'strict').merge(answer))
    STDOUT.flush
  end
end
