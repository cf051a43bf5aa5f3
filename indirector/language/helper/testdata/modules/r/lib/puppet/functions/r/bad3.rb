Puppet::Functions.create_function(:'r::bad3') do
  def other(k) k end
end
