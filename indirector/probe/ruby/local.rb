# What belongs to one thread.
module IndirtuiProbe
  # What a thread has: the requests that run on it, the innermost last. A Fiber
  # counts as a thread here.
  class Local
    attr_reader :stack
    attr_accessor :epoch, :routes, :run, :run_began, :came, :node, :found_route, :errors

    def self.mine
      Thread.current[KEY] ||= new
    end

    # Keeps who sent the request that this thread of a server now works on.
    def self.came(headers, params)
      node = params.respond_to?(:[]) ? params[:node] : nil
      mine.node = node.nil? ? nil : Text.of(node)
      text = headers.respond_to?(:[]) ? headers['traceparent'].to_s : ''
      mine.came = text =~ /\A[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\z/ ? text : nil
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def initialize
      @stack = []
      @epoch = -1
    end
  end
end
