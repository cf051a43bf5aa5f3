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
      { 'version' => Puppet.version }
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
        'generates' => t.method_defined?(:generate) || t.method_defined?(:eval_generate),
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

    def made(q)
      resource = Puppet::Resource.new(q['type'], q['title'], parameters: q['parameters'].to_h { |name, v| [name.to_sym, v] })
      resource.file = q['file'] if q['file']
      resource.line = q['line'] if q['line']
      resource.sensitive_parameters = q['sensitive'].map(&:to_sym)
      # Noop counts in the catalogs of hosts only.
      catalog = Puppet::Resource::Catalog.new('helper', @env)
      catalog.host_config = true
      ral = resource.to_ral
      ral[:noop] = q['noop']
      catalog.add_resource(ral)
      ral
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
      if ral.respond_to?(:generate) || ral.respond_to?(:eval_generate)
        raise Puppet::Error, "#{ral.class.name} makes other resources, which needs the whole catalog"
      end
      transaction = Puppet::Transaction.new(ral.catalog, nil, Puppet::Graph::SequentialPrioritizer.new)
      transaction.prefetch_if_necessary(ral) if ral.provider
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
        result['is'] = context.current_values.map { |name, v| [name.to_s, value(v)] }
        harness.send(:perform_changes, ral, context)
        ral.flush if status.changed? && !ral.noop? && ral.respond_to?(:flush)
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
