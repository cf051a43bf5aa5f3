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

      # A slot was set, for all threads or for one, by the first of frames.
      def note(indirection, slot, value, global, frames, thread, at)
        return reset(indirection, thread) if slot == :reset
        choice = frames && choice(indirection, slot, value, global, frames, thread, at)
        @lock.synchronize do
          all = ((@all[indirection] ||= {})[slot] ||= [0, []])
          if global
            all[0] += 1
            all[1] = [choice].compact + all[1].first(KEPT)
          else
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

      # The thread has no terminus of its own any more.
      def reset(indirection, thread)
        own = thread.thread_variable_get(KEY)
        own[indirection].delete(:terminus) if own && own[indirection]
        @epoch += 1
      end

      def choice(indirection, slot, value, global, frames, thread, at)
        label = Places.setter_label(frames)
        path, line = Places.setter(frames)
        return nil if value.nil? && (slot == :terminus || label == 'initialize')
        value = 'off' if value.nil?
        case
        when label == 'initialize' then Choice.new(value, 'default in code', path, line)
        when label == 'terminus_class' then named(value, indirection.terminus_setting)
        when label == 'configure_routes' then Choice.new(value, 'routes file', path, line, nil, [indirection.name, slot])
        when path.end_with?('/puppet/defaults.rb') then Choice.new(value, 'storeconfigs', path, line, :storeconfigs)
        else by_code(indirection, Choice.new(value, kind(path, global), path, line), path, frames, thread, at)
        end
      end

      def by_code(indirection, choice, path, frames, thread, at)
        case choice.by
        when 'thread' then choice.who = "thread #{thread.name}" if thread.respond_to?(:name) && thread.name
        when 'face'
          choice.who = Places.face(indirection.name, frames)
          choice.at = at unless path.end_with?('/indirector/face.rb') # which takes it back
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
end
IndirtuiProbe::Notes.read
