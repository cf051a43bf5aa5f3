package authconf_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/network/authconf"
)

func TestCA(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, content string
		want          []authconf.Setting
		warns         []string
		err           string
	}{
		{
			name: "as it is packaged", content: "certificate-authority: {\n  # allow-subject-alt-names: false\n  allow-subject-alt-names: true\n  allow-authorization-extensions = true\n}",
			want: []authconf.Setting{{"allow_subject_alt_names", "true", "ca.conf:3"}, {"allow_authorization_extensions", "true", "ca.conf:4"}},
		},
		{
			name: "paths as keys, and the last one counts", content: "certificate-authority.allow-auto-renewal = false\ncertificate-authority { allow-auto-renewal = true, auto-renewal-cert-ttl = 60d }\ncertificate-authority.enable-infra-crl: true",
			want: []authconf.Setting{{"allow_auto_renewal", "true", "ca.conf:1"}, {"auto_renewal_cert_ttl", "60d", "ca.conf:2"}, {"enable_infra_crl", "true", "ca.conf:3"}},
		},
		{
			name: "said in vain", content: "certificate-authority { certificate-status { client-whitelist = [], authorization-required = false }\n allow-subject-alt-name = true }\nother = 1",
			warns: []string{"ca.conf:3: the file has a key \"other\"", "ca.conf:1: certificate-status means nothing here: auth.conf alone", "ca.conf:2: certificate-authority has a key \"allow-subject-alt-name\", which means nothing here; there are allow-subject-alt-names,"},
		},
		{name: "nothing", warns: []string{"there is no section certificate-authority"}},
		{name: "no map", content: "certificate-authority = 1", err: "ca.conf:1: certificate-authority must be a map, got a number"},
		{name: "no truth", content: "certificate-authority {\n allow-subject-alt-names = yes-please }", err: "ca.conf:2: allow-subject-alt-names must be true or false, got text"},
		{name: "a list", content: "certificate-authority {\n auto-renewal-cert-ttl = [1] }", err: "ca.conf:2: auto-renewal-cert-ttl must be text, got a list"},
		{name: "no HOCON", content: "certificate-authority {", err: "ca.conf:1: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, warnings, err := authconf.ParseCA("ca.conf", tt.content)
			if tt.err != "" {
				if parse := (*authconf.ParseError)(nil); !errors.As(err, &parse) || !strings.HasPrefix(err.Error(), tt.err) || got != nil {
					t.Errorf("got %v, %v, want %q", got, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if len(warnings) != len(tt.warns) {
				t.Errorf("got warnings %q", warnings)
			}
			for i, w := range tt.warns {
				if i < len(warnings) && !strings.Contains(warnings[i], w) {
					t.Errorf("warning %q, want %q", warnings[i], w)
				}
			}
		})
	}
}

func TestLoadCA(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ca.conf")
	if _, _, err := authconf.LoadCA(path); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "read ca.conf: ") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, []byte("certificate-authority { allow-subject-alt-names: true }"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, warnings, err := authconf.LoadCA(path)
	if err != nil || warnings != nil || len(got) != 1 || got[0].Source != path+":1" {
		t.Errorf("got %v, %q, %v", got, warnings, err)
	}
}

func FuzzParseCA(f *testing.F) {
	f.Add("certificate-authority: {\n  allow-subject-alt-names: true\n}")
	f.Add("certificate-authority.auto-renewal-cert-ttl = 60d\n")
	f.Add("certificate-authority { certificate-status { client-whitelist = [a] } }")
	f.Fuzz(func(t *testing.T, content string) {
		got, _, err := authconf.ParseCA("ca.conf", content)
		if parse := (*authconf.ParseError)(nil); err != nil && (!errors.As(err, &parse) || got != nil) {
			t.Errorf("got %v, %v", got, err)
		}
		for _, s := range got {
			if s.Name == "" || strings.Contains(s.Name, "-") || s.Source == "" {
				t.Errorf("got %+v", s)
			}
		}
	})
}
