package types

import (
	"net/netip"
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

// hostType is a line of /etc/hosts. Rule RES-LIST-01.
func hostType() *Type {
	return Define(Type{
		Name: "host", Module: "host_core", Doc: "An entry of the hosts file: an address and its names.",
		Namevars: []string{"name"}, Instances: ByProviders, Providers: hostProviders,
		Attributes: []*Attribute{
			ensurable("Whether the entry is there."),
			{Name: "ip", Doc: "The address, IPv4 or IPv6.", Validate: validateIP},
			listed(Attribute{
				Name: "host_aliases", Doc: "All other names of the host, in their order.", Validate: validateHostAlias,
			}, listing{separator: " ", ordered: true}),
			{Name: "comment", Doc: "A comment at the end of the line.", Validate: oneLine("Comment cannot include newline")},
			target("The hosts file. The default is that of the system.", "/etc/hosts"),
			{Name: "name", Kind: Parameter, Doc: "The name of the host.", Validate: validateHostName},
		},
	})
}

// target is the property of the file that an entry is in.
func target(doc, usual string) *Attribute {
	return &Attribute{Name: "target", Doc: doc, Default: func(r *Resource) (data.Value, bool) {
		if h, ok := r.Host.(Targets); ok {
			if f := h.Target(r.Type.Name); f != "" {
				return data.OfString(f), true
			}
		}
		return data.OfString(usual), true
	}}
}

var dotted = regexp.MustCompile(`^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$`)

// validateIP takes octets with leading zeros, which are decimal.
func validateIP(_ *Resource, v data.Value) error {
	s := v.Str()
	if dotted.MatchString(s) {
		for part := range strings.SplitSeq(s, ".") {
			if len(strings.TrimLeft(part, "0")) == 3 && part > "255" {
				return refuse("Invalid IP address %s", v.Inspect())
			}
		}
		return nil
	}
	address := strings.Trim(s, " \t\f\v")
	if a, err := netip.ParseAddr(address); err != nil || !a.Is6() {
		return refuse("Invalid IP address %s", v.Inspect())
	}
	return nil
}

func validateHostAlias(_ *Resource, v data.Value) error {
	s, err := textOf(v)
	switch {
	case err != nil:
		return err
	case strings.ContainsAny(s, blanks):
		return refuse("Host aliases cannot include whitespace")
	case s == "":
		return refuse("Host aliases cannot be an empty string. Use an empty array to delete all host_aliases ")
	}
	return nil
}

var hostPart = regexp.MustCompile(`(?m)^(\w+|\w[\w-]+\w)$`)

func validateHostName(_ *Resource, v data.Value) error {
	if _, err := textOf(v); err != nil {
		return err
	}
	for _, part := range splitWords(strings.TrimRight(v.Text(), "."), ".") {
		if !hostPart.MatchString(part) {
			return refuse("Invalid host name")
		}
	}
	if strings.ContainsAny(v.Text(), "\n\r") {
		return refuse("Hostname cannot include newline")
	}
	return nil
}

// oneLine refuses texts of several lines.
func oneLine(problem string) func(*Resource, data.Value) error {
	return func(_ *Resource, v data.Value) error {
		if v.Kind() == data.Hash || v.Kind() == data.List {
			return nil // Puppet looks for an element
		}
		s, err := textOf(v)
		if err == nil && strings.ContainsAny(s, "\n\r") {
			return failure(problem)
		}
		return err
	}
}
