Puppet::Functions.create_function(:'h::dd') do
  dispatch :dig do
    param 'Array[Variant[String, Integer]]', :keys
    param 'Hash[String[1], Any]', :options
    param 'Puppet::LookupContext', :context
  end

  def dig(keys, _options, context)
    return context.not_found unless keys[0] == 'h::dug'
    keys.size > 1 ? keys[1..-1] : { 'a' => 'whole' }
  end
end
