# What the other side wants: breakpoints, held requests and how they go on, other
# termini, values. All of it ends with the connection.
module IndirtuiProbe
  class Hold
    LIMIT = 120 * 1000 # ms that a request is held if nothing else is asked for
    FARTHEST = 30      # how deep requests may ask each other for an arm of "nested"

    attr_reader :on, :values

    def initialize(link)
      @link = link
      @lock = Mutex.new
      @arms = []
      @held = {}
      @swaps = {}
    end

    def any?
      !@held.empty?
    end

    # A message of the other side.
    def take(m)
      case
      when m['go'] then go(m)
      when m['piece'] then piece(m)
      when m['only'], m['arm'] then arm(m)
      when m['disarm'] then disarm(m['disarm'])
      when m['swap'] then swap(m)
      when m['unswap'] then unswap(m['unswap'])
      when m['values'] then @values = m['values'] == 'on'
      when m['open'] then Values.open(@link, m['open'])
      end
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def arm(m)
      @lock.synchronize do
        @arms = @arms.reject { |a| a['arm'] == m['arm'] } + [m]
        @on = true
      end
    end

    def disarm(id)
      @lock.synchronize do
        @arms = id == 'all' ? [] : @arms.reject { |a| a['arm'] == id }
        @on = !@arms.empty?
      end
    end

    # A part of a value that is too long for the line that lets a request go on.
    def piece(m)
      slot = @held[m['piece']] or return
      slot[:text] = slot[:text].to_s + m['text'].to_s
    end

    def go(m)
      slot = @held[m['go']] or return
      m['value']['text'] = slot[:text] if m['value'] && slot[:text]
      @lock.synchronize do
        slot[:verdict] = m
        slot[:wake].signal
      end
    end

    # Everything goes on.
    def release(why)
      @arms = []
      @on = false
      @values = false
      @swaps = {}
      Routes.changed
      @held.values.each do |slot|
        @lock.synchronize do
          slot[:verdict] ||= { 'why' => why }
          slot[:wake].signal
        end
      end
    end

    # Takes a step as the other side wants it: stops before it and behind it, leaves
    # it out, fails it, or replaces its answer.
    def around(r, step, request = nil)
      before = stop(r, step, false, request, nil, nil)
      return answer(r, before) if before && replaces?(before)
      begin
        result = yield
      rescue StandardError => e
        v = stop(r, step, true, request, nil, e)
        return answer(r, v) if v && replaces?(v)
        raise
      end
      after = stop(r, step, true, request, result, nil)
      after && replaces?(after) ? answer(r, after) : result
    end

    def replaces?(v)
      v['value'] || v['nil'] || v['skip']
    end

    # The answer that the other side wants instead.
    def answer(r, v)
      r.inject unless v['skip']
      v['made']
    end

    # Makes that answer, if it can be made. What is to be saved is another thing.
    def make(r, v, step, done)
      return unless v['value']
      v['made'] = Values.make(r, v['value'])
      return unless r.verb == :save && !done && step < Steps::CALLER
      r.save_instead(v.delete('made'))
      v.delete('value')
    rescue Fault => e # of the model, which does not take it
      v.delete('value')
      refuse('go', r.id, Text.message(e))
    end

    # Stops if something is armed for this place. Returns how to go on, or nil. Raises
    # what is injected.
    def stop(r, step, done, request, result, error)
      arm = @on && find(r, step, done) or return nil
      count(arm)
      v = act(r, arm, step, done, request, result, error) or return nil
      take_in(r, v, step, done, request)
      raise failure(v['fail']) if v['fail']
      v
    end

    def take_in(r, v, step, done, request)
      make(r, v, step, done)
      edit(r, v, request)
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def find(r, step, done)
      name = Steps::NAMES[step]
      @arms.find { |a| (a['done'] || false) == done && (a['only'] ? only?(a, r, name) : matches?(a, r, name)) && due?(a) }
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def only?(a, r, name)
      return false unless a['step'].nil? || a['step'] == name
      return true if r.id == a['only']
      return false unless a['nested']
      FARTHEST.times do
        r = r.parent or return false
        return true if r.id == a['only']
      end
      false
    end

    def matches?(a, r, name)
      a['step'] == name && (a['verb'].nil? || a['verb'] == r.verb.to_s) && (a['ind'].nil? || a['ind'] == r.name) &&
        (a['key'].nil? || File.fnmatch(a['key'], Text.of(r.key), File::FNM_DOTMATCH | (a['key'] =~ /[[:upper:]]/ ? 0 : File::FNM_CASEFOLD))) && (a['terminus'].nil? || a['terminus'] == r.terminus_at(name))
    end

    # Counts for an arm of the nth.
    def due?(a)
      return true unless a['nth'].to_i > 1
      a['nth'] -= 1
      false
    end

    def count(arm)
      disarm(arm['arm']) if arm['once']
    end

    def act(r, arm, step, done, request, result, error)
      case arm['do']
      when 'fail' then { 'fail' => arm }
      when 'set' then arm['set'] || {}
      when 'delay'
        sleep [arm['ms'].to_i / 1000.0, 3600].min
        nil
      else wait(r, arm, step, done, request, result, error)
      end
    end

    # Holds a request until the other side, the limit or the end of the connection
    # lets it go on.
    def wait(r, arm, step, done, request, result, error)
      from = IndirtuiProbe.now
      limit = [arm['limit'] ? arm['limit'].to_i : LIMIT, 24 * 3600 * 1000].min
      slot = { :wake => ConditionVariable.new }
      @held[r.id] = slot
      announce(r)
      @link.urgent(r.held_line(step, done, arm, limit, request, result, error))
      @lock.synchronize do
        until slot[:verdict] || @link.over?
          left = limit / 1000.0 - (IndirtuiProbe.now - from) / 1e9
          break if left <= 0
          slot[:wake].wait(@lock, left)
        end
      end
      v = slot[:verdict]
      why = v ? v['why'] || 'go' : @link.over? ? 'gone' : 'limit'
      @link.urgent("{\"went\":#{r.id},\"why\":\"#{why}\"}") unless why == 'gone'
      why == 'go' ? v : nil
    rescue Fault => e
      IndirtuiProbe.fault(e)
    ensure
      @held.delete(r.id)
      r.was_held(IndirtuiProbe.now - from, step, from) if from
    end

    # A request that is held begins for the other side, too, and so do those that
    # wait for it.
    def announce(r)
      return if r.nil? || r.announced || !r.link.equal?(@link)
      announce(r.parent)
      r.announced = true
      @link.urgent(r.begin_line)
    end

    # Changes what is asked.
    def edit(r, v, request)
      changed = []
      if v['key']
        changed << "key: #{Text.clean(Text.of(r.key))} -> #{Text.clean(v['key'].to_s)}"
        r.key = v['key']
        request.key = v['key'] if request
      end
      options = r.options_hash
      (v['flags'] || {}).each { |name, on| options = change(options, name, on, request, changed) }
      (v['options'] || {}).each { |name, value| options = change(options, name, value, request, changed) }
      options = change_environment(options, v['env'], request, changed) if v['env']
      own(r, v, changed)
      return if changed.empty?
      r.options = options
      r.edited = true
      r.touch(changed)
    end

    def change(options, name, value, request, changed)
      changed << "#{name}: #{value.nil? ? 'removed' : Redact.pair(name.to_s, Values.brief(value))}"
      request.send("#{name}=", value) if request && Request::FLAGS.include?(name.to_sym) && request.respond_to?("#{name}=")
      key = options.key?(name) ? name : name.to_sym
      options = options.dup
      value.nil? ? options.delete(key) : options[key] = value
      request.options[key] = value if request && !Request::FLAGS.include?(name.to_sym) && request.options && !request.options.frozen?
      options
    end

    def change_environment(options, name, request, changed)
      changed << "environment: #{name}"
      old = options[:environment]
      env = old.respond_to?(:remote?) || ::Puppet.run_mode.name == :agent ? ::Puppet::Node::Environment.remote(name.to_sym) : name
      request.environment = env if request
      options.merge(:environment => env)
    end

    # Another terminus or cache for this request alone.
    def own(r, v, changed)
      return unless v['terminus'] || v['cache']
      Hooks::Inside.swappable
      if v['terminus']
        r.own_terminus = v['terminus'].to_sym
        changed << "terminus: #{v['terminus']}"
      end
      return unless v['cache']
      r.own_cache = v['cache'].to_sym
      changed << "cache: #{v['cache']}"
    end

    # The error that is injected. It is one of Puppet's, unless there is the class.
    def failure(m)
      text = (m['message'] || 'injected').to_s
      named = m['class'] && m['class'].to_s.split('::').inject(Object) { |c, n| c.const_defined?(n) ? c.const_get(n) : nil if c }
      named = ::Puppet::Error unless Class === named && named <= StandardError
      made(named, text) || ::Puppet::Error.new(text)
    end

    def made(named, text)
      named.new(text)
    rescue Fault
      begin
        named.new(text, nil)
      rescue Fault
        nil
      end
    end

    # Another terminus for a thread or for all.
    def swap(m)
      indirection = ::Puppet::Indirector::Indirection.instance(m['ind'].to_s.to_sym)
      return refuse('swap', m['swap'], "there is no indirection #{m['ind']}") unless indirection
      slot = m['slot'] == 'cache' ? :cache : :terminus
      off = slot == :cache && %w[off none].include?(m['to'])
      return refuse('swap', m['swap'], 'it is for a thread, and names none') if m['for'] == 'thread' && !m['thread']
      indirection.validate_terminus_class(m['to'].to_s.to_sym) unless off
      Hooks::Inside.swappable
      was = slot == :cache ? indirection.cache_class : indirection.terminus_class
      @lock.synchronize do
        @swaps = @swaps.merge(m['swap'] => [indirection, slot, off ? :off : m['to'].to_s.to_sym, m['for'] == 'thread' ? m['thread'] : nil])
      end
      Routes.changed
      @link.urgent("{\"swapped\":#{m['swap'].to_i},\"ind\":#{Text.json(m['ind'])},\"slot\":\"#{slot}\",\"to\":#{Text.json(m['to'].to_s)}," \
                   "\"was\":#{Text.json(was.to_s)},\"for\":\"#{m['for'] == 'thread' ? 'thread' : 'process'}\"}")
    rescue Fault => e # Puppet's, of a terminus that cannot be loaded
      refuse('swap', m['swap'], Text.message(e))
    end

    def unswap(id)
      @lock.synchronize { @swaps = id == 'all' ? {} : @swaps.reject { |k, _| k == id } }
      Routes.changed
    end

    def refuse(what, id, why)
      @link.urgent("{\"refused\":\"#{what}\",\"id\":#{id.to_i},\"why\":#{Text.json(why)}}")
    end

    # What a slot has been swapped to; nil if it has not.
    def swapped(indirection, slot)
      return nil if @swaps.empty?
      found = @swaps.values.reverse.find { |i, s, _, thread| i.equal?(indirection) && s == slot && (thread.nil? || thread == Thread.current.object_id) }
      found && found[2]
    end
  end
end
