package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/files"
	"indirtui/indirector/model"
	"indirtui/indirector/network/ca"
	"indirtui/ui/command"
)

// A caCommand names the commands that look after a CA on this host.
type caCommand struct{ help func() error }

func (c *caCommand) build(cmd *cobra.Command) {
	cmd.Long = `Look after the CA of this host, in the directory of the setting cadir: a new
one, Puppet Server's, or that of an older Puppet. Puppet Server may run
meanwhile.

Listing and printing changes nothing; what the other commands change they say.
They ask the indirections certificate, certificate_request and
certificate_status, as everything else here does, by the termini of application
ca.

Exit code: 0 done, 1 failed in part or in all, 2 usage, 3 there is nothing of
that name.`
	cmd.Example = `  indirtui ca list
  indirtui ca sign web01.example.com
  indirtui ca generate proxy.example.com --alt-names DNS:proxy,IP:10.0.0.7
  indirtui ca list --set cadir=/etc/puppetlabs/puppetserver/ca --all`
	c.help = cmd.Help
}

func (c *caCommand) run(context.Context, []string) error { return c.help() }

// An authority is what the commands below ca share.
type authority struct{ p *program }

// withCA does something with an engine of the application ca, and the CA that
// there must be.
func (c *authority) withCA(do func(*engine.Engine, *ca.Authority) error) error {
	return c.withEngine(func(e *engine.Engine) error {
		cfg, err := ca.ConfigOf(e.Settings)
		if err != nil {
			return err
		}
		a, err := ca.Open(cfg)
		if err != nil {
			return err
		}
		return do(e, a)
	})
}

// withEngine does something with an engine of the application ca.
func (c *authority) withEngine(do func(*engine.Engine) error) error {
	c.p.application = cmp.Or(c.p.application, "ca")
	return c.p.withEngine(do)
}

// askCA asks the engine one thing.
func askCA(ctx context.Context, e *engine.Engine, verb indirector.Verb, indirection, key string, inst indirector.Instance, options ...indirector.Option) (any, error) {
	resp, err := e.Once(ctx, &indirector.Request{Indirection: indirection, Verb: verb, Key: key, Instance: inst, Options: options, Caller: "cli"})
	if err != nil {
		return nil, err
	}
	return resp.Value, nil
}

// each does something for every name, and prints the result of each. A failure
// does not stop the others.
func (c *authority) each(names []string, do func(name string) (string, error)) error {
	failed := false
	for _, name := range names {
		done, err := do(name)
		if err != nil {
			failed = true
			if f := c.p.out.Flush(); f != nil {
				return f
			}
			c.p.report(indirector.Message(err))
			continue
		}
		fmt.Fprintln(c.p.out, clean(done))
	}
	if failed {
		return exit(exitFailed)
	}
	return nil
}

// A caSetupCommand makes a CA where there is none.
type caSetupCommand struct {
	authority
	options ca.SetupOptions
}

func (c *caSetupCommand) build(cmd *cobra.Command) {
	cmd.Long = `Make a CA in the directory of the setting cadir: a key, a certificate, an empty
revocation list, the serial number and the inventory. Where there is a CA
already, or a part of one, nothing is changed.`
	cmd.Flags().BoolVar(&c.options.Intermediate, "intermediate", false, "make a root, and below it the CA that signs")
}

func (c *caSetupCommand) run(ctx context.Context, _ []string) error {
	return c.withEngine(func(e *engine.Engine) error { return c.setup(ctx, e) })
}

func (c *caSetupCommand) setup(ctx context.Context, e *engine.Engine) error {
	cfg, err := ca.ConfigOf(e.Settings)
	if err != nil {
		return err
	}
	if _, err := ca.Open(cfg); !errors.Is(err, ca.ErrNoCA) {
		return cmp.Or(err, fmt.Errorf("there is a CA in %s already", cfg.Dir))
	}
	a, err := ca.Setup(ctx, cfg, c.options)
	if err != nil {
		return err
	}
	cert, err := a.Certificate()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.p.out, "The CA %q is in %s\nfingerprint (SHA256) %s\nvalid until %s\n",
		cert.Subject.CommonName, cfg.Dir, ca.Fingerprint("SHA256", cert.Raw), ca.FormatTime(cert.NotAfter))
	return nil
}

