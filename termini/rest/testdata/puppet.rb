# Real Puppet's rest termini, one question for each line of standard input: a
# JSON object with indirection, verb, key, options, settings and perhaps an
# instance. The answer is a line of JSON.
require 'json'
require 'base64'
require 'puppet'

confdir, vardir, ssldir, codedir = ARGV
Puppet.initialize_settings(['--confdir', confdir, '--vardir', vardir, '--ssldir', ssldir, '--codedir', codedir, '--certname', 'web01'])
Puppet::Util::Log.level = :crit
Puppet[:log_level] = 'crit'

MODELS = {
  'node' => Puppet::Node, 'catalog' => Puppet::Resource::Catalog, 'facts' => Puppet::Node::Facts, 'report' => Puppet::Transaction::Report
}.freeze
INDIRECTIONS = MODELS.merge(
  'file_metadata' => (require 'puppet/file_serving/metadata'; Puppet::FileServing::Metadata),
  'file_content' => (require 'puppet/file_serving/content'; Puppet::FileServing::Content),
  'file_bucket_file' => (require 'puppet/file_bucket/file'; Puppet::FileBucket::File)
).freeze

def plain(value)
  case value
  when Array then value.map { |v| plain(v) }
  when Puppet::HTTP::Response then { 'response' => value.code }
  when Puppet::FileServing::Content then { 'bytes' => Base64.strict_encode64(value.content) }
  when Puppet::FileBucket::File then { 'bytes' => Base64.strict_encode64(value.contents) }
  when nil, true, false, String, Numeric then value
  else value.respond_to?(:to_data_hash) ? value.to_data_hash : value.to_s
  end
end

$stdin.each_line do |line|
  op = JSON.parse(line)
  begin
    op['settings'].each { |k, v| Puppet[k.to_sym] = v }
    indirection = INDIRECTIONS.fetch(op['indirection']).indirection
    instance =
      if op['bytes']
        Puppet::FileBucket::File.new(Base64.strict_decode64(op['bytes']))
      elsif op['instance']
        MODELS.fetch(op['indirection']).from_data_hash(op['instance'])
      end
    options = {}
    op['options'].each { |k, v| options[k.to_sym] = v }
    options[:environment] = Puppet::Node::Environment.remote(op['environment'])
    options[:facts_for_catalog] = Puppet::Node::Facts.from_data_hash(op['facts']) if op['facts']
    context = Puppet::SSL::SSLProvider.new.load_context
    session = Puppet::HTTP::Client.new(ssl_context: context).create_session
    value = Puppet.override(http_session: session) do
      request = indirection.request(op['verb'].to_sym, op['key'], instance, options)
      indirection.terminus(:rest).public_send(op['verb'], request)
    end
    puts JSON.generate('value' => plain(value))
  rescue Exception => e # rubocop:disable Lint/RescueException
    puts JSON.generate('class' => e.class.name, 'message' => e.message.dup.force_encoding('UTF-8').scrub)
  end
  $stdout.flush
end
