# Reads documents as hex, one a line, and prints what Ruby makes of each: V and
# the value in hex, written as PSON (or MessagePack), or E.
require 'English'
require 'json'
require 'msgpack'
require 'puppet'
require 'puppet/external/pson/pure'

$stdout.sync = true
$VERBOSE = nil

def write(value)
  case value
  when Array then '['.b + value.map { |v| write(v) }.join(',') + ']'
  when Hash then '{'.b + value.map { |k, v| write(k.to_s) + ':' + write(v) }.join(',') + '}'
  when String then '"'.b + PSON.utf8_to_pson(value) + '"'.b
  else value.to_pson
  end
end

while (line = STDIN.gets)
  bytes = [line.chomp].pack('H*')
  begin
    out = case ARGV[0]
          when 'json' then write(JSON.parse(bytes.force_encoding('UTF-8')))
          when 'pson' then write(PSON.parse(bytes.force_encoding('UTF-8')))
          else MessagePack.unpack(bytes).to_msgpack
          end
    puts 'V' + out.unpack1('H*')
  rescue Exception
    puts 'E' + (ARGV[0] == 'pson' ? $ERROR_INFO.message.b.unpack1('H*') : '')
  end
end
