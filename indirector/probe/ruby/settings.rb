# Puppet's settings.
module IndirtuiProbe
  # Settings, and where they were set.
  module Settings
    LARGEST = 1 << 20 # of a file that is read for the line of a setting
    # Those that matter for what the indirector does.
    NAMES = [:certname, :server, :serverport, :server_list, :environment, :confdir, :vardir, :route_file, :node_terminus, :catalog_terminus,
             :catalog_cache_terminus, :node_cache_terminus, :facts_terminus, :data_binding_terminus, :default_file_terminus, :storeconfigs,
             :storeconfigs_backend, :external_nodes, :usecacheonfailure, :use_cached_catalog, :noop, :report, :reports, :static_catalogs,
             :report_server, :digest_algorithm, :http_read_timeout, :http_connect_timeout, :runtimeout, :runinterval, :environment_timeout].freeze

    class << self
      def value(name)
        ::Puppet.settings[name]
      end

      def server?
        %w[master server].include?(IndirtuiProbe.application)
      end

      def all
        NAMES.map { |n| one(n) }.compact
      end

      def one(name)
        return nil unless ::Puppet.settings.respond_to?(:setting) && ::Puppet.settings.setting(name)
        x = value(name)
        text = x.nil? ? '' : Text.of(x)
        "[#{Text.json(name.to_s)},#{Text.json(Redact.pair(name.to_s, text))},#{Text.json(place(name))}]"
      rescue Fault # a setting may refuse its value
        nil
      end

      # Where a setting was set: "command line", "puppet.conf:7", "default".
      def place(name)
        settings = ::Puppet.settings
        return 'command line' if settings.respond_to?(:set_by_cli?) && settings.set_by_cli?(name)
        line = conf_line(name)
        line ? "puppet.conf:#{line[0]} [#{line[1]}]" : default?(name) ? 'default' : "application #{IndirtuiProbe.application}"
      rescue Fault
        'default'
      end

      # Whether a setting has its value from a user, or from Puppet itself.
      def set?(name)
        settings = ::Puppet.settings
        settings.set_by_cli?(name) || settings.set_by_config?(name) || default?(name)
      end

      # Whether no application has given the setting another default.
      def default?(name)
        sets = ::Puppet.settings.instance_variable_get(:@value_sets)
        set = Hash === sets && sets[:application_defaults]
        !(set && set.respond_to?(:include?) && set.include?(name))
      end

      # The line of an application that has defaults of its own for settings.
      def defaults_line
        return ['puppet/server/puppet_config.rb', nil] if server?
        application = ::Puppet::Application.find(IndirtuiProbe.application)
        application.instance_method(:app_defaults).source_location
      end

      def conf_line(name)
        return nil unless ::Puppet.settings.set_by_config?(name)
        sections = ['main', 'user', 'agent', 'master', 'server', ::Puppet.run_mode.name.to_s]
        at = {}
        section = 'main'
        lines(::Puppet[:config]).each_with_index do |l, i|
          if l =~ /\A\s*\[([\w.-]+)\]/ then section = $1
          elsif l =~ /\A\s*(\w+)\s*=/ && $1 == name.to_s then at[section] = [i + 1, section]
          end
        end
        at[sections.last] || at['master'] || at['main'] || at.values.first
      end

      def lines(path)
        return [] unless File.file?(path) && File.size(path) <= LARGEST
        Text.utf8(File.open(path, 'rb') { |f| f.read(LARGEST) }).split("\n")
      end

      # The line of routes.yaml that has the slot of an indirection.
      def route_place(indirection, slot, any = false)
        path = ::Puppet[:route_file].to_s
        above = []
        line = lines(path).each_with_index.find do |l, _|
          next unless l =~ /\A(\s*)['":]?(\w+)['"]?\s*:/
          depth = $1.size
          name = $2
          above.pop while above[-1] && above[-1][0] >= depth
          above << [depth, name]
          # {terminus: yaml} may stand on the line of the indirection
          next unless any || above[0][1] == IndirtuiProbe.application || %w[master server].include?(above[0][1]) && server?
          above[-1][1] == slot.to_s && above[-2] && above[-2][1] == indirection.to_s || name == indirection.to_s && l =~ /:\s*\{.*\b#{slot}\b/
        end
        File.basename(path) + (line ? ":#{line[1] + 1}" : '')
      rescue Fault
        'routes.yaml'
      end
    end
  end
end
