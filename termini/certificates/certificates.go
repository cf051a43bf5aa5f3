// Package certificates has the termini of keys, certificates and the CA: file
// keeps those of this host in its ssldir, ca those of a CA in its cadir, and
// disabled_ca is for a server without a CA. Puppet removed them in versions 5
// and 6; Puppet Server's HTTP interface of the CA has stayed, and is served by
// them.
package certificates

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/ca"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// Puppet's messages, word for word.
const (
	msgTraversal = "directory traversal detected in %s: %s"
	msgName      = "Certname %s must not contain unprintable or non-ASCII characters"
	msgUpperCase = "Tried to fix SSL files to a file containing uppercase"
	msgNoDir     = "Cannot save %s; parent directory %s does not exist"
	msgReadOnly  = "Cannot save %s; parent directory %s is not writable"
	msgRemoving  = "Removing file %s %s at '%s'"
	msgNotCA     = "this master is not a CA"
	msgWaiting   = "%s has a waiting certificate request"
	msgState     = "State %s invalid; Must specify desired state of 'signed' or 'revoked' for host %s"
	msgNoRequest = "Cannot sign for host %s without a certificate request"
	msgDeleted   = "Deleted for %s: %s"
	msgNothing   = "Nothing was deleted"
	msgLocalKeys = "keys are not given over the network" // not Puppet's, which finds no handler
)

// files is where a terminus keeps its instances: in a directory, with a file of
// its own for the CA, or in one file.
type files struct {
	env    indirector.Env
	class  *model.Class
	dir    string // of the files by name
	ca     string // of the name ca; "" is in the directory
	single string // the one file, for every name
	mode   fs.FileMode
	read   func(name, path string, text []byte) (indirector.Instance, error)
}

// A location names the settings of the files.
type location struct {
	dir, ca, single string
	mode            fs.FileMode
}

func newFiles(env indirector.Env, p location) files {
	get := func(name string) string {
		if name == "" {
			return ""
		}
		v, _ := env.Settings.Get(name)
		return v
	}
	class, _ := model.Lookup(env.Indirection)
	f := files{env: env, class: class, dir: get(p.dir), ca: get(p.ca), single: get(p.single), mode: p.mode}
	switch env.Indirection {
	case "certificate":
		f.read = func(name, _ string, text []byte) (indirector.Instance, error) {
			return model.NewCertificate(name, text)
		}
	case "certificate_request":
		f.read = func(name, _ string, text []byte) (indirector.Instance, error) {
			return model.NewCertificateRequest(name, text)
		}
	case "certificate_revocation_list":
		f.read = func(_, path string, text []byte) (indirector.Instance, error) {
			crl, err := model.NewCRL(text)
			if err != nil {
				return nil, err
			}
			if info, err := os.Stat(path); err == nil {
				crl.Modified = info.ModTime()
			}
			return crl, nil
		}
	}
	return f
}

// path returns the file of a name.
func (f *files) path(ctx context.Context, name string) (string, error) {
	if why := unsafe(name); why != "" {
		f.env.Log.Log(ctx, indirector.LevelCritical, fmt.Sprintf(msgTraversal, f.ruby(), data.InspectString(name)))
		return "", &indirector.Failure{Class: "ArgumentError", Message: "invalid key", Hidden: why, Err: indirector.ErrInvalid}
	}
	switch {
	case f.single != "":
		return f.single, nil
	case name == "ca" && f.ca != "":
		return f.ca, nil
	case f.dir == "":
		return "", &indirector.Failure{Class: "Puppet::DevError", Message: "No file or directory setting provided; terminus " + f.ruby() + " cannot function"}
	}
	return f.dir + "/" + name + ".pem", nil
}

func (f *files) ruby() string { return f.class.Ruby + "::" + indirector.Constant(f.env.Terminus) }

// unsafe returns why a name cannot be a file name, or "". Rule IND-KEY-01.
func unsafe(name string) string {
	if i := strings.IndexAny(name, "/\\\x00"); i >= 0 {
		return fmt.Sprintf("the key holds %s", data.InspectString(name[i:i+1]))
	}
	if len(name) > 250 {
		return "the key is too long to be a file name"
	}
	for line := range strings.SplitSeq(name, "\n") {
		switch {
		case strings.HasPrefix(line, ".."):
			return "a line of the key begins with .."
		case len(line) > 1 && line[1] == ':' && 'a' <= line[0]|0x20 && line[0]|0x20 <= 'z':
			return "a line of the key begins with a drive letter"
		}
	}
	return ""
}

