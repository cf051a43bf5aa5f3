# The helper for functions and templates that are written in Ruby: what of Puppet they use,
# over a protocol of one JSON value in each line. File descriptor 3 has requests, 4 takes
# answers; whatever is printed goes to standard error.
#
# Who asks waits for the answer, and meanwhile does what it is asked for itself: so both
# sides call each other to any depth, and there is never more than one call under way.
require 'json'
require 'erb'
require 'digest'
require 'uri'
require 'set'
require 'time'

module Helper
  IN = IO.for_fd(3, 'r')
  OUT = IO.for_fd(4, 'w')
  [IN, OUT].each { |io| io.close_on_exec = true }
  IN.set_encoding(Encoding::UTF_8)
  OUT.sync = true
  MAIN = Thread.current
  PID = Process.pid

  # What is made larger than that is an error of the function, not of the machine.
  MEMORY = 2 << 30
  begin
    Process.setrlimit(Process::RLIMIT_AS, MEMORY)
    Process.setrlimit(Process::RLIMIT_CORE, 0)
  rescue NotImplementedError, SystemCallError
    # the system has no such limits
  end

  # What this helper has not of Puppet. No rescue for StandardError sees it.
  class Missing < NotImplementedError; end

  # Ends calls up to the program that caused it: next, return or break of a lambda.
  class Unwound < Exception
    attr_reader :id

    def initialize(id)
      super('unwound')
      @id = id
    end
  end

  # A value that only the other side understands.
  class Handle
    attr_reader :helper_id

    def initialize(id, text)
      @helper_id = id
      @text = text
    end

    def to_s
      @text
    end

    def inspect
      "#<#{@text}>"
    end

    def method_missing(name, *args, &block)
      Helper.ask('member', { 'handle' => @helper_id, 'name' => name.to_s }, args, &block)
    end

    def respond_to_missing?(name, _all = false)
      !%i[to_ary to_hash to_str to_proc to_int to_io to_a to_path].include?(name)
    end
  end

  @functions = {}
  @blocks = []
  @asked = 0

  class << self
    def serve
      while (line = IN.gets)
        reply(JSON.parse(line, max_nesting: false))
      end
    end

    # Does what is asked for, and writes the result, or what was raised.
    def reply(request)
      write('result' => encode(perform(request)))
    rescue Unwound => e
      write('raised' => { 'id' => e.id })
    rescue Exception => e
      write('raised' => raised(e, request))
    end

    def raised(error, request)
      message = error.message.dup.force_encoding(Encoding::UTF_8).scrub
      out = { 'class' => error.class.name.to_s, 'message' => message, 'standard' => error.is_a?(StandardError) }
      out['puppet'] = error.is_a?(Puppet::Error)
      out['final'] = error.is_a?(Puppet::PreformattedError) || error.is_a?(StopIteration)
      out['id'] = error.helper_id if error.respond_to?(:helper_id)
      out['file'] = error.file.to_s if error.respond_to?(:file) && error.file
      out['line'] = error.line.to_i if error.respond_to?(:line) && error.line
      if request['do'] == 'render'
        found = (error.backtrace || []).find { |l| l.start_with?("#{request['path']}:") }
        found ||= error.message[/\A#{Regexp.escape(request['path'])}:\d+/]
        out['line'] = found.to_s.delete_prefix("#{request['path']}:").to_i
      end
      out
    end

    def perform(request)
      case request['do']
      when 'begin' then $LOAD_PATH.concat(request['libs'])
      when 'load' then load_function(request)
      when 'call' then call(request)
      when 'render' then Template.new(request).render
      when 'block' then @blocks.fetch(request['block']).call(*decode(request['args']))
      end
    end

    # Reads the file of a function, and describes what it takes.
    def load_function(request)
      name = request['name']
      refuse_methods(request) if request['old']
      made = TOPLEVEL_BINDING.dup.eval(request['text'], request['file'], 1)
      if request['old']
        unless made.is_a?(Puppet::Parser::Functions::Function)
          raise ArgumentError, "Illegal legacy function definition! The code loaded from #{request['file']} did not return the result of calling 'newfunction'. Got '#{made.class}'"
        end
        unless made.name == name
          raise ArgumentError, "The code loaded from #{request['file']} produced mis-matched name, expected 'function_#{name}', got 'function_#{made.name}'"
        end
        @functions[name] = made
        return { 'arity' => made.arity, 'statement' => made.type == :statement }
      end
      unless made.is_a?(Class) && made < Puppet::Functions::Function
        raise ArgumentError, "The code loaded from #{request['file']} did not produce a Function class when evaluated. Got '#{made.class}'"
      end
      unless made.name == name
        raise ArgumentError, "The code loaded from #{request['file']} produced mis-matched name, expected '#{name}', got #{made.name}"
      end
      @functions[name] = made.new
      { 'types' => made.helper_types, 'dispatches' => made.helper_dispatches.map(&:describe) }
    end

    # Puppet refuses a file of the older kind that defines methods: they would be everybody's.
    def refuse_methods(request)
      require 'ripper'
      look = lambda do |node|
        next unless node.is_a?(Array)

        if %i[def defs].include?(node[0]) && (name = node.find { |x| x.is_a?(Array) && x[0] == :@ident })
          raise SecurityError, "Illegal method definition of method '#{name[1]}' in source #{request['file']} on line #{name[2][0]} in legacy function. " \
                               'See https://puppet.com/docs/puppet/latest/functions_refactor_legacy.html for more information'
        end
        node.each(&look)
      end
      look.call(Ripper.sexp(request['text']))
    end

    def call(request)
      function = @functions.fetch(request['name'])
      args = decode(request['args'])
      block = request['block'] ? proc { |*given| Helper.ask('yield', {}, given) } : nil
      return function.call(args) if function.is_a?(Puppet::Parser::Functions::Function)

      function.class.helper_dispatches.fetch(request['dispatch']).invoke(function, args, &block)
    end

    # Asks the other side, and does what that asks for until it answers.
    def ask(what, more = {}, args = [], &block)
      raise Missing, 'threads of functions cannot ask for anything' unless Thread.current == MAIN

      number = (@asked += 1)
      question = { 'ask' => what, 'n' => number, 'args' => encode(args) }.merge(more)
      if block
        @blocks << block
        question.update('block' => @blocks.size - 1, 'arity' => block.arity, 'lambda' => block.lambda?, 'takes' => block.parameters.map { |kind, _| kind.to_s })
      end
      write(question)
      while (line = IN.gets)
        answer = JSON.parse(line, max_nesting: false)
        if answer.key?('do')
          reply(answer)
        elsif answer['n'] == number # others are late: their question was given up
          return decode(answer['value']) unless answer.key?('failed')

          fail_as(answer['failed'])
        end
      end
      exit!(1) # nobody is there any more
    ensure
      @blocks.pop if block
    end

    def fail_as(failed)
      raise Unwound, failed['id'] if failed['jump']
      raise Missing, failed['message'] if failed['missing']

      raise Puppet::ParseError.of(failed['message'], failed['id'])
    end

    def write(message)
      exit!(1) unless Process.pid == PID # a copy that a function made by fork
      OUT.write(JSON.generate(message, max_nesting: 0), "\n")
    rescue Errno::EPIPE, IOError
      exit!(1)
    end

    def encode(value)
      case value
      when nil, true, false, Integer then value
      when String then encode_string(value)
      when :undef then nil
      when Symbol then { 'symbol' => value.to_s }
      when Float then value.finite? ? value : { 'number' => value.to_s }
      when Array then value.map { |v| encode(v) }
      when Hash then { 'hash' => value.map { |k, v| [encode(k), encode(v)] } }
      when Regexp then { 'regexp' => value.options.zero? ? value.source : value.to_s }
      when Handle then { 'handle' => value.helper_id }
      when Puppet::Pops::Types::PSensitiveType::Sensitive then { 'sensitive' => encode(value.unwrap) }
      when Puppet::Pops::Types::PAnyType then { 'type' => value.to_s }
      when Puppet::Resource then { 'type' => "#{value.type}['#{value.title}']" }
      when Puppet::Pops::Time::Timestamp then { 'timestamp' => value.nsecs }
      when Puppet::Pops::Time::Timespan then { 'timespan' => value.nsecs }
      when SemanticPuppet::VersionRange then { 'versions' => value.to_s }
      when SemanticPuppet::Version then { 'version' => value.to_s }
      when Puppet::Pops::Types::PBinaryType::Binary then { 'binary' => value.to_s }
      when URI::Generic then { 'uri' => value.to_s }
      else
        raise Missing, "#{value.class} is no class of values that the language has"
      end
    end

    def encode_string(value)
      text = value.encoding == Encoding::BINARY ? value.dup.force_encoding(Encoding::UTF_8) : value.encode(Encoding::UTF_8)
      text.valid_encoding? ? text : { 'bytes' => [value].pack('m0') }
    rescue EncodingError
      { 'bytes' => [value].pack('m0') }
    end

    def decode(value)
      case value
      when Array then value.map { |v| decode(v) }
      when Hash then decode_tagged(value)
      else value
      end
    end

    def decode_tagged(value)
      kind, of = value.first
      case kind
      when 'hash' then of.to_h { |k, v| [decode(k), decode(v)] }
      when 'symbol' then of.to_sym
      when 'bytes' then of.unpack1('m')
      when 'number' then { 'Infinity' => Float::INFINITY, '-Infinity' => -Float::INFINITY }.fetch(of, Float::NAN)
      when 'regexp' then Regexp.new(of)
      when 'sensitive' then Puppet::Pops::Types::PSensitiveType::Sensitive.new(decode(of))
      when 'type' then Puppet::Pops::Types.of(of, value['of'], value['title'])
      when 'resource' then Puppet::Resource.new(*of)
      when 'timestamp' then Puppet::Pops::Time::Timestamp.new(of, value['text'])
      when 'timespan' then Puppet::Pops::Time::Timespan.new(of, value['text'])
      when 'version' then SemanticPuppet::Version.parse(of)
      when 'versions' then SemanticPuppet::VersionRange.new(of)
      when 'binary' then Puppet::Pops::Types::PBinaryType::Binary.new(of)
      when 'uri' then URI.parse(of)
      when 'handle' then value['text'].start_with?('Puppet::LookupContext') ? Puppet::LookupContext.new(of, value['text']) : Handle.new(of, value['text'])
      end
    end
  end
end

# Rich values, as far as functions look at them.
module SemanticPuppet
  class Version
    include Comparable
    attr_reader :major, :minor, :patch, :prerelease, :build

    def self.parse(text)
      m = /\A(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?\z/.match(text)
      raise ArgumentError, "Unable to parse '#{text}' as a semantic version identifier" unless m

      new(*m[1, 3].map(&:to_i), m[4], m[5])
    end

    def initialize(major, minor, patch, prerelease = nil, build = nil)
      @major, @minor, @patch, @prerelease, @build = major, minor, patch, prerelease, build
    end

    def to_s
      "#{major}.#{minor}.#{patch}#{prerelease && "-#{prerelease}"}#{build && "+#{build}"}"
    end
    alias inspect to_s

    def stable?
      prerelease.nil?
    end

    def <=>(other)
      return nil unless other.is_a?(Version)

      by_number = [major, minor, patch] <=> [other.major, other.minor, other.patch]
      return by_number unless by_number.zero?
      return (prerelease ? 0 : 1) - (other.prerelease ? 0 : 1) unless prerelease && other.prerelease

      Helper.compare_identifiers(prerelease.split('.'), other.prerelease.split('.'))
    end

    def hash
      to_s.hash
    end

    def eql?(other)
      other.is_a?(Version) && to_s == other.to_s
    end
  end

  VersionRange = Struct.new(:text) do
    def to_s
      text
    end
  end
end

def Helper.compare_identifiers(mine, theirs)
  mine.zip(theirs).each do |a, b|
    return 1 if b.nil?

    numbers = [a, b].map { |x| x.match?(/\A\d+\z/) }
    by = numbers.all? ? a.to_i <=> b.to_i : numbers.any? ? (numbers[0] ? -1 : 1) : a <=> b
    return by unless by.zero?
  end
  mine.size <=> theirs.size
end

module Puppet
  # The errors of Puppet: their classes decide what a function rescues.
  class Error < RuntimeError
    attr_accessor :original, :file, :line, :pos, :helper_id

    def initialize(message = nil, *more)
      super(message)
      @original = more.shift if more.first.is_a?(Exception)
      @file, @line, @pos = more
    end
  end

  class ParseError < Error
    def self.of(message, id)
      new(message).tap { |e| e.helper_id = id }
    end
  end

  class PreformattedError < ParseError; end

  class DataBinding
    class LookupError < PreformattedError; end
  end

  class DevError < Error; end
  class MissingCommand < Error; end
  class ExecutionFailure < Error; end
  class ResourceError < Error; end
  class AuthenticationError < Error; end

  module Pops
    module Types
      # A type as a value: its text is all that is known.
      class PAnyType
        attr_reader :text

        def initialize(text)
          @text = text
        end

        def to_s
          text
        end
        alias name to_s

        def ==(other)
          other.is_a?(PAnyType) && text == other.text
        end
        alias eql? ==

        def hash
          text.hash
        end
      end

      class PResourceType < PAnyType
        attr_reader :type_name, :title

        def initialize(text, type_name, title)
          super(text)
          @type_name = type_name
          @title = title
        end
      end

      class PClassType < PAnyType
        attr_reader :class_name

        def initialize(text, class_name)
          super(text)
          @class_name = class_name
        end
      end

      def self.of(text, kind, title)
        return PAnyType.new(text) unless kind

        kind == 'Class' ? PClassType.new(text, title) : PResourceType.new(text, kind, title)
      end

      class PSensitiveType
        class Sensitive
          def initialize(value)
            @value = value
          end

          def unwrap
            @value
          end

          def to_s
            'Sensitive [value redacted]'
          end

          def inspect
            '#<Sensitive [value redacted]>'
          end

          def ==(other)
            other.is_a?(Sensitive) && unwrap == other.unwrap
          end
          alias eql? ==

          def hash
            @value.hash
          end
        end
      end

      class PBinaryType
        class Binary
          def self.from_binary_string(bytes)
            new([bytes].pack('m0'))
          end

          def initialize(text)
            @text = text
          end

          def to_s
            @text
          end

          def binary_buffer
            @text.unpack1('m')
          end
        end
      end
    end

    module Time
      # A point in time or a length of it, in nanoseconds.
      class TimeData
        include Comparable
        attr_reader :nsecs

        def initialize(nsecs, text = nil)
          @nsecs = nsecs
          @text = text
        end

        def to_s
          @text || @nsecs.to_s
        end

        def to_i
          @nsecs / 1_000_000_000
        end

        def to_f
          @nsecs / 1e9
        end

        def <=>(other)
          other.is_a?(self.class) ? nsecs <=> other.nsecs : nil
        end
      end

      class Timestamp < TimeData
        def self.from_time(time)
          new(time.to_i * 1_000_000_000 + time.nsec)
        end
      end

      class Timespan < TimeData; end
    end
  end

  # A reference to a resource, as functions of the older kind are given it.
  class Resource
    attr_reader :type, :title

    # Functions of the older kind know resources, not the types that refer to them.
    def self.instead(value)
      case value
      when Array then value.map { |v| instead(v) }
      when Hash then value.to_h { |k, v| [instead(k), instead(v)] }
      when Pops::Types::PResourceType then new(value.type_name, value.title)
      when Pops::Types::PClassType then new('Class', value.class_name)
      else value
      end
    end

    def initialize(type, title = nil)
      if title.nil? && (m = /\A([^\[\]]+)\[(.+)\]\z/m.match(type.to_s))
        type, title = m[1], m[2]
      end
      @type = type.to_s.sub(/\A::/, '').split('::').map(&:capitalize).join('::')
      @title = @type == 'Class' ? title.to_s.sub(/\A::/, '').split('::').map(&:capitalize).join('::') : title.to_s
    end

    def ref
      "#{type}[#{title}]"
    end
    alias to_s ref

    def [](name)
      return title if %w[name title].include?(name.to_s)

      to_hash[name.to_sym]
    end
    alias parameter []

    def to_hash
      (Helper.ask('resource', {}, [type, title]) || {}).transform_keys(&:to_sym)
    end

    def ==(other)
      other.is_a?(Resource) && ref == other.ref
    end
    alias eql? ==

    def hash
      ref.hash
    end
  end

  # What is asked of the catalog.
  Resource::Catalog = Struct.new(:scope) do
    def resource(type, title = nil)
      scope.findresource(type, title)
    end

    def classes
      Helper.ask('names', 'name' => 'classes')
    end

    def tags
      Helper.ask('names', 'name' => 'all_tags')
    end
  end

  # What a lookup gives the functions of its levels.
  class LookupContext < Helper::Handle
    def environment_name
      Helper.ask('member', 'handle' => helper_id, 'name' => 'environment_name').to_sym
    end

    %w[not_found module_name interpolate explain cache cache_all cache_has_key cached_value cached_entries cached_file_data].each do |name|
      define_method(name) { |*args, &block| Helper.ask('member', { 'handle' => helper_id, 'name' => name }, args, &block) }
    end
  end

  # The scope that a function or a template is called in, or the top scope.
  module Parser
    class Scope
      def initialize(top = false)
        @helper_top = top
      end

      def helper_ask(what, more, args = [], &block)
        Helper.ask(what, { 'top' => @helper_top }.merge(more), args, &block)
      end
      private :helper_ask

      def lookupvar(name, _options = {})
        helper_ask('variable', 'name' => name.to_s, 'wanted' => true).first
      end

      def [](name, _options = {})
        lookupvar(name)
      end

      def include?(name)
        !helper_ask('variable', 'name' => name.to_s).first.nil?
      end
      alias exist? include?
      alias bound? include?

      def to_hash(_recursive = true, _include_undef = false)
        helper_ask('variables', {})
      end

      def setvar(name, value, _options = {})
        helper_ask('set', { 'name' => name.to_s }, [value])
      end

      def []=(name, value)
        setvar(name, value)
      end

      def call_function(name, args = [], &block)
        helper_ask('call', { 'name' => name.to_s }, args.is_a?(Array) ? args : [args], &block)
      end

      def findresource(type, title = nil)
        found = Resource.new(type, title)
        Helper.ask('resource', {}, [found.type, found.title]).nil? ? nil : found
      end

      def lookupdefaults(type)
        helper_ask('defaults', 'name' => type.to_s).transform_keys(&:to_sym)
      end

      def catalog
        Resource::Catalog.new(self)
      end

      def compiler
        self
      end

      def topscope
        Scope.new(true)
      end

      def node
        Node.new(self)
      end

      def environment
        Environment.new(lookupvar('::environment') || lookupvar('environment'))
      end

      def source
        self
      end

      def module_name
        name = lookupvar('module_name')
        name.to_s.empty? ? nil : name
      end

      def resource
        owner = to_s[/\AScope\((.*)\)\z/m, 1]
        owner && Resource.new(owner)
      end

      def tags
        raise Helper::Missing, 'the tags of a scope are no part of the helper'
      end

      def to_s
        "Scope(#{helper_ask('owner', {})})"
      end
      alias inspect to_s

      %w[debug info notice warning err alert crit emerg].each do |level|
        define_method(level) { |message| helper_ask('log', { 'level' => level, 'scope' => true }, [message.to_s]) }
      end

      def method_missing(name, *args, &block)
        function = name.to_s[/\Afunction_(.+)\z/m, 1]
        return super unless function
        unless args[0].is_a?(Array)
          raise ArgumentError, 'custom functions must be called with a single array that contains the arguments. For example, function_example([1]) instead of function_example(1)'
        end

        answer = helper_ask('call', { 'name' => function, 'older' => true }, args[0], &block)
        answer ? answer.first : super
      end

      def respond_to_missing?(name, all = false)
        name.to_s.start_with?('function_') && helper_ask('older', 'name' => name.to_s.delete_prefix('function_')) || super
      end
    end

    Node = Struct.new(:scope) do
      def name
        scope.lookupvar('::trusted').to_h['certname'] || scope.lookupvar('::clientcert')
      end

      def facts
        Struct.new(:values).new(scope.lookupvar('::facts'))
      end

      def environment
        scope.environment
      end
    end

    Environment = Struct.new(:name) do
      def to_s
        name.to_s
      end
    end

    # Functions of the older kind.
    module Functions
      class Function
        attr_reader :name, :arity, :type

        def initialize(name, arity, type, block)
          @name, @arity, @type, @block = name.to_s, arity, type, block
        end

        # The block is a method of the scope that calls, so it may return.
        def call(args)
          scope = Scope.new
          scope.define_singleton_method(:helper_function, &@block)
          out = scope.helper_function(Resource.instead(args))
          type == :rvalue ? out : nil
        end
      end

      def self.newfunction(name, options = {}, &block)
        type = options[:type] || :statement
        raise DevError, "Invalid statement type #{type.inspect}" unless %i[statement rvalue].include?(type)

        Function.new(name, options[:arity] || -1, type, block)
      end

      # Every function that Puppet has is there already.
      def self.function(name, *)
        "function_#{name}"
      end

      def self.autoloader
        self
      end

      def self.loadall; end

      def self.load(*); end
    end

    module Files
      def self.find_template(name, *)
        Helper.ask('find', { 'below' => 'templates' }, [name.to_s])
      end

      def self.find_file(name, *)
        Helper.ask('find', { 'below' => 'files' }, [name.to_s])
      end
    end
  end

  # Functions of the newer kind.
  module Functions
    def self.create_function(name, base = Function, &block)
      made = Class.new(base)
      made.define_singleton_method(:name) { name.to_s }
      begin
        made.class_eval(&block)
        made.helper_default if made.helper_dispatches.empty?
      rescue StandardError => e
        raise ArgumentError, "Function Load Error for function '#{name}': #{e.message}"
      end
      made
    end

    class Function
      class << self
        def helper_dispatches
          @helper_dispatches ||= []
        end

        def helper_types
          @helper_types ||= []
        end

        def dispatch(method, &block)
          helper_dispatches << Dispatch.new(method, false, &block)
        end

        def argument_mismatch(method, &block)
          helper_dispatches << Dispatch.new(method, true, &block)
        end

        def local_types(&block)
          LocalTypes.new(helper_types).instance_eval(&block)
        end

        # Without a dispatch the method of the function's own name takes anything.
        def helper_default
          method = name.split('::').last
          unless method_defined?(method)
            raise ArgumentError, "Function Creation Error, cannot create a default dispatcher for function '#{method}', no method with this name found"
          end

          takes = instance_method(method).parameters
          helper_dispatches << Dispatch.new(method, false) do
            takes.each do |kind, called|
              case kind
              when :req then param('Any', called)
              when :opt then optional_param('Any', called)
              when :rest then repeated_param('Any', called)
              end
            end
          end
        end
      end

      def closure_scope
        @helper_scope ||= Parser::Scope.new(true)
      end

      def call_function(name, *args, &block)
        closure_scope.send(:helper_ask, 'call', { 'name' => name.to_s, 'from' => self.class.name }, args, &block)
      end

      def loader
        raise Helper::Missing, 'loaders are no part of the helper'
      end
    end

    class InternalFunction < Function
      def call_function_with_scope(scope, name, *args, &block)
        scope.send(:helper_ask, 'call', { 'name' => name.to_s, 'from' => self.class.name }, args, &block)
      end
    end

    LocalTypes = Struct.new(:texts) do
      def type(text)
        texts << text
      end
    end

    # One of the signatures of a function.
    class Dispatch
      def initialize(method, mismatch, &block)
        @method, @mismatch = method, mismatch
        @params, @scopes, @block, @result = [], [], nil, nil
        instance_eval(&block)
      end

      def param(type, name)
        raise ArgumentError, 'A required parameter cannot be added after an optional parameter' if marks.any? { |m| m == '?' }

        add(type, name, '')
      end
      alias required_param param

      def optional_param(type, name)
        add(type, name, '?')
      end

      def repeated_param(type, name)
        add(type, name, '*')
      end
      alias optional_repeated_param repeated_param

      def required_repeated_param(type, name)
        raise ArgumentError, 'A required repeated parameter cannot be added after an optional parameter' if marks.any? { |m| m == '?' }

        add(type, name, '+')
      end

      def block_param(*given)
        helper_block(false, given)
      end
      alias required_block_param block_param

      def optional_block_param(*given)
        helper_block(true, given)
      end

      def return_type(type)
        @result = type.to_s
      end

      def scope_param
        @scopes << @params.size
      end

      %i[cache_param compiler_param pal_compiler_param script_compiler_param].each do |name|
        define_method(name) { raise Helper::Missing, "#{name} is no part of the helper" }
      end

      def describe
        { 'method' => @method.to_s, 'mismatch' => @mismatch, 'params' => @params, 'block' => @block, 'result' => @result }
      end

      def invoke(function, args, &block)
        @scopes.reverse_each { |at| args.insert([at, args.size].min, Parser::Scope.new) }
        out = function.send(@method, *args, &block)
        @mismatch ? "'#{function.class.name}' #{out}" : out
      end

      private

      def marks
        @params.map { |p| p['mark'] }
      end

      def add(type, name, mark)
        raise ArgumentError, 'Parameters cannot be added after a block parameter' if @block
        raise ArgumentError, 'Parameters cannot be added after a repeated parameter' if marks.any? { |m| %w[* +].include?(m) }
        raise ArgumentError, "Parameter name argument must be a Symbol. Got #{name.class}" if name.is_a?(String)
        unless type.is_a?(String) || type.is_a?(Pops::Types::PAnyType)
          raise ArgumentError, "Parameter 'type' must be a String reference to a Puppet Data Type. Got #{type.class}"
        end

        @params << { 'type' => type.to_s, 'name' => name.to_s, 'mark' => mark }
      end

      def helper_block(optional, given)
        raise ArgumentError, "block_param accepts max 2 arguments (type, name), got #{given.size}." if given.size > 2
        raise ArgumentError, 'Attempt to redefine block' if @block

        type, name = given.size == 2 ? given : ['Callable', given[0] || :block]
        raise ArgumentError, "Expected block_param name to be a Symbol, got #{name.class}" unless name.is_a?(Symbol)

        @block = { 'type' => type.to_s, 'name' => name.to_s, 'optional' => optional }
      end
    end
  end

  module Util
    module Errors
      def fail(*args)
        raise(args[0].is_a?(Class) ? args.shift : Puppet::Error, args.join(' '))
      end
    end

    module Logging; end

    module Package
      def versioncmp(a, b, *)
        Helper.ask('call', { 'name' => 'versioncmp' }, [a, b])
      end
      module_function :versioncmp
    end

    module Platform
      def self.windows?
        false
      end
    end

    def self.absolute_path?(path, *)
      path.to_s.start_with?('/')
    end
  end

  # Whether a feature is there is whether its library is.
  module Features
    def self.method_missing(name, *)
      return super unless name.end_with?('?')

      require name.to_s.chomp('?')
      true
    rescue LoadError
      false
    end

    def self.respond_to_missing?(name, all = false)
      name.end_with?('?') || super
    end
  end

  LOGGED = {}

  class << self
    %w[debug info notice warning err alert crit emerg].each do |level|
      define_method(level) { |message = nil, &block| Helper.ask('log', { 'level' => level }, [(message || block&.call).to_s]) }
    end

    def warn_once(_kind, key, message, file = nil, line = nil, level = :warning)
      return if LOGGED[key]

      LOGGED[key] = true
      place = file ? "(file: #{file}#{line && ", line: #{line}"})" : '(file & line not available)'
      Helper.ask('log', { 'level' => level.to_s }, ["#{message}\n   #{place}"])
    end

    def deprecation_warning(message, key = nil)
      at = caller_locations(1, 1).first
      return if LOGGED[key || at.to_s]

      LOGGED[key || at.to_s] = true
      Helper.ask('log', { 'level' => 'warning' }, ["#{message}\n   (location: #{at})"])
    end

    def log_exception(error, message = nil, *)
      err(message || error.message)
    end

    def features
      Features
    end

    def version
      Helper.ask('variable', 'name' => '::serverversion', 'top' => true).first || '7.0.0'
    end

    def [](name)
      raise Helper::Missing, "the setting #{name} is no part of the helper"
    end

    def method_missing(name, *)
      raise Helper::Missing, "Puppet.#{name} is no part of the helper"
    end

    def respond_to_missing?(_name, _all = false)
      false
    end
  end

  # Says which part of Puppet is missing, below all of its modules that are here.
  module Constants
    def const_missing(name)
      raise Helper::Missing, "#{self.name}::#{name} is no part of the helper"
    end
  end
  [self, Pops, Pops::Types, Pops::Time, Parser, Parser::Functions, Functions, Util].each { |m| m.extend(Constants) }
end

# What a template sees.
module Helper
  class Template
    def initialize(request)
      @__helper__ = [request['source'], request['path']]
      @__scope__ = Puppet::Parser::Scope.new
      scope.to_hash.each { |name, value| instance_variable_set("@#{name.gsub(/[^\w]/, '_')}", value) }
    end

    def render
      source, path = @__helper__
      template = RUBY_VERSION < '2.6' ? ERB.new(source, nil, '-') : ERB.new(source, trim_mode: '-')
      template.filename = path
      template.result(binding)
    end

    def scope
      @__scope__
    end

    def file
      @__helper__[1]
    end

    def has_variable?(name)
      scope.include?(name.to_s)
    end

    def classes
      scope.catalog.classes
    end

    def all_tags
      scope.catalog.tags
    end

    def tags
      raise NotImplementedError, "Call 'all_tags' instead."
    end

    %w[debug info notice warning err alert crit emerg].each do |level|
      define_method(level) { |message| Puppet.send(level, message) }
    end

    def to_s
      "template[#{file}]"
    end
    alias inspect to_s
  end
end

# As in Puppet, a text with a placeholder that nothing is given for stays as it is.
String.prepend(Module.new do
  def %(*)
    super
  rescue KeyError
    self
  end
end)

Helper::PARTS = %w[
  puppet puppet/error puppet/errors puppet/functions puppet/parser puppet/parser/functions puppet/parser/scope puppet/pops puppet/util
  puppet/util/errors puppet/util/logging puppet/util/package puppet/resource puppet/version semantic_puppet
].freeze

module Kernel
  private

  # Messages are those of the source: there are no translations.
  def _(message)
    message
  end

  def n_(one, many, count)
    count == 1 ? one : many
  end

  # Parts of Puppet are here, or they are not: another Puppet of the machine is not read.
  alias helper_require require

  def require(name)
    text = name.to_s
    return false if Helper::PARTS.include?(text)

    if text.match?(%r{\A(puppet|puppet_pal|hiera)(/|\z)})
      path = $LOAD_PATH.drop(Helper::RUBY_PATHS).map { |dir| "#{dir}/#{text.delete_suffix('.rb')}.rb" }.find { |f| File.file?(f) }
      raise LoadError, "cannot load such file -- #{text}, which is no part of the helper" unless path

      return helper_require(path)
    end
    begin
      helper_require(name)
    rescue LoadError
      raise if defined?(Gem)

      helper_require('rubygems')
      Kernel.instance_method(:require).bind_call(self, name)
    end
  end
end

Helper::RUBY_PATHS = $LOAD_PATH.size
Helper.serve
