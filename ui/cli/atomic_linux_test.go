//go:build linux && (amd64 || arm64)

package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"indirtui/indirector/debugger"
	"indirtui/indirector/host/files"
	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/client"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/network/server"
	"indirtui/termini"
	"indirtui/traces/store"
)

// A writer is a user of package files. Its functions run in processes of their
// own, in an empty directory.
type writer struct {
	name string
	old  func(dir string) error // makes what is to be replaced; nil is nothing
	do   func(dir string) error
	// again is a pattern of what it may answer when it is done again after a
	// kill: that something is there already. If it is empty, it must succeed.
	again string
}

// tui runs a command line over the directory.
func tui(dir, input string, args ...string) error {
	var out bytes.Buffer
	args = append(args, "--confdir="+dir+"/conf", "--vardir="+dir+"/var", "--set=cadir="+dir+"/ca", "--set=ssldir="+dir+"/ssl", "--set=keylength=1024", "--set=certname=n1")
	if code := Main(args, Streams{In: strings.NewReader(input), Out: &out, Err: &out}, termini.Specs(), termini.All()); code != exitOK {
		return fmt.Errorf("%q ends with %d: %s", args, code, out.String())
	}
	return nil
}

func commands(lines ...string) func(dir string) error {
	return func(dir string) error {
		for _, line := range lines {
			if err := tui(dir, "", strings.Fields(strings.ReplaceAll(line, "DIR", dir))...); err != nil {
				return err
			}
		}
		return nil
	}
}

// saving saves a node, a small one and then a large one.
func saving(terminus string) writer {
	save := func(n int) func(dir string) error {
		return func(dir string) error {
			return tui(dir, `{"name":"n1","parameters":{"x":"`+strings.Repeat("y", n)+`"}}`, "save", "node", "n1", "terminus="+terminus, "--write", "--trace", "none")
		}
	}
	return writer{name: "node in " + terminus, old: func(dir string) error {
		return errors.Join(os.MkdirAll(dir+"/var/client_yaml/node", 0o755), save(10)(dir))
	}, do: save(100_000)}
}

const request = "save certificate_request web01 --application ca --trace none --file DIR/request.pem"

var writers = []writer{
	saving("yaml"), saving("json"), saving("msgpack"),
	{name: "file bucket", do: func(dir string) error {
		return tui(dir, strings.Repeat("contents ", 100_000), "save", "file_bucket_file", "--trace", "none")
	}},
	{name: "CA", do: commands("ca setup"), again: "there is a CA in|need all files or none"},
	{name: "certificate and request", old: func(dir string) error {
		return errors.Join(commands("ca setup")(dir), newRequest(dir), commands(request)(dir))
	}, do: commands("ca sign web01"), again: "web01"},
	{name: "revocation list", old: commands("ca setup", "ca generate web01"), do: commands("ca revoke web01")},
	{name: "key and certificate", old: commands("ca setup"), do: commands("ca generate web01 --dir DIR/out"), again: "already"},
	{name: "certificate of the server", old: commands("ca setup"), do: func(dir string) error {
		s := clienttest.Settings{
			"cadir": dir + "/ca", "cacert": dir + "/ca/ca_crt.pem", "cakey": dir + "/ca/ca_key.pem", "capub": dir + "/ca/ca_pub.pem", "cacrl": dir + "/ca/ca_crl.pem",
			"csrdir": dir + "/ca/requests", "signeddir": dir + "/ca/signed", "serial": dir + "/ca/serial", "cert_inventory": dir + "/ca/inventory.txt", "keylength": "1024",
			"certname": "n1", "hostcert": dir + "/h/cert.pem", "hostprivkey": dir + "/h/key.pem", "hostpubkey": dir + "/h/public.pem", "localcacert": dir + "/h/ca.pem", "hostcrl": dir + "/h/crl.pem",
		}
		cfg, err := ca.ConfigOf(s)
		if err != nil {
			return err
		}
		a, err := ca.Open(cfg)
		if err == nil {
			_, err = a.ServerCertificate(context.Background(), s)
		}
		return err
	}},
	{name: "key of an agent", do: func(dir string) error {
		if err := identity(dir, "1"); err == nil || !exists(dir+"/keys/web01.pem") {
			return fmt.Errorf("there is no key: %w", err)
		}
		return nil
	}},
	{name: "certificate of an agent", old: func(dir string) error {
		_ = identity(dir, "1") // there is no server
		return nil
	}, do: func(dir string) error { return identity(dir, os.Getenv(upstream)) }},
	{name: "breakpoints", old: breakpoint("key=a"), do: breakpoint("key=b")},
	{name: "project", old: keep("one"), do: keep("one", "two")},
	{name: "export", old: recording, do: commands("export -r DIR/from.jsonl --format story --out DIR/story.txt"), again: "file exists"},
	{name: "recording", old: recording, do: commands("export -r DIR/from.jsonl --format recording --out DIR/part.jsonl"), again: "file exists"},
	{name: "text", do: func(dir string) error {
		_, _, err := saveText("text.txt", "text")
		return err
	}, again: "file exists"},
}

