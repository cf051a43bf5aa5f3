package ldap

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	ldap "github.com/go-ldap/ldap/v3"

	"indirtui/indirector"
)

const (
	settingTimeout = "ldap_timeout"
	settingAnswer  = "ldap_max_answer"
	defaultTimeout = 30 * time.Second
	defaultAnswer  = 64 // MiB
)

// A config is what the settings ask for.
type config struct {
	server, port   string
	ssl, startTLS  bool
	user, password string
	base, filter   string
	attributes     []string // to ask for; nil is all
	classes        []string // attributes with classes
	stacked        []string // attributes with name=value
	parent         string   // attribute with the parent; "" is no parents
	caFile         string   // localcacert
	limit          time.Duration
	maxAnswer      int64             // bytes that a search may bring
	sources        map[string]string // of base and filter, for messages
}

func newConfig(s indirector.Settings) (*config, error) {
	limit, err := indirector.DurationOf(s, settingTimeout, defaultTimeout)
	if err != nil {
		return nil, err
	}
	c := &config{limit: limit, maxAnswer: defaultAnswer << 20, sources: make(map[string]string)}
	if text, source := s.Get(settingAnswer); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("setting %s (%s): %q is no number of MiB", settingAnswer, source, text)
		}
		c.maxAnswer = int64(n) << 20
	}
	for name, to := range map[string]*string{
		"ldapserver": &c.server, "ldapport": &c.port, "ldapuser": &c.user, "ldappassword": &c.password,
		"ldapbase": &c.base, "ldapstring": &c.filter, "ldapparentattr": &c.parent, "localcacert": &c.caFile,
	} {
		*to, c.sources[name] = s.Get(name)
	}
	set := func(name string) string {
		v, _ := s.Get(name)
		return v
	}
	c.ssl, c.startTLS = set("ldapssl") == "true", set("ldaptls") == "true"
	c.classes, c.stacked = words(set("ldapclassattrs")), words(set("ldapstackedattrs"))
	if attributes := set("ldapattrs"); attributes != "all" {
		c.attributes = append(c.classes[:len(c.classes):len(c.classes)], words(attributes)...)
		if c.parent != "" {
			c.attributes = append(c.attributes, c.parent)
		}
	}
	return c, nil
}

// words splits a list at commas.
func words(list string) []string {
	var all []string
	for w := range strings.SplitSeq(list, ",") {
		if w = strings.TrimSpace(w); w != "" {
			all = append(all, w)
		}
	}
	return all
}

// setting names a setting with its value and source, for messages.
func (c *config) setting(name, value string) string {
	s := name + " \"" + value + "\""
	if source := c.sources[name]; source != "" {
		s += " (" + source + ")"
	}
	return s
}

func (c *config) address() string { return net.JoinHostPort(c.server, c.port) }

// who is the user of the connection. A password alone is ignored. Rule LDAP-12.
func (c *config) who() string {
	if c.user == "" {
		return "anonymous"
	}
	return c.user
}

// filterFor returns the filter for a name. Puppet puts the name in as it is, so that
// * finds all entries and a bracket breaks the filter. Rule LDAP-02.
func (c *config) filterFor(name string) string {
	return strings.ReplaceAll(c.filter, "%s", escape(name))
}

// escape makes a value of a filter that stands for nothing but itself, by RFC 4515.
func escape(value string) string { return ldap.EscapeFilter(value) }

// escaped returns what Puppet would have made of a name that has characters with
// a meaning in filters; "" if it has none.
func (c *config) escaped(name string) string {
	switch {
	case !strings.Contains(c.filter, "%s"):
		return ""
	case strings.ContainsAny(name, "()\\\x00"):
		return "'%s' was escaped: the key would have changed the filter"
	case strings.Contains(name, "*"):
		return "'%s' was escaped: the key would have matched others"
	}
	return ""
}
