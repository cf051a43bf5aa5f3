package settings

import (
	"os"
	"path/filepath"
	"strings"
)

// compute returns the default of a setting that depends on the user, the host
// or the disk.
func (r *resolver) compute(name string) raw {
	switch name {
	case "name":
		if r.s.options.Application == "" {
			return raw{}
		}
		return raw{r.s.options.Application, text}
	case "certname":
		return raw{strings.ToLower(r.s.options.Certname()), text}
	case "srv_domain":
		_, domain, ok := strings.Cut(r.s.options.Certname(), ".")
		if !ok {
			return raw{}
		}
		return raw{domain, text}
	case "hiera_config":
		return raw{r.hieraConfig(), text}
	case "cadir":
		return raw{r.caDir(), text}
	}
	return raw{r.s.directories[name], text}
}

func (r *resolver) hieraConfig() string {
	if dir := r.resolve("codedir"); dir.err == nil && dir.text != "" {
		file := filepath.Join(dir.text, "hiera.yaml")
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return filepath.Join(r.resolve("confdir").text, "hiera.yaml")
}

// caDir returns the CA directory of Puppet 5 if that still exists, else
// today's.
func (r *resolver) caDir() string {
	old := filepath.Join(r.resolve("ssldir").text, "ca")
	if link, err := os.Readlink(old); err == nil {
		return link
	}
	if _, err := os.Stat(old); err == nil {
		return old
	}
	return r.s.directories["cadir"]
}
