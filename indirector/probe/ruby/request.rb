# One request, and its line.
module IndirtuiProbe
  class Request
    include Steps

    attr_reader :link, :id, :verb, :key, :indirection, :at, :parent, :local, :steps, :route
    attr_accessor :file, :choosing, :options, :step, :inside, :error, :done, :primary, :result, :announced, :edited, :answered, :instance, :reading, :own_terminus, :own_cache, :filtered

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
      @held = @held_before = 0
      @at = IndirtuiProbe.now
    end

    # The agent that asks, or the line of Ruby.
    def caller_json
      node = options_hash[:node] || (@parent ? nil : @local.node)
      @caller_json ||= node ? Text.json("agent #{Text.of(node)}") : @caller
    end

    def options_hash
      Hash === @options ? @options : {}
    end

    def take_route
      @route = Routes.of(@indirection, @local)
      @steps[ROUTE] = @route.because
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def no_route
      @steps[ROUTE] = Steps.json(ROUTE, 'raised', 'raised', @error && Text.message(@error))
    end

    # The terminus that Puppet uses. Another than what was set was set unseen, or is
    # what the other side wants.
    def terminus_chosen(name, choice = nil)
      return unless @route
      return if name.equal?(@route.value) && !@own_cache
      text = name.to_s
      return if text == @route.terminus && !@own_cache
      choice ||= Choice.new(name, @own_terminus ? 'you' : 'request', @own_terminus ? 'this request' : 'set unseen', nil)
      cache = @own_cache && Choice.new(@own_cache, 'you', 'this request', nil)
      @route = @route.own(@indirection.name, text == @route.terminus ? nil : choice, cache)
      @steps[ROUTE] = @route.because
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def step_time(from)
      [from - @at, IndirtuiProbe.now - from - (@held - @held_before)]
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
      hidden = Left === e ? '' : Text.name_of(Text.class_of(e)) + ' at ' + Text.place(e)
      hidden = ([hidden] + @unreached).join('; ') if @unreached && hidden.start_with?('Puppet::HTTP::RouteError ')
      hint = @file && @file[0] == step ? Clues.hint(@file[1]) : nil
      hidden = "#{hint}\n#{hidden}" if hint
      list << [origin, NAMES[step], Text.message(e), hidden, shown, e]
    end

    # A server that was tried could not be reached.
    def unreached(message)
      list = (@unreached ||= [])
      list << message if list.size < MOST
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
      @steps[CALLER] = Steps.by_caller(CALLER, 'returned', 'caller-returned', caller_json)
    end

    def settle_find_so_far
      return unless @plain
      @steps[TERMINUS] = Steps.json(TERMINUS, 'ok', 'returned', nil, @asked_at, @asked_took)
      @steps[EXPIRY_SET] = @plain
    end

    def settle_find
      settle_find_so_far
      # Nothing foreign is called for others: names may be anything.
      @named = @result.name if defined?(::Puppet::Resource::Catalog) && ::Puppet::Resource::Catalog === @result && @result.name != @key
      if @hit
        @steps[TERMINUS] = options_hash[:ignore_terminus] ? refused_terminus : HIT[TERMINUS]
        @steps[EXPIRY_SET], @steps[CACHE_WRITE] = HIT[EXPIRY_SET], HIT[CACHE_WRITE]
        @steps[FILTER] = @primary.respond_to?(:filter) ? NOT_FILTERED : NO_FILTER
        return
      end
      return if @failed # the error was cleared
      @steps[TERMINUS] = refused_terminus unless @terminus_done
      if !@terminus_done || @terminus_answer.nil?
        @steps[EXPIRY_SET], @steps[FILTER] = NO_RESULT[EXPIRY_SET], NO_RESULT[FILTER]
        @steps[CACHE_WRITE] = cache? ? NO_RESULT[CACHE_WRITE] : NO_CACHE[CACHE_WRITE]
        return
      end
      @steps[CACHE_WRITE] = unwritten unless @wrote
      @steps[FILTER] = NO_FILTER unless @filtered
    end

    def refused_terminus
      Steps.by_caller(TERMINUS, 'not asked', 'skipped(ignore_terminus)', caller_json)
    end

    # Why the cache was not written although there was something.
    def unwritten
      return NO_CACHE[CACHE_WRITE] unless cache?
      Steps.by_caller(CACHE_WRITE, 'not asked', 'skipped(ignore_cache_save)', caller_json)
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
      return if @failed
      @steps[TERMINUS] = refused_terminus if !@terminus_done && @verb == :save
      @steps[CACHE_WRITE] = unwritten unless @wrote
    end

    def settle_expire
      return if @reading
      @steps[CACHE_READ] = cache? ? Steps.json(CACHE_READ, 'not asked', 'skipped(ignore_cache_save)') : NO_CACHE[CACHE_READ]
      @steps[EXPIRY_SET], @steps[CACHE_WRITE] = NO_RESULT[EXPIRY_SET], NO_RESULT[CACHE_WRITE]
    end

    # The step at which the request failed.
    def settle_failed
      settle_find_so_far
      terminus = [TERMINUS, FILTER].include?(@step) ? @route && @route.terminus : [CACHE_READ, CACHE_WRITE].include?(@step) ? @cached : nil
      unless @step == CALLER || @steps[@step].include?('"raised"') || @steps[@step].include?('"denied"') || @steps[@step].include?('"invalid"')
        @steps[@step] = Steps.json(@step, 'raised', 'raised', first_line(Text.message(@error)))
      end
      fault(@step, @error, true, terminus) unless @faults && @faults.any? { |f| f[4] }
      @steps[CALLER] = Steps.by_caller(CALLER, 'raised', 'caller-raised', caller_json)
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
      @key_json ||= Text.json(Text.of(@key))
    end

    def key=(key)
      @key = key
      @key_json = nil
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

    # The commonest request: a find that found something and has nothing to tell
    # besides. Its line is that of the one before but for numbers and key.
    def plain?
      @uncached && @done && @plain && !@parent && !@filtered &&
        !(@faults || @spans || @note_lines || @touched || @injected || @local.came || @local.node || @local.run) && (@options.nil? || @options.empty?)
    end

    def write_plain
      front, back = @route.plain(@caller, @plain) { plain_parts }
      took = IndirtuiProbe.now - @at - @held
      @link.finished_in_parts("{\"trace\":#{@id},\"t\":\"#{@link.time(@at)}\",\"took\":#{took}#{@route.asked(@verb)}#{key_json}",
                              front, "#{@asked_at},\"took\":#{@asked_took}", back)
    end

    # What stands before and behind the step of the terminus in such a line.
    def plain_parts
      settle
      @steps[EXPIRY_SET] = @plain
      [",\"caller\":#{@caller},\"out\":\"ok\",\"served\":\"terminus\"#{@route.head},\"steps\":[#{@steps[0, 5].join(',')}," \
       '{"step":"terminus","is":"ok","why":"returned","at":',
       "},#{@steps[6, 4].join(',')}],\"app\":#{@link.application},\"route\":#{@link.route(@route)}}\n"]
    end

    # The line of a request that has ended.
    def line
      took = IndirtuiProbe.now - @at - @held
      "{\"trace\":#{@id},\"t\":\"#{@link.time(@at)}\",\"took\":#{took}#{@route ? @route.asked(@verb) : asked}#{key_json}" << rest
    end

    def asked
      ",\"verb\":\"#{@verb}\",\"ind\":#{Text.json(name)},\"key\":"
    end

    def family
      known_parent? ? ",\"parent\":#{@parent.id}" : ''
    end

    def family_step
      known_parent? ? ",\"pstep\":\"#{NAMES[@parent_step]}\"" : ''
    end

    # All of it behind the key.
    def rest
      b = ''.dup
      b << ",\"env\":#{environment}" if environment
      b << ",\"run\":#{Text.json(run)}" if run
      b << ",\"caller\":#{caller_json}#{family}"
      b << ",\"out\":\"#{outcome}\",\"served\":\"#{@injected ? 'sim' : @served || 'none'}\""
      set = flags
      b << ",\"flags\":[\"#{set.join('","')}\"]" if set
      b << @route.head if @route
      b << ',"cwritten":true' if @wrote == 'written'
      b << ',"touched":true' if @touched
      append_first_fault(b) if @faults || @error
      b << ',"steps":[' << @steps.join(',') << ']' << family_step
      b << ",\"traceparent\":#{Text.json(@local.came)}" if @local.came
      b << ",\"app\":#{link.application}"
      b << ",\"route\":#{link.route(@route)}" if @route
      append_more(b)
      b << ',"direct":true' if @direct
      b << '}'
    end

    def append_first_fault(b)
      shown = (@faults || []).find { |f| f[4] } || (@faults || [])[0]
      if shown then b << ",\"origin\":#{Text.json(shown[0])},\"fault\":#{Text.json(shown[2])}"
      elsif @error then b << ",\"fault\":#{Text.json(error_text)}"
      end
    end

    def error_text
      @error_text ||= Text.message(@error)
    end

    def append_more(b)
      pairs = @options.nil? || @options.empty? ? [] : other_options
      b << ',"options":[' << pairs.join(',') << ']' unless pairs.empty?
      b << ',"spans":[' << @spans.join(',') << ']' if @spans
      b << ',"faults":[' << @faults.map { |f| fault_json(f) }.join(',') << ']' if @faults
      append_notes(b) if @note_lines || @left_out
      b << ",\"named\":#{Text.json(Text.of(@named))}" if @named
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
        Values.option(name, value)
      end.compact.first(MOST)
    end
  end
end
require File.join(IndirtuiProbe::HOME, 'asking.rb')
