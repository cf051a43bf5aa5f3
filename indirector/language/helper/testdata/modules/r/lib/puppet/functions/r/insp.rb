Puppet::Functions.create_function(:'r::insp') do
  def insp(*c) c.map { |a| "#{a.class} #{[Numeric, String, Symbol, Regexp, Array, Hash, NilClass].any? { |k| a.is_a?(k) } ? a.inspect : a.to_s}" }.join('; ') end
end
