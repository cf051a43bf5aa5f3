Puppet::Functions.create_function(:'h::dh') do
  dispatch :all do
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def all(_options, _context)
    { 'h::hash' => { 'x' => ["%{facts.os.name}", nil] }, 'h::rescued' => 'of the hash' }
  end
end
