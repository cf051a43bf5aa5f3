Puppet::Functions.create_function(:'r::dflt') do
  def dflt(a, b = 1, *c) "#{a.inspect} #{b.inspect} #{c.inspect}" end
end