// checkName is Puppet's check of a name: printable ASCII without slashes.
func checkName(name string) error {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == '/' {
			return &indirector.Failure{Class: "RuntimeError", Message: fmt.Sprintf(msgName, data.InspectString(name)), Err: indirector.ErrInvalid}
		}
	}
	return nil
}

// Find reads the file of a name, also one with upper case letters, which Puppet
// would rename.
func (f *files) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := f.path(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	inst, err := f.load(ctx, req.Key, path)
	if !errors.Is(err, fs.ErrNotExist) {
		return inst, err
	}
	if path != f.single && path != f.ca {
		other, err := f.otherCase(req, path)
		if err != nil {
			return nil, err
		}
		if other != "" {
			traces.Explain(ctx, other+" is meant: the name has upper case letters; Puppet would rename the file")
			return f.load(ctx, req.Key, other)
		}
	}
	return nil, indirector.NotFound(traces.NotFound, path)
}

// otherCase returns the same file with upper case letters, or "". Such letters
// in the key are Puppet's error, but not a CA's.
func (f *files) otherCase(req *indirector.Request, path string) (string, error) {
	dir, short := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil || f.env.Terminus == "ca" {
		return "", nil
	}
	if strings.ToLower(short) != short {
		return "", &indirector.Failure{Class: "ArgumentError", Message: msgUpperCase, Path: path, Err: indirector.ErrInvalid}
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && strings.ToLower(e.Name()) == short {
			return dir + e.Name(), nil
		}
	}
	return "", nil
}

// load reads one file.
func (f *files) load(ctx context.Context, name, path string) (indirector.Instance, error) {
	file, err := disk.Read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, disk.Fail(err, path, "")
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	_, span := traces.Start(ctx, traces.Codec, "decode s")
	inst, err := f.read(strings.ToLower(name), path, file.Content)
	span.End(map[bool]string{true: f.class.Ruby, false: "failed"}[err == nil], traces.Because{}, err)
	if err != nil {
		return nil, malformed(err, path)
	}
	return inst, nil
}

// malformed is the error of an invalid file.
func malformed(err error, path string) error {
	f := &indirector.Failure{Class: "OpenSSL::OpenSSLError", Message: err.Error(), Origin: "decode", Path: path, Err: err}
	if c := (interface{ RubyClass() string })(nil); errors.As(err, &c) {
		f.Class = c.RubyClass()
		if cause := errors.Unwrap(err); cause != nil {
			f.Hidden = cause.Error()
		}
	}
	return f
}

// Search reads all files; the key is ignored. An invalid one ends it, as in
// Puppet.
func (f *files) Search(ctx context.Context, _ *indirector.Request) ([]indirector.Instance, error) {
	found := []indirector.Instance{}
	if f.dir == "" {
		inst, err := f.load(ctx, "ca", f.single)
		if errors.Is(err, fs.ErrNotExist) {
			return found, nil
		}
		return append(found, inst), err
	}
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, disk.Fail(err, f.dir, "")
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".pem")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		inst, err := f.load(ctx, name, filepath.Join(f.dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, inst)
	}
	return found, nil
}

// Save writes the file of a name into an existing directory.
func (f *files) Save(ctx context.Context, req *indirector.Request) (any, error) {
	path, err := f.path(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	t, ok := req.Instance.(model.Texter)
	if !ok {
		return nil, fmt.Errorf("a %T is no %s", req.Instance, f.class.Ruby)
	}
	if err := checkName(req.Key); err != nil {
		return nil, err
	}
	return nil, f.write(ctx, req.Key, path, f.mode, t.Text())
}

func (f *files) write(ctx context.Context, key, path string, mode fs.FileMode, text []byte) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &indirector.Failure{Message: fmt.Sprintf(msgNoDir, key, dir), Path: dir, Origin: "file", Err: fs.ErrNotExist}
	}
	err := disk.Replace(ctx, path, mode, text)
	if errors.Is(err, fs.ErrPermission) {
		return &indirector.Failure{Message: fmt.Sprintf(msgReadOnly, key, dir), Path: dir, Origin: "file", Hidden: disk.Why(err, path), Err: err}
	}
	if err != nil {
		return disk.Fail(err, path, "")
	}
	return nil
}

