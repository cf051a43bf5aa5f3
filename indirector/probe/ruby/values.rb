# Instances as JSON: only if they are asked for, by the model's own to_data_hash,
# with limits of size and time, and redacted.
module IndirtuiProbe
  module Values
    LARGEST = 1 << 20 # bytes of JSON
    PART = 16_000     # bytes of a part
    SECONDS = 0.5
    DEEPEST = 100
    BRIEF = 200

    class << self
      # An option in a few words. Nothing foreign is called.
      def brief(x)
        case x
        when String, Symbol, Integer, Float, true, false, nil then Text.of(x)
        when Array then '[' + x.first(20).map { |v| brief(v) }.join(', ') + (x.size > 20 ? ', ...]' : ']')
        when Hash then "a hash of #{x.size}"
        else "(#{Text.name_of(Text.class_of(x))})"
        end
      end

      def keep(r, result)
      end

      def open(link, id)
      end

      def make(r, value)
        nil
      end
    end
  end
end
