# What Puppet's termini and caches answer, as steps of a request.
module IndirtuiProbe
  class Request
    # Asks a terminus or a cache, and notes what came.
    def ask(terminus, verb, request)
      step = role(verb)
      @request = request
      cached = step == CACHE_READ || step == CACHE_WRITE
      @cached = Taps.terminus_name(terminus) if cached && @cached.nil?
      @cache_of_files = cached && Clues.keeps_files?(terminus)
      @step = step
      hold = @link.hold
      result = nil
      @held_before = @held
      at = IndirtuiProbe.now
      @inside = terminus
      begin
        result = hold.on && step != CACHE_READ ? hold.around(self, step, request) { yield } : yield
        @inside = nil
      rescue Exception => e
        @inside = nil
        refused(step, verb, e, at)
        raise
      ensure
        @inside = nil
      end
      answered_by(step, verb, result, at)
      result
    end

    # Which step it is when a verb of a terminus of this indirection is called.
    def role(verb)
      case @verb
      when :find then verb == :save ? CACHE_WRITE : @reading == :cache ? CACHE_READ : TERMINUS
      when :head then @reading == :cache ? CACHE_READ : TERMINUS
      when :save then @terminus_done || options_hash[:ignore_terminus] ? CACHE_WRITE : TERMINUS
      when :destroy then verb == :find || @terminus_done ? CACHE_WRITE : TERMINUS
      when :expire then verb == :save ? CACHE_WRITE : CACHE_READ
      else TERMINUS
      end
    end

    # It raised. Whether that is swallowed is seen later.
    def refused(step, verb, error, at)
      return @read_error = error if step == CACHE_READ && @verb != :expire
      @failed = true
      why = case step
            when CACHE_READ then 'read-failed'
            when CACHE_WRITE then verb == :find ? 'read-failed' : 'failed'
            else NoMethodError === error && error.name == verb ? 'verb-missing' : 'raised'
            end
      about = why == 'verb-missing' ? verb.to_s : first_line(Text.message(error))
      @steps[step] = Steps.json(step, 'raised', why, about, *step_time(at))
      @wrote = 'raised' if step == CACHE_WRITE
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def answered_by(step, verb, result, at)
      case step
      when CACHE_READ then read(result, at)
      when CACHE_WRITE then wrote_cache(verb, result, at)
      else from_terminus(verb, result, at)
      end
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    # What the cache has. Whether it is good is for Puppet to find out.
    def read(result, at)
      @found = [result, *step_time(at)]
      return unless @verb == :expire
      @reading = :expire
      is, why = result ? ['found', 'found'] : ['miss', 'not-found']
      @steps[CACHE_READ] = Steps.json(CACHE_READ, is, why, nil, *@found[1, 2])
      @served = 'cache' if result
      @steps[EXPIRY_SET] = result ? Steps.json(EXPIRY_SET, 'set', 'ttl', 'now - 60 s') : NO_RESULT[EXPIRY_SET]
      @steps[CACHE_WRITE] = NO_RESULT[CACHE_WRITE] unless result
    end

    def wrote_cache(verb, result, at)
      is, why = case verb
                when :find then result ? return : ['absent', 'not-found']
                when :destroy then ['removed', 'found']
                else ['written', 'written']
                end
      @wrote = is
      @steps[CACHE_WRITE] = Steps.json(CACHE_WRITE, is, why, nil, *step_time(at))
      @step = FILTER
    end

    def from_terminus(verb, result, at)
      @terminus_done = true
      @terminus_answer = result
      took = IndirtuiProbe.now - at - (@held - @held_before)
      return found(result, at, took) if verb == :find && result && !@injected
      @served = 'terminus' unless result.nil? || verb == :head && !result
      @served = 'terminus' if verb == :save
      is, why, about = terminus_words(verb, result)
      Clues.bucket(self, at) if is == 'nil' && verb == :find && @indirection.name == :file_bucket_file
      @served = nil if is == 'nil'
      @steps[TERMINUS] = Steps.json(TERMINUS, is, why, about, at - @at, took)
      @steps[EXPIRY_SET] = expiry_of(result) if verb == :find && !result.nil?
      date_all(result) if verb == :search && Array === result && !result.empty?
      @step = verb == :save || verb == :find ? CACHE_WRITE : CALLER
    end

    # The commonest of all answers.
    def found(result, at, took)
      @served = 'terminus'
      @asked_at = at - @at
      @asked_took = took
      @plain = expiry_of(result)
      Clues.environment(self, result, at) if options_hash[:check_environment]
      @step = CACHE_WRITE
    end

    # Puppet dates what it found, unless it has a date.
    def expiry_of(result)
      !result.respond_to?(:expiration) ? KEEPS_NONE : result.expiration ? KEPT : dated
    end

    def terminus_words(verb, result)
      return [result.nil? ? 'nil' : 'ok', 'you'] if @injected
      case verb
      when :save then ['written', 'written']
      when :destroy then result.nil? ? ['absent', 'not-found'] : ['removed', 'returned']
      when :search then searched(result)
      when :head then result ? ['ok', 'returned'] : ['nil', *nothing]
      else
        return ['nil', *nothing] if result.nil?
        false.equal?(result) ? ['false', 'returned', 'false'] : ['ok', 'returned']
      end
    end

    # Some termini make an empty list of a 404.
    def searched(result)
      return ['nil', *nothing] if result.nil? || Array === result && result.empty? && missing
      ['ok', 'returned', Array === result ? result.size.to_s : nil]
    end

    def missing
      @statuses && @statuses.find { |status, _| status == 404 }
    end

    # Why there is nothing.
    def nothing
      return ['nil-from-404', "the server answered 404 #{missing[1]}"] if missing
      return ['nil-from-empty-output', nil] if @route && @route.terminus == 'exec'
      ['nil', nil]
    end

    def date_all(results)
      one = results.find { |x| x.respond_to?(:expiration) }
      @steps[EXPIRY_SET] = !one ? KEEPS_NONE : one.expiration ? KEPT : dated
    end

    # The lifetime is that of the indirection, kept as long as the route.
    def dated
      @route.dated ||= Steps.json(EXPIRY_SET, 'set', 'ttl', "now + #{@indirection.ttl} s")
    end

    # What became of the read of the cache, once Puppet has judged it.
    def cache_read(request, found)
      return no_cache(request) unless @found || @read_error
      return read_failed(@read_error) if @read_error || @swallowed
      instance, at, took = @found
      unless instance
        @steps[CACHE_READ] = Steps.json(CACHE_READ, 'miss', 'not-found', nil, at, took)
        @steps[EXPIRY] = Steps.json(EXPIRY, 'not asked', 'not-found')
        return
      end
      @steps[CACHE_READ] = Steps.json(CACHE_READ, 'found', 'found', nil, at, took)
      judged(instance, found)
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def no_cache(request)
      if request.respond_to?(:ignore_cache?) && request.ignore_cache?
        @steps[CACHE_READ] = cache? ? by_caller(CACHE_READ, 'ignored-by-caller') : NO_CACHE[CACHE_READ]
        @steps[EXPIRY] = cache? ? Steps.json(EXPIRY, 'not asked', 'ignored-by-caller') : NO_CACHE[EXPIRY]
      else
        @steps[CACHE_READ], @steps[EXPIRY] = NO_CACHE[CACHE_READ], NO_CACHE[EXPIRY]
        @uncached = true
      end
      @hit = true if @injected
    end

    def by_caller(step, why)
      Steps.by_caller(step, 'not asked', why, caller_json)
    end

    def read_failed(e)
      e ||= @swallowed
      @steps[CACHE_READ] = Steps.json(CACHE_READ, 'swallowed', 'read-failed', first_line(Text.message(e)))
      @steps[EXPIRY] = Steps.json(EXPIRY, 'not asked', 'read-failed')
      fault(CACHE_READ, e, false, @cached)
    end

    def judged(instance, found)
      expires = instance.respond_to?(:expiration) ? instance.expiration : nil
      if found.nil?
        @steps[EXPIRY] = Steps.json(EXPIRY, 'expired', 'expired', expired_about(expires))
        return
      end
      @hit = true
      @served = 'cache'
      @steps[EXPIRY] = if expires then Steps.json(EXPIRY, 'ok', 'not-expired', "for #{duration(expires - Time.now)}")
                       elsif @cache_of_files then Steps.json(EXPIRY, 'ok', 'no-expiry-kept', @cached)
                       else Steps.json(EXPIRY, 'ok', 'no-expiration')
                       end
    end

    def expired_about(expires)
      return nil unless Time === expires
      "#{expires.dup.utc.strftime('%Y-%m-%dT%H:%M:%SZ')}, #{duration(Time.now - expires)} ago"
    end

    # Seconds as Go writes a duration: 1h2m3s.
    def duration(seconds)
      s = seconds.round
      return "#{s}s" if s < 60
      return "#{s / 60}m#{s % 60}s" if s < 3600
      "#{s / 3600}h#{s % 3600 / 60}m#{s % 60}s"
    end

    # Puppet logged an exception and may go on.
    def logged(exception)
      @swallowed = exception if @reading == :cache && Exception === exception
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def authorized(request, terminus)
      @steps[AUTHORIZE] = if !(request.respond_to?(:node) && request.node) then NOT_CHECKED
                          elsif terminus.respond_to?(:authorized?) then Steps.json(AUTHORIZE, 'allowed', 'allowed', Text.of(request.node))
                          else NO_RULE
                          end
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def denied(request)
      @steps[AUTHORIZE] = Steps.json(AUTHORIZE, 'denied', 'denied', Text.of(request.node))
    rescue Fault => e
      IndirtuiProbe.fault(e)
    end

    def invalid(e)
      @steps[VALIDATE] = Steps.json(VALIDATE, 'invalid', 'validation-failed', first_line(Text.message(e)))
    end

    # The steps of a use past the indirection.
    def straight
      PLANS[@verb].each { |s| @steps[s] = Steps.json(s, 'not asked', 'not-applied', 'the terminus was used directly') unless s == ROUTE || s == TERMINUS }
    end

    def next_exchange
      @exchanges = (@exchanges || 0) + 1
    end

    def statuses
      @statuses ||= []
    end

    # The terminus that a breakpoint of a step means.
    def terminus_at(name)
      return nil unless @route
      name == 'cache read' || name == 'cache write' || name == 'expiry' ? @route.cache : @route.terminus
    end

    # What the other side wants before the route is taken.
    def held_answer(v)
      @answered = [@link.hold.answer(self, v)] if v && @link.hold.replaces?(v)
    end

    # The answer is that of the other side.
    def inject
      @injected = true
    end

    # Another instance is saved.
    def save_instead(instance)
      @instance = instance
      @edited = true
      @request.instance = instance if @request
      touch(['what is saved'])
    end

    def touch(changes)
      @touched = (@touched || []) + changes
    end

    # Time for which a request was held is not its own, nor that of those that asked.
    def was_held(took, step, from)
      span(step, 'held', 'held', '', from, took)
      r = self
      while r
        r.add_held(took)
        r = r.parent
      end
    end

    def add_held(took)
      @held += took
    end

    # The line of a request that is held.
    def held_line(step, done, arm, limit, request, result, error)
      settle_find_so_far
      b = "{\"held\":#{@id},\"step\":\"#{NAMES[step]}\",\"done\":#{done},\"arm\":#{arm['arm'].to_i},\"at\":#{IndirtuiProbe.now}," \
          "\"thread\":#{Thread.current.object_id},\"limit\":#{limit * 1_000_000},\"verb\":\"#{@verb}\",\"ind\":#{Text.json(name)},\"key\":#{key_json}"
      b << ",\"env\":#{environment}" if environment
      set = flags
      b << ",\"flags\":[\"#{set.join('","')}\"]" if set
      b << ",\"options\":[#{other_options.join(',')}]"
      b << ",\"parent\":#{@parent.id},\"pstep\":\"#{NAMES[@parent_step]}\"" if known_parent?
      b << ",\"began\":#{@at},\"app\":#{@link.application},\"caller\":#{caller_json}"
      b << ",\"run\":#{Text.json(run)}" if run
      b << ",\"traceparent\":#{Text.json(@local.came)}" if @local.came
      b << ",\"route\":#{@link.route(@route)},\"terminus\":#{Text.json(@route.terminus)},\"cache\":#{Text.json(@route.cache)}" if @route
      b << ",\"answer\":#{Values.answer(self, step, done, result)}"
      b << ',"error":' << (error ? error_json(error) : 'null')
      b << ',"steps":[' << @steps.join(',') << ']'
      b << ',"spans":[' << @spans.join(',') << ']' if @spans
      b << ',"faults":[' << @faults.map { |f| fault_json(f) }.join(',') << ']' if @faults
      b << ',"behind":[' << behind.map { |n, ns| "[\"#{n}\",#{ns}]" }.join(',') << ']}'
    end

    def error_json(e)
      "{\"class\":#{Text.json(Text.name_of(Text.class_of(e)))},\"message\":#{Text.json(Text.message(e))},\"place\":#{Text.json(Text.place(e))}}"
    end

    # Whom the hold keeps waiting, and how long they wait: ns that are left.
    def behind
      list = []
      read = Settings.value(:http_read_timeout)
      list << ['http_read_timeout', (read * 1_000_000_000).to_i] if Numeric === read && read > 0
      list << ['borrow-timeout', Pool.borrow] if IndirtuiProbe.server && Pool.borrow
      run = Settings.value(:runtimeout)
      list << ['runtimeout', (run * 1_000_000_000).to_i - (IndirtuiProbe.now - @local.run_began)] if Numeric === run && run > 0 && @local.run_began
      list
    rescue Fault
      list
    end

    # The line without what may be long.
    def short_line
      @left_out = (@left_out || 0) + (@spans || []).size + (@note_lines || {}).size
      @spans = @note_lines = nil
      @faults = @faults.first(5) if @faults
      line
    end
  end
end
