module PuppetX
  module R
    # What functions of the module share.
    module Tools
      def self.double(x)
        x * 2
      end
    end
  end
end
