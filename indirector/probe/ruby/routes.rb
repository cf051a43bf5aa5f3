# Who set the termini and caches of each indirection, with the line of Ruby that
# did it, as candidates, the strongest first.
module IndirtuiProbe
  # One candidate. Place is known when it is first needed: settings and files have
  # not been read when routes are set.
  class Choice
    attr_reader :value, :terminus, :by, :setting
    attr_accessor :who, :at # what a user would call it, and when it was: of code only

    def initialize(value, by, path, line, setting = nil, around = nil)
      @around = around
      @value = value
      @terminus = value.to_s
      @symbol = Symbol === value
      @by = by
      @path = path
      @line = line
      @setting = setting
    end

    def place
      @place ||= case @by
                 when 'setting', 'storeconfigs' then "setting #{@setting}, #{Settings.place(@setting)}"
                 when 'routes file' then Settings.route_place(*@around)
                 else [@who, @line ? "#{Places.short(@path)}:#{@line}" : @path].compact.join(', ')
                 end
    end

    def json
      @json ||= "{\"terminus\":#{Text.json(@terminus)},\"by\":\"#{@by}\",\"place\":#{Text.json(place)}" +
                (@setting ? ",\"setting\":#{Text.json(@setting.to_s)}" : '') + (@at ? ",\"t\":\"#{@at.utc.strftime('%Y-%m-%dT%H:%M:%SZ')}\"" : '') + (@symbol ? ',"symbol":true}' : '}')
    end
  end

  # The candidates of an indirection for one thread at one time.
  class Route
    attr_reader :value, :terminus, :cache, :because, :head, :key
    attr_accessor :dated

    def initialize(name, primary, caches)
      first = primary[0]
      cache = caches[0]
      @name = Text.json(name.to_s)
      @asked = {}
      @plain = {}
      @value = first && first.value
      @terminus = first ? first.terminus : ''
      @cache = cache ? cache.terminus : ''
      @primary = primary
      @caches = caches
      reason = first ? first.by.tr(' ', '-') : ''
      @because = Steps.json(0, 'chosen', reason, first ? first.place : nil)
      @head = ",\"terminus\":#{Text.json(@terminus)}" + (@cache.empty? ? '' : ",\"cache\":#{Text.json(@cache)}") +
              (first ? ",\"setby\":\"#{first.by}\"" : '') + (cache ? ",\"csetby\":\"#{cache.by}\"" : '')
      @key = "\"ind\":#{@name},\"terminus\":#{Text.json(@terminus)},\"cache\":#{Text.json(@cache)}," \
             "\"primary\":[#{(Unused.of(name, :terminus) + primary.map { |c| c.json }).join(',')}]," \
             "\"caches\":[#{(Unused.of(name, :cache) + caches.map { |c| c.json }).join(',')}]"
    end

    # The beginning of what a line has of a request.
    def asked(verb)
      @asked[verb] ||= ",\"verb\":\"#{verb}\",\"ind\":#{@name},\"key\":"
    end

    # The parts of plain lines that are the same for a caller of one connection.
    def plain(caller, dated)
      of = (@plain[caller] ||= {})
      of[dated] ||= yield
    end

    # The route with what this request has of its own on top.
    def own(name, choice, cache)
      Route.new(name, [choice].compact + @primary, [cache].compact + @caches)
    end
  end

  module Routes
    KEPT = 20 # candidates of one slot
    @all = {}.compare_by_identity # of all threads: indirection => slot => [generation, choices]
    @epoch = 0
    @lock = Mutex.new

    class << self
      attr_reader :epoch

      # Notes that a slot was set, for all threads or for this one.
      def note(indirection, slot, value, global)
        choice = choice(indirection, slot, value, global)
        @lock.synchronize do
          all = ((@all[indirection] ||= {})[slot] ||= [0, []])
          if global
            all[0] += 1
            all[1] = [choice].compact + all[1].first(KEPT)
          else
            thread = Thread.current
            own = (thread.thread_variable_get(KEY) || {}.compare_by_identity)
            mine = ((own[indirection] ||= {})[slot] ||= [])
            mine.unshift([all[0], choice]) if choice
            mine.pop if mine.size > KEPT
            thread.thread_variable_set(KEY, own)
          end
          @epoch += 1
        end
      rescue Fault => e
        IndirtuiProbe.fault(e)
      end

      # Notes that this thread has no terminus of its own any more.
      def reset(indirection)
        own = Thread.current.thread_variable_get(KEY)
        own[indirection].delete(:terminus) if own && own[indirection]
        @epoch += 1
      end

      def choice(indirection, slot, value, global)
        label = Hooks.setter_label
        path, line = Places.setter
        return nil if value.nil? && (slot == :terminus || label == 'initialize')
        value = 'off' if value.nil?
        case
        when label == 'initialize' then Choice.new(value, 'default in code', path, line)
        when label == 'terminus_class' then named(value, indirection.terminus_setting)
        when label == 'configure_routes' then Choice.new(value, 'routes file', path, line, nil, [indirection.name, slot])
        when path.end_with?('/puppet/defaults.rb') then Choice.new(value, 'storeconfigs', path, line, :storeconfigs)
        else by_code(indirection, value, path, line, global)
        end
      end

      def by_code(indirection, value, path, line, global)
        choice = Choice.new(value, kind(path, global), path, line)
        case choice.by
        when 'thread' then choice.who = "thread #{Thread.current.name}" if Thread.current.respond_to?(:name) && Thread.current.name
        when 'face'
          choice.who = Places.face(indirection.name)
          choice.at = Time.now unless path.end_with?('/indirector/face.rb') # which takes it back
        end
        choice
      end

      def kind(path, global)
        case path
        when %r{/puppet/(face/|indirector/face)} then 'face'
        when %r{/puppet/(application|server|configurer|agent|reports|indirector)} then 'application'
        else global ? 'application' : 'thread'
        end
      end

      # What was set is another now.
      def changed
        @lock.synchronize { @epoch += 1 }
      end

      # The route of this thread. Local keeps it until something is set.
      def of(indirection, local)
        if local.epoch != @epoch
          local.epoch = @epoch
          local.routes = {}.compare_by_identity
        end
        local.routes[indirection] ||= begin
          primary = candidates(indirection, :terminus)
          primary = by_setting(indirection) if primary.empty?
          Route.new(indirection.name, primary, candidates(indirection, :cache))
        end
      end

      # What a setting names. That of an application is the application's choice.
      def named(value, setting)
        return Choice.new(value, 'setting', '', nil, setting) if Settings.set?(setting)
        path, line = Settings.defaults_line
        Choice.new(value, 'application', path, line, setting)
      rescue Fault
        Choice.new(value, 'setting', '', nil, setting)
      end

      # What a setting names, which Puppet looks up when it needs a terminus.
      def by_setting(indirection)
        setting = indirection.terminus_setting
        value = setting && ::Puppet.settings[setting]
        value.nil? ? [] : [named(value, setting)]
      rescue Fault
        []
      end

      # What the other side wants instead.
      def swapped(indirection, slot)
        link = IndirtuiProbe.link
        other = link && link.hold.swapped(indirection, slot)
        other ? [Choice.new(other, 'you', 'indirtui', nil)] : []
      end

      def candidates(indirection, slot)
        generation, global = (@all[indirection] || {})[slot] || [0, []]
        own = Thread.current.thread_variable_get(KEY)
        own = own && own[indirection] && own[indirection][slot] || []
        newer, older = own.partition { |g, _| g == generation }
        swapped(indirection, slot) + newer.map { |_, c| c } + global + older.map { |_, c| c }
      end
    end
  end

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