// A caListCommand lists certificates and requests.
type caListCommand struct {
	authority
	all    bool
	format string
}

func (c *caListCommand) build(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&c.all, "all", false, "also what is signed and revoked")
	f.StringVar(&c.format, "format", "", "json, yaml, pson or msgpack instead of a table")
}

func (c *caListCommand) run(ctx context.Context, args []string) error {
	if err := checkAnswer(c.format); err != nil {
		return err
	}
	if c.all && len(args) > 0 {
		return &command.UsageError{What: "--all and names do not go together"}
	}
	return c.withCA(func(e *engine.Engine, _ *ca.Authority) error { return c.list(ctx, e, args) })
}

func (c *caListCommand) list(ctx context.Context, e *engine.Engine, only []string) error {
	var options []indirector.Option
	if !c.all && len(only) == 0 {
		options = []indirector.Option{{Name: "state", Value: ca.Requested}}
	}
	v, err := askCA(ctx, e, indirector.Search, "certificate_status", "any", nil, options...)
	if err != nil {
		return errors.New(indirector.Message(err))
	}
	list, _ := v.([]indirector.Instance)
	missing := slices.Clone(only)
	var shown []indirector.Instance
	for _, i := range list {
		if len(only) == 0 || slices.Contains(only, i.Key()) {
			shown = append(shown, i)
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == i.Key() })
	}
	if c.format != "" {
		err = command.Write(c.p.out, shown, c.format)
	} else {
		err = c.table(shown)
	}
	for _, name := range missing {
		c.p.report(fmt.Sprintf("there is neither a certificate nor a request of %q", name))
	}
	if err == nil && len(missing) > 0 {
		return exit(exitNotFound)
	}
	return err
}

// table writes what is known of names: a line for each.
func (c *caListCommand) table(list []indirector.Instance) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.p.out, map[bool]string{true: "There are no certificates and no requests", false: "No request waits"}[c.all])
		return err
	}
	rows := make([]*model.CertificateStatus, len(list))
	for i, inst := range list {
		s, ok := inst.(*model.CertificateStatus)
		if !ok {
			return fmt.Errorf("a %T is no certificate_status", inst)
		}
		rows[i] = s
	}
	return printTable(c.p.out, "STATE\tNAME\tSERIAL\tUNTIL\tFINGERPRINT (SHA256)\tALSO", rows, func(s *model.CertificateStatus, put func(...string)) {
		serial, until := "", ""
		if s.Serial != nil {
			serial, until = fmt.Sprintf("0x%04X", s.Serial), s.NotAfter.UTC().Format(time.DateOnly)
		}
		also := slices.DeleteFunc(slices.Clone(s.AltNames), func(n string) bool { return n == "DNS:"+s.Name })
		for _, x := range s.Authorizes {
			also = append(also, x.Key.Text()+"="+x.Value.Text())
		}
		put(s.State, s.Name, serial, until, s.Fingerprint, strings.Join(also, " "))
	})
}

// A caPrintCommand prints certificates and requests.
type caPrintCommand struct {
	authority
	format string
}

func (c *caPrintCommand) build(cmd *cobra.Command) {
	cmd.Long = "Print what a certificate says, or the request if there is no certificate. The name ca is the CA."
	cmd.Flags().StringVar(&c.format, "format", "", "raw is the PEM (default JSON with line breaks)")
}

func (c *caPrintCommand) run(ctx context.Context, args []string) error {
	if err := checkAnswer(c.format); err != nil {
		return err
	}
	return c.withCA(func(e *engine.Engine, _ *ca.Authority) error { return c.print(ctx, e, args) })
}

