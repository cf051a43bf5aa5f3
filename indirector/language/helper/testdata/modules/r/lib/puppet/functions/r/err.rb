Puppet::Functions.create_function(:'r::err') do
  dispatch(:e) { param 'String', :k; optional_param 'Integer[1,3]', :n }
  def e(k, n = 1)
    case k
    when 'parse' then raise Puppet::ParseError, 'a parse error'
    when 'arg' then raise ArgumentError, 'an argument error'
    when 'std' then raise 'a runtime error'
    when 'err' then raise Puppet::Error, 'a puppet error'
    when 'nometh' then nil.foo
    when 'exc' then raise Exception, 'an exception'
    when 'load' then require 'nonexistent/thing'
    when 'stop' then raise StopIteration, 'x'
    when 'sub' then call_function('r::err', 'parse')
    when 'unk' then call_function('nope', 'parse')
    when 'failf' then call_function('fail', 'failing')
    when 'exit' then exit 3
    when 'dev' then raise Puppet::DevError, 'dev'
    when 'sym' then :a
    when 'symu' then :undef
    when 'obj' then Object.new.class
    when 'plf' then raise Puppet::ParseError.new('with place', '/f.pp', 7)
    when 'notimpl' then raise NotImplementedError, 'ni'
    when 'kerr' then {}.fetch('a')
    when 'zde' then 1/0
    when 'int' then Integer('x')
    end
  end
end
