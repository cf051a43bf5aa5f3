# The ten questions of a request, in the words of traces.
module IndirtuiProbe
  module Steps
    NAMES = ['route', 'authorize', 'validate', 'cache read', 'expiry', 'terminus', 'expiry set', 'cache write', 'filter', 'caller'].freeze
    ROUTE, AUTHORIZE, VALIDATE, CACHE_READ, EXPIRY, TERMINUS, EXPIRY_SET, CACHE_WRITE, FILTER, CALLER = (0..9).to_a
    # The steps that a verb has, besides caller.
    PLANS = {
      :find => [0, 1, 2, 3, 4, 5, 6, 7, 8], :search => [0, 1, 2, 5, 6], :head => [0, 1, 2, 3, 4, 5], :save => [0, 1, 2, 5, 7],
      :destroy => [0, 1, 2, 5, 7], :expire => [0, 3, 6, 7]
    }.freeze

    class << self
      # The JSON of a step.
      def json(step, is, why, about = nil, at = 0, took = 0)
        b = "{\"step\":\"#{NAMES[step]}\",\"is\":\"#{is}\",\"why\":\"#{why}\""
        b << ",\"about\":#{Text.json(about)}" if about && !about.empty?
        b << ",\"at\":#{at}" if at > 0
        b << ",\"took\":#{took}" if took > 0
        b << '}'
      end

      # The same with the caller as what it is about.
      def by_caller(step, is, why, caller)
        "{\"step\":\"#{NAMES[step]}\",\"is\":\"#{is}\",\"why\":\"#{why}\",\"about\":#{caller}}"
      end

      def blank(verb)
        (0..9).map do |s|
          if PLANS[verb].include?(s) then json(s, 'not reached', 'earlier-step-raised')
          elsif s == FILTER then json(s, 'none', 'terminus-has-no-filter')
          elsif s == CALLER then json(s, 'not reached', 'unknown')
          else json(s, 'not asked', 'verb-has-no-cache', verb.to_s)
          end
        end
      end
    end

    BLANK = {}
    PLANS.each_key { |verb| BLANK[verb] = blank(verb).freeze }
    NOT_CHECKED = json(AUTHORIZE, 'not checked', 'no-node-in-request')
    NO_RULE = json(AUTHORIZE, 'allowed', 'terminus-has-no-rule')
    NOTHING_TO_VALIDATE = json(VALIDATE, 'ok', 'nothing-to-validate')
    VALID = json(VALIDATE, 'ok', '').sub(',"why":""', '')
    NO_CACHE = [CACHE_READ, EXPIRY, CACHE_WRITE].inject({}) { |h, s| h.merge(s => json(s, 'not asked', 'no-cache-routed')) }
    NO_RESULT = [EXPIRY_SET, CACHE_WRITE, FILTER].inject({}) { |h, s| h.merge(s => json(s, 'not asked', 'skipped(no-result)')) }
    HIT = { TERMINUS => json(TERMINUS, 'not asked', 'skipped(cache-hit)'), EXPIRY_SET => json(EXPIRY_SET, 'not asked', 'earlier-step-answered'),
            CACHE_WRITE => json(CACHE_WRITE, 'not asked', 'skipped(cache-hit)') }.freeze
    NO_FILTER = json(FILTER, 'none', 'terminus-has-no-filter')
    NOT_FILTERED = json(FILTER, 'none', 'cache-is-not-filtered')
    KEEPS_NONE = json(EXPIRY_SET, 'not asked', 'no-expiration')
    KEPT = json(EXPIRY_SET, 'kept', 'already-set')
  end
end
