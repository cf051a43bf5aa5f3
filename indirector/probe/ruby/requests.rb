# The requests that are watched: how they begin and end.
module IndirtuiProbe
  # That a request ended without an answer and without an error.
  class Left < StandardError
  end

  module Requests
    class << self
      # Begins a request; nil if that cannot be.
      def open(link, verb, indirection, key, options, instance = nil, direct = false)
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
        IndirtuiProbe.fault(e)
      end

      # The first request of a connection.
      def begin_with(link)
        IndirtuiProbe.late
        Hooks::Inside.attached
        link.ready
      end

      # Runs a request, which yields to what Puppet does.
      def run(r)
        result = nil
        begin
          enter(r)
          result = r.answered ? r.answered[0] : yield
          result = Hooks::Ends.caller(r, result) if r.link.hold.on
          r.done = true
          result
        rescue Exception => e
          r.error = e
          raise unless Hooks::Ends.instead(r, e)
          r.done = true
          result = r.answered[0]
        ensure
          leave(r, result)
        end
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
        return unless link.equal?(IndirtuiProbe.link)
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
        IndirtuiProbe.fault(e)
      end
    end
  end
end
