Puppet::Functions.create_function(:'r::bad') do
  dispatch(:e) { param 'Strin[', :k }
  def e(k) k end
end
