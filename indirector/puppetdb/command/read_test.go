package command_test

import (
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
)

// Every recorded command is read, is written as it was, becomes an instance, and that the same
// command.
func TestGoldenRoundTrip(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"facts", "catalog", "report"} {
		for _, c := range read(t, "puppetdb", "commands-"+kind+".json").List() {
			made, err := save(t, c)
			if err != nil {
				continue // another test compares the error
			}
			for _, m := range made {
				t.Run(c.Get("id").Str()+"/"+m.Name, func(t *testing.T) {
					t.Parallel()
					roundTrip(t, m, c)
				})
			}
		}
	}
}

func roundTrip(t *testing.T, made *command.Command, c data.Value) {
	body, warning := made.Body()
	got, err := command.Read(strings.ReplaceAll(made.Name, " ", "_"), made.Version, made.Certname, time.Time{}, body)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Produced.Equal(made.Produced) || got.Name != made.Name {
		t.Errorf("got %q of %v, want %q of %v", got.Name, got.Produced, made.Name, made.Produced)
	}
	if warning != "" { // text is lost
		return
	}
	if a, b := payload(t, got), payload(t, made); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	if got.Hash() != made.Hash() {
		t.Error("the digest is another one after it was sent")
	}
	i, err := got.Instance()
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, c)
	var again *command.Command
	switch i := i.(type) {
	case nil:
		return
	case *model.Facts:
		again, err = command.Facts(i, o)
	case *model.Catalog:
		asSent(i, c)
		again, err = command.Catalog(i, o)
	case *model.Report:
		again, err = command.Report(i, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a, b := payload(t, again), payload(t, made); a != b {
		t.Errorf("from the instance, got\n%s\nwant\n%s", a, b)
	}
}

// payload returns the payload as text.
func payload(tb testing.TB, c *command.Command) string {
	tb.Helper()
	text, err := format.AppendPSON(nil, c.Payload)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
