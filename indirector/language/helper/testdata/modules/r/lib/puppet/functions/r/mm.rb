Puppet::Functions.create_function(:'r::mm') do
  local_types { type 'Name = Pattern[/^[a-z;]+$/]' }
  dispatch(:e) { param 'Name', :k; repeated_param 'Integer', :n; block_param 'Callable[1,1]', :blk }
  dispatch(:f) { required_repeated_param 'Hash', :k; optional_block_param }
  argument_mismatch(:m) { param 'Boolean', :b }
  def e(k, *n) yield(k) + n.inspect end
  def f(*k) k.length.to_s + block_given?.to_s end
  def m(b) "does not like booleans" end
end
