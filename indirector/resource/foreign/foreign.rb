# Answers what this program asks of Puppet's resource types: a line of JSON for each line.
# It runs in a process of its own, with the settings that it is given first.

require 'json'

begin
  Process.setrlimit(Process::RLIMIT_CORE, 0)
  Process.setrlimit(Process::RLIMIT_DATA, 2 << 30)
rescue NotImplementedError, SystemCallError
  # the system has no such limits
end

module Helper
  KINDS = %i[require before notify subscribe].freeze
  MOST = 10_000 # lines of the log for one resource

  class << self
    def run
      questions = IO.for_fd(3, 'r')
      answers = IO.for_fd(4, 'w')
      [questions, answers].each { |io| io.close_on_exec = true }
      while (line = questions.gets)
        answers.write(answer(line), "\n")
        answers.flush
      end
    end

    def answer(line)
      question = JSON.parse(line)
      JSON.generate('answer' => send("do_#{question['do']}", question))
    rescue SystemExit, NoMemoryError, SystemStackError, ScriptError, StandardError => e
      JSON.generate('error' => failure(e))
    end

    def failure(error)
      { 'class' => error.class.to_s, 'message' => text(error.message) }
    end

    def text(string)
      string = string.to_s
      string = string.dup.force_encoding(Encoding::UTF_8) if string.encoding == Encoding::BINARY
      string.encode(Encoding::UTF_8, invalid: :replace, undef: :replace, replace: '?').scrub('?')
    end

    # A value as JSON has it; a symbol is a hash with its name.
    def value(v)
      case v
      when nil, true, false, Integer then v
      when Float then v.finite? ? v : v.to_s
      when Symbol then { ':' => text(v) }
      when Array then v.map { |x| value(x) }
      when Hash then v.to_h { |k, x| [text(k), value(x)] }
      when Puppet::Pops::Types::PSensitiveType::Sensitive then '[redacted]'
      else text(v)
      end
    end

    # ---- the start

    def do_begin(q)
      require 'puppet'
      Puppet.initialize_settings(q['settings'].map { |name, given| "--#{name}=#{given}" })
      Puppet[:noop] = false # each resource has its own
      @env = Puppet::Node::Environment.create(q['environment'].to_sym, q['modulepath'])
      Puppet.push_context(Puppet.base_context(Puppet.settings), 'helper')
      Puppet.push_context({ current_environment: @env, loaders: Puppet::Pops::Loaders.new(@env) }, 'helper')
      @env.each_plugin_directory { |dir| $LOAD_PATH << dir unless $LOAD_PATH.include?(dir) }
      Facter.search(*$LOAD_PATH.map { |dir| File.join(dir, 'facter') }.select { |dir| File.directory?(dir) })
      listen
      Puppet::Type.prepend(Given)
      { 'version' => Puppet.version }
    end

    # ---- the catalog

    # Notes what attributes were set to, before types make of it what they make of it.
    module Given
      def []=(name, value)
        given[name.to_sym] = value
        changed << name.to_sym
        super
      end

      def given
        @helper_given ||= {}
      end

      # What was set since it was asked for last.
      def changed
        @helper_changed ||= []
      end
    end

    # A catalog whose other resources become instances when a type looks at them first.
    module Lazy
      attr_accessor :rest

      %i[resource resources resource_keys resource_refs vertices].each do |look|
        define_method(look) do |*args, &block|
          fill
          super(*args, &block)
        end
      end

      # The instance of a reference, if there is one already.
      def here(type, title)
        method(:resource).super_method.call(type, title)
      end

      def fill
        rest, self.rest = self.rest, nil
        (rest || []).each do |r|
          next if here(r['type'], r['title'])
          begin
            add_resource(Helper.instance(r, self))
          rescue StandardError
            next # it fails when it is its turn, in whatever does it
          end
        end
      end
    end

    def do_catalog(q)
      if q['first']
        @catalog = lazy
        @catalog.rest = []
        @given = {}
      end
      @catalog.rest.concat(q['resources'])
      @catalog.rest.size
    end

    def lazy
      # Noop counts in the catalogs of hosts only.
      catalog = Puppet::Resource::Catalog.new('helper', @env)
      catalog.host_config = true
      catalog.extend(Lazy)
    end

    def instance(q, catalog)
      parameters = q['parameters'].to_h { |name, v| [name.to_sym, rich(v)] }
      resource = Puppet::Resource.new(q['type'], q['title'], parameters: parameters)
      resource.file = q['file'] if q['file']
      resource.line = q['line'] if q['line']
      resource.sensitive_parameters = q['sensitive'].map(&:to_sym)
      resource.catalog = catalog
      ral = resource.to_ral
      ral.changed.clear
      ral
    end

    # A value with what JSON has no words for.
    def rich(v)
      rich?(v) ? Puppet::Pops::Serialization::FromDataConverter.convert(v) : v
    end

    def rich?(v)
      case v
      when Array then v.any? { |x| rich?(x) }
      when Hash then v.key?('__ptype') || v.each_value.any? { |x| rich?(x) }
      end
    end

    def listen
      Puppet::Util::Log.newdesttype(:helper) do
        match(/\Ahelper\z/)
        define_method(:handle) { |line| Helper.noted(line) }
      end
      Puppet::Util::Log.level = :debug
      Puppet::Util::Log.newdestination('helper')
      # Events come in between the lines, and are logged by who asked.
      Puppet::Transaction::Event.define_method(:send_log) { Helper.happened(self) }
    end

    def noted(line)
      return if @did.nil? || @did.size >= MOST
      @did << { 'line' => { 'level' => line.level.to_s, 'message' => text(line.message), 'source' => text(line.source) } }
    end

    def happened(event)
      (@did ||= []) << { 'event' => {
        'property' => event.property.to_s, 'name' => event.name.to_s, 'status' => event.status, 'message' => text(event.message),
        'is' => value(event.previous_value), 'should' => value(event.desired_value),
        'unschedules' => event.invalidate_refreshes ? true : false
      } }
    end

    # ---- types

    def type(name)
      Puppet::Type.type(name.to_sym) || raise(Puppet::Error, "Could not find type #{name}")
    end

    def do_type(q)
      t = type(q['type'])
      {
        'name' => t.name.to_s, 'doc' => scrubbed(t.doc), 'namevars' => t.key_attributes.map(&:to_s),
        'attributes' => (t.properties + t.parameters.map { |name| t.paramclass(name) }).map { |a| attribute(a) },
        'features' => t.features.map(&:to_s), 'providers' => providers(t), 'apply_to' => t.apply_to.to_s,
        'repeats' => !t.isomorphic?, 'refreshes' => t.method_defined?(:refresh), 'self_refresh' => t.self_refresh ? true : false,
        'generates' => t.method_defined?(:generate), 'eval_generates' => t.method_defined?(:eval_generate),
        'pre_run_check' => t.instance_method(:pre_run_check).owner != Puppet::Type,
        'titles' => t.key_attributes.size > 1, 'auto' => automatic(t).map { |kind, of, _| [kind, of] }
      }
    end

    def scrubbed(doc)
      text(Puppet::Util::Docs.scrub(doc.to_s)).strip
    end

    def automatic(t)
      all = []
      KINDS.each { |kind| t.send("eachauto#{kind}") { |of, block| all << [kind.to_s, of.to_s, block] } }
      all
    end

    def attribute(a)
      strings = a.value_collection.instance_variable_get(:@strings) || []
      regexes = a.value_collection.instance_variable_get(:@regexes) || []
      {
        'name' => a.name.to_s, 'property' => a < Puppet::Property ? true : false, 'doc' => scrubbed(a.instance_variable_get(:@doc)),
        'values' => strings.map { |v| choice(v) }, 'patterns' => regexes.map { |v| text(v.name.source) },
        'features' => Array(a.required_features).map(&:to_s), 'all' => a.respond_to?(:array_matching) && a.array_matching == :all,
        'checks' => own?(a, :unsafe_validate), 'munges' => own?(a, :unsafe_munge), 'default' => default(a)
      }
    end

    def choice(v)
      {
        'name' => v.name.to_s, 'aliases' => v.aliases.map(&:to_s), 'features' => Array(v.required_features).map(&:to_s),
        'event' => v.event.to_s, 'unschedules' => v.invalidate_refreshes ? true : false
      }
    end

    # Whether a class has a method of its own in the place of Puppet's.
    def own?(a, method)
      ![Puppet::Parameter, Puppet::Property].include?(a.instance_method(method).owner)
    end

    # A default is a block, which may need a resource.
    def default(a)
      return { 'kind' => 'none' } unless a.method_defined?(:default)
      { 'kind' => 'value', 'value' => value(a.allocate.default) }
    rescue SystemExit, ScriptError, StandardError
      { 'kind' => 'computed' }
    end

    def providers(t)
      chosen = t.providers.empty? ? nil : t.defaultprovider
      t.providers.map { |name| t.provider(name) }.compact.map do |p|
        why = p.suitable?(false)
        {
          'name' => p.name.to_s, 'doc' => scrubbed(p.doc), 'features' => p.features.map(&:to_s), 'default' => p == chosen,
          'suitable' => why.empty?, 'why' => why.map { |what, of| "#{what}: #{text(of.is_a?(Array) ? of.join(', ') : of.inspect)}" }
        }
      end
    end

    # ---- looking

    def do_find(q)
      t = type(q['type'])
      found = t.instances.find { |o| o.name == q['title'] }
      found ||= t.new(name: q['title'], audit: t.properties.map(&:name))
      shown(found.to_resource)
    end

    def do_search(q)
      type(q['type']).instances.map { |found| shown(found.to_resource) }
    end

    def shown(resource)
      {
        'type' => resource.type, 'title' => text(resource.title), 'tags' => resource.tags.to_a.map { |tag| text(tag) },
        'parameters' => resource.map { |name, v| [name.to_s, value(v)] }
      }
    end

    # ---- one resource

    # The instance of a resource in the catalog of the run; without one it is alone.
    def made(q)
      catalog = @catalog || lazy
      ral = catalog.here(q['type'], q['title'])
      known = @given && @given[ral.ref] if ral
      if ral && known && known != q['parameters'] # it was edited
        catalog.remove_resource(ral)
        ral = nil
      end
      unless ral
        ral = instance(q, catalog)
        catalog.add_resource(ral)
      end
      @given[ral.ref] = q['parameters'] if @given
      ral
    end

    # Noop is what is asked for while a resource is applied.
    def in_noop(ral, noop)
      was = ral[:noop]
      ral[:noop] = noop
      yield
    ensure
      was.nil? ? ral.delete(:noop) : ral[:noop] = was
    end

    def do_titles(q)
      resource = Puppet::Resource.new(q['type'], q['title'])
      resource.to_hash.map { |name, v| [name.to_s, value(v)] }
    end

    def do_auto(q)
      ral = made(q)
      automatic(ral.class).map do |_, _, block|
        Array(ral.instance_eval(&block)).compact.map { |x| text(x.is_a?(Puppet::Type) ? x.title : x) }
      end
    end

    def do_suitable(q)
      ral = made(q)
      { 'suitable' => ral.suitable?, 'provider' => ral.provider ? ral.provider.class.name.to_s : '' }
    end

    # A transaction of one resource, whose provider has read what it reads beforehand.
    def prepared(ral)
      raise Puppet::Error, "Provider #{ral[:provider]} is not functional on this host" unless ral.suitable?
      transaction = Puppet::Transaction.new(ral.catalog, nil, Puppet::Graph::SequentialPrioritizer.new)
      if ral.provider
        alone = Hash.new { |types, type| types[type] = Hash.new { |all, name| all[name] = {} } }
        alone[ral.type][ral.provider.class.name][ral.name] = ral
        transaction.instance_variable_set(:@resources_by_provider, alone)
        transaction.prefetch_if_necessary(ral)
      end
      if ral.provider && transaction.prefetch_failed_providers[ral.type][ral.provider.class.name]
        raise Puppet::Error, "Could not prefetch #{ral.type} provider '#{ral.provider.class.name}'"
      end
      transaction
    end

    def do_apply(q)
      logged do |result|
        ral = made(q)
        harness = Puppet::Transaction::ResourceHarness.new(prepared(ral))
        status = Puppet::Resource::Status.new(ral)
        context = Puppet::Transaction::ResourceHarness::ResourceApplicationContext.from_resource(ral, status)
        context.audited_params = [] # by who asked
        result['is'] = context.current_values.map { |name, v| [name.to_s, value(v)] }
        in_noop(ral, q['noop']) do
          harness.send(:perform_changes, ral, context)
          ral.flush if status.changed? && !ral.noop? && ral.respond_to?(:flush)
        end
        ral.provider.class.post_resource_eval if ral.provider && ral.provider.class.respond_to?(:post_resource_eval)
      end
    end

    def do_refresh(q)
      logged do
        ral = made(q)
        prepared(ral)
        ral.refresh if ral.respond_to?(:refresh)
      end
    end

    # ---- resources that make others

    def do_generate(q)
      made_by(made(q), :generate)
    end

    def do_eval_generate(q)
      made_by(made(q), :eval_generate)
    end

    def do_pre_run_check(q)
      made(q).pre_run_check
      nil
    end

    def made_by(ral, how)
      all = ral.send(how)
      (all.is_a?(Array) ? all : [all]).compact.map do |one|
        known = ral.catalog.resource(one.ref)
        ral.catalog.add_resource(one) unless known
        described(known || one, known)
      end
    end

    # A resource that was made, or what has changed of one that was there.
    def described(ral, known)
      names = known ? ral.changed.uniq : ral.given.keys
      sensitive = names.select { |name| ral.parameter(name)&.sensitive || sensitive?(ral.given[name]) }
      ral.changed.clear
      {
        'type' => ral.type.to_s, 'title' => ral.title, 'file' => ral.file, 'line' => ral.line, 'sensitive' => sensitive.map(&:to_s),
        'parameters' => names.map { |name| [name.to_s, handed(ral, name)] }
      }
    end

    def sensitive?(v)
      v.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
    end

    def handed(ral, name)
      v = ral.given[name]
      v = v.unwrap if sensitive?(v)
      if v.is_a?(String) && !v.dup.force_encoding(Encoding::UTF_8).valid_encoding?
        raise Puppet::Error, "#{name} of #{ral.ref} is not UTF-8"
      end
      value(v)
    end

    def logged
      @did = []
      result = { 'is' => [] }
      begin
        yield result
      rescue SystemExit, NoMemoryError, SystemStackError, ScriptError, StandardError => e
        result['error'] = failure(e)
      end
      result.merge('did' => @did)
    ensure
      @did = nil
    end
  end
end

Helper.run
