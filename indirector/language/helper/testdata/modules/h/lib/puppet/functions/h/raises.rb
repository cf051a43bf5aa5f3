Puppet::Functions.create_function(:'h::raises') do
  def raises(how)
    raise Puppet::PreformattedError, 'as it is' if how == 'final'
    raise Puppet::ParseError.new('with a place', '/some/file.pp', 7) if how == 'place'

    raise Puppet::ParseError, 'without'
  end
end
