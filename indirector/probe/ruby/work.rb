# What termini do for a request besides asking others: commands that they run, and files
# that those read and write which keep instances in files. Each is a span, as the
# termini of indirtui have them.
module IndirtuiProbe
  module Work
    FILES = [:Yaml, :JSON, :Msgpack].freeze # below Puppet::Indirector
    METHODS = { 'Puppet::Util::Execution' => [:execute], 'Puppet::FileSystem' => [:read, :replace_file, :unlink] }.freeze

    class << self
      def hook
        METHODS.each do |owner, names|
          m = IndirtuiProbe.find_class(owner)
          names.each { |n| Hooks.prepend_to(m.singleton_class, around(n), [n], m) } if m
        end
      end

      def around(name)
        Module.new { module_eval "def #{name}(*args, &block) ; IndirtuiProbe::Work.#{name}(args) { super(*args, &block) } ; end", __FILE__, __LINE__ }
      end

      def execute(args)
        r = IndirtuiProbe.top
        return yield unless r && r.inside
        timed(lambda { |result, e, at| ran(r, args[0], result, e, at) }) { yield }
      end

      def read(args)
        file('read', args[0], lambda { |path, text| [text.bytesize, [['written', File.mtime(path).utc.strftime('%Y-%m-%dT%H:%M:%SZ')]]] }) { yield }
      end

      def replace_file(args)
        file('write', args[0], lambda { |path, _| [File.size(path), [['mode', format('%04o', args[1] || 0o644)]]] }) { yield }
      end

      def unlink(args)
        file('unlink', args[0], nil) { yield }
      end

      # Does something, and notes what came of it; its own problems are not Puppet's.
      def timed(note)
        at = IndirtuiProbe.now
        result = error = nil
        begin
          result = yield
        rescue StandardError => e
          error = e
          raise
        ensure
          begin
            note.call(result, error, at)
          rescue Fault => e
            IndirtuiProbe.fault(e)
          end
        end
      end

      def ran(r, command, result, error, at)
        words = Array === command ? command.map { |w| Text.of(w) } : [Text.of(command)]
        status = error ? Text.message(error)[/ returned (\d+): /, 1] : result.exitstatus
        attributes = [['command', words[0].to_s], ['exit', status.to_s]]
        attributes << ['stdout', "#{result.bytesize} bytes"] if result
        r.span(r.step, 'exec', "exec #{words.join(' ')}", status ? "exit #{status}" : 'failed', at, IndirtuiProbe.now - at, attributes, error && Text.message(error))
      end

      # A file of a terminus that keeps its instances in files. Known returns its size,
      # and what else is known of it.
      def file(verb, path, known)
        r = IndirtuiProbe.top
        return yield unless r && r.inside && files?(r.inside)
        timed(lambda { |result, e, at| touched(r, verb, Text.of(path), known && !e ? known.call(path, result) : [nil, []], e, at) }) { yield }
      end

      def files?(terminus)
        FILES.any? { |n| ::Puppet::Indirector.const_defined?(n, false) && ::Puppet::Indirector.const_get(n, false) === terminus }
      end

      def touched(r, verb, path, known, error, at)
        size, more = known
        attributes = [['path', path]] + (size ? [['bytes', size.to_s]] : []) + more
        is = error ? 'failed' : size ? "#{size} bytes" : 'removed'
        r.span(r.step, 'file', "#{verb} #{File.basename(path)}", is, at, IndirtuiProbe.now - at, attributes, error && Text.message(error))
      end
    end
  end
end
