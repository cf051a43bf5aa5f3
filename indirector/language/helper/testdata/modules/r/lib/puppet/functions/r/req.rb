require 'puppet_x/r/tools'
require 'English'
require 'puppet/parser'
Puppet::Functions.create_function(:'r::req') do
  dispatch(:e) { param 'Integer', :x }
  def e(x)
    PuppetX::R::Tools.double(x)
  end
end
