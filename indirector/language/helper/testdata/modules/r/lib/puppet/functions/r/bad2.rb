Puppet::Functions.create_function(:'r::other') do
  def other(k) k end
end
