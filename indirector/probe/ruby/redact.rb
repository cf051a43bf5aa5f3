# Takes secrets out of texts and values, by the rules of indirector/redact in Go
# and by its tables, which are in table.rb. Texts are bytes here. What is a method
# there has the same name here.
module IndirtuiProbe
  module Redact
    autoload :Table, File.join(HOME, 'table.rb')
    FARTHEST = 4096 # how far from its beginning a secret is recognized, in bytes
    LINE = 256      # how far back the program of a flag is looked for
    DEEPEST = 1000  # below this depth all of a value is redacted
    REDACTED = '(masked '.freeze
    TOKEN = /\G\(masked [^(),\n]{1,60}, \d{1,12} B, tag [0-9a-f]{4}\)/
    SPACED = [:anywhere, :at_end, :keyword].freeze

    # The pattern of a word, with what may separate its letters.
    def self.pattern(word, where)
      word.split('').map { |c| Regexp.escape(c) }.join(SPACED.include?(where) ? '[-_. ]*' : '')
    end

    WORDS = {} # by their first letter, in order
    Table::WORDS.each do |word, rule, where|
      (WORDS[word.getbyte(0)] ||= []) << [Regexp.new('\\G' + pattern(word, where), Regexp::IGNORECASE), word, rule, where]
    end
    FORMS = {} # by their first byte, in order
    Table::FORMS.each do |prefix, least, set, rule, keep|
      more = Regexp.new('\\G' + Regexp.escape(prefix) + '[' + Table::SETS[set] + ']*')
      (FORMS[prefix.getbyte(0)] ||= []) << [more, prefix.bytesize, least, set, rule, keep]
    end
    CRYPT = Regexp.new('\\G[' + Table::SETS[:crypt] + '~]*')
    COMMANDS = Table::COMMANDS.map do |flag, shape, programs|
      [flag, shape, Regexp.new('(?:\\A|[ \\t"\'/`(;|&=\\[,>])(?:' + programs.map { |p| Regexp.escape(p) }.join('|') + ')')]
    end
    # What may follow the first letter of a secret, by that letter: an engine tries one
    # alternative after the other at each position of a text.
    STARTS = Hash.new { |h, c| h[c] = [] }
    Table::WORDS.each do |word, _, where|
      rest = pattern(word, where).sub(/\A./, '')
      [word[0], word[0].upcase].each { |c| STARTS[c] << "(?i:#{rest})" }
    end
    (Table::FORMS.map { |f| f[0] } + ['eyJ', 'Basic ', '--', ':/']).each { |s| STARTS[s[0]] << Regexp.escape(s[1..-1]) }
    STARTS['*'] << '[0-9A-F]'
    STARTS['-'] << '(?<![0-9A-Za-z_]-)'
    # Where a secret may begin. More than that is harmless.
    BEGINS = Regexp.new(
      '(?=[' + STARTS.keys.map { |c| Regexp.escape(c) }.join + '])(?:' +
      STARTS.map { |c, rests| Regexp.escape(c) + '(?:' + rests.uniq.join('|') + ')' }.join('|') + ')'
    )
    ESCAPES = /%[2-7][0-9A-Fa-f]/
    HARMLESS = ['', 'true', 'false', 'null', 'nil', 'undef', '~', '{}', '[]'].freeze
    EMPTY = [0, 0].freeze

    class << self
      # The text without its secrets. With a limit, only what begins before it is
      # returned, and what follows was looked at only for where secrets end.
      def text(s, limit = nil)
        b = s.dup.force_encoding(Encoding::BINARY)
        hits = all_hits(b)
        return limit ? Text.scrub(s.byteslice(0, limit)) : s if hits.empty?
        out = ''.dup.force_encoding(Encoding::BINARY)
        done = 0
        hits.each do |from, to, rule, secret|
          break if limit && from >= limit
          if from >= done
            out << b[done...from] << token(rule, secret)
            yield rule if block_given?
          end
          done = to if to > done
        end
        rest = b[done...(limit || b.bytesize)]
        out << rest if rest
        Text.scrub(out.force_encoding(Encoding::UTF_8))
      end

      # The value of a name, as text.
      def pair(name, value)
        rule = value.empty? ? nil : named(name, value)
        rule ? token(rule, value) : value
      end

      # The arguments of a command, as one text.
      def line(arguments)
        text(arguments.map { |a| text(Text.utf8(a)) }.join(' '))
      end

      # A value without its secrets, and how many there were.
      def value(x)
        walk = Walk.new
        [walk.value(x), walk.count]
      end

      # The rule by which the value of a name is a secret, or nil.
      def named(name, value)
        name = name.dup.force_encoding(Encoding::BINARY)
        text = value.is_a?(String) ? value : value.to_s
        i = name.index(BEGINS, 0)
        while i
          word, = word_at(name, i)
          if word && word[3] != :query && !(harmless_kind?(value) && harmless?(word, name, text.dup.force_encoding(Encoding::BINARY)))
            return name =~ /[\[\/]/ ? nil : word[2]
          end
          i = name.index(BEGINS, i + 1)
        end
        nil
      end

      # Whether a secret is announced in a name, escapes aside.
      def announced?(name)
        b = name.dup.force_encoding(Encoding::BINARY)
        i = b.index(BEGINS, 0)
        while i
          return true if b[i] == ':' || b[i] == '-' || word_at(b, i) || form(b, i)
          i = b.index(BEGINS, i + 1)
        end
        false
      end

      # Whether the text of a value shows that it is no secret.
      def harmless_kind?(value)
        case value
        when String, Integer, Float, true, false, nil then true
        end
      end

      def all_hits(b)
        hits = hits(b)
        plain = b
        at = nil
        3.times do
          break unless escapes?(plain)
          plain, at = unescaped(plain, at)
          hits(plain).each { |from, to, rule, secret| hits << [at[from], at[to], rule, secret] }
        end
        return hits unless at
        hits.each_with_index.sort_by { |h, i| [h[0], i] }.map { |h, _| h }
      end

      # The secrets of a text: from, to, rule, secret.
      def hits(s)
        hits = []
        i = s.index(BEGINS, 0)
        while i
          from, to, following, rule = find(s, i)
          hits << [from, to, rule, s[from...to]] if rule
          i = following < s.bytesize ? s.index(BEGINS, following) : nil
        end
        hits
      end

      def escapes?(s)
        ESCAPES =~ s || form?(s)
      end

      # Whether pluses are blanks.
      def form?(s)
        s.include?('+') && /[A-Za-z\x80-\xff]\+/n =~ s && !s.include?(' ')
      end

      def unescaped(s, outer)
        plain = ''.dup.force_encoding(Encoding::BINARY)
        at = []
        form = form?(s)
        i = 0
        while i < s.bytesize
          from = outer ? outer[i] : i
          c = s.getbyte(i)
          if c == 43 && form
            c = 32
          elsif c == 37 && (hex = s[i + 1, 2]) =~ /\A[0-9A-Fa-f]{2}\z/
            c = hex.hex
            i += 2
          end
          plain << c
          at << from
          i += 1
        end
        at << (outer ? outer[s.bytesize] : s.bytesize)
        [plain, at]
      end

      # A secret that s[i..-1] announces: from, to, where to go on, rule.
      def find(s, i)
        case s.getbyte(i)
        when 45 # -
          n = private_key(s, i)
          return [i, n, n, 'private key'] if n
          from, to = flag(s, i)
          return from < to ? [from, to, to, 'password of a command'] : [0, 0, i + 1, nil]
        when 58 # :
          from, to = url_password(s, i)
          return from ? [from, to, to, 'password in URL'] : [0, 0, i + 1, nil]
        end
        from, to, rule = form(s, i)
        return [from, to, to, rule] if rule
        word, finish = word_at(s, i)
        return [0, 0, i + 1, nil] unless word
        return query(s, finish, word) if word[3] == :query
        named_value(s, i, finish, word)
      end

      def query(s, finish, word)
        to = s.index(/[&#"'<> \t\r\n]/, finish + 1) || s.bytesize
        return [0, 0, finish + 1, nil] if to == finish + 1 || token_at(s, finish + 1) > 0
        [finish + 1, to, to, word[2]]
      end

      def named_value(s, i, finish, word)
        k = Name.new(s, i, finish)
        from, to = k.value(s)
        if from == to
          start, ending = spoken(s, word, k)
          k.finish, from, to = start, start, ending if start < ending
        end
        n = token_at(s, from)
        return [0, 0, [k.finish, from].max, nil] if from == to
        return [0, 0, from + n, nil] if n > 0
        return [0, 0, from, nil] if harmless?(word, s[k.start...k.finish], s[from...to])
        [from, to, to, word[2]]
      end

      # The word that s[i..-1] begins with, and where it ends.
      def word_at(s, i)
        c = s.getbyte(i)
        c += 32 if c >= 65 && c <= 90
        (WORDS[c] || []).each do |word|
          next unless s.index(word[0], i) == i
          finish = $~.end(0)
          return [word, finish] if stands?(word[3], s, i, finish)
        end
        nil
      end

      def stands?(where, s, i, finish)
        case where
        when :anywhere, :keyword then return true
        when :query
          return i > 0 && (s.getbyte(i - 1) == 63 || s.getbyte(i - 1) == 38) && s.getbyte(finish) == 61
        when :part, :last_part
          before = i > 0 ? s[i - 1] : ''
          after = s[finish] || ''
          return false if letter?(before) && (upper?(before) || !upper?(s[i])) || letter?(after) && (upper?(s[finish - 1]) || !upper?(after))
        end
        where == :part || finish == s.bytesize || !name_byte?(s, finish) || s.getbyte(finish) == 58
      end

      def letter?(c)
        /\A[A-Za-z\x80-\xff]/n =~ c
      end

      def upper?(c)
        /\A[A-Z]/ =~ c
      end

      def name_byte?(s, i)
        s.index(/\G[-_.:0-9A-Za-z\x80-\xff]/n, i) == i
      end

      def word_byte?(s, i)
        s.index(/\G[0-9A-Za-z_]/, i) == i
      end

      # Whether what has the name is no secret.
      def harmless?(word, name, value)
        value = value.gsub(/\A["'\\]+|["'\\]+\z/, '')
        return true if HARMLESS.include?(value)
        return false unless word[3] == :part
        return true if value.bytesize <= 2 && literal?(value)
        case word[1]
        when 'pass' then value.start_with?('http://', 'https://', 'unix:')
        when 'pwd' then name.end_with?('PWD') && value.start_with?('/')
        end
      end

      def literal?(s)
        %w[true false null].include?(s) || /\A[-0-9+.eE]+\z/ =~ s
      end

      def private_key(s, i)
        return nil unless s.index(/\G-----BEGIN ([^\n]*?)-----/, i) == i
        label = $1
        return nil if label.bytesize > 80 || !label.include?('PRIVATE KEY')
        ending = "-----END #{label}-----"
        at = s.index(ending, i)
        at ? at + ending.bytesize : s.bytesize
      end

      # Where the password of a URL is, whose colon is at i.
      def url_password(s, i)
        t = s[i, FARTHEST]
        slashes = t.index(/[^\/]/, 1) || t.bytesize
        return nil unless slashes == 2 || slashes == 3
        finish = t.index(/[\/?#"'<> \t\r\n]/, slashes) || t.bytesize
        to = t[0...finish].rindex('@')
        colon = t[slashes...finish].index(':')
        if to.nil? && colon && slashes == 3 && (t[0...finish].index(/[^0-9]/, 3 + colon + 1) || finish) < finish
          to = t[0...(t.index(/["'<> \t\r\n]/, 3) || t.bytesize)].rindex('@')
        end
        return nil unless to
        colon = t[slashes...to]
        colon = colon && colon.index(':')
        return nil unless colon
        from = slashes + colon + 1
        return nil if from == to || token_at(t, from) > 0
        [i + from, i + to]
      end

      # What is known by how it begins: from, to, rule.
      def form(s, i)
        return nil if i > 0 && word_byte?(s, i - 1) && word_byte?(s, i)
        (FORMS[s.getbyte(i)] || []).each do |more, size, least, set, rule, keep|
          next unless s.index(more, i) == i
          finish = $~.end(0)
          next if finish - i - size < least || set == :upper && finish < s.bytesize && word_byte?(s, finish)
          return [keep ? i + size : i, finish, rule]
        end
        case s.getbyte(i)
        when 101 # e
          n = web_token(s, i)
          return [i, n, 'token'] if n
        when 66 # B
          n = basic(s, i)
          return [i + 6, n, 'header'] if n
        when 42 # *
          if s.index(/\G\*[0-9A-F]*/, i) == i && (finish = $~.end(0)) - i == 41 && !(finish < s.bytesize && word_byte?(s, finish))
            return [i, finish, 'password hash']
          end
        end
        nil
      end

      def web_token(s, i)
        return nil unless s.index(/\GeyJ[-_.0-9A-Za-z]*/, i) == i
        finish = $~.end(0)
        first = s.index('.', i)
        return nil if first.nil? || first - i >= FARTHEST || first - i < 10
        s[i...finish].count('.') < 2 || finish < first + 10 ? nil : finish
      end

      def basic(s, i)
        return nil unless s.index(/\GBasic ([A-Za-z0-9+\/=]*)/, i) == i
        finish = $~.end(0)
        text = $1.sub(/=+\z/, '')
        return nil if text.include?('=') || text.bytesize % 4 == 1
        text.unpack('m')[0].to_s.include?(':') ? finish : nil
      end

      # Where the secret is that the flag at i gives to a program.
      def flag(s, i)
        return EMPTY if i == 0 || !" \t\"'[,".include?(s[i - 1])
        COMMANDS.each do |flag, shape, programs|
          next unless s[i, flag.bytesize] == flag
          finish = i + flag.bytesize
          next if finish == s.bytesize || !fits?(shape, s.getbyte(finish), flag.bytesize > 2)
          line = s[(i > LINE ? i - LINE : 0)...i]
          next unless programs =~ line[((line.rindex("\n") || -1) + 1)..-1]
          from, to = flag_value(shape, s[i, LINE], finish - i)
          return [i + from, i + to] if from < to
        end
        EMPTY
      end

      def fits?(shape, c, named)
        return shape != :attached if c == 32 || c == 9
        c != 10 && (named ? c == 61 : shape != :apart)
      end

      def flag_value(shape, s, i)
        from = skip(s, i, /[^ \t=]/)
        to = enclosed(s, from)
        to = s.index(/[ \t\r\n"',;|&]/, from) || s.bytesize if to == from
        return EMPTY if from > i && s[from] == '-' || token_at(s, from) > 0
        if shape == :behind
          colon = s[from...to].index(/[:%]/)
          return EMPTY if colon.nil? || token_at(s, from + colon + 1) > 0
          from += colon + 1
          to -= 1 if to > from && "\"'".include?(s[to - 1])
        end
        [from, to]
      end

      # Where the secret is that follows a word without an assignment.
      def spoken(s, word, k)
        return EMPTY if k.start >= 8 && s[k.start - 8, 8] == REDACTED
        from = skip(s, k.finish, /[^ \t]/)
        if word[3] == :keyword && from > k.finish
          to = enclosed(s, from)
          return [from, to > from ? to : s.index(/[ \t\r\n;]/, from) || s.bytesize]
        end
        if word[1] == 'bearer' && from > k.finish
          to = s.index(CRYPT, from) == from ? $~.end(0) : from
          return to - from >= 16 ? [from, to] : EMPTY
        end
        word[1].start_with?('pass') ? spoken_password(s, k) : EMPTY
      end

      def spoken_password(s, k)
        closed = skip(s, k.finish, /[^"']/)
        at = skip(s, closed, /[^ \t(]/)
        at = $~.end(0) if at > closed && s.index(/\G(?:changed |as |is |was |to |from )/, at) == at
        return EMPTY if at == closed || at == s.bytesize
        if "'\"".include?(s[at])
          return EMPTY unless k.quote.nil? || closed > k.finish
          line = s[at, FARTHEST]
          line = line[0...(line.index(/[\r\n]/) || line.bytesize)]
          to = enclosed(line, 0)
          to = [to, enclosed(line, to + 4)].max if line[to, 4] == ' to '
          return [at, at + to]
        end
        return EMPTY unless at == skip(s, k.finish, /[^ \t]/) && netrc?(s[[0, k.start - LINE].max...k.start])
        [at, s.index(/[ \t\r\n]/, at) || s.bytesize]
      end

      def netrc?(s)
        at = ['login ', 'machine ', 'default '].map { |w| s.rindex(w) || -1 }.max
        at >= 0 && (at == 0 || " \t\r\n\"'".include?(s[at - 1])) && !s[at..-1].include?('. ')
      end

      # The first position from i on whose byte is one of others.
      def skip(s, i, others)
        s.index(others, i) || s.bytesize
      end

      # The end of the quotes or brackets that open at from, or from.
      def enclosed(s, from)
        at = skip(s, from, /[^\\]/)
        return from if at >= s.bytesize
        slashes = at - from
        case c = s.getbyte(at)
        when 34, 39 then quoted(s, at + 1, c, slashes)
        when 123, 91 then slashes == 0 ? bracketed(s, at) : from
        else from
        end
      end

      def quoted(s, at, quote, slashes)
        stop = quote == 34 ? /["\\]/ : /['\\]/
        while at < s.bytesize && (at = s.index(stop, at))
          n = skip(s, at, /[^\\]/) - at
          at += n
          break if at >= s.bytesize
          if s.getbyte(at) == quote && (n == slashes || slashes == 0 && (quote == 39 || n.even?))
            if quote == 39 && s.getbyte(at + 1) == quote
              at += 2 # YAML writes a quote within quotes twice
              next
            end
            return at + 1
          end
          at += 1
        end
        s.bytesize
      end

      def bracketed(s, at)
        open = 0
        while (at = s.index(/[{}\[\]"']/, at))
          case c = s.getbyte(at)
          when 123, 91 then open += 1
          when 125, 93
            open -= 1
            return at + 1 if open == 0
          else
            at = quoted(s, at + 1, c, 0)
            next
          end
          at += 1
        end
        s.bytesize
      end

      def token_at(s, i)
        i <= s.bytesize && s.index(TOKEN, i) == i ? $~.end(0) - i : 0
      end

      def token(rule, secret)
        secret = secret.dup.force_encoding(Encoding::BINARY)
        "(masked #{rule}, #{secret.bytesize} B, tag #{hmac(secret)[0, 4]})"
      end

      attr_writer :salt

      # The tag of equal secrets is equal as long as this process runs.
      def hmac(secret)
        require 'digest'
        @salt ||= Random.new_seed.to_s(16) + Random.new_seed.to_s(16)
        key = @salt.dup.force_encoding(Encoding::BINARY)
        key = Digest::SHA256.digest(key) if key.bytesize > 64
        bytes = key.ljust(64, "\0").bytes.to_a
        inner = Digest::SHA256.digest(bytes.map { |c| c ^ 0x36 }.pack('C*') + secret)
        Digest::SHA256.hexdigest(bytes.map { |c| c ^ 0x5c }.pack('C*') + inner)
      end
    end

    # The name in a text that a word is a part of, and what it has.
    class Name
      attr_reader :start, :quote
      attr_accessor :finish

      OPERATORS = /\G(?:===|\|\|=|=>|:=|==|!=|\+=|\+>)/

      def initialize(s, start, finish)
        @start = start == 0 ? 0 : (s.rindex(/[^-_.:0-9A-Za-z\x80-\xff]/n, start - 1) || -1) + 1
        @finish = name_end(s, finish)
        long = s[@start, 2] == '--'
        @flag = long || s.getbyte(@start) == 45 && @finish - @start > 3
        before = @start > 0 ? s.getbyte(@start - 1) : nil
        @quote = before if before == 34 || before == 39
        line = back(s, @start)
        line = back(s, line - 6) if s[[line - 6, 0].max...line] == 'export'
        @first = !long && (line == 0 || s.getbyte(line - 1) == 10)
        @indent = Redact.skip(s, line, /[^ \t]/) - line
      end

      def name_end(s, at)
        while at < s.bytesize && Redact.name_byte?(s, at)
          if s.getbyte(at) == 58
            # A name may go on behind two colons; one is what assigns.
            break unless s.getbyte(at + 1) == 58 && (at + 2 == s.bytesize || Redact.name_byte?(s, at + 2))
            at += 1
          end
          at += 1
        end
        at
      end

      # Where the blanks, dashes and quotes that end at i begin.
      def back(s, i)
        i <= 0 ? 0 : (s.rindex(/[^ \t\-?"']/, i - 1) || -1) + 1
      end

      # Where the value is; two equal positions if nothing is assigned.
      def value(s)
        i = Redact.skip(s, @finish, /[^"'\\\])]/)
        closed = i > @finish
        i = Redact.skip(s, i, /[^ \t]/)
        if s[i, 2] == '::'
          return [i + 2, i + 2]
        elsif i < s.bytesize && s.index(OPERATORS, i) == i
          i = $~.end(0)
        elsif s[i] == ':' || s[i] == '='
          i += 1
        elsif s[i] == '>' && i == @finish && @start > 0 && s[@start - 1] == '<'
          return [i + 1, s.index('<', i + 1) || s.bytesize]
        elsif @flag && !closed && i > @finish && i < s.bytesize && !"-\r\n|&;".include?(s[i])
          return [i, bare(s, i, false)]
        else
          return [@finish, @finish]
        end
        assigned(s, i, closed)
      end

      def assigned(s, i, closed)
        from = Redact.skip(s, i, /[^ \t]/)
        from = Redact.skip(s, from, /[^ \t\r\n]/) if closed
        return [from, from] if from >= s.bytesize
        to = Redact.enclosed(s, from)
        return [from, tail(s, to)] if to > from
        if closed
          to = s.index(/[,\]} \t\r\n]/, from) || s.bytesize
          return [from, to] if Redact.literal?(s[from...to])
        end
        [from, bare(s, from, from > i || @first)]
      end

      def bare(s, from, line)
        if @quote && @finish < s.bytesize && s.getbyte(@finish) != @quote
          # The quote in front of the name closes behind the value.
          n = s.index(@quote.chr, from)
          return n if n && tail(s, n + 1) == n + 1
        end
        return s.index(/[ \t\r\n]/, from) || s.bytesize unless line
        to = s.index(/[\r\n]/, from) || s.bytesize
        @first ? block(s, to) : to
      end

      def tail(s, to)
        return to if to >= s.bytesize || ",;)}]>&|\"'\\ \t\r\n".include?(s[to])
        s.index(/[\r\n]/, to) || s.bytesize
      end

      # The end of the lines below that belong to the name.
      def block(s, to)
        at = to
        while at < s.bytesize
          at = Redact.skip(s, at, /[^\r]/)
          return to if at >= s.bytesize || s.getbyte(at) != 10
          line = at + 1
          text = Redact.skip(s, line, /[^ \t]/)
          finish = s.index(/[\r\n]/, text) || s.bytesize
          if text == finish # blank: it belongs to the name if what follows does
          elsif text - line > @indent || text - line == @indent && s[text, 2] == '- '
            to = finish
          else
            return to
          end
          at = finish
        end
        to
      end
    end

    # A walk over plain data: hashes, lists, texts and numbers.
    class Walk
      attr_reader :count

      EVENT = %w[previous_value desired_value historical_value message].freeze
      PUPPETS = ['[redacted]', 'changed [redacted] to [redacted]'].freeze

      def initialize
        @count = 0
        @depth = 0
      end

      def value(x)
        case x
        when String then Redact.text(x) { @count += 1 }
        when Array then @depth >= DEEPEST ? secret(x, 'too deep') : below { list(x) }
        when Hash then @depth >= DEEPEST ? secret(x, 'too deep') : below { hash(x) }
        else x
        end
      end

      def below
        @depth += 1
        yield
      ensure
        @depth -= 1
      end

      # Replaces all of a value.
      def secret(x, rule)
        return x if x.nil? || true == x || false == x || x.respond_to?(:empty?) && x.empty?
        return x if String === x && Redact.token_at(x, 0) == x.bytesize
        return sensitive(x) if Hash === x && sensitive?(x)
        @count += 1
        Redact.token(rule, plain(x))
      end

      def plain(x)
        String === x ? x : x.inspect
      end

      def sensitive?(x)
        x['__ptype'] == 'Sensitive' || x['__pcore_type__'] == 'Sensitive'
      end

      def sensitive(x)
        @count += 1
        inner = x['__pvalue']
        Redact.token('Sensitive', inner.nil? ? '' : plain(inner))
      end

      def ruled(x, rule)
        rule ? secret(x, rule) : value(x)
      end

      def list(x)
        arguments(x).map { |v| value(v) }
      end

      # The arguments of a command: some make others a secret.
      def arguments(x)
        return x unless x.all? { |s| String === s && s.bytesize <= FARTHEST } && x.any? { |s| s.start_with?('-') }
        hits = Redact.hits((x.join(' ') + ' ').force_encoding(Encoding::BINARY))
        return x if hits.empty?
        at = 0
        x.map do |s|
          size = s.bytesize
          hit = hits.find { |from, to, _, _| [from - at, 0].max < [to - at, size].min }
          s = cut(s, hit, at) if hit
          at += size + 1
          s
        end
      end

      def cut(s, hit, at)
        from = [hit[0] - at, 0].max
        to = [hit[1] - at, s.bytesize].min
        @count += 1
        s.byteslice(0, from) + Redact.token(hit[2], s.byteslice(from, to - from)) + s.byteslice(to, s.bytesize).to_s
      end

      def hash(x)
        return sensitive(x) if sensitive?(x)
        names = x['sensitive_parameters']
        event = x['redacted'] ? true : false
        event ||= x.key?('desired_value') && String === x['property'] && Redact.named(x['property'], x['desired_value'])
        pairs = x['__ptype'] == 'Hash' || x['__pcore_type__'] == 'Hash'
        x.inject({}) do |h, (name, v)|
          h[Redact.announced?(name) ? Redact.text(name) { @count += 1 } : name] = pair(name, v, names, event, pairs)
          h
        end
      end

      def pair(name, v, names, event, pairs)
        rule = Redact.named(name, v)
        rule ||= 'redacted event' if event && EVENT.include?(name) && !PUPPETS.include?(v)
        if Array === names && name == 'parameters' && Hash === v then parameters(v, names)
        elsif pairs && name == '__pvalue' && Array === v then key_value(v)
        else ruled(v, rule)
        end
      end

      def parameters(v, names)
        value(v.inject({}) { |h, (name, x)| h.merge!(name => names.include?(name) ? secret(x, 'sensitive parameter') : x) })
      end

      # A hash that is written as a list.
      def key_value(v)
        v.each_with_index.map do |x, i|
          name = i.odd? ? v[i - 1] : nil
          ruled(x, String === name ? Redact.named(name, x) : nil)
        end
      end
    end
  end
end
