Puppet::Functions.create_function(:'h::blocks') do
  dispatch(:either) do
    param 'Enum[either]', :kind
    block_param 'Variant[Callable[1,1], Callable[2,2]]', :block
  end
  dispatch(:typed) do
    param 'Enum[typed]', :kind
    block_param 'Callable[String, Integer]', :block
  end
  dispatch(:ranged) do
    param 'Enum[ranged]', :kind
    block_param 'Callable[Any, 1, 2]', :block
  end
  dispatch(:returning) do
    param 'Enum[returning]', :kind
    block_param 'Callable[[String], Integer]', :block
  end
  dispatch(:open) do
    param 'Enum[open]', :kind
    optional_block_param 'Callable[1, default]', :block
  end

  def either(_)
    yield(1)
  end
  def typed(_)
    yield('a', 1)
  end
  def ranged(_)
    yield(1, 2)
  end
  def returning(_)
    yield('a')
  end
  def open(_)
    block_given? ? yield(1, 2, 3) : 'none'
  end
end
