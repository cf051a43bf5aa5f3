# Around the verbs of terminus objects, HTTP exchanges and log lines.
module IndirtuiProbe
  # Each terminus object gets a module around those verbs that it has, once.
  module Taps
    VERBS = [:find, :search, :head, :save, :destroy].freeze
    @tapped = {}.compare_by_identity # terminus => indirection
    @modules = {}                    # of the verbs that a terminus has
    @lock = Mutex.new

    class << self
      attr_reader :tapped

      def tap(terminus, indirection)
        return if @tapped[terminus]
        @lock.synchronize do
          return if @tapped[terminus]
          has = (VERBS + [:validate, :filter]).select { |v| terminus.respond_to?(v) }
          terminus.singleton_class.send(:prepend, @modules[has] ||= around(has))
          @tapped = @tapped.dup.compare_by_identity.merge!(terminus => indirection)
        end
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      def around(has)
        Module.new do
          (VERBS & has).each do |verb|
            module_eval "def #{verb}(request) ; IndirtuiProbe::Taps.verb(self, :#{verb}, request) { super } ; end", __FILE__, __LINE__
          end
          module_eval 'def validate(request) ; IndirtuiProbe::Taps.validate(self, request) { super } ; end', __FILE__, __LINE__ if has.include?(:validate)
          module_eval 'def filter(result) ; IndirtuiProbe::Taps.filter(self, result) { super } ; end', __FILE__, __LINE__ if has.include?(:filter)
        end
      end

      # A verb of a terminus: a step of the request that runs, a choice of another
      # terminus, or a use past the indirection, which is a request of its own.
      def verb(terminus, verb, request)
        link = IndirtuiProbe.link
        return yield unless link
        r = IndirtuiProbe.top
        indirection = @tapped[terminus]
        return direct(terminus, verb, request, indirection) { yield } unless r && r.indirection.equal?(indirection)
        return inside(r, terminus, verb) { yield } if r.inside
        r.ask(terminus, verb, request) { yield }
      end

      # A terminus that asks itself, or another of its indirection.
      def inside(r, terminus, verb)
        return yield if r.inside.equal?(terminus)
        before = r.inside
        r.inside = terminus
        at = IndirtuiProbe.now
        begin
          yield
        ensure
          r.inside = before
          chose(r, before, terminus, verb, at)
        end
      end

      def chose(r, before, terminus, verb, at)
        r.span(r.step, 'choose', "#{terminus_name(before)} asks #{terminus_name(terminus)}", verb.to_s, at, IndirtuiProbe.now - at,
               [['terminus', terminus_name(terminus)]])
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      def terminus_name(terminus)
        Text.of(terminus.name)
      rescue Fault
        ''
      end

      def direct(terminus, verb, request, indirection)
        return yield unless (link = IndirtuiProbe.on) && (r = Requests.open(link, verb, indirection, request.key, request.options, request.instance, true))
        result = nil
        begin
          Requests.enter(r)
          r.terminus_chosen(terminus_name(terminus), Choice.new(terminus_name(terminus), 'request', 'used past the indirection', nil))
          r.straight
          result = r.ask(terminus, verb, request) { yield }
          r.done = true
          result
        rescue Exception => e
          r.error = e
          raise
        ensure
          Requests.leave(r, result)
        end
      end

      def validate(terminus, request)
        r = IndirtuiProbe.top
        return yield unless r && r.indirection.equal?(@tapped[terminus]) && !r.inside
        r.step = Steps::VALIDATE
        begin
          r.link.hold.on ? r.link.hold.around(r, Steps::VALIDATE, request) { yield } : yield
        rescue StandardError => e
          r.invalid(e)
          raise
        end
      end

      def filter(terminus, result)
        r = IndirtuiProbe.top
        return yield unless r && r.indirection.equal?(@tapped[terminus]) && !r.inside
        r.step = Steps::FILTER
        at = IndirtuiProbe.now
        filtered = r.link.hold.on ? r.link.hold.around(r, Steps::FILTER) { yield } : yield
        r.filtered = true
        r.steps[Steps::FILTER] = Steps.json(Steps::FILTER, 'filtered', 'filter-applied', nil, *r.step_time(at))
        r.step = Steps::CALLER
        filtered
      end
    end
  end

  # HTTP below REST.
  class Exchange
    attr_reader :request, :method, :url, :at, :args, :place, :number
    attr_accessor :response, :error

    def initialize(method, url, args, number, place, at = IndirtuiProbe.now)
      @method = method
      @url = url
      @args = args
      @number = number
      @place = place
      @at = at
    end
  end

  module Exchanges
    class << self
      def begin(request)
        link = IndirtuiProbe.on or return nil
        number = mark(link) { |value| request['traceparent'] ||= value }
        Exchange.new(request.method.to_s, request.uri.to_s, nil, number, Places.caller_json(3))
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      # The client of Puppet Server: url, perhaps a body, and the rest by name.
      def begin_server(method, args)
        link = IndirtuiProbe.on or return nil
        args = args.dup
        number = mark(link) do |value|
          named = Hash === args[-1] ? args.pop.dup : {}
          named[:headers] = { 'traceparent' => value }.merge(named[:headers] || {})
          args << (Hash.respond_to?(:ruby2_keywords_hash) ? Hash.ruby2_keywords_hash(named) : named)
        end
        Exchange.new(method, args[0].to_s, args, number, Places.caller_json(3))
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      # A server could not be reached: that is all there is of the exchange.
      def unreached(url, at, error)
        link = IndirtuiProbe.on or return
        r = IndirtuiProbe.top
        r.unreached(Text.message(error)) if r
        x = Exchange.new('CONNECT', url.to_s, nil, (r || link).next_exchange, Places.caller_json(3), at)
        x.error = error
        self.end(x)
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      # Adds the header by which the other side finds who asked: connection, request,
      # and which exchange of it.
      def mark(link)
        r = IndirtuiProbe.top
        n = r ? r.next_exchange : link.next_exchange
        yield format('00-%s-%012x%04x-01', link.id, r ? r.id & 0xffffffffffff : 0, n & 0xffff) if IndirtuiProbe.traces
        n
      end

      def end(x)
        link = IndirtuiProbe.link or return
        took = IndirtuiProbe.now - x.at
        status, reason, bytes = answer(x.response)
        err = x.error ? Text.message(x.error) : status ? nil : 'left before there was an answer'
        r = IndirtuiProbe.top
        if r
          attributes = []
          attributes << ['status', "#{status} #{reason}"] if status
          attributes << ['size', bytes.to_s] if bytes
          attributes.concat(Clues.answer(x.response)) if status
          r.statuses << [status, reason] if status
          r.span(r.step, 'network', "#{x.method} #{x.url}", status ? "#{status} #{reason}" : 'failed', x.at, took, attributes, err)
        else
          link.write(line(x, link, took, status, reason, bytes, err))
        end
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      def line(x, link, took, status, reason, bytes, err)
        b = "{\"exchange\":#{x.number},\"at\":#{x.at},\"took\":#{took},\"method\":#{Text.json(x.method)},\"url\":#{Text.json(x.url)}"
        b << ",\"status\":#{status},\"reason\":#{Text.json(reason)}" if status
        b << ",\"bytes\":#{bytes}" if bytes
        b << ",\"err\":#{Text.json(err)}" if err
        b << ",\"place\":#{x.place},\"run\":#{Text.json(Local.mine.run.to_s)}}"
      end

      # Status, reason and size of an answer, as far as it has them.
      def answer(response)
        return nil unless response.respond_to?(:code)
        size = response['content-length'] if response.respond_to?(:[])
        [response.code.to_i, response.respond_to?(:reason) ? response.reason.to_s : '', size && size.to_s =~ /\A\d+\z/ ? size.to_i : nil]
      end
    end
  end

  # Puppet's log lines, the same once with a count.
  module Logs
    SEEN = [:notice, :warning, :err, :alert, :emerg, :crit].freeze

    class << self
      def note(message)
        link = IndirtuiProbe.on or return
        level = message.level
        return unless SEEN.include?(level) || ::Puppet::Util::Log.level == :debug
        source = Text.of(message.source)
        text = Text.clean(Text.of(message.message)) # before anything stands in front of it
        text = Text.clean(source) + ': ' + text unless source == 'Puppet' || source.empty?
        r = IndirtuiProbe.top
        r ? r.note("#{level}: #{text}") : outside(link, level, text)
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      # A line of no request waits for others like it, and since in a handler of a
      # signal, where Puppet logs too, no lock can be taken.
      def outside(link, level, text)
        last = link.last_log
        return last[2] += 1 if last && last[0] == level && last[1] == text
        link.logs << (link.last_log = [level, text, 1, IndirtuiProbe.now])
        link.ticking
        link.flush_logs if link.logs.size > Link::LOGS
      end
    end
  end
end
