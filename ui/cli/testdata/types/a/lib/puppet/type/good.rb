Puppet::Type.newtype(:good) do
  ensurable
  newparam(:path, namevar: true)
  newproperty(:size)
end
