# What is known of the Puppet Server around an instance of JRuby: how many instances it
# has, and how long requests wait for one. The server's own library reads that from the
# files that its command line names.
module IndirtuiProbe
  module Pool
    BORROW = 1_200_000 # ms, if no file has another
    MOST = 4           # instances, likewise

    class << self
      # The number of instances; nil if it is not known.
      def instances
        known[0]
      end

      # How long requests wait for an instance, in ns; nil if that is not known.
      def borrow
        known[1]
      end

      def known
        @known ||= IndirtuiProbe.server && RUBY_ENGINE == 'jruby' ? read : [nil, nil]
      end

      def read
        require 'java'
        read_java
      rescue Fault, Java::JavaLang::Exception # another server, or files that it may not read
        [nil, nil]
      end

      def read_java
        paths = Java::JavaLang::System.get_property('sun.java.command').to_s[/ (?:--config|-c)[ =](\S+)/, 1]
        return [nil, nil] unless paths
        files = paths.split(',').map { |p| File.directory?(p) ? Dir.glob(File.join(p, '*.conf')) : p }.flatten
        c = files.map { |f| Java::ComTypesafeConfig::ConfigFactory.parse_file(Java::JavaIo::File.new(f)) }.inject { |all, one| all.with_fallback(one) }
        return [nil, nil] unless c && c.has_path('jruby-puppet')
        [number(c, 'jruby-puppet.max-active-instances') || [[Java::JavaLang::Runtime.runtime.available_processors - 1, 1].max, MOST].min,
         (number(c, 'jruby-puppet.borrow-timeout') || BORROW) * 1_000_000]
      end

      def number(config, path)
        config.has_path(path) ? config.get_long(path) : nil
      end
    end
  end
end
