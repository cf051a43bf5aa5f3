# Instances as JSON: only if they are asked for, by the model's own to_data_hash,
# with limits of size and time, and redacted.
module IndirtuiProbe
  module Values
    LARGEST = 1 << 20 # bytes of a value
    BRIEF = 200       # bytes of an option
    HELD = 40_000     # bytes of one in the line of a held request
    PART = 15_000     # characters of a part, of up to four bytes each
    NODES = 100_000   # parts of a structure
    SECONDS = 0.5     # for rendering one
    DEEPEST = 100
    A_TICK = 100      # instances that are remembered between two ticks of the connection
    LATEST = 500      # instances that can be opened later, as long as Puppet has them

    # A structure as plain data. It ends where it becomes too large.
    class Plain
      attr_reader :cut

      def initialize
        @nodes = 0
        @bytes = 0
      end

      def of(x, depth = 0)
        @nodes += 1
        return too_large if @nodes > NODES || @bytes > LARGEST || depth > DEEPEST
        case x
        when nil, true, false, Integer then x
        when Float then x.finite? ? x : x.to_s
        when String, Symbol then text(x)
        when Array then x.map { |v| of(v, depth + 1) }
        when Hash then x.inject({}) { |h, (k, v)| h.merge!(text(k) => of(v, depth + 1)) }
        when Time then text(x.utc.strftime('%Y-%m-%dT%H:%M:%S.%NZ'))
        else object(x, depth)
        end
      end

      def text(x)
        s = Text.utf8(Text.of(x))
        @bytes += s.bytesize
        @bytes > LARGEST ? too_large : s
      end

      def object(x, depth)
        name = Text.name_of(Text.class_of(x))
        return { '__ptype' => 'Sensitive', '__pvalue' => of(x.unwrap, depth + 1) } if name =~ /Sensitive\z/ && x.respond_to?(:unwrap)
        x.respond_to?(:to_data_hash) ? of(x.to_data_hash, depth + 1) : "(#{name})"
      end

      def too_large
        @cut = true
        "(#{Text::DOTS}the rest is too large)"
      end
    end

    class << self
      # The JSON of an option. The same few come again and again.
      def option(name, value)
        return option_now(name, value) unless Symbol === value || true.equal?(value) || false.equal?(value) || String === value && value.bytesize < BRIEF
        known = (@options ||= {})[name] ||= {}
        found = known[value]
        return found if found
        @options = nil if known.size >= Text::KEPT || @options.size >= Text::KEPT
        known[value] = option_now(name, value)
      end

      def option_now(name, value)
        "{\"name\":#{Text.json(name.to_s)},\"value\":#{Text.json(Redact.pair(name.to_s, brief(value)))}}"
      end

      # An option in a few words, redacted. Nothing foreign is called.
      def brief(x)
        case x
        when String, Symbol, Integer, Float, true, false, nil then Text.clean(Text.of(x), BRIEF)
        when Array then '[' + x.first(20).map { |v| brief(v) }.join(', ') + (x.size > 20 ? ', ...]' : ']')
        when Hash then "a hash of #{x.size}"
        else "(#{Text.name_of(Text.class_of(x))})"
        end
      end

      # The JSON of an instance and how much of it is redacted; nil if it cannot be
      # rendered in time.
      def render(x)
        found = nil
        worker = Thread.new do
          Thread.current.report_on_exception = false if Thread.current.respond_to?(:report_on_exception=)
          begin
            data, count = Redact.value(Plain.new.of(x))
            found = [json(data), count]
          rescue Exception # foreign: whatever it is, it is not for Puppet
            found = nil
          end
        end
        worker.join(SECONDS)
        found
      ensure
        worker.kill if worker && worker.alive?
      end

      def json(x)
        case x
        when Hash then '{' + x.map { |k, v| "#{Text.quote(k)}:#{json(v)}" }.join(',') + '}'
        when Array then '[' + x.map { |v| json(v) }.join(',') + ']'
        when String then Text.quote(x)
        when nil then 'null'
        else x.to_s
        end
      end

      # Writes the value of a request that ends if values are wanted, and remembers
      # it weakly.
      def keep(r, result)
        x = r.verb == :save ? r.instance : result
        return if nil.equal?(x) || true.equal?(x) || false.equal?(x)
        return write(r.link, r.id, r.name, r.verb, x) if r.link.hold.values
        r.link.remember(r, x)
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      # Writes the value of an earlier request, if it is still there.
      def open(link, id)
        name, verb, x = link.remembered(id)
        return link.hold.refuse('open', id, 'Puppet has let go of it') unless x
        write(link, id, name, verb, x)
      end

      def write(link, id, model, verb, x)
        text, count = render(x)
        head = "{\"value\":#{id},\"name\":\"#{verb == :save ? 'sent' : 'value'}\",\"model\":#{Text.json(model)}"
        return link.write("#{head},\"part\":1,\"parts\":0,\"text\":\"\"}") unless text
        parts = text.length > PART ? text.scan(/.{1,#{PART}}/m) : [text]
        link.write_all(parts.each_with_index.map do |part, i|
          "#{head},\"part\":#{i + 1},\"parts\":#{parts.size},\"redacted\":#{count},\"text\":#{quoted(part)}}"
        end)
      end

      # A part is JSON already, in which nothing but quotes and backslashes is odd.
      def quoted(part)
        '"' + part.gsub(/["\\]/) { |c| "\\#{c}" } + '"'
      end

      # What a request that is held has: the answer, or what is to be saved.
      def answer(r, step, done, result)
        x = result.nil? && r.verb == :save ? r.instance : result
        x = r.instance if r.verb == :save && !done && step < Steps::CALLER
        return 'null' if x.nil?
        return "{\"model\":\"\",\"text\":\"#{x}\"}" if true.equal?(x) || false.equal?(x)
        text, count = render(x)
        b = "{\"model\":#{Text.json(r.name)},\"format\":\"json\""
        b << ',"many":true' if Array === x
        b << ",\"text\":#{quoted(text)}" if text && count == 0 && text.bytesize <= HELD
        b << ",\"redacted\":#{count || 0}}"
      end

      # The instance that the other side wants instead. Raises if it is none.
      def make(r, value)
        text = value['text'].to_s
        return text == 'true' if r.verb == :head
        require 'json'
        data = JSON.parse(text, :max_nesting => DEEPEST)
        model = r.indirection.model
        return data.map { |d| model.from_data_hash(d) } if r.verb == :search
        model.from_data_hash(data)
      end
    end
  end
end
