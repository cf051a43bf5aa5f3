Puppet::Functions.create_function(:'r::bad4') do
  def other(k k end
end