// Destroy removes the file of a name, and reports whether there was one.
func (f *files) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	path, err := f.path(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	return f.remove(ctx, req.Key, path)
}

func (f *files) remove(ctx context.Context, key, path string) (any, error) {
	err := disk.Remove(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return nil, &indirector.Failure{Message: fmt.Sprintf("Could not remove %s: %s", key, disk.Message(err)), Path: path, Origin: "file", Hidden: disk.Why(err, path), Err: err}
	}
	f.env.Log.Info(fmt.Sprintf(msgRemoving, f.class.Ruby, key, path))
	return true, nil
}

// List lists every file.
func (f *files) List(ctx context.Context, yield func(indirector.Entry) bool) error {
	names := map[string]string{}
	if f.single != "" {
		names["ca"] = f.single
	}
	if f.ca != "" {
		names["ca"] = f.ca
	}
	if f.dir != "" {
		entries, err := os.ReadDir(f.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return disk.Fail(err, f.dir, "")
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".pem"); ok && !strings.HasPrefix(name, ".") {
				if path := filepath.Join(f.dir, e.Name()); path != f.ca {
					names[name] = path
				}
			}
		}
	}
	keys := make([]string, 0, len(names))
	for name := range names {
		keys = append(keys, name)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e := f.entry(key, names[key]); e.Key != "" && !yield(e) {
			break
		}
	}
	return nil
}

// Peek describes the file of one name.
func (f *files) Peek(ctx context.Context, key string) (indirector.Entry, error) {
	if unsafe(key) != "" || f.single == "" && f.dir == "" {
		return indirector.Entry{}, nil
	}
	path, err := f.path(ctx, key)
	if err != nil {
		return indirector.Entry{}, err
	}
	return f.entry(key, path), ctx.Err()
}

func (f *files) entry(key, path string) indirector.Entry {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return indirector.Entry{}
	}
	e := indirector.Entry{Indirection: f.env.Indirection, Terminus: f.env.Terminus, Key: key, Path: path, Size: -1, KeepsExpiry: f.env.Indirection == "certificate", Err: err}
	if err != nil {
		return e
	}
	e.Size, e.Written = info.Size(), info.ModTime()
	if !e.KeepsExpiry || info.Size() > 1<<20 {
		return e
	}
	text, err := os.ReadFile(path)
	if err != nil {
		e.Err = err
		return e
	}
	cert, err := model.NewCertificate(key, text)
	if err != nil {
		e.Err = err
		return e
	}
	e.Expiration = cert.Until
	return e
}

// authority is the CA, opened when it is first needed.
type authority struct {
	env indirector.Env

	mu     sync.Mutex // guards what follows
	opened *ca.Authority
}

// open returns the CA of the settings.
func (a *authority) open() (*ca.Authority, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opened != nil {
		return a.opened, nil
	}
	cfg, err := ca.ConfigOf(a.env.Settings)
	if err != nil {
		return nil, &indirector.Failure{Class: "Puppet::Settings::ValidationError", Message: err.Error(), Err: err}
	}
	cfg.Now, cfg.Log = a.env.Now, a.env.Log
	opened, err := ca.Open(cfg)
	if err != nil {
		return nil, failed(err)
	}
	a.opened = opened
	return opened, nil
}

// failed returns an error of the CA as Puppet's.
func failed(err error) error {
	if err == nil {
		return nil
	}
	f := &indirector.Failure{Message: err.Error(), Err: err}
	if refusal := (*ca.Refusal)(nil); errors.As(err, &refusal) {
		f.Class, f.Message = "Puppet::SSL::CertificateAuthority::CertificateSigningError", refusal.Message
		switch {
		case refusal.Kind == ca.Conflict:
			f.Class = "Puppet::Error"
		case refusal.Kind <= ca.Signature, refusal.Kind == ca.Malformed, refusal.Kind == ca.BadList:
			f.Err = errors.Join(err, indirector.ErrInvalid)
		}
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		f.Origin, f.Path = "file", e.Path
	}
	return f
}
