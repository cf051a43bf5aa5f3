Puppet::Functions.create_function(:'h::lk') do
  dispatch :lookup_key do
    param 'String[1]', :key
    param 'Hash[String[1], Any]', :options
    param 'Puppet::LookupContext', :context
  end

  argument_mismatch :missing_path do
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def lookup_key(key, options, context)
    case key
    when 'h::options' then options.keys.sort
    when 'h::extra' then options['extra']
    when 'h::file' then context.cached_file_data(options['path']) { |text| text.upcase }
    when 'h::text' then context.cached_file_data(options['path'])
    when 'h::cached'
      context.cache('k', 1) unless context.cache_has_key('k')
      context.cache_all({ 'l' => [2], 'm' => nil })
      seen = []
      context.cached_entries { |k, v| seen << [k, v] }
      [context.cached_value('k'), seen, context.cached_value('none')]
    when 'h::names' then [context.environment_name.inspect, context.module_name]
    when 'h::inter' then context.interpolate('%{facts.os.name} %{lookup("h::extra")}')
    when 'h::explain' then context.explain { raise 'it is not asked for' } || 'none'
    when 'h::fails' then raise Puppet::DataBinding::LookupError, 'no data today'
    when 'h::parse' then raise Puppet::ParseError, 'not so'
    when 'h::nomethod' then nil.nothing
    when 'h::rescued'
      begin
        context.not_found
      rescue StandardError
        'rescued'
      end
    else context.not_found
    end
  end

  def missing_path(_options, _context)
    "one of 'path' must be declared"
  end
end
