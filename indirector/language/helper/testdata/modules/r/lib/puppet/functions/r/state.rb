Puppet::Functions.create_function(:'r::state') do
  def state
    @count = (@count || 0) + 1
  end
end
