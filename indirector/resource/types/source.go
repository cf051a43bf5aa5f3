package types

import (
	"net/url"
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

var scheme = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)

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
	kind := strings.ToLower(strings.TrimSuffix(scheme.FindString(source), ":"))
	if kind == "" {
		return refuse("Cannot use relative URLs '%s'", source)
	}
	rest := source[len(kind)+1:]
	if !strings.HasPrefix(rest, "/") {
		if kind == "mailto" {
			return refuse("Could not understand source %s: unrecognised opaque part for mailtoURL: %s", source, rest)
		}
		return refuse("Cannot use opaque URLs '%s'", source)
	}
	switch kind {
	case "file", "puppet", "http", "https":
	default:
		return refuse("Cannot use URLs of type '%s' as source for fileserving", kind)
	}
	if _, err := url.Parse(strings.ReplaceAll(source, " ", "%20")); err != nil {
		return refuse("Could not understand source %s: it is no URL", source)
	}
	return nil
}

// mungeSource makes a list of URLs, without slashes at their ends.
func mungeSource(r *Resource, v data.Value) (data.Value, error) {
	all := list(v)
	urls := make([]data.Value, len(all))
	for i, s := range all {
		source := strings.TrimRight(s.Text(), "/")
		if r.absolute(data.OfString(source)) {
			source = "file://" + source
		}
		urls[i] = data.OfString(source)
	}
	return data.OfList(urls), nil
}
