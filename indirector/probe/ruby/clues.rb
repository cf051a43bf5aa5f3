# What explains an answer and is seen below the steps: of files, and what a server wrote
# beside its status. What it means is decided by who listens.
module IndirtuiProbe
  module Clues
    FAMILIES = %w[Yaml JSON Msgpack].freeze # termini that keep a file for each key
    HEADERS = ['Content-Type', 'Last-Modified', 'Content-MD5', 'X-Checksum-Md5', 'X-Checksum-Sha1', 'X-Checksum-Sha256'].freeze
    @kept = {}    # class of termini => whether they keep files

    class << self
      def keeps_files?(terminus)
        kept = @kept[terminus.class]
        return kept unless kept.nil?
        family = FAMILIES.any? { |n| ::Puppet::Indirector.const_defined?(n, false) && ::Puppet::Indirector.const_get(n, false) === terminus }
        @kept = @kept.merge(terminus.class => family)
        family
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
end
