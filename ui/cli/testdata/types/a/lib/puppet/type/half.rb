Puppet::Type.newtype(:half) do
  newparam(:name)
  make_others
end
