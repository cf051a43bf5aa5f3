package ca

import (
	"encoding/asn1"
	"slices"
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
	// oidCLIAuth is the extension with which Puppet Server's command line may
	// sign and revoke.
	oidCLIAuth = below(arcAuth, 39)
)

func below(arc asn1.ObjectIdentifier, n ...int) asn1.ObjectIdentifier {
	return append(slices.Clone(arc), n...)
}

// within reports whether an identifier is below an arc.
func within(arc, oid asn1.ObjectIdentifier) bool {
	return len(oid) > len(arc) && oid[:len(arc)].Equal(arc)
}
