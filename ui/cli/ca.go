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
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/files"
	"indirtui/indirector/model"
	"indirtui/indirector/network/ca"
	"indirtui/ui/command"
)

// authority is the command ca, which looks after a CA on this host.
func (p *program) authority() *cobra.Command {
	root := &cobra.Command{
		Use: "ca", GroupID: "ask", Short: "Look after the CA of this host: list, sign, revoke and generate certificates",
		Long: `Look after the CA of this host, in the directory of the setting cadir: a new
one, Puppet Server's, or that of an older Puppet. Puppet Server may run
meanwhile.

Listing and printing changes nothing; what the other commands change they say.
They ask the indirections certificate, certificate_request and
certificate_status, as everything else here does, by the termini of application
ca.

Exit code: 0 done, 1 failed in part or in all, 2 usage, 3 there is nothing of
that name.`,
		Example: `  indirtui ca list
  indirtui ca sign web01.example.com
  indirtui ca generate proxy.example.com --alt-names DNS:proxy,IP:10.0.0.7
  indirtui ca list --set cadir=/etc/puppetlabs/puppetserver/ca --all`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(p.caSetup(), p.caList(), p.caPrint(), p.caSign(), p.caRevoke(), p.caClean(), p.caGenerate())
	return root
}

// names wants at least one name.
var names = usageArgs(cobra.MinimumNArgs(1))

// withCA does something with a house of the application ca, and the CA that
// there must be.
func (p *program) withCA(do func(*engine.Engine, *ca.Authority) error) error {
	return p.withCAHouse(func(e *engine.Engine) error {
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

// withCAHouse does something with a house of the application ca.
func (p *program) withCAHouse(do func(*engine.Engine) error) (err error) {
	if p.application == "" {
		p.application = "ca"
	}
	e, err := p.engine()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return do(e)
}

// askCA asks one thing of the house.
func askCA(ctx context.Context, e *engine.Engine, verb indirector.Verb, indirection, key string, inst indirector.Instance, options ...indirector.Option) (any, error) {
	resp, err := e.Once(ctx, &indirector.Request{Indirection: indirection, Verb: verb, Key: key, Instance: inst, Options: options, Caller: "cli"})
	if err != nil {
		return nil, err
	}
	return resp.Value, nil
}

// each does something for every name, and says of each what became of it. What
// fails does not keep the others from being done.
func (p *program) each(names []string, do func(name string) (string, error)) error {
	failed := false
	for _, name := range names {
		said, err := do(name)
		if err != nil {
			failed = true
			if f := p.out.Flush(); f != nil {
				return f
			}
			p.complain(indirector.Message(err))
			continue
		}
		fmt.Fprintln(p.out, clean(said))
	}
	if failed {
		return exit(exitFailed)
	}
	return nil
}

func (p *program) caSetup() *cobra.Command {
	var o ca.SetupOptions
	cmd := &cobra.Command{
		Use: "setup", Short: "Make a CA where there is none", Args: usageArgs(cobra.NoArgs),
		Long: `Make a CA in the directory of the setting cadir: a key, a certificate, an empty
revocation list, the serial number and the inventory. Where there is a CA
already, or a part of one, nothing is changed.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withCAHouse(func(e *engine.Engine) error {
				cfg, err := ca.ConfigOf(e.Settings)
				if err != nil {
					return err
				}
				if _, err := ca.Open(cfg); !errors.Is(err, ca.ErrNoCA) {
					return cmp.Or(err, fmt.Errorf("there is a CA in %s already", cfg.Dir))
				}
				a, err := ca.Setup(cmd.Context(), cfg, o)
				if err != nil {
					return err
				}
				cert, err := a.Certificate()
				if err != nil {
					return err
				}
				fmt.Fprintf(p.out, "The CA %q is in %s\nfingerprint (SHA256) %s\nvalid until %s\n",
					cert.Subject.CommonName, cfg.Dir, ca.Fingerprint("SHA256", cert.Raw), ca.FormatTime(cert.NotAfter))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&o.Intermediate, "intermediate", false, "make a root, and below it the CA that signs")
	return cmd
}

func (p *program) caList() *cobra.Command {
	var all bool
	var format string
	cmd := &cobra.Command{
		Use: "list [NAME...]", Short: "List the requests that wait, or with --all everything",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "" {
				if err := command.CheckFormat(format); err != nil {
					return err
				}
			}
			if all && len(args) > 0 {
				return &command.UsageError{What: "--all and names do not go together"}
			}
			return p.withCA(func(e *engine.Engine, _ *ca.Authority) error { return p.list(cmd.Context(), e, all, format, args) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "also what is signed and revoked")
	f.StringVar(&format, "format", "", "json, yaml, pson or msgpack instead of a table")
	return cmd
}

func (p *program) list(ctx context.Context, e *engine.Engine, all bool, format string, only []string) error {
	var options []indirector.Option
	if !all && len(only) == 0 {
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
	if format != "" {
		err = command.Write(p.out, shown, format)
	} else {
		err = p.table(shown, all)
	}
	for _, name := range missing {
		p.complain(fmt.Sprintf("there is neither a certificate nor a request of %q", name))
	}
	if err == nil && len(missing) > 0 {
		return exit(exitNotFound)
	}
	return err
}

// table writes what is known of names: a line for each.
func (p *program) table(list []indirector.Instance, all bool) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.out, map[bool]string{true: "There are no certificates and no requests", false: "No request waits"}[all])
		return err
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STATE\tNAME\tSERIAL\tUNTIL\tFINGERPRINT (SHA256)\tALSO")
	for _, i := range list {
		s, ok := i.(*model.CertificateStatus)
		if !ok {
			return fmt.Errorf("a %T is no certificate_status", i)
		}
		serial, until := "", ""
		if s.Serial != nil {
			serial, until = fmt.Sprintf("0x%04X", s.Serial), s.NotAfter.UTC().Format(time.DateOnly)
		}
		also := slices.DeleteFunc(slices.Clone(s.AltNames), func(n string) bool { return n == "DNS:"+s.Name })
		for _, x := range s.Authorizes {
			also = append(also, x.Key.Text()+"="+x.Value.Text())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.State, clean(s.Name), serial, until, s.Fingerprint, clean(strings.Join(also, " ")))
	}
	return w.Flush()
}

func (p *program) caPrint() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "print NAME...", Short: "Print what certificates and requests say", Args: names,
		Long: "Print what a certificate says, or the request if there is no certificate. The name ca is the CA.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "" {
				if err := command.CheckFormat(format); err != nil {
					return err
				}
			}
			return p.withCA(func(e *engine.Engine, _ *ca.Authority) error {
				for _, name := range args {
					v, err := askCA(cmd.Context(), e, indirector.Find, "certificate", name, nil)
					if errors.Is(err, indirector.ErrNotFound) {
						v, err = askCA(cmd.Context(), e, indirector.Find, "certificate_request", name, nil)
					}
					if errors.Is(err, indirector.ErrNotFound) {
						p.complain(fmt.Sprintf("there is neither a certificate nor a request of %q", name))
						return exit(exitNotFound)
					}
					if err != nil {
						return errors.New(indirector.Message(err))
					}
					if err := command.Write(p.out, v, format); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "raw is the PEM (default JSON with line breaks)")
	return cmd
}

func (p *program) caSign() *cobra.Command {
	var all bool
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "sign NAME...", Short: "Sign requests that wait",
		Long: `Sign requests that wait. Requests with further names or with extensions that
authorize are refused, unless allow_subject_alt_names or
allow_authorization_extensions is set.`,
		Example: "  indirtui ca sign --all\n  indirtui ca sign web01 --set allow_subject_alt_names=true",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return &command.UsageError{What: "name the requests, or give --all", Advice: "see indirtui ca list"}
			}
			return p.withCA(func(e *engine.Engine, _ *ca.Authority) error {
				if all {
					v, err := askCA(cmd.Context(), e, indirector.Search, "certificate_status", "any", nil, indirector.Option{Name: "state", Value: ca.Requested})
					if err != nil {
						return errors.New(indirector.Message(err))
					}
					list, _ := v.([]indirector.Instance)
					for _, i := range list {
						args = append(args, i.Key())
					}
				}
				return p.each(args, func(name string) (string, error) {
					_, err := askCA(cmd.Context(), e, indirector.Save, "certificate_status", name, &model.CertificateStatus{Name: name, Desired: ca.Signed, TTL: ttl})
					return "Signed " + name, err
				})
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "all that wait")
	f.DurationVar(&ttl, "ttl", 0, "how long the certificate is valid, as 720h (default the setting ca_ttl)")
	return cmd
}

func (p *program) caRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME...", Short: "Revoke certificates, which stay where they are", Args: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withCA(func(e *engine.Engine, _ *ca.Authority) error {
				return p.each(args, func(name string) (string, error) {
					_, err := askCA(cmd.Context(), e, indirector.Save, "certificate_status", name, &model.CertificateStatus{Name: name, Desired: ca.Revoked})
					return "Revoked " + name, err
				})
			})
		},
	}
}

func (p *program) caClean() *cobra.Command {
	return &cobra.Command{
		Use: "clean NAME...", Short: "Revoke certificates, and remove them and requests", Args: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withCA(func(e *engine.Engine, _ *ca.Authority) error {
				return p.each(args, func(name string) (string, error) { return cleaned(cmd.Context(), e, name) })
			})
		},
	}
}

// cleaned removes what there is of a name, and says what that was.
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

func (p *program) caGenerate() *cobra.Command {
	var alt, dir string
	var client, force bool
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "generate NAME...", Short: "Make keys, and certificates for them", Args: names,
		Long: `Make keys, and certificates for them. The files are NAME.pem in the directories
of the settings privatekeydir, publickeydir and certdir; with --dir they are
NAME.key, NAME.pub and NAME.crt there. Files that are there are not replaced.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withCA(func(e *engine.Engine, a *ca.Authority) error {
				leaf := ca.Leaf{CLIAuth: client, TTL: ttl, Replace: force}
				if alt != "" {
					leaf.AltNames = strings.FieldsFunc(alt, func(r rune) bool { return r == ',' || r == ' ' })
				}
				return p.each(args, func(name string) (string, error) {
					leaf.Name = name
					return generate(cmd.Context(), a, e, leaf, dir)
				})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&alt, "alt-names", "", "further names, with commas between them: DNS:x, IP:10.0.0.1")
	f.StringVar(&dir, "dir", "", "put the files into this directory")
	f.BoolVar(&client, "ca-client", false, "let it sign and revoke over the network (extension pp_cli_auth)")
	f.BoolVar(&force, "force", false, "although there is a certificate or a request of that name, which is replaced but not revoked")
	f.DurationVar(&ttl, "ttl", 0, "how long the certificate is valid, as 720h (default the setting ca_ttl)")
	return cmd
}

// generate makes the files of one name, and says where they are. They are put
// where they belong before the certificate is signed.
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
