package rest

// Puppet's messages, word for word. Rule: specification of the wire, 5.
const (
	msgNoRoute        = "No route for %s %s"
	msgBadIndirection = "The indirection name must be purely alphanumeric, not '%s'"
	msgNoMethod       = "No support for http method %s"
	msgPlurality      = "No support for plurality singular for %s operations" // always this word
	msgPrefix         = "Indirection '%s' does not match url prefix '%s'"
	msgNoIndirection  = "Could not find indirection '%s'"
	msgNoEnvironment  = "An environment parameter must be specified"
	msgBadEnvironment = "The environment must be purely alphanumeric, not '%s'"
	msgEnvironment    = "Could not find environment '%s'"
	msgNoKey          = "No request key specified in %s"
	msgNoRemote       = "No handler for %s"
	msgNotFound       = "Could not find %s %s"
	msgNoneFound      = "Could not find instances in %s with '%s'"
	msgNoAccept       = "Missing required Accept header"
	msgNotAcceptable  = "No supported formats are acceptable (Accept: %s)"
	msgNoContentType  = "No Content-Type header was received, it isn't possible to unserialize the request"
	msgMediaType      = "Client sent a mime-type (%s) that doesn't correspond to a format we support"
	msgBadBody        = "The request body is invalid: %s"
	msgRelative       = "Invalid relative path (.. or .) in: "
)

// Puppet Server's messages, word for word.
const (
	msgForbidden       = "Forbidden request: %s (method :%s). Please see the server logs for details."
	msgFileEnvironment = "A %s request must include an `environment` or `versioned_project` query parameter."
	msgStatic          = "Error: A /static_file_content request requires an environment, a code-id, and a file-path"
	msgCodeID          = "Invalid code-id '%s'. Must contain only alpha-numerics and '-', '_', ';', or ':'"
	msgStaticPath      = "Request Denied: A /static_file_content request must be a file within the files, lib, scripts, or tasks directory of a module."
	msgNoCommand       = `Cannot retrieve code content because the "versioned-code.code-content-command" setting is not present in configuration.`
	msgExit            = "Non-zero exit code returned while running '%s'. exit-code: '%d', stdout: '%s', stderr: '%s'"
	msgCommand         = "Running script generated an error. Command executed: '%s', error generated: '%v'"
	msgInternal        = "Internal Server Error: java.lang.IllegalStateException: "
	msgNoService       = "No status information found for service %s"
)
