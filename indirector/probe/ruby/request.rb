# One request, and its line.
module IndirtuiProbe
  class Request
    include Steps

    attr_reader :link, :id, :verb, :indirection, :at, :parent, :local, :steps, :direct, :spans, :faults, :options_given, :parent_step, :route, :wrong_key, :held
    attr_accessor :key, :options, :step, :inside, :error, :done, :primary, :cached, :hit, :served, :result, :terminus_answer, :began, :announced,
                  :terminus_done, :wrote, :edited, :answered, :injected, :stepping, :instance, :reading, :own_terminus, :own_cache, :removed, :swallowed, :filtered,
                  :note_lines, :touched, :exception

    MOST = 60 # spans, and as many faults and notes, in a line
    FLAGS = [:ignore_cache, :ignore_cache_save, :ignore_terminus, :fail_on_404].freeze
    SKIPPED = [:environment, :node, :ip, :authenticated, :instance, :transaction_uuid].freeze

    def initialize(link, local, verb, indirection, key, options, instance, caller, direct)
      @link = link
      @local = local
      @verb = verb
      @indirection = indirection
      @key = key
      @options = options
      @instance = instance
      @caller = caller
      @direct = direct
      @id = link.next_id
      @parent = local.stack[-1]
      @parent_step = @parent.step if @parent
      @steps = BLANK[verb].dup
      @step = 0
      @held = 0
      @at = IndirtuiProbe.now
    end

    # The agent that asks, or the line of Ruby.
    def caller_json
      node = options_hash[:node]
      @caller_json ||= node ? Text.json("agent #{Text.of(node)}") : @caller
    end

    def options_hash
      Hash === @options ? @options : {}
    end

    def take_route
      @route = Routes.of(@indirection, @local)
    end

    def no_route
      @steps[ROUTE] = Steps.json(ROUTE, 'raised', 'raised', @error && Text.message(@error))
    end

    # Names of termini that are used differ from those known: they were set unseen.
    def terminus_chosen(name, own = nil)
      name = name.to_s
      take_route unless @route
      return if name == @route.terminus
      @route = @route.own(@indirection.name, own || Choice.new(name, 'request', 'set unseen', nil))
    end

    def step_time(from)
      [from - @at, IndirtuiProbe.now - from]
    end

    def span(step, kind, name, is, at, took, attributes = nil, err = nil)
      list = (@spans ||= [])
      return @left_out = (@left_out || 0) + 1 if list.size >= MOST
      b = "{\"id\":#{list.size + 1},\"step\":\"#{NAMES[step]}\",\"kind\":\"#{kind}\",\"name\":#{Text.json(name)}"
      b << ",\"is\":#{Text.json(is)}" unless is.empty?
      b << ",\"at\":#{at - @at}" if at > @at
      b << ",\"took\":#{took}" if took > 0
      b << ',"attrs":[' << attributes.map { |n, v| "{\"name\":#{Text.quote(n)},\"value\":#{Text.json(v)}}" }.join(',') << ']' if attributes
      b << ",\"err\":#{Text.json(err)}" if err
      list << (b << '}')
    end

    def fault(step, e, shown, terminus)
      list = (@faults ||= [])
      return if list.size >= MOST
      origin = NAMES[step].tr(' ', '-') + (terminus ? " #{terminus}" : '')
      hidden = Text.name_of(Text.class_of(e)) + ' at ' + Text.place(e)
      list << [origin, NAMES[step], Text.message(e), hidden, shown, e]
    end

    # A log line: the same once, with a count.
    def note(text)
      lines = (@note_lines ||= {})
      if lines[text] then lines[text][1] += 1
      elsif lines.size < MOST then lines[text] = [NAMES[@step], 1]
      end
    end

    # The last of the steps, which Puppet takes without asking anything of ours.
    def settle
      case @verb
      when :find then settle_find
      when :search then settle_search
      when :head then settle_head
      when :save, :destroy then settle_store
      when :expire then settle_expire
      end
      @steps[CALLER] = Steps.json(CALLER, 'returned', 'caller-returned').sub(/\}\z/, ",\"about\":#{caller_json}}")
    end

    def settle_find
      if @hit
        @steps[TERMINUS], @steps[EXPIRY_SET], @steps[CACHE_WRITE] = HIT[TERMINUS], HIT[EXPIRY_SET], HIT[CACHE_WRITE]
        @steps[FILTER] = @primary.respond_to?(:filter) ? NOT_FILTERED : NO_FILTER
        return
      end
      unless @terminus_done
        @steps[TERMINUS] = Steps.json(TERMINUS, 'not asked', 'skipped(ignore_terminus)').sub(/\}\z/, ",\"about\":#{caller_json}}")
      end
      if !@terminus_done || @terminus_answer.nil?
        @steps[EXPIRY_SET], @steps[FILTER] = NO_RESULT[EXPIRY_SET], NO_RESULT[FILTER]
        @steps[CACHE_WRITE] = cache? ? NO_RESULT[CACHE_WRITE] : NO_CACHE[CACHE_WRITE]
        return
      end
      @steps[CACHE_WRITE] = unwritten unless @wrote
      @steps[FILTER] = NO_FILTER unless @filtered
    end

    # Why the cache was not written although there was something.
    def unwritten
      return NO_CACHE[CACHE_WRITE] unless cache?
      Steps.json(CACHE_WRITE, 'not asked', 'skipped(ignore_cache_save)').sub(/\}\z/, ",\"about\":#{caller_json}}")
    end

    def cache?
      @route && !@route.cache.empty? && @route.cache != 'off'
    end

    def settle_search
      @steps[EXPIRY_SET] = NO_RESULT[EXPIRY_SET] if !(Array === @result) || @result.empty?
    end

    def settle_head
      @steps[TERMINUS] = HIT[TERMINUS] if @hit
    end

    def settle_store
      if !@terminus_done && @verb == :save
        @steps[TERMINUS] = Steps.json(TERMINUS, 'not asked', 'skipped(ignore_terminus)').sub(/\}\z/, ",\"about\":#{caller_json}}")
      end
      @steps[CACHE_WRITE] = unwritten unless @wrote
    end

    def settle_expire
      return if @reading
      @steps[CACHE_READ] = cache? ? Steps.json(CACHE_READ, 'not asked', 'skipped(ignore_cache_save)') : NO_CACHE[CACHE_READ]
      @steps[EXPIRY_SET], @steps[CACHE_WRITE] = NO_RESULT[EXPIRY_SET], NO_RESULT[CACHE_WRITE]
    end

    # The step at which the request failed.
    def settle_failed
      terminus = [TERMINUS, FILTER].include?(@step) ? @route && @route.terminus : [CACHE_READ, CACHE_WRITE].include?(@step) ? @cached : nil
      unless @step == CALLER || @steps[@step].include?('"raised"') || @steps[@step].include?('"denied"') || @steps[@step].include?('"invalid"')
        @steps[@step] = Steps.json(@step, 'raised', 'raised', first_line(Text.message(@error)))
      end
      fault(@step, @error, true, terminus) unless @faults && @faults.any? { |f| f[4] }
      @steps[CALLER] = Steps.json(CALLER, 'raised', 'caller-raised').sub(/\}\z/, ",\"about\":#{caller_json}}")
    end

    def first_line(s)
      s[/\A[^\n]*/].to_s
    end

    # The one word for what became of the request. See traces.Judge.
    def outcome
      return 'sim' if @injected
      if @error
        return @steps[CACHE_WRITE].include?('"raised"') && @steps[TERMINUS] =~ /"is":"(written|removed)"/ ? 'part' : 'err'
      end
      return 'err~' if @faults && @faults.any? { |f| !f[4] }
      return 'hit' if @served == 'cache'
      return 'ok' if @served == 'terminus' || @verb == :expire || @verb == :save && @wrote
      @steps[TERMINUS] =~ /"why":"nil-from-/ ? 'nil!' : 'nil'
    end

    # The line of a request that has not ended.
    def begin_line
      b = "{\"begin\":#{@id},\"at\":#{@at},\"verb\":\"#{@verb}\",\"ind\":#{Text.json(name)},\"key\":#{key_json}"
      b << ",\"env\":#{environment}" if environment
      b << ",\"parent\":#{@parent.id},\"pstep\":\"#{NAMES[@parent_step]}\"" if known_parent?
      b << ",\"run\":#{Text.json(run)}" if run
      b << ",\"thread\":#{Thread.current.object_id},\"app\":#{link.application},\"caller\":#{caller_json}"
      b << ",\"route\":#{link.route(@route)}" if @route
      b << ",\"traceparent\":#{Text.json(@local.came)}" if @local.came
      b << '}'
    end

    def name
      @indirection.name.to_s
    end

    def known_parent?
      @parent && @parent.link.equal?(@link)
    end

    def key_json
      Text.json(Text.of(@key))
    end

    def run
      uuid = options_hash[:transaction_uuid]
      uuid ? Text.of(uuid) : @local.run
    end

    # The name of the environment that the request names.
    def environment
      env = options_hash[:environment]
      return nil if env.nil?
      return Text.json(Text.of(env)) if String === env || Symbol === env
      defined?(::Puppet::Node::Environment) && ::Puppet::Node::Environment === env ? Text.json(Text.of(env.name)) : nil
    end

    def flags
      o = options_hash
      return nil if o.empty?
      set = FLAGS.select { |f| o[f] }
      set.empty? ? nil : set
    end

    def line
      took = IndirtuiProbe.now - @at - @held
      b = "{\"trace\":#{@id},\"t\":\"#{link.time(@at)}\",\"took\":#{took},\"verb\":\"#{@verb}\",\"ind\":#{Text.json(name)},\"key\":#{key_json}"
      append_options(b) unless @options.nil? || @options.empty?
      b << ",\"run\":#{Text.json(run)}" if run
      b << ",\"caller\":#{caller_json}"
      b << ",\"parent\":#{@parent.id}" if known_parent?
      b << ",\"out\":\"#{outcome}\",\"served\":\"#{@served || 'none'}\""
      set = flags
      b << ",\"flags\":[\"#{set.join('","')}\"]" if set
      b << @route.head if @route
      b << ',"cwritten":true' if @wrote == 'written'
      b << ',"touched":true' if @touched
      append_first_fault(b) if @faults || @error
      b << ',"steps":[' << @steps.join(',') << ']'
      b << ",\"pstep\":\"#{NAMES[@parent_step]}\"" if known_parent?
      b << ",\"traceparent\":#{Text.json(@local.came)}" if @local.came
      b << ",\"app\":#{link.application}"
      b << ",\"route\":#{link.route(@route)}" if @route
      append_more(b)
      b << ',"direct":true' if @direct
      b << '}'
    end

    def append_options(b)
      env = environment
      b << ",\"env\":#{env}" if env
    end

    def append_first_fault(b)
      shown = (@faults || []).find { |f| f[4] } || (@faults || [])[0]
      if shown then b << ",\"origin\":#{Text.json(shown[0])},\"fault\":#{Text.json(shown[2])}"
      elsif @error then b << ",\"fault\":#{Text.json(error_text)}"
      end
    end

    def error_text
      Exception === @error ? Text.message(@error) : @error.to_s
    end

    def append_more(b)
      pairs = @options.nil? || @options.empty? ? [] : other_options
      b << ',"options":[' << pairs.join(',') << ']' unless pairs.empty?
      b << ',"spans":[' << @spans.join(',') << ']' if @spans
      b << ',"faults":[' << @faults.map { |f| fault_json(f) }.join(',') << ']' if @faults
      append_notes(b) if @note_lines || @left_out
      b << ',"changes":[' << @touched.map { |t| Text.json(t) }.join(',') << ']' if @touched
      b << ",\"held\":#{@held}" if @held > 0
      b << ",\"error\":#{Text.json(error_text)}" if @error
    end

    def fault_json(f)
      "{\"origin\":#{Text.json(f[0])},\"step\":\"#{f[1]}\",\"message\":#{Text.json(f[2])},\"hidden\":#{Text.json(f[3])}#{f[4] ? ',"shown":true' : ''}}"
    end

    def append_notes(b)
      lines = (@note_lines || {}).map { |text, (step, n)| [n > 1 ? "#{text} (#{n} times)" : text, step] }
      lines << ["#{@left_out} more exchanges and other work are not in this line", NAMES[TERMINUS]] if @left_out
      b << ',"notes":[' << lines.map { |t, _| Text.json(t) }.join(',') << '],"noted":[' << lines.map { |_, s| "\"#{s}\"" }.join(',') << ']'
    end

    # The options that are neither flags nor shown elsewhere, as name and value.
    def other_options
      options_hash.map do |name, value|
        next if FLAGS.include?(name.to_sym) || SKIPPED.include?(name.to_sym)
        text = Values.brief(value)
        "{\"name\":#{Text.json(name.to_s)},\"value\":#{Text.json(Redact.pair(name.to_s, text))}}"
      end.compact.first(MOST)
    end
  end
end
