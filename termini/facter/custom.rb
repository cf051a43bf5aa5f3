# Evaluates files of custom facts. Standard input is one object of JSON: the files,
# the external facts, those that are cached, and directories of Puppet. Standard output has one for each
# file, as soon as that is done: its facts, when it began, how long it took, and what went wrong;
# and one of core facts that only Ruby knows.
require 'json'
began = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
given = JSON.parse($stdin.read)
out = $stdout.dup
$stdout.reopen($stderr) # what facts print is no answer
require 'facter'
begin
  require 'puppet'
  Puppet.initialize_settings(%w[confdir vardir].reject { |n| given[n].empty? }.flat_map { |n| ["--#{n}", given[n]] })
rescue StandardError, LoadError
  nil # then facts that need it fail
end

NAMES = []
CACHED = given['cached']
Facter.singleton_class.prepend(Module.new do
  def add(name, options = {}, &block)
    super.tap { found(name) }
  end

  def define_fact(name, options = {}, &block)
    super.tap { found(name) }
  end

  # A fact that is cached is not resolved.
  def found(name)
    NAMES << name.to_s.downcase
    CACHED.delete(NAMES.last)&.then { |value| Facter.add(name) { has_weight(10_000) && setcode { value } } }
  end
end)

Facter.load_external(false)
given['external'].each { |name, value| Facter.add(name) { has_weight(10_000) && setcode { value } } }
dirs = given['files'].map { |file| File.dirname(file) }.uniq
Facter.search(*dirs)
dirs.each { |dir| $LOAD_PATH << File.dirname(dir) }

now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond) }
seen = {}
given['external'].each_key { |name| seen[name] = true }
out.sync = true
given['files'].each do |file|
  start = now.call
  NAMES.clear
  answer = { 'file' => file, 'facts' => {} }
  begin
    Kernel.load(file)
    NAMES.uniq.each do |name|
      next if seen[name]

      value = LegacyFacter[name]&.value
      JSON.generate([value])
      seen[name] = true
      answer['facts'][name] = value unless value.nil?
    end
  rescue Exception => e # rubocop:disable Lint/RescueException -- a fact may even exit
    answer['error'] = "Error loading fact #{file}: #{e.message}".scrub
  end
  out.puts(JSON.generate(answer.merge('began' => start - began, 'took' => now.call - start)))
end
core = {}
begin
  core['ruby'] = { 'platform' => RUBY_PLATFORM, 'sitedir' => RbConfig::CONFIG['sitelibdir'], 'version' => RUBY_VERSION }
  version = Facter.value('augeas.version')
  core['augeas'] = { 'version' => version } if version
rescue StandardError
  nil # they are facts of this interpreter, and it has none
end
out.puts(JSON.generate('core' => core))
exit!(0) # whatever a fact has left to be done at the end
