# What goes around Puppet's own methods and is always there. It does nothing but look for
# a listener, and note who sets termini; the rest comes when there has been one.
require 'thread'

module IndirtuiProbe
  class << self
    # The innermost request of this thread, if it is of this connection.
    def top
      local = Thread.current[KEY]
      r = local && local.stack[-1]
      r && r.link.equal?(@link) ? r : nil
    end
  end

  # What set termini and caches, as it is until a request is watched: most processes ask
  # little, and few are watched.
  module Notes
    MOST = 100 # that wait
    DEEP = 42  # frames, among which are the line that set it and what that is part of
    @waiting = Queue.new

    class << self
      # Notes that a slot was set, for all threads or for this one.
      def add(indirection, slot, value, global)
        frames = caller_locations(2, DEEP) unless value.nil? && slot != :cache
        @waiting << [indirection, slot, value, global, frames, Thread.current, Time.now]
        read if @read || @waiting.size > MOST
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      # From now on each is read at once.
      def read
        @read = true
        Routes.note(*@waiting.pop(true)) until @waiting.empty?
      rescue ThreadError # another thread reads them
        nil
      end
    end
  end

  module Hooks
    # What there is for once there is a listener.
    [:Inside, :ExceptionHook, :ServerHttpHook, :RequestHook].each { |name| autoload name, File.join(HOME, 'inside.rb') }

    class << self
      def install(place)
        case place
        when :indirection then outer
        when :log then prepend_to(::Puppet::Util::Log.singleton_class, LogHook, [:newmessage], ::Puppet::Util::Log)
        when :http then http
        when :configurer then prepend_to(::Puppet::Configurer, ConfigurerHook, [:run])
        when :puppet then defined?(::Puppet.log_exception) && ::Puppet.singleton_class.send(:prepend, ExceptionHook)
        when :server_http then defined?(::Puppet::Server::HttpClient) && prepend_to(::Puppet::Server::HttpClient, ServerHttpHook, [:get, :post])
        when :request then defined?(::Puppet::Network::HTTP::Request) && ::Puppet::Network::HTTP::Request.send(:prepend, RequestHook)
        end
      end

      def outer
        c = ::Puppet::Indirector::Indirection
        c.send(:prepend, Outer)
        c.send(:prepend, Global) if has?(c, :set_global_setting)
        true
      end

      def has?(c, name)
        c.method_defined?(name) || c.private_method_defined?(name)
      end

      # Puts a module around methods of which each keeps its visibility.
      def prepend_to(c, mod, names, owner = c)
        missing = names.reject { |n| has?(c, n) }
        missing.each { |n| Inside.lacking(MODULE_NAME.bind(owner).call, n) }
        return true unless missing.empty?
        names.each { |n| mod.send(:ruby2_keywords, n) if mod.instance_method(n).parameters[0] == [:rest, :args] && mod.respond_to?(:ruby2_keywords, true) }
        names.each { |n| mod.send(:private, n) if c.private_method_defined?(n) }
        c.send(:prepend, mod)
        true
      end

      def http
        prepend_to(::Puppet::HTTP::Client, ConnectHook, [:connect])
        prepend_to(::Puppet::HTTP::Client, HttpHook, [:execute_streaming])
      end
    end

    # Around the verbs of an indirection, and its setters.
    module Outer
      [:find, :search, :head, :destroy, :expire].each do |verb|
        module_eval <<-RUBY, __FILE__, __LINE__ + 1
          def #{verb}(key, options = {})
            return super unless (link = IndirtuiProbe.on) && (r = Requests.open(link, :#{verb}, self, key, options))
            Requests.run(r) { r.edited ? super(r.key, r.options) : super(key, options) }
          end
        RUBY
      end

      def save(instance, key = nil, options = {})
        return super unless (link = IndirtuiProbe.on) && (r = Requests.open(link, :save, self, key, options, instance))
        Requests.run(r) { r.edited ? super(r.instance, r.key, r.options) : super(instance, key, options) }
      end

      def terminus_class=(value)
        super
        Notes.add(self, :terminus, value, false)
      end

      def cache_class=(value)
        super
        Notes.add(self, :cache, value, false)
      end

      def reset_terminus_class
        super
        Notes.add(self, :reset, nil, false)
      end
    end

    module Global
      def set_global_setting(setting, value)
        super
        Notes.add(self, :terminus, value, true) if setting == :terminus_class
        Notes.add(self, :cache, value, true) if setting == :cache_class
      end
    end

    module LogHook
      def newmessage(*args)
        Logs.note(args[0]) if IndirtuiProbe.on
        super(*args)
      end
    end

    module HttpHook
      def execute_streaming(*args, &block)
        return super(*args, &block) unless IndirtuiProbe.on && (x = Exchanges.begin(args[0]))
        begin
          x.response = super(*args, &block)
        rescue Exception => e
          x.error = e
          raise
        ensure
          Exchanges.end(x)
        end
      end
    end

    # Puppet connects to a server before it asks, to see whether it is there.
    module ConnectHook
      def connect(*args, &block)
        return super(*args, &block) if block || !IndirtuiProbe.on
        at = IndirtuiProbe.now
        begin
          super(*args)
        rescue StandardError => e
          Exchanges.unreached(args[0], at, e)
          raise
        end
      end
    end

    # The run of an agent: its requests belong together.
    module ConfigurerHook
      def run(*args)
        local = Local.mine
        before = [local.run, local.run_began]
        local.run = instance_variable_defined?(:@transaction_uuid) ? Text.of(instance_variable_get(:@transaction_uuid)) : nil
        local.run_began = IndirtuiProbe.now
        super(*args)
      ensure
        local.run, local.run_began = before if before
      end
    end
  end
end
