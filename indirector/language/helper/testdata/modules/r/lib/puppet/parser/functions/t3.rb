module Puppet::Parser::Functions
  newfunction(:t3, :type => :rvalue, :arity => -2) do |args|
    case args[0]
    when 'insp' then args.map { |a| "#{a.class} #{[Numeric, String, Symbol, Regexp, Array, Hash, NilClass].any? { |k| a.is_a?(k) } ? a.inspect : a.to_s}" }.join('; ')
    when 'parse' then raise Puppet::ParseError, 'a parse error'
    when 'arg' then raise ArgumentError, 'an argument error'
    when 'std' then raise 'a runtime error'
    when 'name' then foo
    when 'nometh' then nil.foo
    when 'selfs' then [self.class.to_s, self.to_s, self['x'], lookupvar('::facts').class].inspect
    when 'fn' then function_versioncmp(['1', '2'])
    when 'fn2' then function_t3s(['1', '2'])
    when 'fn4' then call_function('join', [['a', 'b'], '-'])
    when 'warn' then warning('uh'); notice('on'); 1
    when 'undef' then :undef
    when 'undefh' then {'a' => :undef}
    when 'setvar' then setvar('zz', 5); lookupvar('zz')
    when 'lookupvaru' then lookupvar('nonex').inspect
    when 'lookupvarq' then lookupvar('nonex::y').inspect
    when 'find' then [findresource('File[/x]').to_s, findresource('File', '/nope').inspect, findresource('File[/x]')[:mode]].inspect
    when 'cat' then catalog.resource('File', '/x').to_s
    when 'ldf' then lookupdefaults('File').has_key?(:mode)
    when 'return' then return 3
    when 'next' then next 4
    end
  end
end
