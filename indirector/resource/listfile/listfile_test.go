package listfile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/listfile"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// body is what a format writes below its header.
func body(t testing.TB, f *listfile.Format, records []*listfile.Record) string {
	t.Helper()
	text, err := f.Write(records, at)
	if err != nil {
		t.Fatal(err)
	}
	for strings.HasPrefix(text, "# HEADER") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// TestRewrite reads files and writes them again. Rule RES-PROV-06.
func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		format   *listfile.Format
		in, want string
		names    string
	}{
		{"hosts", listfile.Hosts, "# HEADER: old\n127.0.0.1 localhost\n\n # odd\n1.2.3.4  aa  b   c # note\nx y\n", "127.0.0.1\tlocalhost\n\n # odd\n1.2.3.4\taa\tb c\t# note\nx y\n", "localhost aa"},
		{"hosts: a line that looks like a record", listfile.Hosts, "broken line here\n", "broken\tline\there\n", "line"},
		{"fstab", listfile.Fstab, "# c\n\n/dev/a  /data/  ext4\nbad\n/dev/b /my\\040dir nfs rw,a 0 2\n", "# c\n\n/dev/a\t/data\text4\t\t\t\nbad\n/dev/b\t/my\\040dir\tnfs\trw,a\t0\t2\n", "/data /my dir"},
		{"aliases", listfile.Aliases, "# c\nroot: admin\nops:  \"|/bin/cmd x\", bob\nlist: :include: /etc/list\n", "# c\nroot: admin\nops: \"|/bin/cmd x\",bob\nlist: :include: /etc/list\n", "root ops list"},
		{"known hosts", listfile.KnownHosts, "# c\nh1,a1 ssh-rsa AAAA\nh2  ssh-ed25519  BBBB note\n", "# c\nh1,a1 ssh-rsa AAAA\nh2 ssh-ed25519 BBBB note\n", "h1 h2"},
		{"authorized keys", listfile.AuthorizedKeys, "no-pty,command=\"a, \\\"b\\\"\" ssh-rsa AAA me\nssh-rsa BBB\n1024 35 1 old\n", "no-pty,command=\"a, \\\"b\\\"\" ssh-rsa AAA me\nssh-rsa BBB \n1024 35 1 old\n", "me t:unnamed-1 old"},
		{"crontab", listfile.Crontab, "MAILTO=x\n# Puppet Name: a\nPATH=/bin\n1,2 * * * 0 run\n@daily it  is\n# end\n", "MAILTO=x\n# Puppet Name: a\nPATH=/bin\n1,2 * * * 0 run\n@daily it  is\n# end\n", "a unmanaged:it_is-8"},
		{"crontab: TZ goes to the top", listfile.Crontab, "# c\nTZ=UTC\n", "TZ=UTC\n# c\n", ""},
	} {
		t.Run("RES-PROV-06 "+tt.name, func(t *testing.T) {
			t.Parallel()
			records, err := tt.format.Parse(tt.in, "t", 7)
			if err != nil {
				t.Fatal(err)
			}
			if got := body(t, tt.format, records); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			var names []string
			for _, r := range records {
				if !r.IsText() {
					names = append(names, r.Get("name").Text())
				}
			}
			if got := strings.Join(names, " "); got != tt.names {
				t.Errorf("names: got %q, want %q", got, tt.names)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	if _, err := listfile.Hosts.Parse("1.2.3.4 \xff\n", "", 0); !errors.Is(err, listfile.ErrEncoding) {
		t.Errorf("no UTF-8: got %v", err)
	}
	if _, err := listfile.Aliases.Parse("no colon\n", "", 0); err == nil {
		t.Error("an alias without a colon: got no error")
	}
	for _, tt := range []struct {
		format *listfile.Format
		values map[string]data.Value
		want   string
	}{
		{listfile.Hosts, map[string]data.Value{"name": data.OfString("x")}, "ip is a required attribute for hosts"},
		{listfile.Fstab, map[string]data.Value{"name": data.OfString("/x"), "device": data.OfString("d")}, "Mount[/x]: Field 'fstype' is required"},
		{listfile.Fstab, map[string]data.Value{"name": data.OfString("/x"), "fstype": data.OfString("d")}, "Field 'device' is required"},
		{listfile.KnownHosts, map[string]data.Value{"name": data.OfString("x"), "type": data.OfString("rsa")}, "Field 'key' is required"},
	} {
		_, err := tt.format.Write([]*listfile.Record{{Kind: "parsed", Values: tt.values}}, at)
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

// fuzz checks that lines which are no records stay, in order, and that what is written
// reads as it was.
func fuzz(f *testing.F, format *listfile.Format, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		records, err := format.Parse(text, "t", 0)
		if err != nil {
			return
		}
		written, err := format.Write(records, at)
		if err != nil {
			return // a record that lacks a field
		}
		rest := written
		for _, r := range records {
			if r.IsText() && format != listfile.Crontab {
				_, after, ok := strings.Cut(rest, r.Text+"\n")
				if !ok {
					t.Fatalf("the line %q is lost in %q", r.Text, written)
				}
				rest = after
			}
		}
		again, err := format.Parse(written, "t", 0)
		if err != nil {
			t.Fatalf("%q is written, and cannot be read: %v", written, err)
		}
		twice, err := format.Write(again, at)
		if err != nil {
			t.Fatalf("%q cannot be written again: %v", written, err)
		}
		third, err := format.Parse(twice, "t", 0)
		if err != nil || len(third) > len(again) {
			t.Errorf("%q became %q, %v", written, twice, err)
		}
	})
}

func FuzzHosts(f *testing.F) {
	fuzz(f, listfile.Hosts, "127.0.0.1 localhost a b # c\n# x\n\nbroken line here\n")
}

func FuzzFstab(f *testing.F) {
	fuzz(f, listfile.Fstab, "UUID=1 / ext4 errors=remount-ro 0 1\nbad\n/dev/x /a\\040b/ nfs\n")
}

func FuzzAliases(f *testing.F) {
	fuzz(f, listfile.Aliases, "root: admin\nops: a, \"b c\"\nl: :include: /x\n")
}

func FuzzKnownHosts(f *testing.F) {
	fuzz(f, listfile.KnownHosts, "h1,a1 ssh-rsa AAAA\nh1 ssh-ed25519 BBBB x\n")
}

func FuzzAuthorizedKeys(f *testing.F) {
	fuzz(f, listfile.AuthorizedKeys, "no-pty,command=\"a,b\" ssh-rsa AAA me\nssh-rsa BBB\n1024 35 1 old\n")
}

func FuzzCrontab(f *testing.F) {
	fuzz(f, listfile.Crontab, "MAILTO=root\n0 3 * * * /bin/nightly\n# Puppet Name: backup\nPATH=/bin\n30 4 * * 1,3 /bin/backup  --all\n@reboot /bin/atboot\nTZ=UTC\n")
}
