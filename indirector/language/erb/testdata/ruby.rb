# What ERB makes of templates: for each line of standard input, a JSON object with
# "code", a line with "out", or with "error".
require 'erb'
require 'json'
require 'timeout'

STDIN.each_line do |row|
  code = JSON.parse(row)['code']
  answer = begin
    box = Object.new
    { 's' => 'Hello wOrld'.freeze, 'l' => [3, 'b', nil, [1, 'x'], 2.5], 'n' => 7, 'f' => -2.75, 'i' => [5, 3, 9, 3], 'w' => %w[pear fig apple fig],
      'h' => { 'b' => 2, 'a' => 1, 'c' => { 'd' => [1] } } }.each { |k, v| box.instance_variable_set("@#{k}", v) }
    { out: Timeout.timeout(2) { box.instance_eval(ERB.new(code, trim_mode: '-').src) } }
  rescue StandardError, ScriptError => e
    { error: "#{e.class}" }
  end
  puts JSON.generate({ code: code }.merge(answer))
  STDOUT.flush
end
