package certificates

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/network/ca"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// Termini of key.
var (
	KeyCA   = describeKey("ca", "The keys of this host, and under the name ca that of the CA.")
	KeyFile = describeKey("file", "The keys of this host, and under the name ca that of the CA, each with its public key in a file of its own.")
	// KeyDisabledCA refuses all: keys are local.
	KeyDisabledCA = disabledKey()
)

var keySettings = []indirector.Setting{
	{Name: "privatekeydir", Doc: "The directory of the keys."},
	{Name: "publickeydir", Doc: "The directory of the public keys."},
	{Name: "cakey", Doc: "The file of the name ca."},
	{Name: "capub", Doc: "The public key of the name ca."},
}

func describeKey(name, doc string) indirector.Descriptor {
	return indirector.Descriptor{
		Indirection: "key", Name: name, Note: "never given over the network", Doc: doc + " They are never given over the network.",
		Settings: keySettings, Rules: []string{"IND-KEY-01"}, Type: (*keys)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			public, _ := env.Settings.Get("publickeydir")
			caPublic, _ := env.Settings.Get("capub")
			t := &keys{newFiles(env, location{dir: "privatekeydir", ca: "cakey", mode: 0o640}), public, caPublic}
			t.read = func(name, _ string, text []byte) (indirector.Instance, error) {
				public, err := os.ReadFile(t.publicPath(name))
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, err
				}
				return model.NewPrivateKey(name, text, public)
			}
			return t, nil
		},
	}
}

func disabledKey() indirector.Descriptor {
	d := disabled("key", "keys")
	d.Type = (*localKeys)(nil)
	file := d.New
	d.New = func(env indirector.Env) (indirector.Terminus, error) {
		t, err := file(env)
		if err != nil {
			return nil, err
		}
		return &localKeys{t.(*disabledCA)}, nil
	}
	return d
}

// A localKeys is a disabledCA that is not asked over the network.
type localKeys struct{ *disabledCA }

// LocalOnly is true: keys stay on their host.
func (*localKeys) LocalOnly() bool { return true }

// A keys has private keys.
type keys struct {
	files
	public, caPublic string // directory of public keys, and file of the CA's
}

// LocalOnly is true: keys stay on their host. Servers check it first; the verbs
// refuse all the same.
func (*keys) LocalOnly() bool { return true }

func refuseRemote(req *indirector.Request) error {
	if !req.IsRemote() {
		return nil
	}
	return &indirector.Failure{Class: "Puppet::Error", Message: msgLocalKeys, Err: errors.Join(indirector.ErrLocalOnly, indirector.ErrDenied)}
}

// Find reads a key.
func (t *keys) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	if err := refuseRemote(req); err != nil {
		return nil, err
	}
	return t.files.Find(ctx, req)
}

// Search reads all keys.
func (t *keys) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	if err := refuseRemote(req); err != nil {
		return nil, err
	}
	return t.files.Search(ctx, req)
}

func (t *keys) publicPath(name string) string {
	if name == "ca" {
		return t.caPublic
	}
	return filepath.Join(t.public, name+".pem")
}

// Save writes a key and, if known, its public key.
func (t *keys) Save(ctx context.Context, req *indirector.Request) (any, error) {
	if err := refuseRemote(req); err != nil {
		return nil, err
	}
	v, err := t.files.Save(ctx, req)
	if err != nil {
		return v, err
	}
	key, ok := req.Instance.(*model.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a %T is no key", req.Instance)
	}
	public := key.Public
	if public == nil {
		if public, err = ca.PublicKey(key.PEM); err != nil {
			traces.AddNote(ctx, "the public key is not written: "+err.Error())
			return nil, nil
		}
	}
	return nil, t.write(ctx, req.Key, t.publicPath(req.Key), 0o644, public)
}

// Destroy removes a key and its public key.
func (t *keys) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	if err := refuseRemote(req); err != nil {
		return nil, err
	}
	v, err := t.files.Destroy(ctx, req)
	if err != nil {
		return v, err
	}
	path := t.publicPath(req.Key)
	if err := disk.Remove(ctx, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &indirector.Failure{Message: fmt.Sprintf("Could not remove %s public key: %s", req.Key, disk.Message(err)), Path: path, Origin: "file", Err: err}
	}
	return v, nil
}
