Puppet::Functions.create_function(:'r::ret') do
  dispatch(:e) { param 'Any', :k; return_type 'String' }
  def e(k) k end
end
