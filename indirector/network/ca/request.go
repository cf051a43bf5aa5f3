package ca

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"net"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/model"
)

// A Request is a parsed certificate request.
type Request struct {
	*x509.CertificateRequest
	Subject    string           // the common name
	Extensions []pkix.Extension // requested ones
	autoRenew  bool             // Puppet 8's agent will renew the certificate
	names      int              // number of common names
}

// ParseRequest reads the certificate request of a PEM text.
func ParseRequest(text []byte) (*Request, error) {
	found, err := blocks(text, blockRequest, blockRequest2)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("%d certificate requests in one", len(found))
	}
	csr, err := x509.ParseCertificateRequest(found[0].Bytes)
	if err != nil {
		return nil, err
	}
	r := &Request{CertificateRequest: csr}
	for _, n := range csr.Subject.Names {
		if s, ok := n.Value.(string); ok && n.Type.Equal(oidCommonName) {
			r.Subject = s
			r.names++
		}
	}
	if err := r.attributes(); err != nil {
		return nil, err
	}
	return r, nil
}

// attributes reads the requested extensions.
func (r *Request) attributes() error {
	var info struct {
		Raw           asn1.RawContent
		Version       int
		Subject       asn1.RawValue
		PublicKey     asn1.RawValue
		RawAttributes []asn1.RawValue `asn1:"tag:0"`
	}
	if rest, err := asn1.Unmarshal(r.RawTBSCertificateRequest, &info); err != nil || len(rest) > 0 {
		return errors.New("the certificate request is malformed")
	}
	for _, raw := range info.RawAttributes {
		var a struct {
			ID     asn1.ObjectIdentifier
			Values []asn1.RawValue `asn1:"set"`
		}
		if rest, err := asn1.Unmarshal(raw.FullBytes, &a); err != nil || len(rest) > 0 {
			return errors.New("an attribute of the certificate request is malformed")
		}
		switch {
		case a.ID.Equal(oidExtensionRequest), a.ID.Equal(oidMSExtensionRequest):
			for _, v := range a.Values {
				var list []pkix.Extension
				if rest, err := asn1.Unmarshal(v.FullBytes, &list); err != nil || len(rest) > 0 {
					return errors.New("the extensions of the certificate request are malformed")
				}
				r.Extensions = append(r.Extensions, list...)
			}
		case a.ID.Equal(oidAutoRenew):
			r.autoRenew = len(a.Values) > 0 && model.ExtensionText(a.Values[0].FullBytes) == "true"
		}
	}
	return nil
}

// An altName is a subject alternative name.
type altName struct {
	tag  int
	text string // of DNS names and addresses
	raw  []byte // as in the certificate
}

// Tags of names.
const (
	tagDNS       = 2
	tagDirectory = 4
	tagIP        = 7
)

// altNames reads the alternative names among extensions.
func altNames(extensions []pkix.Extension) ([]altName, error) {
	for _, e := range extensions {
		if !e.Id.Equal(oidSAN) {
			continue
		}
		var seq []asn1.RawValue
		if rest, err := asn1.Unmarshal(e.Value, &seq); err != nil || len(rest) > 0 {
			return nil, errors.New("the subject alternative names are malformed")
		}
		names := make([]altName, 0, len(seq))
		for _, raw := range seq {
			n := altName{tag: raw.Tag, raw: raw.FullBytes}
			if raw.Class != asn1.ClassContextSpecific {
				return nil, errors.New("a subject alternative name is malformed")
			}
			switch raw.Tag {
			case tagDNS:
				n.text = string(raw.Bytes)
			case tagIP:
				if len(raw.Bytes) != net.IPv4len && len(raw.Bytes) != net.IPv6len {
					return nil, errors.New("an address among the subject alternative names is malformed")
				}
				n.text = net.IP(raw.Bytes).String()
			}
			names = append(names, n)
		}
		return names, nil
	}
	return nil, nil
}

// tagged returns the alternative names in Puppet Server's order: addresses,
// then DNS names.
func tagged(names []altName) []string {
	all := []string{}
	for _, n := range names {
		if n.tag == tagIP {
			all = append(all, "IP:"+n.text)
		}
	}
	return append(all, dnsNames(names)...)
}

func dnsNames(names []altName) []string {
	all := []string{}
	for _, n := range names {
		if n.tag == tagDNS {
			all = append(all, "DNS:"+n.text)
		}
	}
	return all
}

