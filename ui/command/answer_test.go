package command_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/ui/command"
)

// A list that is written as it comes is the list that is written at once.
func TestLister(t *testing.T) {
	t.Parallel()
	node := func(name string) indirector.Instance { return &model.Node{Name: name, Environment: "e"} }
	file := &model.FileMetadata{Path: "/a\xff", Mode: data.OfInt(420), Type: "file"}
	content := &model.FileContent{Path: "/a", Contents: model.Bytes("x")}
	long := indirector.Name(strings.Repeat("n", 40))
	for _, list := range [][]indirector.Instance{
		{},
		{node("a")},
		{node("a"), node("b"), node("c")},
		{indirector.Name("a"), indirector.Name("b")},
		{long, long, long},
		{indirector.Name("a"), long, long},
		{file, node("a")},
		{indirector.Name("a"), node("b")},
		{content},
		{indirector.False},
	} {
		for _, format := range []string{"json", "yaml", "pson", "msgpack", "dot", "raw", ""} {
			t.Run(fmt.Sprintf("%d %s %s", len(list), fmt.Sprint(list), format), func(t *testing.T) {
				t.Parallel()
				var want, got bytes.Buffer
				wantErr := command.Write(&want, list, format)
				l := command.NewLister(&got, format)
				var err error
				for _, i := range list {
					if err = l.Add(i); err != nil {
						break
					}
				}
				if err == nil {
					err = l.Close()
				}
				switch {
				case wantErr != nil || err != nil:
					// What is written one by one can name the instance.
					if wantErr == nil || !strings.HasPrefix(fmt.Sprint(err), wantErr.Error()) {
						t.Errorf("got %v, want %v", err, wantErr)
					}
				case got.String() != want.String():
					t.Errorf("got %q, want %q", got.String(), want.String())
				}
			})
		}
	}
}

// What comes is written before the list has ended.
func TestListerStreams(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"", "json", "pson", "raw"} {
		var out bytes.Buffer
		l := command.NewLister(&out, format)
		for i := range 100 {
			before := out.Len()
			if err := l.Add(&model.Node{Name: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
			if out.Len() == before {
				t.Errorf("%s: nothing was written", format)
			}
		}
	}
}
