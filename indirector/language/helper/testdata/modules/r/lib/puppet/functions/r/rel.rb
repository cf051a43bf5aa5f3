require_relative '../../../puppet_x/r/tools'
require File.expand_path('../../../puppet_x/r/tools', __dir__)
Puppet::Functions.create_function(:'r::rel') do
  def rel(x)
    PuppetX::R::Tools.double(x)
  end
end
