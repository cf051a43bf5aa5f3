package ca

import (
	"encoding/asn1"
	"slices"
	"strings"
)

// Object identifiers of extensions and attributes.
var (
	oidSAN              = asn1.ObjectIdentifier{2, 5, 29, 17}
	oidBasicConstraints = asn1.ObjectIdentifier{2, 5, 29, 19}
	oidKeyUsage         = asn1.ObjectIdentifier{2, 5, 29, 15}
	oidExtKeyUsage      = asn1.ObjectIdentifier{2, 5, 29, 37}
	oidSKI              = asn1.ObjectIdentifier{2, 5, 29, 14}
	oidAKI              = asn1.ObjectIdentifier{2, 5, 29, 35}
	oidReason           = asn1.ObjectIdentifier{2, 5, 29, 21}
	oidDeltaCRL         = asn1.ObjectIdentifier{2, 5, 29, 27}
	oidComment          = asn1.ObjectIdentifier{2, 16, 840, 1, 113730, 1, 13}
	oidServerAuth       = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 1}
	oidClientAuth       = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 2}
	oidCommonName       = asn1.ObjectIdentifier{2, 5, 4, 3}

	oidExtensionRequest   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 14}
	oidMSExtensionRequest = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 1, 14}

	puppetArc    = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 34380, 1}
	arcReg       = below(puppetArc, 1) // ppRegCertExt
	arcPriv      = below(puppetArc, 2) // ppPrivCertExt
	arcAuth      = below(puppetArc, 3) // ppAuthCertExt
	oidAutoRenew = below(arcAuth, 2)   // an attribute of requests
	// OIDCLIAuth is the extension by which the command line of Puppet Server may
	// sign and revoke.
	OIDCLIAuth = below(arcAuth, 39)
)

// The short names of Puppet's extensions, by their last number.
var (
	regNames = []string{
		"", "pp_uuid", "pp_instance_id", "pp_image_name", "pp_preshared_key", "pp_cost_center", "pp_product", "pp_project", "pp_application",
		"pp_service", "pp_employee", "pp_created_by", "pp_environment", "pp_role", "pp_software_version", "pp_department", "pp_cluster",
		"pp_provisioner", "pp_region", "pp_datacenter", "pp_zone", "pp_network", "pp_securitypolicy", "pp_cloudplatform", "pp_apptier",
		"pp_hostname", "pp_owner",
	}
	authNames = map[int]string{1: "pp_authorization", 13: "pp_auth_role", 39: "pp_cli_auth"}
)

func below(arc asn1.ObjectIdentifier, n ...int) asn1.ObjectIdentifier {
	return append(slices.Clone(arc), n...)
}

// within reports whether an identifier is below an arc.
func within(arc, oid asn1.ObjectIdentifier) bool {
	return len(oid) > len(arc) && oid[:len(arc)].Equal(arc)
}

// ExtensionName returns Puppet's short name of an extension, "pp_role", or its
// numbers with dots.
func ExtensionName(oid asn1.ObjectIdentifier) string {
	if len(oid) == len(arcReg)+1 {
		n := oid[len(oid)-1]
		switch {
		case within(arcReg, oid) && 0 < n && n < len(regNames):
			return regNames[n]
		case within(arcAuth, oid) && authNames[n] != "":
			return authNames[n]
		}
	}
	return oid.String()
}

// ExtensionOID returns the identifier of a short name, or of numbers with
// dots, and false if it is neither.
func ExtensionOID(name string) (asn1.ObjectIdentifier, bool) {
	if i := slices.Index(regNames[1:], name); i >= 0 {
		return below(arcReg, i+1), true
	}
	for n, known := range authNames {
		if known == name {
			return below(arcAuth, n), true
		}
	}
	var oid asn1.ObjectIdentifier
	for part := range strings.SplitSeq(name, ".") {
		n := 0
		if part == "" || len(part) > 9 {
			return nil, false
		}
		for _, c := range []byte(part) {
			if c < '0' || '9' < c {
				return nil, false
			}
			n = n*10 + int(c-'0')
		}
		oid = append(oid, n)
	}
	return oid, len(oid) > 2 && oid[0] <= 2
}