func breakpoint(text string) func(dir string) error {
	return func(dir string) error {
		d, err := debugger.New(debugger.Options{Dir: dir, Project: "p"})
		if err != nil {
			return err
		}
		b, err := debugger.Parse(text)
		if err != nil || slices.ContainsFunc(d.Breaks(), func(i debugger.Info) bool { return i.Breakpoint.String() == b.String() }) {
			return err // it has been done
		}
		_, err = d.Add(b)
		return err
	}
}

func keep(ignore ...string) func(dir string) error {
	return func(string) error {
		k, err := keptFor("/etc/puppet")
		if err != nil {
			return err
		}
		return k.keep("ignore", ignore)
	}
}

func recording(dir string) error {
	return tui(dir, "find node n1 terminus=plain\n", "--plain", "--record", dir+"/from.jsonl")
}

// newRequest writes a request for a certificate.
func newRequest(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "web01"}}, key)
	if err != nil {
		return err
	}
	return os.WriteFile(dir+"/request.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), 0o644)
}

// Environment of the processes that write.
const (
	writing  = "INDIRTUI_TEST_WRITING"  // the name of the writer, and "old" or "do"
	upstream = "INDIRTUI_TEST_UPSTREAM" // the port of a CA
	trusted  = "INDIRTUI_TEST_TRUSTED"  // the directory of its certificate
)

// identity obtains a certificate of the CA at a port.
func identity(dir, port string) error {
	asks := client.New(client.Options{Settings: clienttest.Settings{
		"ca_server": "localhost", "ca_port": port, "localcacert": os.Getenv(trusted) + "/certs/ca.pem", "hostcrl": os.Getenv(trusted) + "/crl.pem",
		"certname": "proxy", "hostcert": dir + "/no", "hostprivkey": dir + "/no", "http_connect_timeout": "20",
	}})
	defer asks.Close()
	i := &server.Identities{Client: asks, Certs: dir + "/certs", Keys: dir + "/keys"}
	return i.Have(context.Background(), "web01")
}

// signer is a CA that signs what it is sent. It returns the environment
// that names it.
func signer(t *testing.T) []string {
	authority, dir := clienttest.New(t, "CA of tests"), t.TempDir()
	authority.Write(t, dir, authority.Issue(t, "upstream", clienttest.Local))
	var mu sync.Mutex
	var cert []byte
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	up := clienttest.Serve(t, authority.Issue(t, "localhost", clienttest.Local), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodGet && cert == nil {
			http.NotFound(w, r)
			return
		}
		if r.Method == http.MethodPut {
			text, _ := io.ReadAll(r.Body)
			block, _ := pem.Decode(text)
			req, err := x509.ParseCertificateRequest(block.Bytes)
			if err == nil {
				template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: req.Subject}
				cert, err = x509.CreateCertificate(rand.Reader, template, template, req.PublicKey, own)
			}
			if err != nil {
				t.Error(err)
			}
			return
		}
		_ = pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: cert})
	}))
	_, port, _ := net.SplitHostPort(up.Listener.Addr().String())
	return []string{upstream + "=" + port, trusted + "=" + dir}
}

// TestKilledWriters kills each writer of a file before each of its system calls
// in turn: every file is the old one or the new one, and the writer can do its
// work afterwards.
func TestKilledWriters(t *testing.T) {
	if name := os.Getenv(writing); name != "" {
		write(t, name)
		return
	}
	t.Parallel()
	env := signer(t)
	for _, w := range writers {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			k := &killing{t: t, w: w, env: env}
			old := k.dir("")
			if w.old != nil {
				k.run(old, "old")
			}
			k.old, _ = contents(t, old)
			now := k.dir(old)
			k.run(now, "do")
			k.now, _ = contents(t, now)
			if reflect.DeepEqual(k.old, k.now) {
				t.Fatal("it writes nothing")
			}
			step := 1
			if testing.Short() {
				step = 4
			}
			n := 1
			for k.killed(n, k.dir(old)) {
				n += step
			}
			if n < 6 {
				t.Errorf("it makes %d system calls only", n-1)
			}
			t.Logf("killed before every call of %d", n-1)
		})
	}
}

// write is what the process does that is killed.
func write(t *testing.T, name string) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	name, step, _ := strings.Cut(name, "|")
	for _, w := range writers {
		if w.name != name {
			continue
		}
		do := w.do
		if step == "old" {
			do = w.old
		}
		if err := do(dir); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("there is no writer %q", name)
}

// killing is the test of one writer.
type killing struct {
	t        *testing.T
	w        writer
	env      []string
	old, now map[string]string // contents of files by their path
	state    string            // what the last kill left
}

