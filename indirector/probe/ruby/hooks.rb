# What goes around Puppet's own methods. Those that are always there do nothing
# but look for a listener; the others come when there has been one.
module IndirtuiProbe
  # Names of Puppet that are not public, and what is not seen without each.
  PRIVATE = [
    ['Puppet::Indirector::Indirection', :prepare, 'routes, authorization and validation are not seen'],
    ['Puppet::Indirector::Indirection', :check_authorization, 'authorization is not seen'],
    ['Puppet::Indirector::Indirection', :find_in_cache, 'reads of caches are not told apart from termini'],
    ['Puppet::Indirector::Indirection', :terminus, 'termini are not seen'],
    ['Puppet::HTTP::Client', :execute_streaming, 'exchanges below REST are not seen'],
    ['Puppet::Util::Log', :newmessage, 'log lines are not seen'],
    ['Puppet::Util::Execution', :execute, 'commands of termini are not seen'],
    ['Puppet::Util::Execution', :execute_posix, 'what commands write to their standard error is not seen'],
    ['Puppet::FileSystem', :read, 'files that termini read are not seen'],
    ['Puppet::FileSystem', :replace_file, 'files that termini write are not seen'],
    ['Puppet::FileSystem', :unlink, 'files that termini remove are not seen'],
    ['Puppet::Configurer', :run, 'requests of a run are joined only where Puppet names the run']
  ].freeze

  # That a request ended without an answer and without an error.
  class Left < StandardError
  end

  class << self
    # Begins a request; nil if there is no listener.
    def open(verb, indirection, key, options, instance = nil, direct = false)
      link = on or return nil
      begin_with(link) unless link.ready?
      local = Thread.current[KEY]
      unless local && local.found_route.equal?(link)
        local = Local.mine
        local.stack.clear unless local.found_route.nil?
        local.found_route = link
        link.watch(local)
      end
      Request.new(link, local, verb, indirection, key, options, instance, Places.caller_json(direct ? 4 : 2), direct)
    rescue Fault => e
      fault(e)
    end

    # The first request of a connection.
    def begin_with(link)
      late
      Hooks.attached
      link.ready
    end

    def enter(r)
      r.local.stack.push(r)
      r.take_route
      hold = r.link.hold
      r.held_answer(hold.stop(r, Steps::ROUTE, false, nil, nil, nil)) if hold.on
    end

    # Ends a request, whatever it ended with.
    def leave(r, result)
      stack = r.local.stack
      stack[-1].equal?(r) ? stack.pop : stack.reject! { |x| x.equal?(r) }
      link = r.link
      return unless link.equal?(@link)
      r.result = result
      Values.keep(r, result)
      return r.write_plain if r.plain?
      if r.done then r.settle
      else
        r.error ||= Left.new('left by throw, or its thread was killed')
        r.settle_failed
      end
      line = r.line
      link.finished(line.bytesize < Link::LONGEST ? line : r.short_line)
    rescue Fault => e
      fault(e)
    end

    # The innermost request of this thread, if it is of this connection.
    def top
      local = Thread.current[KEY]
      r = local && local.stack[-1]
      r && r.link.equal?(@link) ? r : nil
    end
  end

  module Hooks
    # What goes around methods that are called inside of requests.
    [:Ends, :PrepareHook, :AuthorizeHook, :CacheHook, :TerminusHook, :Swapped, :ServerHttpHook, :RequestHook].each do |name|
      autoload name, File.join(HOME, 'inside.rb')
    end

    class << self
      def install(place)
        case place
        when :indirection then outer
        when :log then prepend_to(::Puppet::Util::Log.singleton_class, LogHook, [:newmessage], ::Puppet::Util::Log)
        when :http then http
        when :configurer then prepend_to(::Puppet::Configurer, ConfigurerHook, [:run])
        when :puppet then defined?(::Puppet.log_exception) && ::Puppet.singleton_class.send(:prepend, ExceptionHook)
        when :server_http then defined?(::Puppet::Server::HttpClient) && server_http
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
        missing.each { |n| lacking(MODULE_NAME.bind(owner).call, n) }
        return true unless missing.empty?
        names.each { |n| mod.send(:ruby2_keywords, n) if mod.instance_method(n).parameters[0] == [:rest, :args] && mod.respond_to?(:ruby2_keywords, true) }
        names.each { |n| mod.send(:private, n) if c.private_method_defined?(n) }
        c.send(:prepend, mod)
        true
      end

      def lacking(owner, name)
        found = PRIVATE.find { |o, n, _| o == owner && n == name }
        IndirtuiProbe.lacks << ["#{owner}##{name}", found ? found[2] : 'is not seen']
      end

      # There is a request, and a listener: what is inside of requests is hooked.
      def attached
        return if @attached || !IndirtuiProbe.installed[:indirection]
        @attached = true
        c = ::Puppet::Indirector::Indirection
        [[PrepareHook, :prepare], [AuthorizeHook, :check_authorization], [CacheHook, :find_in_cache], [TerminusHook, :terminus]].each do |mod, name|
          prepend_to(c, mod, [name])
        end
        Work.hook
      end

      # The other side wants other termini: what Puppet asks for them is hooked.
      def swappable
        return if @swappable
        @swappable = true
        ::Puppet::Indirector::Indirection.send(:prepend, Swapped)
      end

      # The method that called the setter.
      def setter_label
        at = caller_locations(1, 12).find { |l| !l.path.to_s.start_with?(HOME) } or return ''
        return 'configure_routes' if at.path.to_s.end_with?('/puppet/indirector.rb')
        at.path.to_s.end_with?('/indirector/indirection.rb') ? at.base_label.to_s : ''
      end

      def http
        prepend_to(::Puppet::HTTP::Client, ConnectHook, [:connect])
        prepend_to(::Puppet::HTTP::Client, HttpHook, [:execute_streaming])
      end

      def server_http
        prepend_to(::Puppet::Server::HttpClient, ServerHttpHook, [:get, :post])
      end
    end

    # Around the verbs of an indirection, and its setters.
    module Outer
      [:find, :search, :head, :destroy, :expire].each do |verb|
        module_eval <<-RUBY, __FILE__, __LINE__ + 1
          def #{verb}(key, options = {})
            return super unless (r = IndirtuiProbe.open(:#{verb}, self, key, options))
            result = nil
            begin
              IndirtuiProbe.enter(r)
              if r.answered
                result = r.answered[0]
              elsif r.edited
                result = super(r.key, r.options)
              else
                result = super(key, options)
              end
              result = Ends.caller(r, result) if r.link.hold.on
              r.done = true
              result
            rescue Exception => e
              r.error = e
              raise unless Ends.instead(r, e)
              r.done = true
              result = r.answered[0]
            ensure
              IndirtuiProbe.leave(r, result)
            end
          end
        RUBY
      end

      def save(instance, key = nil, options = {})
        return super unless (r = IndirtuiProbe.open(:save, self, key, options, instance))
        result = nil
        begin
          IndirtuiProbe.enter(r)
          if r.answered
            result = r.answered[0]
          elsif r.edited
            result = super(r.instance, r.key, r.options)
          else
            result = super(instance, key, options)
          end
          result = Ends.caller(r, result) if r.link.hold.on
          r.done = true
          result
        rescue Exception => e
          r.error = e
          raise unless Ends.instead(r, e)
          r.done = true
          result = r.answered[0]
        ensure
          IndirtuiProbe.leave(r, result)
        end
      end

      def terminus_class=(value)
        super
        Routes.note(self, :terminus, value, false)
      end

      def cache_class=(value)
        super
        Routes.note(self, :cache, value, false)
      end

      def reset_terminus_class
        super
        Routes.reset(self)
      end
    end

    module Global
      def set_global_setting(setting, value)
        super
        Routes.note(self, :terminus, value, true) if setting == :terminus_class
        Routes.note(self, :cache, value, true) if setting == :cache_class
      end
    end

    module LogHook
      def newmessage(*args)
        Logs.note(args[0]) if IndirtuiProbe.on
        super(*args)
      end
    end

    # Errors that Puppet logs and goes on.
    module ExceptionHook
      def log_exception(*args)
        r = IndirtuiProbe.top
        r.logged(args[0]) if r
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
