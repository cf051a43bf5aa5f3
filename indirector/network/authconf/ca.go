package authconf

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Setting is one from ca.conf, under Puppet's name, with its source:
// "ca.conf:2".
type Setting struct{ Name, Value, Source string }

// caSettings are the supported keys of the section certificate-authority, with
// the kinds of their values.
var caSettings = []struct {
	key  string
	kind kind
}{
	{"allow-subject-alt-names", boolean},
	{"allow-authorization-extensions", boolean},
	{"allow-auto-renewal", boolean},
	{"auto-renewal-cert-ttl", text},
	{"enable-infra-crl", boolean},
}

// Keys of ca.conf without effect here, and why.
var caElsewhere = map[string]string{
	"certificate-status": "auth.conf alone says who may ask for the status of certificates",
	"access-control":     "auth.conf alone says who may ask",
	"proxy-config":       "this CA asks no other",
}

// LoadCA reads the section certificate-authority of Puppet Server's ca.conf as
// settings in the order of the file, with warnings about what has no effect.
func LoadCA(path string) (settings []Setting, warnings []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read ca.conf: %w", err)
	}
	defer f.Close()
	content, err := readAll(f)
	if err != nil {
		return nil, nil, fmt.Errorf("read ca.conf %s: %w", path, err)
	}
	return ParseCA(path, content)
}

// ParseCA reads the content of a ca.conf. An error is a *ParseError.
func ParseCA(file, content string) (settings []Setting, warnings []string, err error) {
	root, err := parseHOCON(file, content)
	if err != nil {
		return nil, nil, err
	}
	p := parser{config: &Config{File: file}}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case *ParseError:
			settings, warnings, err = nil, nil, failed
		default:
			panic(failed)
		}
	}()
	p.known(&root, "the file", "certificate-authority")
	ca := root.get("certificate-authority")
	if ca == nil {
		p.warn(1, "there is no section certificate-authority, so nothing is said")
		return nil, p.config.Warnings, nil
	}
	p.want(ca, object, "certificate-authority")
	for i := range ca.pairs {
		if s, ok := p.caSetting(&ca.pairs[i]); ok {
			settings = append(settings, s)
		}
	}
	return settings, p.config.Warnings, nil
}

func (p *parser) caSetting(at *pair) (Setting, bool) {
	i := slices.IndexFunc(caSettings, func(s struct {
		key  string
		kind kind
	},
	) bool {
		return s.key == at.key
	})
	switch why := caElsewhere[at.key]; {
	case why != "":
		p.warn(at.line, "%s means nothing here: %s", at.key, why)
		return Setting{}, false
	case i < 0:
		known := make([]string, len(caSettings))
		for i, s := range caSettings {
			known[i] = s.key
		}
		p.warn(at.line, "certificate-authority has a key %q, which means nothing here; there are %s", at.key, strings.Join(known, ", "))
		return Setting{}, false
	}
	v := p.scalar(&at.value, at.key)
	if caSettings[i].kind == boolean {
		p.want(&at.value, boolean, at.key)
	}
	return Setting{strings.ReplaceAll(at.key, "-", "_"), v, fmt.Sprintf("%s:%d", p.config.File, at.line)}, true
}
