# Finds all matches of expressions in texts. A question is {"source", "text"}; its answer
# is {"found", "error"}: of each match where groups begin and end, in bytes.
require 'json'
$VERBOSE = nil
STDIN.each_line do |line|
  q = JSON.parse(line)
  begin
    found = []
    q['text'].scan(Regexp.new(q['source'])) do
      m = $~
      found << (0...m.size).flat_map { |i| m.begin(i) ? [q['text'][0...m.begin(i)].bytesize, q['text'][0...m.end(i)].bytesize] : [-1, -1] }
    end
    puts({ 'found' => found }.to_json)
  rescue RegexpError => e
    puts({ 'error' => e.message }.to_json)
  end
end
