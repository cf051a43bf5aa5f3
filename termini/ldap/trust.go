package ldap

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"indirtui/termini/internal/disk"
)

// A trust is which certificates of servers are accepted.
type trust struct {
	pool   *x509.CertPool
	from   string // "/etc/ssl/ca.pem (LDAPTLS_CACERT)"
	verify bool
}

// systemConf is libldap's file of defaults, as Debian has it.
const systemConf = "/etc/ldap/ldap.conf"

// trusted returns the CAs that libldap would trust: those of its files and variables,
// the later one wins; else localcacert. Rule LDAP-12.
func (c *config) trusted(ctx context.Context) (*trust, error) {
	file, dir, require, err := libldapOptions(ctx)
	if err != nil {
		return nil, err
	}
	if file.value == "" && dir.value == "" {
		file = option{c.caFile, "localcacert"}
	}
	t := &trust{pool: x509.NewCertPool(), verify: true}
	switch strings.ToLower(require.value) {
	case "never", "allow":
		t.verify, t.from = false, require.String()
		return t, nil
	}
	paths := []string{file.value}
	t.from = file.String()
	if dir.value != "" {
		if paths, err = filepath.Glob(filepath.Join(dir.value, "*")); err != nil {
			return nil, err
		}
		t.from = dir.String()
		if file.value != "" {
			paths, t.from = append(paths, file.value), t.from+" and "+file.String()
		}
	}
	usable := false
	for _, path := range paths {
		f, err := disk.Read(ctx, path)
		if err != nil && dir.value == "" {
			return nil, fmt.Errorf("read the CAs of %s: %w", t.from, err)
		}
		usable = t.pool.AppendCertsFromPEM(f.Content) || usable
		f.Release()
	}
	if !usable {
		return nil, fmt.Errorf("there is no certificate in %s", t.from)
	}
	return t, nil
}

// An option of libldap, and what set it.
type option struct{ value, source string }

func (o option) String() string { return fmt.Sprintf("%s (%s)", o.value, o.source) }

// libldapOptions reads what libldap reads: ldap.conf, the file that LDAPCONF names,
// then variables.
func libldapOptions(ctx context.Context) (file, dir, require option, err error) {
	if os.Getenv("LDAPNOINIT") != "" {
		return file, dir, require, nil
	}
	options := map[string]*option{"TLS_CACERT": &file, "TLS_CACERTDIR": &dir, "TLS_REQCERT": &require}
	for _, path := range []string{systemConf, os.Getenv("LDAPCONF")} {
		if _, statErr := os.Stat(path); statErr != nil {
			continue // libldap passes it over, too
		}
		f, err := disk.Read(ctx, path)
		if err != nil {
			return file, dir, require, err
		}
		for line := range strings.Lines(string(f.Content)) {
			name, value, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(line, "\t", " ")), " ")
			if o := options[strings.ToUpper(name)]; o != nil {
				*o = option{strings.TrimSpace(value), strings.ToUpper(name) + ", " + path}
			}
		}
		f.Release()
	}
	for name, o := range options {
		if v := os.Getenv("LDAP" + name); v != "" {
			*o = option{v, "LDAP" + name}
		}
	}
	return file, dir, require, nil
}
