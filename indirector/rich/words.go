package rich

import "fmt"

// Puppet's and Ruby's errors for rich data, word for word. Rule: rich data, 4.1.
const (
	badScalar      = "Cannot create a %s from a %s"
	badType        = "The expression <%s> is not a valid type specification."
	openName       = "Illegal class reference (line: 1, column: %d)"
	noType         = "Unable to deserialize type from %s"
	noMapping      = "No implementation mapping found for Puppet Type %s"
	noMethod       = "undefined method `%s' for %s"
	wrongArguments = "wrong number of arguments (given %d, expected %s)"
	badRange       = "'from' must be less or equal to 'to'. Got (%s, %s"
	badPath        = "Unable to parse jsonpath %q"
	badPathEnd     = "Syntax error at end of input"
	badIndex       = "no implicit conversion of String into Integer"
	endless        = "stack level too deep"
	tooManyCopies  = "the references stand for more than %d values"
	notComparable  = "comparison of %s with %s failed"
	badRuntime     = "Runtime 'runtime' has wrong type, expects a String value, got %s"
	badRuntimeName = "Runtime 'name_or_pattern' has wrong type, expects a value of type String or Tuple, got %s"

	noArguments  = "'%s' expects %s, got none"
	badTimespan  = "Unable to parse '%s' using any of the formats %%D-%%H:%%M:%%S.%%-N, %%H:%%M:%%S.%%-N, %%M:%%S.%%-N, %%S.%%-N, %%D-%%H:%%M:%%S, %%H:%%M:%%S, %%D-%%H:%%M, %%S"
	badTimestamp = "Unable to parse '%s' using any of the formats %%FT%%T.%%N %%Z, %%FT%%T %%Z, %%F %%T.%%N %%Z, %%F %%T %%Z, %%F %%Z, %%FT%%T.%%N, %%FT%%T, %%F %%T.%%N, %%F %%T, %%F"
	badZone      = "Illegal timezone '%s'"
	outOfRange   = "%s out of range"
	badVersion   = "'new_Version' The string '%s' cannot be converted to a SemVer"
	leadingZero  = "Numeric pre-release identifiers MUST NOT contain leading zeroes"
	badVersions  = "Unparsable version range: \"%s\""
	badURI       = "bad URI(is not URI?): %s"
	foreignURI   = "URI must be ascii only %s"
	badBase64    = "invalid base64"

	emptyTimespan = `The function 'new_timespan' was called with arguments it does not accept. It expects one of:
  (Variant[Integer, Float] seconds)
    rejected: parameter 'seconds' expects a value of type Integer or Float, got String
  (String[1] string, Formats = Variant[String[2], Array[String[2], 1]] format?)
    rejected: parameter 'string' expects a String[1] value, got String
  (Integer days, Integer hours, Integer minutes, Integer seconds, Integer milliseconds?, Integer microseconds?, Integer nanoseconds?)
    rejected: expects between 4 and 7 arguments, got 1
  (Struct[{'string' => String[1], Optional['format'] => Formats}] hash_arg)
    rejected: parameter 'hash_arg' expects a Struct value, got String
  (Struct[{Optional['negative'] => Boolean, Optional['days'] => Integer, Optional['hours'] => Integer, Optional['minutes'] => Integer, Optional['seconds'] => Integer, Optional['milliseconds'] => Integer, Optional['microseconds'] => Integer, Optional['nanoseconds'] => Integer}] hash_arg)
    rejected: parameter 'hash_arg' expects a Struct value, got String`
	emptyRange = `The function 'new_VersionRange' was called with arguments it does not accept. It expects one of:
  (SemVerRangeString = String[1] str)
    rejected: parameter 'str' expects a SemVerRangeString = String[1] value, got String
  (Variant[Default, SemVer] min, Variant[Default, SemVer] max, Boolean exclude_max?)
    rejected: expects between 2 and 3 arguments, got 1
  (SemVerRangeHash = Struct[{'min' => Variant[Default, SemVer], Optional['max'] => Variant[Default, SemVer], Optional['exclude_max'] => Boolean}] hash_args)
    rejected: parameter 'hash_args' expects a SemVerRangeHash = Struct[{'min' => Variant[Default, SemVer], Optional['max'] => Variant[Default, SemVer], Optional['exclude_max'] => Boolean}] value, got String`
	emptyURI = `The function 'new_error' was called with arguments it does not accept. It expects one of:
  (String[1] uri)
    rejected: parameter 'uri' expects a String[1] value, got String
  (Struct[{Optional['scheme'] => String[1], Optional['userinfo'] => String[1], Optional['host'] => String[1], Optional['port'] => Integer[0], Optional['path'] => String[1], Optional['query'] => String[1], Optional['fragment'] => String[1], Optional['opaque'] => String[1]}] hash)
    rejected: parameter 'hash' expects a Struct value, got String`
	emptyTimestamp = `The function 'new_timestamp' was called with arguments it does not accept. It expects one of:
  ()
    rejected: expects no arguments, got 1
  (Variant[Integer, Float] seconds)
    rejected: parameter 'seconds' expects a value of type Integer or Float, got String
  (String[1] string, Formats = Variant[String[2], Array[String[2], 1]] format?, String[1] timezone?)
    rejected: parameter 'string' expects a String[1] value, got String
  (Struct[{'string' => String[1], Optional['format'] => Formats, Optional['timezone'] => String[1]}] hash_arg)
    rejected: parameter 'hash_arg' expects a Struct value, got String`
)

// errorf returns an error in these words.
func errorf(words string, args ...any) error { return fmt.Errorf(words, args...) }
