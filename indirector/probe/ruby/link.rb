# The two connections of one process, or of one JRuby instance: "out", on which
# lines are written and nothing is read, and "in", for the other direction. In
# JRuby a thread that waits in a read holds the socket, and a write of another
# thread would wait for it.
require 'socket'
require 'thread'

module IndirtuiProbe
  # Nothing is wanted by the other side.
  module Idle
    class << self
      def on
        false
      end
      alias values on
      alias any? on

      def swapped(*)
        nil
      end
      alias release swapped
    end
  end

  class Link
    MOST = 256 * 1024    # bytes that wait to be written
    BATCH = 64 * 1024    # bytes that are written at once by requests
    LONGEST = 64 * 1024  # of a line, in bytes
    TICK = 0.05          # seconds between writes of what waits
    SLOW = 50_000_000    # ns after which a running request is announced
    LOGS = 200           # lines of Puppet's log that wait
    SILENT = 5_000_000_000

    attr_reader :pid, :id, :requests, :hold
    attr_reader :logs       # lines of Puppet's log that wait
    attr_accessor :last_log # the last of these, for others like it

    def self.open(path)
      new(path)
    rescue SystemCallError, IOError
      nil
    end

    def initialize(path)
      @pid = Process.pid
      @id = format('%016x%016x', random, random)
      @lock = Mutex.new
      @buffer = ''.dup
      @dropped = 0
      @value = 0
      @ids = 0
      @exchanges = 0
      @requests = 0
      @routes = {}
      @second = ['', 0] # a second as text, and when it began
      @stacks = []
      @logs = Queue.new
      @remembered = 0
      @latest = []
      @latest_of = []
      @latest_verb = []
      @weak = weak
      @wall = (Time.now.to_r * 1_000_000_000).to_i - IndirtuiProbe.now
      @hold = Idle
      @out = UNIXSocket.new(path)
      @in = UNIXSocket.new(path)
      @buffer << attach_line << "\n"
      flush
      @in.write("{\"listen\":#{VERSION},\"conn\":\"#{@id}\",\"pid\":#{@pid}}\n")
      @last_line = IndirtuiProbe.now
      @reader = quiet_thread { read }
    end

    # Begins to write what waits every now and then. Before there is something, that
    # would be no more than the cost of a thread that wakes up. Holds @lock, which a
    # handler of a signal cannot take: there a second thread does no harm.
    def ticking
      @writer ||= quiet_thread { tick until @over }
    end

    def quiet_thread
      Thread.new do
        Thread.current.report_on_exception = false if Thread.current.respond_to?(:report_on_exception=)
        begin
          yield
        rescue Fault => e
          IndirtuiProbe.fault(e) unless @over # a socket that was closed
        end
      end
    end

    def random
      File.open('/dev/urandom', 'rb') { |f| f.read(8) }.unpack('Q')[0] | 1
    rescue SystemCallError
      rand(1 << 62) + 1
    end

    def over?
      @over
    end

    def next_id
      @lock.synchronize { @ids += 1 }
    end

    # Remembers the instance of a request as long as Puppet does.
    def remember(r, x)
      return if (@remembered += 1) > Values::A_TICK
      slot = r.id % Values::LATEST
      @latest[slot] = r.id
      @latest_of[slot] = r.indirection
      @latest_verb[slot] = r.verb
      @weak[slot] = @weak.is_a?(Array) ? WeakRef.new(x) : x
    end

    def remembered(id)
      slot = id % Values::LATEST
      return nil unless @latest[slot] == id
      x = @weak[slot]
      [@latest_of[slot].name.to_s, @latest_verb[slot], @weak.is_a?(Array) && x ? x.__getobj__ : x]
    rescue Fault # of a reference to what is gone
      nil
    end

    # Where instances are remembered. A WeakMap takes numbers as keys since Ruby 2.7,
    # and not in JRuby.
    def weak
      map = ObjectSpace::WeakMap.new
      map[1] = map
      RUBY_ENGINE == 'ruby' ? map : no_weak_map
    rescue ArgumentError
      no_weak_map
    end

    def no_weak_map
      require 'weakref'
      []
    end

    def next_exchange
      @lock.synchronize { @exchanges += 1 }
    end

    # Writes the lines of Puppet's log that wait, each with its count.
    def flush_logs
      @last_log = nil
      until @logs.empty?
        level, text, count, at = @logs.pop(true)
        write("{\"log\":\"#{level}\",\"message\":#{Text.json(text)},\"at\":#{at}#{count > 1 ? ",\"count\":#{count}" : ''}}")
      end
    rescue ThreadError # another thread writes them
      nil
    end

    # The time of a reading of the monotonic clock.
    def time(at)
      prefix, from = @second
      ns = at - from
      if ns < 0 || ns >= 1_000_000_000
        second, ns = (@wall + at).divmod(1_000_000_000)
        prefix = Time.at(second).utc.strftime('%Y-%m-%dT%H:%M:%S.')
        @second = [prefix, at - ns]
      end
      "#{prefix}#{(1_000_000_000 + ns).to_s.byteslice(1, 9)}Z"
    end

    # Requests of a thread, for announcing those that take long.
    def watch(local)
      @lock.synchronize do
        ticking
        @stacks.reject! { |thread, _| !thread.alive? } if @stacks.size > 50
        @stacks << [Thread.current, local.stack]
      end
    end

    def application
      @application ||= Text.json(IndirtuiProbe.application)
    end

    # What this process is. It is written again when there is a request: by then its
    # settings are known, and what takes secrets out of its arguments is loaded.
    def attach_line
      puppet = defined?(::Puppet.version) ? ::Puppet.version.to_s : ''
      b = "{\"attach\":#{VERSION},\"conn\":\"#{@id}\",\"pid\":#{@pid},\"ppid\":#{Process.ppid},\"uid\":#{Process.uid}," \
          "\"ruby\":\"#{RUBY_ENGINE} #{defined?(JRUBY_VERSION) ? JRUBY_VERSION : RUBY_VERSION}\",\"puppet\":#{Text.quote(puppet)}," \
          "\"app\":#{@ready ? application : Text.quote(IndirtuiProbe.application[/\A[-.\w]{0,30}\z/].to_s)},\"host\":#{Text.quote(Text.utf8(Socket.gethostname))}," \
          "\"mono\":#{IndirtuiProbe.now},\"wall\":#{@wall + IndirtuiProbe.now}"
      if @ready
        b << ",\"argv\":#{Text.json(Redact.line([IndirtuiProbe.program] + ARGV))},\"certname\":#{Text.json(Settings.value(:certname).to_s)},\"settings\":[#{Settings.all.join(',')}]"
        b << ",\"instances\":#{Pool.instances},\"borrow\":#{Pool.borrow}" if IndirtuiProbe.server && Pool.instances
      end
      b << ',"can":["hold","edit.key","edit.flags","edit.env","edit.options","value","fail","swap","values"],"lacks":['
      b << IndirtuiProbe.lacks.map { |name, what| "[#{Text.json(name)},#{Text.json(what)}]" }.join(',') << ']}'
    end

    def ready?
      @ready
    end

    # The settings are known: the process is described again.
    def ready
      return if @ready
      @ready = true
      @application = nil
      urgent(attach_line)
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    # The number of a route, which is announced when it is first used.
    def route(route)
      @routes[route.key] || @lock.synchronize do
        n = @routes[route.key]
        unless n
          n = @routes.size + 1
          append("{\"route\":#{n},#{route.key}}", true)
          @routes = @routes.merge(route.key => n)
        end
        n
      end
    end

    # Writes a line, soon or never: it does not wait.
    def write(line)
      @lock.synchronize do
        append(line, false)
        flush if @buffer.bytesize > BATCH && !@full
      end
    end

    # Writes the lines of a value, all or none: they were asked for, and may be more
    # than what else may wait.
    def write_all(lines)
      @lock.synchronize do
        return @dropped += lines.size if @buffer.bytesize > MOST
        before = @buffer.bytesize
        lines.each { |line| append(line, true) }
        @value = @buffer.bytesize - before # of that more may wait
        flush
      end
    end

    # Writes a line that is not dropped for others that wait.
    def urgent(line)
      @lock.synchronize do
        append(line, true)
        flush
      end
    end

    # Writes the line of a request that has ended.
    def finished(line)
      @requests += 1
      write(line)
    end

    # The same of a line in four parts, with its end, for which no room is made that is
    # thrown away again.
    def finished_in_parts(head, front, middle, back)
      @requests += 1
      @lock.synchronize do
        if @buffer.bytesize > MOST + @value
          @dropped += 1
        else
          @buffer << head << front << middle << back
        end
        flush if @buffer.bytesize > BATCH && !@full
      end
    end

    # Holds @lock.
    def append(line, always)
      ticking
      if line.bytesize >= LONGEST || !always && @buffer.bytesize + line.bytesize > MOST + @value
        @dropped += 1
      else
        @buffer << line << "\n"
      end
    end

    # Writes what can be written without waiting. Holds @lock. A Timeout that struck
    # here would tear a line.
    def flush
      return leave if Process.pid != @pid
      Thread.handle_interrupt(Object => :never) do
        until @buffer.empty? || @over
          n = write_some
          break @full = true if n == :wait_writable
          @full = false
          @buffer = n == @buffer.bytesize ? ''.dup : @buffer.byteslice(n..-1)
          @value = 0 if @buffer.bytesize < MOST
          append_dropped
        end
      end
    rescue SystemCallError, IOError
      over
    end

    def append_dropped
      return if @dropped == 0 || @buffer.bytesize > MOST / 2
      n = @dropped
      @dropped = 0
      append("{\"dropped\":#{n}}", true)
    end

    def write_some
      part = @buffer.bytesize > 65_536 ? @buffer.byteslice(0, 65_536) : @buffer
      @out.write_nonblock(part, :exception => false)
    rescue IO::WaitWritable
      :wait_writable
    end

    # Every now and then: announces what takes long, writes, and notes silence.
    def tick
      sleep TICK
      return leave if Process.pid != @pid
      @remembered = 0
      announce
      flush_logs
      @lock.synchronize { flush }
      over if hold.any? && IndirtuiProbe.now - @last_line > SILENT
    end

    def announce
      before = IndirtuiProbe.now - SLOW
      @stacks.each do |_, stack|
        stack.dup.each { |r| announce_one(r) if r.link.equal?(self) && !r.announced && r.at < before }
      end
    end

    def announce_one(r)
      r.announced = true
      write(r.begin_line)
    end

    # Waits for the first line of the other side, which follows what it wants from
    # the beginning; at most a second.
    def await_first
      till = IndirtuiProbe.now + 1_000_000_000
      sleep 0.002 until @first || @over || IndirtuiProbe.now > till
    end

    PING = "{\"ping\":1}\n".freeze

    # Reads what the other side wants.
    def read
      while !@over && (line = @in.gets("\n", LONGEST + 1))
        break if line.bytesize > LONGEST
        @last_line = IndirtuiProbe.now
        break unless line == PING || take(line)
        @first = true
      end
    ensure
      over
    end

    # Takes a line; false if it is none.
    def take(line)
      require 'json'
      message = JSON.parse(line)
      @hold = Hold.new(self) if @hold.equal?(Idle)
      @hold.take(message) if Hash === message
      true
    rescue JSON::ParserError
      false
    end

    # The connection is over: what is held goes on, and nothing that was asked for
    # stays.
    def over
      return if @over
      @over = true
      IndirtuiProbe.gone(self)
      hold.release('gone')
      [@out, @in].each { |s| close(s) }
    end

    def close(socket)
      socket.close unless RUBY_ENGINE == 'jruby' && socket.equal?(@in) && @reader && @reader.alive? && !@reader.equal?(Thread.current)
    rescue IOError, SystemCallError
      nil
    end

    # In a fork: the sockets are those of the parent.
    def leave
      @over = true
      IndirtuiProbe.gone(self)
      [@out, @in].each { |s| close(s) }
    end

    # Whether the other side has written within two of its pings: it may be busy.
    def alive?
      @first && IndirtuiProbe.now - @last_line < 2_500_000_000
    end

    # The process ends.
    def finish(status)
      return if @over
      line = "{\"bye\":1,\"faults\":#{IndirtuiProbe.faults},\"last\":#{Text.json(IndirtuiProbe.last.to_s)},\"requests\":#{@requests},\"exit\":#{status}}"
      flush_logs
      @lock.synchronize do
        @buffer << line << "\n" # no thread is needed for that any more
        flush
        till = IndirtuiProbe.now + 2_000_000_000
        patience = alive? ? 1 : 0.1
        flush while !@buffer.empty? && !@over && IndirtuiProbe.now < till && IO.select(nil, [@out], nil, patience) # as long as the other side reads
      end
      over
    end
  end
end
