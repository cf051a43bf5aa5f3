package fileserving

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
)

// FuzzConfiguration reads any text as fileserver.conf: what it makes of it has
// proper names, and a path that is there or has placeholders.
func FuzzConfiguration(f *testing.F) {
	for _, s := range []string{
		"# comment\n\n[site]\n  path /tmp # here\n  allow *\n", "[a]\npath /nonexistent\n[b]\npath /%h/%%\ndeny x\n", "path /tmp\n",
		"[m]\npath = /tmp\n", "[m]\n[m]\n", "x [m]\r\npath\t/tmp\r\n", "\xff", "[modules]\npath /tmp", "[m]\nallow\n", "[m]\npath  #x\n", "",
	} {
		f.Add(s)
	}
	log := slog.New(slog.DiscardHandler)
	f.Fuzz(func(t *testing.T, text string) {
		mounts, err := parse("fileserver.conf", []byte(text), log)
		if err != nil {
			if indirector.Message(err) == "" {
				t.Errorf("%q: an error without words", text)
			}
			return
		}
		for name, m := range mounts {
			if name != m.name || !isMountName(name) || strings.Contains(name, "\n") {
				t.Errorf("%q: a mount called %q, %q", text, name, m.name)
			}
			if m.path == "" != isBuilt(name) {
				t.Errorf("%q: mount %s has the path %q", text, name, m.path)
			}
			expand(m.path, map[byte]string{'h': "a", 'H': "a.b", 'd': "b"})
		}
	})
}

type none struct{}

func (none) Get(string) (value, source string) { return "", "" }

func timeZero() time.Time { return time.Time{} }

// FuzzKey splits any key: what is accepted stays below the mount.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"modules/m/f", "m/../x", "m//a///b", "", "/", "m/.", "m/a/..", "m\n/x", "modules/\x00"} {
		f.Add(s)
	}
	c := newConfiguration(indirector.Env{Settings: none{}, Now: timeZero, Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, key string) {
		_, path, _, err := c.split(key)
		if err != nil {
			return
		}
		if full := filepath.Join("/srv/mount", path); full != "/srv/mount" && !strings.HasPrefix(full, "/srv/mount/") {
			t.Errorf("%q leads to %s", key, full)
		}
	})
}
