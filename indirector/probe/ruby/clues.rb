# What explains an answer and is seen below the steps: files, commands, and what a
# server wrote beside its status. What it means is decided by who listens.
require 'tempfile'

module IndirtuiProbe
  module Clues
    FAMILIES = %w[Yaml JSON Msgpack].freeze # termini that keep a file for each key
    HEADERS = ['Content-Type', 'Last-Modified', 'Content-MD5', 'X-Checksum-Md5', 'X-Checksum-Sha1', 'X-Checksum-Sha256'].freeze
    LONGEST = 500 # of a body, and of what a command wrote, in bytes
    @kept = {}    # class of termini => whether they keep files

    class << self
      def keeps_files?(terminus)
        kept = @kept[terminus.class]
        return kept unless kept.nil?
        family = FAMILIES.any? { |n| ::Puppet::Indirector.const_defined?(n, false) && ::Puppet::Indirector.const_get(n, false) === terminus }
        @kept = @kept.merge(terminus.class => family)
        family
      end

      # The file that a terminus has read.
      def file(r, step, terminus, key, at)
        return unless keeps_files?(terminus) && String === key && key !~ ::Puppet::Indirector::BadNameRegexp
        path = terminus.path(key)
        stat = File.stat(path)
        r.file = [step, path]
        r.span(step, 'file', "read #{File.basename(path)}", "#{stat.size} bytes", at, 0,
               [['path', path], ['bytes', stat.size.to_s], ['written', stat.mtime.dup.utc.strftime('%Y-%m-%dT%H:%M:%SZ')]])
      rescue SystemCallError
        nil
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      # What is wrong with a file of JSON that could not be read, if its end shows it.
      def hint(path)
        return nil unless path.end_with?('.json') && (size = File.size(path)) <= Settings::LARGEST
        return 'the file is empty' if size == 0
        rest = Text.utf8(File.open(path, 'rb') { |f| f.read }).gsub(/"(?:[^"\\]|\\.)*"/m, '')
        early = rest.include?('"') || rest.count('[{') > rest.count(']}')
        early ? "the file has #{size} bytes, and ends too early" : nil
      rescue SystemCallError
        nil
      end

      # A bucket may have what it was asked for, for other paths.
      def bucket(r, at)
        sum = Text.of(r.key)[%r{/([0-9a-f]{32,128})/}, 1] or return
        path = File.join(Text.of(r.options_hash[:bucket_path] || ::Puppet[:bucketdir]), sum[0, 8].split(''), sum, 'contents')
        r.span(Steps::TERMINUS, 'file', 'contents', "#{File.size(path)} bytes", at, 0, [['path', path]]) if File.file?(path)
      end

      # That an answer with nothing in it is of another environment than was asked for.
      def environment(r, catalog, at)
        return unless ::Puppet::Resource::Catalog === catalog && catalog.resources.empty?
        name = Text.of(catalog.environment)
        r.span(Steps::TERMINUS, 'note', 'an empty catalog', name, at, 0, [['environment', name]])
      end

      # A command of a terminus. What it writes to its standard error would be lost.
      def command(r, command)
        at = IndirtuiProbe.now
        local = r.local
        local.errors = errors
        begin
          output = yield
        rescue Exception => failure
          raise
        ensure
          file = local.errors
          local.errors = nil
          executed(r, command, output, failure, file, at)
        end
      end

      # A file without a name.
      def errors
        file = Tempfile.new('indirtui')
        File.open(file.path, 'a+') # what goes on to write there does not move where this reads
      rescue SystemCallError, IOError
        nil
      ensure
        file.close! if file
      end

      def executed(r, command, output, failure, file, at)
        program = Text.of(command[0])
        code = failure ? Text.message(failure)[/ returned (\d+):/, 1] : '0'
        attributes = [['command', program]]
        attributes << ['exit', code] if code
        attributes << ['stdout', "#{output.bytesize} bytes"] if output
        written = file ? read(file) : ''
        attributes << ['stderr', Text.clean(written, LONGEST)] unless written.empty?
        lacks = !File.exist?(program) ? 'no such file' : !File.executable?(program) ? 'permission denied' : nil if failure
        r.span(Steps::TERMINUS, 'exec', "exec #{Redact.line(command.map { |w| Text.of(w) })}", lacks ? 'not started' : code ? "exit #{code}" : 'failed',
               at, IndirtuiProbe.now - at, attributes, lacks)
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      def read(file)
        file.rewind
        file.read(LONGEST * 2).to_s.strip
      rescue SystemCallError, IOError
        ''
      ensure
        file.close
      end

      # What an answer over HTTP has beside status and size, as attributes.
      def answer(response)
        return [] unless response.respond_to?(:[])
        list = HEADERS.map { |n| (v = response[n]) && ["< #{n}", Text.of(v)] }.compact
        kind = Text.of(response['Content-Type'])
        return list unless response.code.to_i >= 400 || kind =~ /html/i
        body = response.body
        list << ['body', Text.utf8(body.byteslice(0, Text::LONGEST))] if String === body && !body.empty?
        list
      rescue Fault => e
        IndirtuiProbe.fault(e)
        []
      end
    end
  end

  module Hooks
    module ExecHook
      private

      def execute(command, arguments)
        r = IndirtuiProbe.top
        r && r.step == Steps::TERMINUS ? Clues.command(r, command) { super } : super
      end
    end

    module PosixHook
      def execute_posix(command, options, stdin, stdout, stderr)
        super(command, options, stdin, stdout, Local.mine.errors || stderr)
      end
    end
  end

  # What routes.yaml has for an indirection and Puppet does not use, as candidates.
  module Unused
    @read = [nil, nil] # path and date of the file, and what it has

    class << self
      def of(indirection, slot)
        application = IndirtuiProbe.application
        routes = application.empty? ? nil : file
        return [] unless routes
        own = Settings.server? ? %w[server master] : [application]
        mine = own.map { |name| routes[name] }.find { |s| s }
        return mine.is_a?(Hash) ? without_effect(mine, indirection, slot) : [] if mine
        note = "#{File.basename(::Puppet[:route_file])} has no section for application '#{application}'; sections present: #{routes.keys.join(', ')}"
        routes.map { |name, section| elsewhere(section, indirection, slot, "it is for application #{name}", note) }.compact
      rescue Fault
        []
      end

      def elsewhere(section, indirection, slot, why, note)
        entry = section.is_a?(Hash) && section[indirection.to_s]
        terminus = entry.is_a?(Hash) && entry[slot.to_s]
        terminus ? json(terminus.to_s, indirection, slot, why, note) : nil
      end

      # "cache: false" and the like, which change nothing.
      def without_effect(section, indirection, slot)
        entry = section[indirection.to_s]
        return [] unless entry.is_a?(Hash) && entry.key?(slot.to_s) && !entry[slot.to_s]
        why = "a route cannot #{slot == :cache ? 'disable a cache' : 'unset a terminus'}"
        shown = entry[slot.to_s].nil? ? '~' : 'false'
        [json('', indirection, slot, why, "#{slot}: #{shown} of #{indirection} changes nothing; #{why}")]
      end

      def json(terminus, indirection, slot, why, note)
        place = Settings.route_place(indirection, slot, true)
        "{\"terminus\":#{Text.json(terminus)},\"by\":\"routes file\",\"place\":#{Text.json(place)},\"not\":#{Text.json(why)},\"note\":#{Text.json(note)}}"
      end

      # What the file has, read again if it is another.
      def file
        path = ::Puppet[:route_file].to_s
        stat = File.stat(path)
        key = [path, stat.mtime, stat.size]
        return @read[1] if @read[0] == key
        routes = stat.size > Settings::LARGEST ? nil : ::Puppet::Util::Yaml.safe_load_file(path, [Symbol])
        @read = [key, routes.is_a?(Hash) ? routes : nil]
        @read[1]
      rescue SystemCallError, ::Puppet::Util::Yaml::YamlLoadError
        nil
      end
    end
  end
end
