package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// rewritten is a stage over files that tests change.
func rewritten(t *testing.T) (s *stage, change func(name, text, clock string)) {
	t.Helper()
	s = newStage(t, scene{conf: "[main]\nnode_terminus = plain\n", routes: "agent:\n  facts:\n    terminus: yaml\n"})
	dir, _ := s.Settings.Get("confdir")
	return s, func(name, text, clock string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			return
		}
		at, err := time.ParseInLocation(time.DateTime, "2025-11-20 "+clock, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		// As an editor and Puppet do: another file takes the place.
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path+".new", at, at); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *stage) problems() string {
	var all []string
	for _, p := range s.Configuration().Problems {
		all = append(all, p.String())
	}
	return strings.Join(all, "\n")
}

func (s *stage) news() bool {
	_, news := s.Recheck()
	return news
}

func (s *stage) terminusOf(indirection string) string {
	return s.Routes()[indirection].Primary.Winner().Terminus
}

// What changed on disk is a problem until it is read again, and can be taken back.
// Pain P16.
func TestReload(t *testing.T) {
	t.Parallel()
	s, change := rewritten(t)
	for _, tt := range []struct {
		file, text, clock, problem, facts, node string
	}{
		{"routes.yaml", "agent:\n  facts:\n    terminus: json\n", "12:03:04", "routes.yaml changed on disk at 12:03:04; :reload reads it again", "json", "plain"},
		{"puppet.conf", "[main]\nnode_terminus = exec\n", "12:05:00", "puppet.conf changed on disk at 12:05:00; :reload reads it again", "yaml", "exec"},
		{"routes.yaml", "", "", "routes.yaml is not on disk any more; :reload reads it again", "facter", "plain"},
	} {
		if s.news() || s.problems() != "" {
			t.Fatalf("%s: nothing has changed: %s", tt.file, s.problems())
		}
		before, changes := s.Configuration(), len(s.Journal())
		path, _ := s.Settings.Get("confdir")
		old, err := os.ReadFile(filepath.Join(path, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		change(tt.file, tt.text, tt.clock)
		if got := s.terminusOf("facts") + s.terminusOf("node"); got != "yamlplain" {
			t.Errorf("%s: before it is read again: %s", tt.file, got)
		}
		if !s.news() || s.news() || s.problems() != tt.problem {
			t.Errorf("%s: problems %q, want %q", tt.file, s.problems(), tt.problem)
		}
		r, err := s.Reload()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.terminusOf("facts") + s.terminusOf("node"); got != tt.facts+tt.node || s.news() || s.problems() != "" {
			t.Errorf("%s: read again: %s, problems %q", tt.file, got, s.problems())
		}
		journal := s.Journal()
		if len(journal) != changes+1 || !strings.Contains(journal[changes].Why, "read again, "+strings.TrimSuffix(tt.problem, "; :reload reads it again")) {
			t.Errorf("%s: journal %+v", tt.file, journal[changes:])
		}
		if r.Before.Routes["facts"].Primary.Winner().Terminus != "yaml" || r.After.Routes["facts"].Primary.Winner().Terminus != tt.facts {
			t.Errorf("%s: before and after", tt.file)
		}
		s.Restore(before, "undo")
		if got := s.terminusOf("facts") + s.terminusOf("node"); got != "yamlplain" || !s.news() || s.problems() == "" {
			t.Errorf("%s: undone: %s, problems %q", tt.file, got, s.problems())
		}
		// As it was: the file is another one, and the same in what it has.
		change(tt.file, string(old), "11:00:00")
		if _, err := s.Reload(); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that cannot be read does not replace the one that was.
func TestReloadKeepsWhatWasRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, bad, why string }{
		{"routes.yaml", "agent: [\n", "routes.yaml changed on disk at 12:03:04 and cannot be used: "},
		{"puppet.conf", "[main\n", "puppet.conf changed on disk at 12:03:04 and cannot be used: "},
	} {
		s, change := rewritten(t)
		change(tt.file, tt.bad, "12:03:04")
		if _, err := s.Reload(); err == nil || !strings.Contains(err.Error(), "what was read before stays in force") {
			t.Errorf("%s: got error %v", tt.file, err)
		}
		if got := s.terminusOf("facts") + s.terminusOf("node"); got != "yamlplain" {
			t.Errorf("%s: got %s", tt.file, got)
		}
		if s.Recheck(); !strings.Contains(s.problems(), tt.why) {
			t.Errorf("%s: problems %q", tt.file, s.problems())
		}
		change(tt.file, "agent:\n  facts:\n    terminus: json\n", "12:04:00")
		if tt.file == "puppet.conf" {
			change(tt.file, "[main]\nnode_terminus = exec\n", "12:04:00")
		}
		if _, err := s.Reload(); err != nil {
			t.Error(err)
		}
		if s.Recheck(); s.problems() != "" {
			t.Errorf("%s: mended, problems %q", tt.file, s.problems())
		}
	}
}

// What the user assigned and set stays above what is read again.
func TestReloadKeepsWhatTheUserDid(t *testing.T) {
	t.Parallel()
	s, change := rewritten(t)
	if _, err := s.Override(set("node_terminus=exec"), ":set"); err != nil {
		t.Fatal(err)
	}
	if err := s.Assign("facts", indirector.SlotTerminus, traces.Choice{Terminus: "memory", Kind: traces.FromYou, Source: "test"}); err != nil {
		t.Fatal(err)
	}
	change("routes.yaml", "agent:\n  facts:\n    terminus: json\n  catalog:\n    terminus: yaml\n", "12:03:04")
	if _, err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := s.terminusOf("facts") + " " + s.terminusOf("node") + " " + s.terminusOf("catalog"); got != "memory exec yaml" {
		t.Errorf("got %s", got)
	}
	s.Withdraw("facts", traces.FromYou)
	if got := s.terminusOf("facts"); got != "json" {
		t.Errorf("without the user's: got %s", got)
	}
}