func (c *caPrintCommand) print(ctx context.Context, e *engine.Engine, names []string) error {
	for _, name := range names {
		v, err := askCA(ctx, e, indirector.Find, "certificate", name, nil)
		if errors.Is(err, indirector.ErrNotFound) {
			v, err = askCA(ctx, e, indirector.Find, "certificate_request", name, nil)
		}
		if errors.Is(err, indirector.ErrNotFound) {
			c.p.report(fmt.Sprintf("there is neither a certificate nor a request of %q", name))
			return exit(exitNotFound)
		}
		if err != nil {
			return errors.New(indirector.Message(err))
		}
		if err := command.Write(c.p.out, v, c.format); err != nil {
			return err
		}
	}
	return nil
}

// A caSignCommand signs requests that wait.
type caSignCommand struct {
	authority
	all bool
	ttl time.Duration
}

func (c *caSignCommand) build(cmd *cobra.Command) {
	cmd.Long = `Sign requests that wait. Requests with further names or with extensions that
authorize are refused, unless allow_subject_alt_names or
allow_authorization_extensions is set.`
	cmd.Args = cobra.ArbitraryArgs // --all has none
	cmd.Example = "  indirtui ca sign --all\n  indirtui ca sign web01 --set allow_subject_alt_names=true"
	f := cmd.Flags()
	f.BoolVar(&c.all, "all", false, "all that wait")
	f.DurationVar(&c.ttl, "ttl", 0, "how long the certificate is valid, as 720h (default the setting ca_ttl)")
}

func (c *caSignCommand) run(ctx context.Context, args []string) error {
	if c.all == (len(args) > 0) {
		return &command.UsageError{What: "name the requests, or give --all", Advice: "see indirtui ca list"}
	}
	return c.withCA(func(e *engine.Engine, _ *ca.Authority) error { return c.sign(ctx, e, args) })
}

func (c *caSignCommand) sign(ctx context.Context, e *engine.Engine, names []string) error {
	if c.all {
		v, err := askCA(ctx, e, indirector.Search, "certificate_status", "any", nil, indirector.Option{Name: "state", Value: ca.Requested})
		if err != nil {
			return errors.New(indirector.Message(err))
		}
		list, _ := v.([]indirector.Instance)
		for _, i := range list {
			names = append(names, i.Key())
		}
	}
	return c.each(names, func(name string) (string, error) {
		_, err := askCA(ctx, e, indirector.Save, "certificate_status", name, &model.CertificateStatus{Name: name, Desired: ca.Signed, TTL: c.ttl})
		return "Signed " + name, err
	})
}

// A caRevokeCommand revokes certificates.
type caRevokeCommand struct{ authority }

func (c *caRevokeCommand) run(ctx context.Context, args []string) error {
	return c.withCA(func(e *engine.Engine, _ *ca.Authority) error {
		return c.each(args, func(name string) (string, error) {
			_, err := askCA(ctx, e, indirector.Save, "certificate_status", name, &model.CertificateStatus{Name: name, Desired: ca.Revoked})
			return "Revoked " + name, err
		})
	})
}

// A caCleanCommand revokes certificates, and removes them and requests.
type caCleanCommand struct{ authority }

func (c *caCleanCommand) run(ctx context.Context, args []string) error {
	return c.withCA(func(e *engine.Engine, _ *ca.Authority) error {
		return c.each(args, func(name string) (string, error) { return cleaned(ctx, e, name) })
	})
}

