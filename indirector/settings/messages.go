package settings

// Puppet's messages. The text after a semicolon is ours.
const (
	msgConvert     = "Error converting value for param '%s': Could not find value for %s"
	msgConvertWrap = "Error converting value for param '%s': %s"
	msgBoolean     = "Invalid value '%s' for boolean parameter: %s"
	msgTerminus    = "Invalid terminus setting: %s"
	msgInteger     = "Cannot convert '%s' to an integer for parameter: %s"
	msgPort        = "Value '%d' is not a valid port number for parameter: %s"
	msgTTL         = "Invalid 'time to live' format '%s' for parameter: %s"
	msgDuration    = "Invalid duration format '%s' for parameter: %s"
	msgEnum        = "Invalid value '%s' for parameter %s. Allowed values are '%s'"
	msgAutosign    = "Invalid autosign value %s: must be 'true'/'false' or an absolute path"
	msgRevocation  = "Invalid certificate revocation value %s: must be one of 'true', 'chain', 'leaf', or 'false'"
	msgPriority    = "Invalid priority format '%s' for parameter: %s"
	msgCertname    = "Certificate names must be lower case"
	msgEnvironment = "You cannot interpolate $environment within '%s' when using directory environments. Its value will remain %s."
	msgMetadata    = "%s does not support meta data. Ignoring."
	msgNoMatch     = "Could not match line %s"
	msgSection     = "Illegal section '%s' in config file. The only valid puppet.conf sections are: [%s]; settings of an environment go to its environment.conf"
	msgEncoding    = "invalid byte sequence in UTF-8"
	msgOption      = "Invalid file option '%s'"
	msgMode        = "File modes must be numbers"
	msgBraces      = "Could not parse '%s'"
	msgForbidden   = "Cannot set %s settings in puppet.conf; they belong to environment.conf"
)
