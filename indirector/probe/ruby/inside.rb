# What goes around Puppet's methods inside of requests, once there is a listener.
module IndirtuiProbe
  module Hooks
    module Inside
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

      class << self
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
            Hooks.prepend_to(c, mod, [name])
          end
          Work.hook
        end

        # The other side wants other termini: what Puppet asks for them is hooked.
        def swappable
          return if @swappable
          @swappable = true
          ::Puppet::Indirector::Indirection.send(:prepend, Swapped)
        end
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

    # The end of a request, where the other side may stop it a last time.
    module Ends
      def self.caller(r, result)
        r.step = Steps::CALLER
        v = r.link.hold.stop(r, Steps::CALLER, false, nil, result, nil)
        v && r.link.hold.replaces?(v) ? r.link.hold.answer(r, v) : result
      end

      # Whether there is an answer instead of the error.
      def self.instead(r, error)
        return false unless r.link.hold.on && StandardError === error && r.link.equal?(IndirtuiProbe.link)
        v = r.link.hold.stop(r, Steps::CALLER, false, nil, nil, error)
        return false unless v && r.link.hold.replaces?(v)
        r.answered = [r.link.hold.answer(r, v)]
        r.error = nil
        true
      end
    end

    module PrepareHook
      def prepare(request)
        r = IndirtuiProbe.top
        return super unless r && r.indirection.equal?(self)
        r.key = request.key if r.key.nil?
        r.step = Steps::ROUTE
        terminus = super
        r.steps[Steps::VALIDATE] = r.verb == :save ? Steps::VALID : Steps::NOTHING_TO_VALIDATE
        terminus
      end
    end

    module AuthorizeHook
      def check_authorization(request, terminus)
        r = IndirtuiProbe.top
        return super unless r && r.indirection.equal?(self)
        r.primary = terminus
        r.link.hold.stop(r, Steps::ROUTE, true, request, nil, nil) if r.link.hold.on
        r.step = Steps::AUTHORIZE
        begin
          result = r.link.hold.on ? r.link.hold.around(r, Steps::AUTHORIZE, request) { super } : super
        rescue ArgumentError
          r.denied(request)
          raise
        end
        r.authorized(request, terminus)
        r.step = Steps::VALIDATE
        result
      end
    end

    module CacheHook
      def find_in_cache(request)
        r = IndirtuiProbe.top
        return super unless r && r.indirection.equal?(self)
        r.step = Steps::CACHE_READ
        r.reading = :cache
        hold = r.link.hold
        begin
          found = hold.on ? hold.around(r, Steps::CACHE_READ, request) { super } : super
          r.cache_read(request, found)
          r.step = Steps::EXPIRY
          found = hold.around(r, Steps::EXPIRY, request) { found } if hold.on
        ensure
          r.reading = nil
        end
        r.step = Steps::TERMINUS
        found
      end
    end

    module TerminusHook
      def terminus(terminus_name = nil)
        r = IndirtuiProbe.top
        return super unless r
        within = r.choosing # one that is made may ask for another, as store_configs does
        r.choosing = true
        begin
          t = super
        ensure
          r.choosing = within
        end
        r.terminus_chosen(terminus_name) if !within && r.step == Steps::ROUTE && r.verb != :expire && terminus_name && r.indirection.equal?(self)
        Taps.tapped[t] || Taps.tap(t, self)
        t
      end
    end

    module Swapped
      def terminus_class
        IndirtuiProbe::Swaps.of(self, :terminus) || super
      end

      def cache_class
        other = IndirtuiProbe::Swaps.of(self, :cache)
        other.nil? ? super : (other == :off ? nil : other)
      end
    end

    module ServerHttpHook
      [:get, :post].each do |verb|
        module_eval <<-RUBY, __FILE__, __LINE__ + 1
          def #{verb}(*args, &block)
            return super(*args, &block) unless IndirtuiProbe.on && (x = Exchanges.begin_server('#{verb.to_s.upcase}', args))
            begin
              x.response = super(*x.args, &block)
            rescue Exception => e
              x.error = e
              raise
            ensure
              Exchanges.end(x)
            end
          end
        RUBY
      end
    end

    # The span of an agent that asked for what this thread of the server does now.
    module RequestHook
      def initialize(*args)
        super(*args)
        Local.came(args[0], args[1])
      end
    end
  end

  module Swaps
    def self.of(indirection, slot)
      link = IndirtuiProbe.link or return nil
      r = IndirtuiProbe.top
      own = r && r.indirection.equal?(indirection) && (slot == :cache ? r.own_cache : r.own_terminus)
      own || link.hold.swapped(indirection, slot)
    end
  end
end
