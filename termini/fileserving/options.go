package fileserving

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
)

// options are those of a request that select metadata. Rule TERM-MD-01.
type options struct {
	links    string // manage, follow
	checksum string
	real     bool // owner, group and mode are those of the file
}

var checksumTypes = []string{
	"sha256", "sha256lite", "md5", "md5lite", "sha1", "sha1lite", "sha512", "sha384", "sha224", "mtime", "ctime", "none",
}

// given returns the text of an option; nil and false are as if it were not
// there.
func given(req *indirector.Request, name string) string {
	switch v := req.Option(name).(type) {
	case nil, bool:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

func refuse(format string, args ...any) error {
	return &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf(format, args...)}
}

// ofFiles returns the options for reading files: contents have only links, and
// Puppet fails if there is another.
func (m *maker) ofFiles(req *indirector.Request) (*options, error) {
	o, err := m.options(req)
	for _, name := range []string{"checksum_type", "source_permissions"} {
		if err == nil && m.content && given(req, name) != "" {
			err = &indirector.Failure{
				Class: "NoMethodError", Message: fmt.Sprintf("undefined method `%s=' for an instance of Puppet::FileServing::Content", name),
				Hidden: "the option is one of metadata; contents have none",
			}
		}
	}
	return o, err
}

func (m *maker) options(req *indirector.Request) (*options, error) {
	o := &options{links: "manage", checksum: m.digest}
	switch links := given(req, "links"); links {
	case "", "manage", "ignore":
	case "follow":
		o.links = links
	default:
		return nil, refuse(":links can only be set to :manage or :follow")
	}
	if m.content {
		return o, nil
	}
	if sum := given(req, "checksum_type"); sum != "" {
		if !slices.Contains(checksumTypes, sum) {
			return nil, refuse("Unsupported checksum type %s", sum)
		}
		o.checksum = sum
	}
	switch p := given(req, "source_permissions"); p {
	case "", "ignore":
	case "use", "use_when_creating":
		o.real = true
	default:
		return nil, refuse("Unsupported source_permission %s", p)
	}
	return o, nil
}

// A walk is the options of a search.
type walk struct {
	follow   bool
	recurse  bool
	number   bool // recurse is a number, which is refused once the path is known to exist
	limit    int  // levels below the root; -1 is all
	maxFiles int  // 0 warns above 1000; negative is no limit
	ignore   []string
}

// newWalk reads the options of a search. One that is flat lists its roots and
// does not look at recurse.
func newWalk(req *indirector.Request, flat bool) (*walk, error) {
	w := &walk{limit: -1}
	switch links := fmt.Sprint(req.Option("links")); links {
	case "<nil>", "manage":
	case "follow":
		w.follow = true
	default:
		return nil, refuse("Invalid :links value '%s'", links)
	}
	switch v := value(req, "recurse").(type) {
	case nil:
	case bool:
		w.recurse = v && !flat
	case int64:
		w.number = !flat
	default:
		w.recurse = !flat
	}
	var err error
	if v := value(req, "recurselimit"); v != nil && fmt.Sprint(v) != "infinite" {
		if w.limit, err = number("recurselimit", v); err != nil {
			return nil, err
		}
		w.limit = max(w.limit, 0)
	}
	if v := value(req, "max_files"); v != nil {
		if w.maxFiles, err = number("max_files", v); err != nil {
			return nil, err
		}
	}
	switch v := req.Option("ignore").(type) {
	case nil:
	case []string:
		w.ignore = v
	case []any:
		for _, p := range v {
			w.ignore = append(w.ignore, fmt.Sprint(p))
		}
	default:
		w.ignore = []string{fmt.Sprint(v)}
	}
	return w, nil
}

// value returns an option as a fileset sees it: texts from the network become
// booleans and numbers.
func value(req *indirector.Request, name string) any {
	switch v := req.Option(name).(type) {
	case int:
		return int64(v)
	case string:
		switch v {
		case "true":
			return true
		case "false":
			return false
		}
		if v != "" && strings.Trim(v, "0123456789") == "" {
			if n, err := strconv.ParseInt(v, 0, 64); err == nil { // 010 is eight in Ruby, too
				return n
			}
		}
		return v
	default:
		return v
	}
}

func number(name string, v any) (int, error) {
	switch v := v.(type) {
	case int64:
		return int(v), nil
	case string:
		if v == "-1" {
			return -1, nil
		}
	}
	return 0, &indirector.Failure{
		Class: "ArgumentError", Message: fmt.Sprintf("comparison of Integer with %v failed", v),
		Hidden: fmt.Sprintf("the option %s must be a whole number, got %q", name, fmt.Sprint(v)),
	}
}
