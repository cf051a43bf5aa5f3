package ca

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
)

// lists are the revocation lists as read last.
type lists struct {
	stamp   stamp
	all     []*x509.RevocationList
	own     int                                 // index of the CA's own; -1 is none
	revoked map[string]x509.RevocationListEntry // of the own list, by serial number
}

// crls returns the revocation lists, read again if the file has changed.
func (a *Authority) crls() (lists, error) {
	id, err := a.self()
	if err != nil {
		return lists{}, err
	}
	now, err := stampOf(a.cfg.CRL)
	if err != nil {
		return lists{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lists.revoked != nil && a.lists.stamp == now {
		return a.lists, nil
	}
	l, err := readLists(a.cfg.CRL, id)
	if err != nil {
		return l, err
	}
	l.stamp = now
	a.lists = l
	return l, nil
}

const msgNoCRL = "The CRL reader does not contain a CRL matching the given certificate"

func readLists(path string, id identity) (l lists, err error) {
	text, err := readFile(path)
	if err != nil {
		return l, err
	}
	if l.all, err = ParseCRLs(text); err != nil {
		return l, fmt.Errorf("read %s: %w", path, err)
	}
	l.own = slices.IndexFunc(l.all, func(c *x509.RevocationList) bool { return bytes.Equal(c.RawIssuer, id.cert.RawSubject) })
	if l.own < 0 {
		return l, fmt.Errorf("read %s: "+msgNoCRL, path)
	}
	l.revoked = make(map[string]x509.RevocationListEntry, len(l.all[l.own].RevokedCertificateEntries))
	for _, e := range l.all[l.own].RevokedCertificateEntries {
		l.revoked[string(e.SerialNumber.Bytes())] = e
	}
	return l, nil
}

// revocation returns the entry of a revoked certificate of this CA.
func (l lists) revocation(serial *big.Int) (x509.RevocationListEntry, bool) {
	e, ok := l.revoked[string(serial.Bytes())]
	return e, ok
}

// CRL returns the revocation lists that agents get, and when they were written.
func (a *Authority) CRL(ctx context.Context) ([]byte, time.Time, error) {
	path := a.cfg.CRL
	if a.cfg.InfraCRL {
		path = a.cfg.infraCRL()
	}
	text, err := look(ctx, path)
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	return text, info.ModTime(), nil
}

// keyCompromise is the reason that Puppet gives for every revocation.
const keyCompromise = 1

const (
	msgCannotRevoke = "Cannot revoke certificate for host %s without a signed certificate"
	msgNoneToRevoke = "No revoke action needed. The certs are already in the CRL."
)

// Revoke revokes the certificates of names, which stay where they are. Revoked
// ones are no error; for a missing one the error is a Refusal, and none is
// revoked.
func (a *Authority) Revoke(ctx context.Context, names ...string) error {
	return a.locked(ctx, func() error {
		var serials []*big.Int
		for _, name := range names {
			cert, err := a.signed(ctx, name)
			if errors.Is(err, fs.ErrNotExist) {
				return refuse(Conflict, msgCannotRevoke, name)
			}
			if err != nil {
				return err
			}
			serials = append(serials, cert.SerialNumber)
		}
		return a.revokeSerials(ctx, names, serials)
	})
}

func (a *Authority) revokeSerials(ctx context.Context, names []string, serials []*big.Int) error {
	added, err := a.extend(ctx, a.cfg.CRL, serials)
	if err != nil {
		return err
	}
	switch added {
	case 0:
		a.cfg.Log.Info(msgNoneToRevoke)
		traces.Explain(ctx, msgNoneToRevoke)
	case 1:
		a.cfg.Log.Info("Revoked 1 certificate: " + strings.Join(names, ", "))
	default:
		a.cfg.Log.Info(fmt.Sprintf("Revoked %d certificates: %s", added, strings.Join(names, ", ")))
	}
	if !a.cfg.InfraCRL {
		return nil
	}
	infra, err := a.infra(ctx, serials)
	if err != nil || len(infra) == 0 {
		return err
	}
	_, err = a.extend(ctx, a.cfg.infraCRL(), infra)
	return err
}

// extend adds serial numbers to the CA's own list, increments its number, and
// returns how many were new.
func (a *Authority) extend(ctx context.Context, path string, serials []*big.Int) (int, error) {
	id, err := a.self()
	if err != nil {
		return 0, err
	}
	l, err := readLists(path, id)
	if err != nil {
		return 0, err
	}
	own := l.all[l.own]
	entries := kept(own.RevokedCertificateEntries)
	now, added := a.cfg.Now(), 0
	for _, serial := range serials {
		if _, done := l.revocation(serial); done {
			continue
		}
		l.revoked[string(serial.Bytes())] = x509.RevocationListEntry{}
		entries = append(entries, x509.RevocationListEntry{SerialNumber: serial, RevocationTime: now.UTC().Truncate(time.Second), ReasonCode: keyCompromise})
		added++
	}
	if added == 0 {
		return 0, nil
	}
	number := big.NewInt(0)
	if own.Number != nil {
		number.Add(own.Number, big.NewInt(1))
	}
	_, span := traces.Start(ctx, traces.Codec, "sign the revocation list")
	list, err := makeCRL(id, entries, number, now, now.Add(crlTTL))
	span.End(fmt.Sprintf("number %s, %d revoked", number, len(entries)), traces.Because{}, err)
	if err != nil {
		return 0, err
	}
	all := slices.Clone(l.all)
	all[l.own] = list
	return added, replace(ctx, path, publicMode, encodeCRLs(all))
}

// kept prepares entries to be written again, with their extensions.
func kept(entries []x509.RevocationListEntry) []x509.RevocationListEntry {
	out := make([]x509.RevocationListEntry, len(entries))
	for i, e := range entries {
		e.Raw = nil
		e.ExtraExtensions = slices.DeleteFunc(slices.Clone(e.Extensions), func(x pkix.Extension) bool { return x.Id.Equal(oidReason) })
		e.Extensions = nil
		out[i] = e
	}
	return out
}

// infra returns the serial numbers of infrastructure nodes.
func (a *Authority) infra(ctx context.Context, serials []*big.Int) ([]*big.Int, error) {
	nodes, err := look(ctx, a.cfg.infraNodes())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	known := map[string]bool{}
	if text, err := readFile(a.cfg.infraSerials()); err == nil {
		for _, line := range strings.Fields(string(text)) {
			known[line] = true
		}
	}
	for _, node := range strings.Fields(string(nodes)) {
		if cert, err := a.signed(ctx, node); err == nil {
			known[cert.SerialNumber.String()] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(serials), func(n *big.Int) bool { return !known[n.String()] }), nil
}

const (
	msgDelta     = "Cannot support delta CRL."
	msgNoKeyID   = "One or more submitted CRLs do not have an authority key identifier."
	msgNewest    = "Could not determine newest CRL."
	msgBadCRLs   = "Invalid certs and/or CRLs: %s"
	msgNoCRLs    = "No valid CRLs submitted."
	msgUpdated   = "Successfully updated CRLs."
	msgKeptOlder = "Received CRLs for issuer %s but none were newer than the existing CRL; keeping the existing CRL."
)

// UpdateCRLs takes newer revocation lists of the CAs above this one, never its
// own. For invalid lists the error is a Refusal.
func (a *Authority) UpdateCRLs(ctx context.Context, text []byte) error {
	incoming, err := ParseCRLs(text)
	if err != nil {
		traces.ExplainFailure(ctx, err.Error())
		return refuse(BadList, msgNoCRLs)
	}
	return a.locked(ctx, func() error {
		paths := []string{a.cfg.CRL}
		if a.cfg.InfraCRL {
			paths = append(paths, a.cfg.infraCRL())
		}
		for _, path := range paths {
			if err := a.update(ctx, path, incoming); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *Authority) update(ctx context.Context, path string, incoming []*x509.RevocationList) error {
	id, err := a.self()
	if err != nil {
		return err
	}
	l, err := readLists(path, id)
	if err != nil {
		return err
	}
	byKey := map[string][]*x509.RevocationList{}
	for _, c := range incoming {
		if len(c.AuthorityKeyId) == 0 {
			return refuse(BadList, msgNoKeyID)
		}
		k := string(c.AuthorityKeyId)
		if !slices.ContainsFunc(byKey[k], func(x *x509.RevocationList) bool { return bytes.Equal(x.Raw, c.Raw) }) {
			byKey[k] = append(byKey[k], c)
		}
	}
	all := []*x509.RevocationList{l.all[l.own]}
	for i, old := range l.all {
		if i == l.own {
			continue
		}
		newest, err := newestOf(append(byKey[string(old.AuthorityKeyId)], old))
		if err != nil {
			return err
		}
		if newest == old && len(byKey[string(old.AuthorityKeyId)]) > 0 {
			traces.AddNote(ctx, fmt.Sprintf(msgKeptOlder, old.Issuer))
		}
		all = append(all, newest)
	}
	if err := a.checkChain(id.bundle, all); err != nil {
		return err
	}
	return replace(ctx, path, publicMode, encodeCRLs(all))
}

func newestOf(all []*x509.RevocationList) (*x509.RevocationList, error) {
	newest, twice := all[0], false
	for _, c := range all[1:] {
		if bytes.Equal(c.Raw, newest.Raw) {
			newest = c
			continue
		}
		switch numberOf(c).Cmp(numberOf(newest)) {
		case 1:
			newest, twice = c, false
		case 0:
			twice = true
		}
	}
	if twice {
		return nil, refuse(BadList, msgNewest)
	}
	return newest, nil
}

func numberOf(c *x509.RevocationList) *big.Int {
	if c.Number == nil {
		return big.NewInt(-1)
	}
	return c.Number
}

// checkChain checks that the bundle's CAs signed the lists and are not revoked
// by them.
func (a *Authority) checkChain(bundle []*x509.Certificate, all []*x509.RevocationList) error {
	now := a.cfg.Now()
	for _, c := range all {
		for _, e := range c.Extensions {
			if e.Id.Equal(oidDeltaCRL) {
				return refuse(BadList, msgDelta)
			}
		}
		issuer := issuerOf(c, bundle)
		switch {
		case issuer == nil:
			return refuse(BadList, msgBadCRLs, fmt.Sprintf("a list of %s, which is no CA of the bundle, or whose signature is not its own", c.Issuer))
		case !c.NextUpdate.IsZero() && now.After(c.NextUpdate):
			return refuse(BadList, msgBadCRLs, fmt.Sprintf("the list of %s is out of date since %s", c.Issuer, FormatTime(c.NextUpdate)))
		case c.ThisUpdate.After(now):
			return refuse(BadList, msgBadCRLs, fmt.Sprintf("the list of %s is valid from %s", c.Issuer, FormatTime(c.ThisUpdate)))
		}
		for _, cert := range bundle {
			if !bytes.Equal(cert.RawIssuer, c.RawIssuer) {
				continue
			}
			for _, e := range c.RevokedCertificateEntries {
				if e.SerialNumber.Cmp(cert.SerialNumber) == 0 {
					return refuse(BadList, msgBadCRLs, fmt.Sprintf("Certificate has been revoked: %s", cert.Subject))
				}
			}
		}
	}
	return nil
}

// issuerOf returns the CA that signed a list, or nil.
func issuerOf(c *x509.RevocationList, bundle []*x509.Certificate) *x509.Certificate {
	for _, cert := range bundle {
		if !bytes.Equal(cert.RawSubject, c.RawIssuer) {
			continue
		}
		signer := *cert
		signer.KeyUsage = 0 // whether it may sign lists does not matter
		if c.CheckSignatureFrom(&signer) == nil {
			return cert
		}
	}
	return nil
}
