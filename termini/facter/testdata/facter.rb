# Facter with another directory for what it caches, CACHE. It has no option for that.
require 'pathname'
require 'facter/framework/cli/cli_launcher'
module LegacyFacter::Util::Config
  def self.facts_cache_dir
    ENV.fetch('CACHE')
  end
end
CliLauncher.start(CliLauncher.prepare_arguments(ARGV))