// A Refusal is the reason why a request is refused, in Puppet Server's words.
type Refusal struct {
	Kind    RefusalKind
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// A RefusalKind is the class of a Refusal.
type RefusalKind uint8

// Kinds of refusals. Those up to Signature are about a request.
const (
	Duplicate RefusalKind = iota
	OtherName
	BadName
	Extension
	Signature
	Conflict  // nothing to sign, or to revoke
	Malformed // unreadable
	Forbidden // not for this client
	Partial   // some files of the CA are missing
	Disabled  // not allowed by the settings
	BadList   // an invalid revocation list
)

func refuse(kind RefusalKind, format string, args ...any) error {
	return &Refusal{kind, fmt.Sprintf(format, args...)}
}

// Puppet Server's messages, word for word.
const (
	msgOtherName = "Instance name \"%s\" does not match requested key \"%s\""
	msgUpper     = "Certificate names must be lower case."
	msgWildcard  = "Subject contains a wildcard, which is not allowed: %s"
	msgBadName   = "Subject hostname format is invalid"
	msgExtension = "Found extensions that are not permitted: %s"
	msgAltNames  = "CSR '%s' contains extra subject alternative names (%s), which are disallowed. To allow subject alternative names, set allow-subject-alt-names to true in your ca.conf file. Then restart the puppetserver and try signing this certificate again."
	msgAuth      = "CSR '%s' contains an authorization extension, which is disallowed. To allow authorization extensions, set allow-authorization-extensions to true in your ca.conf file. Then restart the puppetserver and try signing this certificate again."
	msgSignature = "CSR contains a public key that does not correspond to the signing key"
	msgDuplicate = "%s already has a %s certificate; ignoring certificate request"
	msgOverwrite = "%s already has a %s certificate; new certificate will overwrite it"
)

// maxName is the longest name of a file, in bytes.
const maxName = 250

// checkSubject returns why a subject is not certified under a name.
func checkSubject(name, subject string) error {
	switch {
	case name != subject:
		return refuse(OtherName, msgOtherName, subject, name)
	case name != strings.ToLower(name):
		return refuse(BadName, msgUpper)
	case strings.Contains(subject, "*"):
		return refuse(BadName, msgWildcard, subject)
	case !validName(subject):
		return refuse(BadName, msgBadName)
	}
	return nil
}

// validName reports whether a name is one or more parts of letters, digits,
// hyphens and underscores between dots. The first must not begin, and none may
// end, with a hyphen. Trailing dots do not count, as in Puppet Server.
func validName(name string) bool {
	if len(name) > maxName || !utf8.ValidString(name) {
		return false
	}
	parts := strings.Split(strings.TrimRight(name, "."), ".")
	if strings.HasPrefix(name, "-") {
		return false
	}
	for _, part := range parts {
		if part == "" || part[len(part)-1] == '-' {
			return false
		}
		for _, c := range []byte(part) {
			if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
				return false
			}
		}
	}
	return true
}

// ValidName returns why a name cannot be certified, or nil.
func ValidName(name string) error { return checkSubject(name, name) }

// safe reports whether a name can be a file name. Other names have no
// certificate.
func safe(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsAny(name, "/\\\x00") && !strings.HasPrefix(name, "..")
}

// checkPolicy returns why a request is not signed, in Puppet Server's order of
// checks.
func (a *Authority) checkPolicy(r *Request, allowAltNames, allowAuth bool) error {
	names, err := altNames(r.Extensions)
	if err != nil {
		return refuse(Malformed, "%s", err)
	}
	if !allowAltNames {
		own := "DNS:" + r.Subject
		if all := tagged(names); len(all) > 1 || len(all) == 1 && all[0] != own {
			var extra []string
			for _, n := range all {
				if n != own {
					extra = append(extra, n)
				}
			}
			return refuse(Extension, msgAltNames, r.Subject, strings.Join(extra, ", "))
		}
	}
	for _, e := range r.Extensions {
		if within(arcAuth, e.Id) && !allowAuth {
			return refuse(Extension, msgAuth, r.Subject)
		}
	}
	var bad []string
	seen := map[string]bool{}
	for _, e := range r.Extensions {
		id := e.Id.String()
		if !permitted(e.Id) || seen[id] {
			bad = append(bad, id)
		}
		seen[id] = true
	}
	for _, n := range names {
		if n.tag != tagDNS && n.tag != tagIP && !allowAltNames {
			bad = append(bad, oidSAN.String())
			break
		}
	}
	if len(bad) > 0 {
		return refuse(Extension, msgExtension, strings.Join(bad, ", "))
	}
	if r.CheckSignature() != nil {
		return refuse(Signature, msgSignature)
	}
	return nil
}

// permitted reports whether an extension may be requested.
func permitted(oid asn1.ObjectIdentifier) bool {
	return oid.Equal(oidSAN) || within(arcReg, oid) || within(arcPriv, oid) || within(arcAuth, oid) && !oid.Equal(oidCLIAuth)
}
