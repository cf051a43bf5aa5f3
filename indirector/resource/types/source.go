package types

import (
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// validateSource takes paths and URLs. Rule RES-FILE-11.
func validateSource(r *Resource, v data.Value) error {
	for _, s := range list(v) {
		if r.absolute(s) {
			continue
		}
		if err := validateURL(s.Text()); err != nil {
			return err
		}
	}
	return nil
}

func validateURL(source string) error {
	e := rich.EncodeURI(source)
	if _, err := rich.ParseURI(e.String()); err != nil && source != "" {
		return refuse("Could not understand source %s: %v", source, err)
	}
	kind := strings.ToLower(strings.TrimSuffix(e.Scheme, ":"))
	switch kind {
	case "":
		return refuse("Cannot use relative URLs '%s'", source)
	case "file", "puppet", "http", "https":
	default:
		if !e.Opaque() {
			return refuse("Cannot use URLs of type '%s' as source for fileserving", kind)
		}
	}
	if e.Opaque() {
		return refuse("Cannot use opaque URLs '%s'", source)
	}
	return nil
}

// endSlashes are those of the first line that has some.
var endSlashes = regexp.MustCompile(`(?m)/+$`)

// mungeSource makes a list of URLs, without slashes at their ends.
func mungeSource(r *Resource, v data.Value) (data.Value, error) {
	all := list(v)
	urls := make([]data.Value, len(all))
	for i, s := range all {
		source := s.Text()
		if at := endSlashes.FindStringIndex(source); at != nil {
			source = source[:at[0]] + source[at[1]:]
		}
		if r.absolute(data.OfString(source)) {
			var err error
			if source, err = fileURL(source); err != nil {
				return v, err
			}
		}
		urls[i] = data.OfString(source)
	}
	return data.OfList(urls), nil
}

var absolutePath = regexp.MustCompile(`\A(/(%[[:xdigit:]]{2}|[!$&-.0-;=@-Z_a-z~])*)+\z`)

// fileURL is the URL of a path, which is escaped on the way to it, and not any longer then.
func fileURL(source string) (string, error) {
	e := rich.EncodeURI(source)
	path := e.Scheme + e.Authority + e.Path
	if !absolutePath.MatchString(path) {
		return "", refuse("Failed to convert '%s' to URI: bad component(expected absolute path component): %s", source, path)
	}
	return "file://" + rich.UnescapeURI(path+strings.TrimSuffix(e.Query, "?")), nil
}
