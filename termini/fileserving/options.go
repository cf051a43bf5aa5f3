package fileserving

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// options are those of a request that select metadata. Rule TERM-MD-01.
type options struct {
	links    string // manage, follow
	checksum string
	real     bool // owner, group and mode are those of the file
}

// given returns the text of an option and whether there is one; nil and false
// are as if it were not there, the empty text is not.
func given(req *indirector.Request, name string) (string, bool) {
	switch v := req.Option(name).(type) {
	case nil:
		return "", false
	case bool:
		return fmt.Sprint(v), v
	default:
		return fmt.Sprint(v), true
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
		if _, ok := given(req, name); ok && err == nil && m.content {
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
	switch links, ok := given(req, "links"); {
	case !ok, links == "manage", links == "ignore":
	case links == "follow":
		o.links = links
	default:
		return nil, refuse(":links can only be set to :manage or :follow")
	}
	if m.content {
		return o, nil
	}
	if sum, ok := given(req, "checksum_type"); ok {
		if !slices.Contains(model.ChecksumTypes, sum) {
			return nil, refuse("Unsupported checksum type %s", sum)
		}
		o.checksum = sum
	}
	switch p, ok := given(req, "source_permissions"); {
	case !ok, p == "ignore":
	case p == "use", p == "use_when_creating":
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
	number   bool  // recurse is a number, which is refused once the path is known to exist
	bad      error // of a limit that is no number, once the path is known to exist
	limit    int   // levels below the root; -1 is all
	maxFiles int   // 0 warns above 1000; negative is no limit
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
	switch v := value(req, "recurselimit").(type) {
	case nil:
	case int64:
		w.limit = int(max(v, 0))
	case float64:
		w.limit = int(max(wholeOf(v), 0))
	default: // found out only when it is compared with a depth
		if w.recurse {
			w.bad = notNumber("recurselimit", "Integer", rubyName(v), v)
		}
	}
	switch v := value(req, "max_files").(type) {
	case nil:
	case int64:
		w.maxFiles = int(v)
	case float64:
		w.maxFiles = int(wholeOf(v))
	default:
		switch {
		case v == "-1":
			w.maxFiles = -1
		case w.bad == nil:
			w.bad = notNumber("max_files", rubyName(v), "0", v)
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
	case *big.Int:
		return limitOf(v)
	case string:
		switch v {
		case "true":
			return true
		case "false":
			return false
		}
		if v != "" && strings.Trim(v, "0123456789") == "" {
			if n, ok := new(big.Int).SetString(v, 0); ok { // 010 is eight in Ruby, too
				return limitOf(n)
			}
		}
		return v
	default:
		return v
	}
}

// limitOf returns a whole number, or the largest or smallest of those that fit:
// no directory has that many files.
func limitOf(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// wholeOf returns the whole number that is the same limit as a fraction.
func wholeOf(f float64) int64 {
	n, _ := big.NewFloat(math.Floor(f)).Int(nil)
	return limitOf(n)
}

// rubyName returns how Ruby's errors of comparisons show an option.
func rubyName(v any) string {
	if b, ok := v.(bool); ok {
		return fmt.Sprint(b)
	}
	return "String"
}

func notNumber(name, left, right string, v any) error {
	return &indirector.Failure{
		Class: "ArgumentError", Message: fmt.Sprintf("comparison of %s with %s failed", left, right),
		Hidden: fmt.Sprintf("the option %s must be a whole number, got %q", name, fmt.Sprint(v)),
	}
}
