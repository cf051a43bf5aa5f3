# Texts of unknown origin as JSON: in UTF-8, cut, redacted, and with everything
# that a terminal does not show as itself as an escape. See traces.Shows in Go.
module IndirtuiProbe
  module Text
    PLAIN = /\A[ !#-\[\]-~]*\z/
    # What is escaped: quotes, backslashes, and all but blanks, letters, digits and
    # signs.
    ODD = /["\\\ufffd]|[^\u0020\p{L}\p{N}\p{P}\p{S}]/
    SHORT = { '"' => '\\"', '\\' => '\\\\', "\n" => '\\n', "\t" => '\\t', "\r" => '\\r' }.freeze
    LONGEST = 2000 # of a text in a line, in bytes
    WINDOW = 8192  # of a text that is looked at for secrets
    DOTS = "\u2026"
    KEPT = 1000    # texts whose JSON is kept

    class << self
      # The JSON string of a text, redacted. Equal texts come again and again.
      def json(s)
        return '""' if s.empty?
        kept = (@kept ||= {})
        found = kept[s]
        return found if found
        made = quote(clean(s))
        return made if s.bytesize > 300
        @kept = kept = {} if kept.size >= KEPT
        kept[s.frozen? ? s : s.dup.freeze] = made
      end

      # The JSON string of any text, not redacted.
      def quote(s)
        return "\"#{s}\"" if PLAIN =~ s
        '"' + s.gsub(ODD) { |c| SHORT[c] || escape(c.ord) } + '"'
      end

      def escape(code)
        return format('\\u%04x', code) if code < 0x10000
        code -= 0x10000
        format('\\u%04x\\u%04x', 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff))
      end

      # The text in UTF-8, redacted and not longer than limit.
      def clean(s, limit = LONGEST)
        short = s.bytesize <= WINDOW
        s = utf8(short ? s : s.byteslice(0, WINDOW))
        s = Redact.text(s, short ? nil : WINDOW - Redact::FARTHEST)
        cut(s, limit, !short)
      end

      def cut(s, limit, more = false)
        return more ? s + DOTS : s if s.bytesize <= limit
        scrub(s.byteslice(0, limit)).sub(/\ufffd+\z/, '') + DOTS
      end

      def utf8(s)
        case s.encoding
        when Encoding::UTF_8
          s.valid_encoding? ? s : scrub(s)
        when Encoding::US_ASCII, Encoding::ASCII_8BIT
          scrub(s.dup.force_encoding(Encoding::UTF_8))
        else
          s.encode(Encoding::UTF_8, :invalid => :replace, :undef => :replace)
        end
      rescue EncodingError
        scrub(s.dup.force_encoding(Encoding::UTF_8))
      end

      def scrub(s)
        return s if s.valid_encoding?
        return s.scrub if s.respond_to?(:scrub)
        s.encode(Encoding::UTF_16, :invalid => :replace, :undef => :replace).encode(Encoding::UTF_8)
      end

      # The text of anything, without calling what belongs to others if that can be
      # helped: their methods may raise, or never return.
      def of(x)
        case x
        when String then String.equal?(class_of(x)) ? x : String.new(x)
        when Symbol, Integer, Float, true, false then x.to_s
        when nil then ''
        else foreign(x) { x.to_s }
        end
      end

      # What a foreign method returns, if that is a text and comes soon; else the
      # class.
      def foreign(x, seconds = 0.2)
        result = nil
        worker = Thread.new do
          Thread.current.report_on_exception = false if Thread.current.respond_to?(:report_on_exception=)
          begin
            result = yield
          rescue Exception # whatever it is, it is not for Puppet
            result = nil
          end
        end
        worker.join(seconds)
        String === result ? of(result) : "(#{name_of(class_of(x))})"
      ensure
        worker.kill if worker && worker.alive?
      end

      if UnboundMethod.method_defined?(:bind_call)
        def class_of(x)
          CLASS.bind_call(x)
        end
      else
        def class_of(x)
          CLASS.bind(x).call
        end
      end

      def name_of(mod)
        MODULE_NAME.bind(mod).call || 'anonymous'
      end

      # Class, message and place of an exception.
      def message(e)
        foreign(e) { e.message }
      end

      def place(e)
        at = (BACKTRACE.bind(e).call || [])[0]
        at.nil? ? '' : Places.short(at.sub(/:in .*\z/m, ''))
      end
    end

    CLASS = Kernel.instance_method(:class)
    BACKTRACE = Exception.instance_method(:backtrace)
  end
end
