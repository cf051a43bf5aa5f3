package format_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

var fragments = []string{
	`{`, `}`, `[`, `]`, `,`, `:`, `"`, `\`, `u`, `d800`, `dc00`, `\u0041`, `\ud83d`, `\ude00`, `\u00e9`, `"a"`, `"b":`, `1`, `-`, `0`, `.`, `e`, `5`,
	`true`, `null`, ` `, "\n", "\t", `/*`, `*/`, `//`, `*`, `/`, `é`, "\xff", `NaN`, `123456789012345678901`, `{"a":1,"b":[2,"x"]}`, `[1,2]`, `"x\ny"`, `q`, `abcdef`, `\"`, `\\`,
}

var leads = []byte{
	0x81, 0x82, 0x91, 0x92, 0xa1, 0xa0, 0xc0, 0xc2, 0xc3, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd9, 0xda,
	0xdc, 0xde, 0x00, 0x01, 0x61, 0xff, 0xe0, 0xd3, 0xca, 0xc1, 0xc7, 0xd4,
}

func jsonish(r *rand.Rand) []byte {
	var b []byte
	if r.Intn(2) == 0 {
		b = append(b, `["`...)
	}
	for range 1 + r.Intn(9) {
		b = append(b, fragments[r.Intn(len(fragments))]...)
	}
	if r.Intn(2) == 0 {
		b = append(b, `"]`...)
	}
	return b
}

func msgpackish(r *rand.Rand) []byte {
	b := make([]byte, 1+r.Intn(10))
	for i := range b {
		b[i] = leads[r.Intn(len(leads))]
	}
	return b
}

// Random documents, nearly all of them broken, are read as Ruby reads them.
func TestReadersAgreeWithRuby(t *testing.T) {
	t.Parallel()
	if err := exec.Command("ruby", "-e", "require 'puppet/external/pson/pure'; require 'msgpack'").Run(); err != nil {
		t.Skipf("no Ruby with Puppet and msgpack here: %v", err)
	}
	for _, tt := range []struct {
		name  string
		make  func(*rand.Rand) []byte
		read  func([]byte, format.Limits) (data.Value, error)
		write func([]byte, data.Value) ([]byte, error)
	}{
		{"json", jsonish, format.DecodeJSON, format.AppendPSON},
		{"pson", jsonish, format.DecodePSON, format.AppendPSON},
		{"msgpack", msgpackish, format.DecodeMsgpack, format.AppendMsgpack},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ask := oracle(t, tt.name)
			r := rand.New(rand.NewSource(1))
			for range 3000 {
				b := tt.make(r)
				v, err := tt.read(b, format.Limits{})
				got := "E"
				switch {
				case err == nil:
					out, err := tt.write(nil, v)
					if err != nil {
						t.Fatal(err)
					}
					got = "V" + hex.EncodeToString(out)
				case tt.name == "pson": // its words are Puppet's
					got = "E" + hex.EncodeToString([]byte(err.Error()))
				}
				if want := ask(b); got != want {
					text, _ := hex.DecodeString(want[1:])
					t.Errorf("%q: got %s (error %v), want %s %q", b, v, err, want[:1], text)
				}
			}
		})
	}
}

// oracle starts Ruby and returns a function that asks it about one document.
func oracle(t *testing.T, name string) func([]byte) string {
	t.Helper()
	cmd := exec.Command("ruby", "testdata/oracle.rb", name)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("ruby: %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	return func(b []byte) string {
		t.Helper()
		fmt.Fprintln(in, hex.EncodeToString(b))
		if !lines.Scan() {
			t.Fatalf("ruby ended: %v", lines.Err())
		}
		return lines.Text()
	}
}
