# Lines of Ruby as users know them: puppet/application/apply.rb:382.
module IndirtuiProbe
  module Places
    KEPT = 2000
    @short = {}
    @json = {}

    class << self
      # A path and line without what stands before puppet/, or before the module.
      def short(path)
        @short[path] ||= begin
          @short = {} if @short.size > KEPT
          file = path[%r{/modules/([^/]+/lib/.*)}m, 1] || path[%r{.*/(puppet/.*)}m, 1]
          Text.clean(file || path, 300)
        end
      end

      # The JSON of the line that called the method which called this one, depth
      # frames above.
      def caller_json(depth)
        at = caller_locations(depth + 1, 1)
        at = at && at[0] or return '""'
        lines = (@json[at.path] ||= {})
        lines[at.lineno] ||= begin
          @json = {} if @json.size > KEPT
          Text.quote("#{short(at.path.to_s)}:#{at.lineno}#{part(at)}")
        end
      end

      # The method, where lines of one file mean different things.
      def part(at)
        at.path.to_s.end_with?('/puppet/configurer.rb') ? " (#{at.base_label})" : ''
      end

      # The action of a face that runs: "catalog download". Those for all indirections are
      # in one file.
      def face(indirection, frames)
        action = frames.find { |l| l.path.to_s =~ %r{/puppet/interface/action\.rb\+eval} } or return nil
        name = frames.map { |l| l.path.to_s[%r{/puppet/face/(\w+)\.rb\z}, 1] }.compact.last
        "#{name || indirection} #{action.base_label}"
      end

      # The line of Ruby that set a route: the first that is neither of the probe
      # nor of the indirector itself. And its path.
      def setter(frames)
        found = frames.find do |l|
          !l.path.to_s.start_with?(HOME) && !l.path.to_s.end_with?('/puppet/indirector.rb', '/puppet/indirector/indirection.rb')
        end
        found ? [found.path.to_s, found.lineno] : ['', 0]
      end

      # The method of the indirector that called the setter.
      def setter_label(frames)
        at = frames.find { |l| !l.path.to_s.start_with?(HOME) } or return ''
        return 'configure_routes' if at.path.to_s.end_with?('/puppet/indirector.rb')
        at.path.to_s.end_with?('/indirector/indirection.rb') ? at.base_label.to_s : ''
      end
    end
  end
end
