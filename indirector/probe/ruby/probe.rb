# Watches the indirector of the Puppet in this process and writes what its
# requests do to a Unix socket, one JSON object a line. It changes no result
# unless the other side asks for it, raises nothing into Puppet, and never waits
# for the socket. Loaded before Puppet, by RUBYOPT=-r or by server/puppet.rb.
#
# Ruby 1.9 syntax, and nothing but Ruby's own library.
module IndirtuiProbe
  VERSION = 1
  HOME = File.dirname(File.expand_path(__FILE__))
  KEY = :indirtui_probe # of what a thread has, see Local
  # What may go wrong in the probe, or in what it calls of others. A Timeout of
  # Puppet, which may strike while the probe works, is none of these.
  module Fault
    def self.===(e)
      case e
      when StandardError then !(defined?(::Timeout::Error) && ::Timeout::Error === e)
      when ScriptError, SystemStackError then true
      else false
      end
    end
  end
  MODULE_NAME = Module.instance_method(:name)
  # Where the hooks go: the class, and whether they go into its singleton class.
  PLACES = {
    'Puppet::Indirector::Indirection' => :indirection, 'Puppet::Util::Log' => :log, 'Puppet::HTTP::Client' => :http,
    'Puppet::Configurer' => :configurer
  }.freeze
  # A method of each by which it is known that its body has been read.
  LAST = { :indirection => :save, :log => :newmessage, :http => :execute_streaming, :configurer => :run }.freeze
  # What is loaded when it is first needed: most runs of Puppet's commands ask little.
  {
    :Hooks => 'hooks', :Notes => 'hooks', :Link => 'link', :Local => 'local', :Text => 'text', :Places => 'places', :Routes => 'routes', :Settings => 'settings', :Choice => 'routes',
    :Route => 'routes', :Taps => 'taps', :Exchanges => 'taps', :Logs => 'taps', :Redact => 'redact', :Steps => 'steps', :Request => 'request', :Requests => 'requests', :Left => 'requests',
    :Values => 'values', :Hold => 'hold', :Swaps => 'inside', :Work => 'work', :Clues => 'clues', :Unused => 'unused', :Pool => 'pool'
  }.each { |name, file| autoload name, File.join(HOME, file + '.rb') }

  # Sees classes as they are made. A TracePoint for their ends would slow down all that
  # is loaded afterwards, and so would constants here, which Ruby looks up again, and keeps,
  # after each class that it has named. All classes of PLACES come directly from Object.
  module Inherited
    probe = IndirtuiProbe
    object = Object
    define_method(:inherited) do |c|
      super(c)
      coming = probe.coming
      probe.seen(c) if coming && (object.equal?(self) || !coming.empty?)
    end
    private :inherited
  end

  class << self
    attr_reader :path, :last, :lacks, :link, :installed, :coming, :server, :program
    attr_accessor :faults, :traces

    # Takes what started the probe out of the environment, which commands and
    # classifiers inherit.
    def leave_environment
      @path = ENV.delete('INDIRTUI_ATTACH').to_s
      @waits = ENV.delete('INDIRTUI_WAIT') == '1'
      @traces = ENV.delete('INDIRTUI_TRACEPARENT') != 'no'
      return unless (options = ENV['RUBYOPT'])
      rest = options.sub(/(\A|\s)-r\s*#{Regexp.escape(File.join(HOME, 'probe'))}(?:\.rb)?(?=\s|\z)/, '').sub(/\A\s+/, '')
      return if rest == options
      rest.empty? ? ENV.delete('RUBYOPT') : ENV['RUBYOPT'] = rest
    end

    def start
      @faults = 0
      @lacks = []
      @installed = {}
      @next_look = 0
      @looking = Mutex.new
      @program = $0.to_s.dup # a run of the daemon has another name
      leave_environment
      return if @path.empty?
      return too_old unless Module.private_method_defined?(:prepend) || Module.method_defined?(:prepend)
      defined?(::Puppet::Indirector::Indirection) ? late : wait
    end

    # Counts a fault of the probe.
    def fault(e)
      @faults += 1
      @last = "#{e.class}: #{e.message.to_s[0, 300]} (#{File.basename((e.backtrace || ['?'])[0].to_s)})"
      nil
    end

    # Waits for Puppet's classes.
    def wait
      @coming = {}
      Object.singleton_class.send(:prepend, Inherited)
    end

    # A class is made. Those before it are hooked once they have their methods.
    def seen(c)
      coming = @coming or return
      hook_those(coming) unless coming.empty?
      place = PLACES[c.name]
      coming[place] = c if place
    rescue Fault => e
      fault(e)
    end

    def hook_those(coming)
      @coming = nil # the probe has classes, too
      coming.delete_if { |place, owner| there?(place, owner) && (install(place) || true) }
    ensure
      @coming = coming unless @late
    end

    # This is Puppet Server: which requests come in is of interest from the first one on.
    def server=(on)
      @server = on
      @coming[:request] = nil if @coming
    end

    def there?(place, owner)
      return defined?(::Puppet::Network::HTTP::Request) if place == :request
      owner = owner.singleton_class if place == :log
      owner.method_defined?(LAST[place]) || owner.private_method_defined?(LAST[place])
    end

    # Puppet is loaded: had its classes not been seen coming, they would be hooked now.
    def loaded
      late unless @path.empty? || @installed[:indirection]
    end

    # Hooks what is there and was not seen coming; nothing is waited for any more.
    def late
      @late = true
      @coming = nil
      PLACES.each { |name, place| install(place) if find_class(name) }
      [:puppet, :server_http, :request].each { |place| install(place) }
      no_client unless @installed[:http] || @no_client
    rescue Fault => e
      fault(e)
    end

    # Older versions of Puppet ask over connections of their own.
    def no_client
      @no_client = true
      Hooks::Inside.lacking('Puppet::HTTP::Client', :execute_streaming)
    end

    # What Puppet's command line started: "agent", "apply"; "server" in Puppet Server.
    def application
      return 'server' if @server
      name = File.basename(@program)
      name == 'puppet' ? ARGV.find { |a| a !~ /\A-/ }.to_s[/\A\w{0,30}\z/].to_s : name
    rescue Fault
      ''
    end

    def find_class(name)
      name.split('::').inject(Object) { |m, part| m && m.const_defined?(part, false) ? m.const_get(part, false) : nil }
    end

    def install(place)
      return if @installed[place]
      @installed[place] = true if Hooks.install(place)
      on if place == :indirection
    end

    def too_old
      @lacks << ['Module#prepend', "nothing is seen: Ruby #{RUBY_VERSION} is too old"]
      at_exit { look && @link.finish(0) }
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    end

    # The connection to whoever listens; nil if there is none.
    def on
      link = @link
      return link if link && link.pid == Process.pid
      look
    end

    # Looks for the socket, at most once a second.
    def look
      pid = Process.pid
      at = now
      return nil if at < @next_look && @looked == pid || !@looking.try_lock
      begin
        Mutex.new.synchronize { look_now(pid, at) }
      ensure
        @looking.unlock
      end
    rescue ThreadError # in a handler of a signal, where no lock can be taken
      nil
    rescue Fault => e
      fault(e)
    end

    def look_now(pid, at)
      forked = @link && @link.pid != pid
      @link.leave if forked
      @link = nil
      @looked = pid
      @next_look = at + 1_000_000_000
      File.socket?(@path) ? connect : nil
    end

    def connect
      link = Link.open(@path) or return nil
      @link = link
      at_exit { finish } unless @exits # also in a daemon, which asks nothing itself
      @exits = true
      link.await_first if @waits && @waited != link.pid # also each run of a daemon
      @waited = link.pid
      link
    end

    # The connection is over.
    def gone(link)
      @link = nil if @link.equal?(link)
    end

    def finish
      status = $!.respond_to?(:status) ? $!.status : ($! ? 1 : 0)
      link = on
      link.finish(status) if link
    rescue Fault => e
      fault(e)
    end
  end
end
IndirtuiProbe.start
