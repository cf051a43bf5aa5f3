require 'nope/nope'
Puppet::Functions.create_function(:'r::bad5') do
  def bad5(k) k end
end
