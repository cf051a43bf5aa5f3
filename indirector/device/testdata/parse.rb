# Answers texts of device.conf with what Puppet makes of them: devices, or an error.
require 'json'
require 'tempfile'
require 'puppet'
require 'puppet/util/network_device/config'
Encoding.default_external = Encoding::UTF_8
$stdin.each_line do |line|
  Tempfile.create('device') do |file|
    file.write(JSON.parse("[#{line}]").first)
    file.close
    config = Puppet::Util::NetworkDevice::Config.allocate
    config.instance_variable_set(:@file, file.path)
    begin
      config.send(:parse)
      devices = config.devices.values.map do |d|
        { 'Name' => d.name, 'Type' => d.provider.to_s, 'URL' => d.url.to_s, 'Debug' => d.options[:debug], 'Line' => d.line }
      end
      puts JSON.generate('Error' => '', 'Devices' => devices)
    rescue StandardError => e
      # Without the lines in which newer Rubies point at the code.
      puts JSON.generate('Error' => e.message.lines.first.chomp, 'Devices' => [])
    end
  end
end
