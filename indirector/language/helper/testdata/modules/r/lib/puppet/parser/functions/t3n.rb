Puppet::Parser::Functions.newfunction(:other, :type => :rvalue) { |args| args }
