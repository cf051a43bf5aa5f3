module Puppet::Parser::Functions
  def self.shared(x)
    x
  end
  newfunction(:t3m, :type => :rvalue) { |args| args }
end