// cleaned removes what there is of a name, and returns what that was.
func cleaned(ctx context.Context, e *engine.Engine, name string) (string, error) {
	var done []string
	_, err := askCA(ctx, e, indirector.Find, "certificate", name, nil)
	switch {
	case err == nil:
		if _, err := askCA(ctx, e, indirector.Save, "certificate_status", name, &model.CertificateStatus{Name: name, Desired: ca.Revoked}); err != nil {
			return "", err
		}
		done = append(done, "revoked its certificate")
	case !errors.Is(err, indirector.ErrNotFound):
		return "", err
	}
	for _, part := range []struct{ indirection, what string }{{"certificate", "removed it"}, {"certificate_request", "removed its request"}} {
		v, err := askCA(ctx, e, indirector.Destroy, part.indirection, name, nil)
		if err != nil {
			return "", err
		}
		if v == true {
			done = append(done, part.what)
		}
	}
	if len(done) == 0 {
		return "", fmt.Errorf("there is neither a certificate nor a request of %q", name)
	}
	return "Cleaned " + name + ": " + strings.Join(done, ", "), nil
}

// A caGenerateCommand makes keys, and certificates for them.
type caGenerateCommand struct {
	authority
	alt, dir      string
	client, force bool
	ttl           time.Duration
}

func (c *caGenerateCommand) build(cmd *cobra.Command) {
	cmd.Long = `Make keys, and certificates for them. The files are NAME.pem in the directories
of the settings privatekeydir, publickeydir and certdir; with --dir they are
NAME.key, NAME.pub and NAME.crt there. Files that are there are not replaced.`
	f := cmd.Flags()
	f.StringVar(&c.alt, "alt-names", "", "further names, with commas between them: DNS:x, IP:10.0.0.1")
	f.StringVar(&c.dir, "dir", "", "put the files into this directory")
	f.BoolVar(&c.client, "ca-client", false, "let it sign and revoke over the network (extension pp_cli_auth)")
	f.BoolVar(&c.force, "force", false, "although there is a certificate or a request of that name, which is replaced but not revoked")
	f.DurationVar(&c.ttl, "ttl", 0, "how long the certificate is valid, as 720h (default the setting ca_ttl)")
}

func (c *caGenerateCommand) run(ctx context.Context, names []string) error {
	leaf := ca.Leaf{CLIAuth: c.client, TTL: c.ttl, Replace: c.force}
	if c.alt != "" {
		leaf.AltNames = strings.FieldsFunc(c.alt, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return c.withCA(func(e *engine.Engine, a *ca.Authority) error {
		return c.each(names, func(name string) (string, error) {
			leaf.Name = name
			return generate(ctx, a, e, leaf, c.dir)
		})
	})
}

// generate makes the files of one name, and returns where they are.
func generate(ctx context.Context, a *ca.Authority, e *engine.Engine, leaf ca.Leaf, dir string) (string, error) {
	if err := ca.ValidName(leaf.Name); err != nil {
		return "", err
	}
	paths := [3]string{}
	for i, kind := range []struct{ setting, ext string }{{"privatekeydir", ".key"}, {"publickeydir", ".pub"}, {"certdir", ".crt"}} {
		paths[i] = filepath.Join(dir, leaf.Name+kind.ext)
		if dir == "" {
			where, _ := e.Settings.Get(kind.setting)
			paths[i] = filepath.Join(where, leaf.Name+".pem")
		}
		if _, err := os.Stat(paths[i]); !errors.Is(err, fs.ErrNotExist) {
			return "", cmp.Or(err, fmt.Errorf("%s is there already", paths[i]))
		}
	}
	_, cert, key, err := a.Generate(ctx, leaf)
	if err != nil {
		return "", err
	}
	public, err := ca.PublicKey(key)
	if err != nil {
		return "", err
	}
	for i, content := range [][]byte{key, public, cert} {
		mode := fs.FileMode(0o644)
		if i == 0 {
			mode = 0o640
		}
		if err := os.MkdirAll(filepath.Dir(paths[i]), 0o755); err != nil {
			return "", err
		}
		if err := files.Write(paths[i], content, files.Options{Mode: mode, New: true}); err != nil {
			return "", fmt.Errorf("the certificate is signed, but: %w", err)
		}
	}
	return fmt.Sprintf("Generated %s: %s, %s", leaf.Name, paths[0], paths[2]), nil
}
