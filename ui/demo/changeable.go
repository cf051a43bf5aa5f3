package demo

import (
	"context"
	"io/fs"

	"indirtui/indirector/resource/providers"
)

// A Changeable is the machine of the demo where a catalog is applied to it. Owners stay what
// they are: they would be those of this machine.
type Changeable struct{ *Machine }

var _ providers.System = (*Changeable)(nil)

func (c *Changeable) Replace(ctx context.Context, name string, content []byte, mode fs.FileMode) error {
	return c.System.Replace(ctx, c.at(name), content, mode)
}

func (c *Changeable) Write(ctx context.Context, name string, w providers.Writing) error {
	w.Staging = ""
	return c.System.Write(ctx, c.at(name), w)
}

func (c *Changeable) Truncate(ctx context.Context, name string, mode fs.FileMode) error {
	return c.System.Truncate(ctx, c.at(name), mode)
}

func (c *Changeable) Remove(ctx context.Context, name string) error {
	return c.System.Remove(ctx, c.at(name))
}

func (c *Changeable) RemoveAll(ctx context.Context, name string) error {
	return c.System.RemoveAll(ctx, c.at(name))
}

func (c *Changeable) Copy(ctx context.Context, from, to string) error {
	return c.System.Copy(ctx, c.at(from), c.at(to))
}

func (c *Changeable) Mkdir(ctx context.Context, name string, mode fs.FileMode) error {
	return c.System.Mkdir(ctx, c.at(name), mode)
}

func (c *Changeable) Symlink(ctx context.Context, target, name string) error {
	return c.System.Symlink(ctx, target, c.at(name))
}

func (c *Changeable) Chmod(ctx context.Context, name string, mode fs.FileMode) error {
	return c.System.Chmod(ctx, c.at(name), mode)
}

func (c *Changeable) Lchown(context.Context, string, providers.Owner) error { return nil }

func (c *Changeable) Chown(context.Context, string, providers.Owner) error { return nil }

func (c *Changeable) ReplaceAs(ctx context.Context, name string, content []byte, _ providers.Owner) error {
	return c.Replace(ctx, name, content, 0o600)
}

func (c *Changeable) Backup(ctx context.Context, name, bucket string) (sum string, known bool, err error) {
	return c.System.Backup(ctx, c.at(name), bucket)
}
