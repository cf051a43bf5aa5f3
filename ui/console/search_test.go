package console_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/redact"
	"indirtui/termini"
	"indirtui/termini/fileserving"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/console"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// supply is a terminus that yields what the test hands it, until that is closed.
type supply chan indirector.Instance

func (s supply) Yield(ctx context.Context, _ *indirector.Request, yield func(indirector.Instance) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case inst, more := <-s:
			if !more {
				return nil
			}
			if err := yield(inst); err != nil {
				return err
			}
		}
	}
}

// files is an engine whose file_metadata come from s, and whose file_content is
// that of this machine.
func files(t *testing.T, s supply) *fake {
	t.Helper()
	h := &fake{}
	reg, err := indirector.NewRegistry(termini.Specs(), []indirector.Descriptor{
		{Indirection: "file_metadata", Name: "supply", Doc: "Test.", Type: s, New: func(indirector.Env) (indirector.Terminus, error) { return s, nil }},
		fileserving.MetadataFile, fileserving.ContentFile,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.log, err = store.Open(store.Options{Now: func() time.Time { return noon }, Render: engine.NewRenderer(redact.New(redact.Rules{})).Render})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.log.Close() })
	from := func(name string) indirector.Route {
		return indirector.Route{Primary: traces.Slot{{Terminus: name, Kind: traces.FromDeclaration}}}
	}
	h.Start = indirector.Routes{"file_metadata": from("supply"), "file_content": from("file")}
	h.Indirector, err = indirector.New(indirector.Config{Registry: reg, Routes: h.Start, Recorder: h.log, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func playFiles(t *testing.T, h *fake, width, height int) *uitest.Player {
	t.Helper()
	m := redact.New(redact.Rules{})
	render := engine.NewRenderer(m).Render
	return uitest.New(t, ui.Config{
		Log: h.log, Now: func() time.Time { return noon }, RedactText: m.Text,
		Render:   func(i indirector.Instance) traces.Value { return render("", i) },
		Commands: func(env *session.Env) session.Commander { return console.New(t.Context(), env, options(h)) },
	}, width, height)
}

func metadata(i int) indirector.Instance {
	return &model.FileMetadata{
		Path: "/srv", RelativePath: fmt.Sprintf("d/%06d.conf", i), Type: "file", Mode: data.OfInt(0o644), Owner: data.OfInt(0), Group: data.OfInt(0),
		ChecksumType: "sha256", Checksum: "{sha256}" + strings.Repeat(fmt.Sprintf("%08x", i), 8),
	}
}

// until lets the screen look until it shows a text.
func until(t *testing.T, p *uitest.Player, text string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !strings.Contains(p.Frame(), text); {
		if time.Now().After(end) {
			t.Fatalf("%q never came:\n%s", text, p.Frame())
		}
		p.Wait(time.Second)
		p.Sync()
	}
}

// A search of 100 000 files is listed while it runs, is looked at meanwhile,
// and is cancelled by a key; the next one closes the list.
func TestSearchIsListed(t *testing.T) {
	t.Parallel()
	s := make(supply)
	h := files(t, s)
	p := playFiles(t, h, 80, 24)
	p.Keys(":", "search file_metadata /srv recurse=true", "enter").Want("search file_metadata /srv recurse=true", "0 found so far", "nothing yet", "esc cancels")
	for i := range 999 {
		s <- metadata(i)
	}
	link := *metadata(999).(*model.FileMetadata)
	link.Type, link.Destination, link.RelativePath = "link", "/etc/motd", "motd"
	s <- &link
	until(t, p, "1 000 found so far")
	p.Want("d/000000.conf", "0644", "{sha256}00000000..")
	p.Keys("G").Want("link      0644  {sha256}000003e7..          motd -> /etc/motd").Keys("g")
	p.Keys("j", "j") // keys work while it runs
	if got := p.Cursor(); !strings.Contains(got, "d/000002.conf") {
		t.Errorf("cursor: %q", got)
	}
	p.Keys("enter").Want("relative_path", "d/000002.conf").Keys("esc")
	go func() {
		for i := 1000; i < 100_000; i++ {
			select {
			case s <- metadata(i):
			case <-t.Context().Done():
				return
			}
		}
	}()
	until(t, p, "100 000 found so far")
	p.Keys("G").Want("d/099999.conf")
	p.Keys("esc").Want("being cancelled")
	until(t, p, "100 000 found, cancelled")
	p.Want("d/099999.conf").Not("so far")
	if row, _ := h.log.Row(1); row.Outcome != traces.Err {
		t.Errorf("row: %+v", row)
	}
	p.Keys("esc").Not("found, cancelled")
	p.Keys("~").Want("#1 search file_metadata /srv")
}

// A search that ends shows how many there were, and that not all are kept.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	s := make(supply, 1)
	h := files(t, s)
	p := playFiles(t, h, 140, 40)
	p.Keys(":", "search file_metadata /srv", "enter")
	for i := range 100_005 {
		s <- metadata(i)
	}
	close(s)
	until(t, p, "100 005 found, the first 100 000 are listed, in ")
	p.Keys("q").Not("are listed").Keys("~").Want("100 005 instances")
	// One that finds nothing, and one that fails.
	p.Keys(":", "search file_metadata /nothing terminus=file", "enter")
	until(t, p, "0 found, nil")
	p.Want("nothing was found").Keys("esc")
	p.Keys(":", "search file_metadata /etc terminus=file max_files=x", "enter")
	until(t, p, "0 found, then: comparison of String with 0 failed")
}

// What is found by a search of contents can be read at once; what a find found
// is shown as text, as bytes, or not at all, with what is known of it.
func TestContents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"motd": "welcome\n\tto n1\npassword = hunter2hunter2\n", "logo.png": "\x89PNG\r\n\x1a\n\x00\x00",
		"large": strings.Repeat("0123456789abcde\n", 100_000), "empty": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	h := files(t, make(supply))
	p := playFiles(t, h, 80, 24)
	p.Keys(":", "search file_content "+dir+" recurse=true ignore=[a-l]*", "enter")
	until(t, p, "2 found, in ")
	p.Want("motd").Keys("G", "enter").Want("motd  of search file_content", "[Text]", "1  welcome").Keys("esc", "esc")

	show := func(name string) {
		p.Keys(":", "find file_content "+filepath.Join(dir, name), "enter")
		p.Keys(":", fmt.Sprintf("show #%d", last(h)), "enter", "v")
	}
	show("motd")
	p.Want("[Text]", "1  welcome", "2      to n1", "read now from "+dir[:20]).Not("hunter2")
	p.Keys("tab").Want("[Hex]", "00000000  77 65 6c 63 6f 6d 65").Keys("tab").Want("[Meta]", "links", "size").Keys("q", "q")
	show("logo.png")
	p.Want("binary, 10 bytes").Keys("tab").Want("89 50 4e 47").Keys("q", "q")
	show("large")
	p.Want("the first 65 536 B of 1 600 000 B").Keys("G").Want("4096  0123456789abcde").Keys("g", "/", "ABC", "enter").Keys("n", "n").Keys("q", "q")
	show("empty")
	p.Want("The file is empty.").Keys("q", "q")

	// Beside it stands the newest file_metadata of the same file.
	p.Keys(":", "find file_metadata "+filepath.Join(dir, "motd")+" terminus=file source_permissions=use", "enter").Size(140, 40)
	show("motd")
	p.Want("META", "METADATA", "mode", "0640", "checksum value", "{sha256}")
}

func last(h *fake) uint64 {
	_, last := h.log.Range()
	return last
}
