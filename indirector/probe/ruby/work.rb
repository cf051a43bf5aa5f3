# What termini do for a request besides asking others: commands that they run, and files
# that those read and write which keep instances in files. Each is a span, as the
# termini of indirtui have them.
module IndirtuiProbe
  module Work
    LONGEST = 500 # of what a command wrote to its standard error, in bytes
    METHODS = { 'Puppet::Util::Execution' => [:execute, :execute_posix], 'Puppet::FileSystem' => [:read, :replace_file, :unlink] }.freeze

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

      # A command of a terminus. What it writes to its standard error would be lost,
      # unless that is to be in its output.
      def execute(args, &block)
        r = IndirtuiProbe.top
        return yield unless r && r.inside
        file = r.local.errors = Hash === args[1] && !args[1][:combine] ? errors : nil
        begin
          timed(lambda { |result, e, at| ran(r, args[0], result, e, file, at) }, &block)
        ensure
          r.local.errors = nil
        end
      end

      def execute_posix(args)
        file = Local.mine.errors
        args[4] = file if file
        yield
      end

      # A file without a name.
      def errors
        require 'tempfile'
        file = Tempfile.new('indirtui')
        File.open(file.path, 'a+') # what goes on to write there does not move where this reads
      rescue SystemCallError, IOError
        nil
      ensure
        file.close! if file
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

      def ran(r, command, result, error, file, at)
        words = Array === command ? command.map { |w| Text.of(w) } : [Text.of(command)]
        status = error ? Text.message(error)[/ returned (\d+):/, 1] : result.exitstatus
        attributes = [['command', words[0].to_s]]
        attributes << ['exit', status.to_s] if status
        attributes << ['stdout', "#{result.bytesize} bytes"] if result
        written = file ? written_to(file) : ''
        attributes << ['stderr', Text.clean(written, LONGEST)] unless written.empty?
        lacks = error && Array === command ? missing(words[0].to_s) : nil
        r.span(r.step, 'exec', "exec #{Redact.line(words)}", lacks ? 'not started' : status ? "exit #{status}" : 'failed', at, IndirtuiProbe.now - at, attributes,
               lacks || error && !status && Text.message(error) || nil)
      end

      # Why a program could not be started, if its file shows it.
      def missing(program)
        !File.exist?(program) ? 'no such file' : !File.executable?(program) ? 'permission denied' : nil
      end

      def written_to(file)
        file.rewind
        file.read(LONGEST * 2).to_s.strip
      rescue SystemCallError, IOError
        ''
      ensure
        file.close
      end

      # A file of a terminus that keeps its instances in files. Known returns its size,
      # and what else is known of it.
      def file(verb, path, known)
        r = IndirtuiProbe.top
        return yield unless r && r.inside && Clues.keeps_files?(r.inside)
        timed(lambda { |result, e, at| touched(r, verb, Text.of(path), known && !e ? known.call(path, result) : [nil, []], e, at) }) { yield }
      end

      def touched(r, verb, path, known, error, at)
        r.file = [r.step, path]
        size, more = known
        attributes = [['path', path]] + (size ? [['bytes', size.to_s]] : []) + more
        is = error ? 'failed' : size ? "#{size} bytes" : 'removed'
        r.span(r.step, 'file', "#{verb} #{File.basename(path)}", is, at, IndirtuiProbe.now - at, attributes, error && Text.message(error))
      end
    end
  end
end
