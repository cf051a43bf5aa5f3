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

  class << self
    attr_reader :path, :last, :lacks, :link, :installed, :program
    attr_accessor :faults, :traces, :server

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

    # Waits for Puppet's classes, which are hooked when each is there.
    def wait
      @point = TracePoint.new(:end) do |tp|
        begin
          place = PLACES[MODULE_NAME.bind(tp.self).call]
          install(place) if place
          install(:request) if @server && !@installed[:request]
        rescue Fault => e
          fault(e)
        end
      end
      @point.enable
    end

    # Puppet is loaded: had its classes not been seen coming, they would be hooked now.
    def loaded
      late unless @path.empty? || @installed[:indirection]
    end

    # Hooks what is there and was not seen coming; nothing is waited for any more.
    def late
      @late = true
      @point.disable if @point
      @point = nil
      PLACES.each { |name, place| install(place) if find_class(name) }
      [:puppet, :server_http, :request].each { |place| install(place) }
      no_client unless @installed[:http] || @no_client
    rescue Fault => e
      fault(e)
    end

    # Older versions of Puppet ask over connections of their own.
    def no_client
      @no_client = true
      Hooks.lacking('Puppet::HTTP::Client', :execute_streaming) if defined?(Hooks)
    end

    # Whether all that is waited for has been seen, or never will be.
    def late?
      @late
    end

    def find_class(name)
      name.split('::').inject(Object) { |m, part| m && m.const_defined?(part, false) ? m.const_get(part, false) : nil }
    end

    def install(place)
      return if @installed[place]
      require File.join(HOME, 'hooks') unless defined?(Hooks)
      @installed[place] = true if Hooks.install(place)
      on if place == :indirection
    end

    def too_old
      @lacks << ['Module#prepend', "nothing is seen: Ruby #{RUBY_VERSION} is too old"]
      require File.join(HOME, 'link')
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
      require File.join(HOME, 'link') unless defined?(Link)
      link = Link.open(@path) or return nil
      @link = link
      at_exit { finish } unless @exits # also in a daemon, which asks nothing itself
      @exits = true
      Hooks.attached if defined?(Hooks)
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