// dir makes a directory like another one.
func (k *killing) dir(like string) string {
	k.t.Helper()
	dir, err := filepath.EvalSymlinks(k.t.TempDir())
	if err == nil && like != "" {
		err = os.CopyFS(dir, os.DirFS(like))
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return dir
}

func (k *killing) command(dir, step string) (argv, env []string) {
	k.t.Helper()
	program, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	env = append(os.Environ(), k.env...)
	env = append(env, writing+"="+k.w.name+"|"+step, "XDG_STATE_HOME="+dir, "HOME="+dir, "TMPDIR="+k.t.TempDir(), "GODEBUG=asyncpreemptoff=1")
	return []string{program, "-test.run=^TestKilledWriters$", "-test.timeout=2m"}, env
}

func (k *killing) run(dir, step string) {
	k.t.Helper()
	if out, err := k.try(dir, step); err != nil {
		k.t.Fatalf("%s: %v\n%s", step, err, out)
	}
}

func (k *killing) try(dir, step string) (string, error) {
	argv, env := k.command(dir, step)
	c := exec.CommandContext(k.t.Context(), argv[0], argv[1:]...)
	c.Dir, c.Env = dir, env
	out, err := c.CombinedOutput()
	return string(out), err
}

// killed kills the writer before its n-th call, and checks what is left. It
// reports whether the writer had not ended before.
func (k *killing) killed(n int, dir string) bool {
	k.t.Helper()
	argv, env := k.command(dir, "do")
	call, end, err := killedAt(n, dir, argv, env)
	switch {
	case errors.Is(err, errNoTrace):
		k.t.Skip(err)
	case err != nil:
		k.t.Fatal(err)
	case call == "" && (!end.Exited() || end.ExitStatus() != 0):
		k.t.Fatalf("the writer ends with %v", end)
	}
	when := fmt.Sprintf("killed before call %d, %s", n, call)
	state := k.check(dir, when)
	if call == "" {
		return false
	}
	if state == k.state {
		return true // it was done again after the call before
	}
	k.state = state
	if out, err := k.try(dir, "do"); err != nil && (k.w.again == "" || !regexp.MustCompile(k.w.again).MatchString(out)) {
		k.t.Errorf("%s: it cannot be done again: %s", when, out)
	}
	k.check(dir, "done again, "+when)
	return true
}

// check looks at all files, and returns which there are: old ones and new ones.
func (k *killing) check(dir, when string) (state string) {
	k.t.Helper()
	all, temporary := contents(k.t, dir)
	if temporary > 1 {
		k.t.Errorf("%s: %d temporary files are left", when, temporary)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		got := all[name]
		old, was := k.old[name]
		now, is := k.now[name]
		state += fmt.Sprintf("%s %t\n", name, was && got == old)
		switch {
		case was && got == old, is && got == now:
		case !was && !is:
			k.t.Errorf("%s: there is %s", when, name)
		default:
			if err := whole(filepath.Join(dir, name), got); err != nil {
				k.t.Errorf("%s: %s is neither the old file nor a new one: %v", when, name, err)
			}
		}
	}
	for name := range k.old {
		_, there := all[name]
		if _, stays := k.now[name]; stays && !there {
			k.t.Errorf("%s: %s is gone", when, name)
		}
	}
	return state
}

// contents returns what is in the files below a directory, and how many
// temporary ones there are besides.
func contents(t *testing.T, dir string) (all map[string]string, temporary int) {
	t.Helper()
	all = map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if strings.HasPrefix(path.Base(name), files.Prefix) {
			temporary++
			return nil
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, temporary
}

var (
	serialText    = regexp.MustCompile(`^[0-9A-F]{4,}\n?$`)
	inventoryText = regexp.MustCompile(`^(0x[0-9a-fA-F]+ \S+ \S+ /CN=[^\n]+\n)*$`)
)

// whole returns what is wrong with a file that is another one each time.
func whole(path, text string) error {
	switch name := filepath.Base(path); {
	case name == "serial" && serialText.MatchString(text), name == "inventory.txt" && inventoryText.MatchString(text):
		return nil
	case name == "paths" && text == "": // of a bucket: it is locked first, and then a line appended
		return nil
	case filepath.Ext(name) == ".jsonl":
		log, err := store.OpenFile(path)
		if err != nil {
			return err
		}
		defer log.Close()
		if notes := log.Notes(); len(notes) > 0 {
			return fmt.Errorf("%q", notes)
		}
		return nil
	case strings.HasPrefix(text, "-----BEGIN "):
		for rest := []byte(text); len(rest) > 0; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				return errors.New("not PEM up to its end")
			}
			if !strings.HasPrefix(text, "-----BEGIN "+block.Type) {
				return fmt.Errorf("a %s among others", block.Type)
			}
		}
		return nil
	}
	return fmt.Errorf("%.200q", text)
}
