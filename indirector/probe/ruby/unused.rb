module IndirtuiProbe
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
