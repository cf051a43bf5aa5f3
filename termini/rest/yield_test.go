package rest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// metadataOf is one file of a list, as a server writes it.
func metadataOf(path string) string {
	return fmt.Sprintf(`{"path":"/modules","relative_path":%q,"links":"manage","owner":0,"group":0,"mode":420,`+
		`"checksum":{"type":"sha256","value":"{sha256}e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"type":"file","destination":null}`, path)
}

func pluginsRequest(give func(indirector.Instance) error) *indirector.Request {
	o := op{indirection: "file_metadata", verb: "search", key: "plugins"}
	return o.request().Yielding(give)
}

// TestYield takes the files of a list as they come, and all that may go wrong
// on the way.
func TestYield(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	a, b := metadataOf("a"), metadataOf("b")
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		most   int // after which the caller takes no more; 0 is all
		keep   bool
		want   string // paths that were given away
		err    string // part of the error; "" is none
		first  string // part of the first line
	}{
		{name: "two", answer: respond(200, jsonUTF8, "[ "+a+",\n"+b+" ]\n"), want: "a b", first: "the server listed"},
		{name: "two, and the body is wanted", answer: respond(200, jsonUTF8, "["+a+","+b+"]"), keep: true, want: "a b"},
		{name: "none", answer: respond(200, jsonUTF8, "[]"), first: "an empty list"},
		{name: "in another format", answer: respond(200, "text/pson", "["+a+","+b+"]"), want: "a b"},
		{name: "none in another format", answer: respond(200, "text/pson", "[]"), first: "an empty list"},
		{name: "404", answer: respond(404, jsonUTF8, document("Not Found: x", "RESOURCE_NOT_FOUND")), first: "Puppet takes this for an empty list"},
		{name: "500", answer: respond(500, jsonUTF8, document("Server Error: x", "RUNTIME_ERROR")), err: "Error 500 on SERVER: Server Error: x", first: "answered 500 Internal Server Error"},
		{name: "no type", answer: respond(200, "", "[]"), err: "No content type in http response"},
		{name: "no list", answer: respond(200, jsonUTF8, a), err: "the answer is no list"},
		{name: "empty", answer: respond(200, jsonUTF8, ""), err: "Failed to deserialize multiple Puppet::FileServing::Metadata from json: EOF"},
		{name: "broken after one", answer: respond(200, jsonUTF8, "["+a+",{\"path\":"), want: "a", err: "from json: unexpected EOF", first: "1 given away, "},
		{name: "no end", answer: respond(200, jsonUTF8, "["+a), want: "a", err: "Failed to deserialize multiple"},
		{name: "two lists", answer: respond(200, jsonUTF8, "["+a+"][]"), want: "a", err: "after the list"},
		{name: "something else in it", answer: respond(200, jsonUTF8, "["+a+",7]"), want: "a", err: "Failed to deserialize multiple"},
		{name: "taken no more", answer: respond(200, jsonUTF8, "["+a+","+b+"]"), most: 1, want: "a", err: "enough"},
		{
			name: "cut off", want: "a", err: "interrupted after", first: "the connection was closed in the middle of the answer",
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", jsonUTF8)
				w.Header().Set("Content-Length", "100000")
				_, _ = io.WriteString(w, "["+a+",")
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			},
		},
		{
			name: "cut off in chunks", want: "a", err: "interrupted after", first: "the connection was closed in the middle of the answer",
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", jsonUTF8)
				_, _ = io.WriteString(w, "["+a+",")
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := against(t, tt.answer)
			var got []string
			req := pluginsRequest(func(i indirector.Instance) error {
				got = append(got, i.(*model.FileMetadata).RelativePath)
				if len(got) == tt.most {
					return enough
				}
				return nil
			})
			if tt.keep {
				req.Wants.Wire = &indirector.Wire{KeepBody: true}
			}
			resp, err := h.Do(t.Context(), req)
			if tt.err == "" && (err != nil || resp.Value != len(got)) || tt.err != "" && (err == nil || !strings.Contains(indirector.Message(err), tt.err)) {
				t.Errorf("got %v, %v, want %q", resp, err, tt.err)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if story := traces.Story(h.recorder.last(t)); !strings.Contains(story, tt.first) {
				t.Errorf("the first line is %q, and does not say %q", story, tt.first)
			}
			if tt.keep && string(req.Wire().Body) != "["+a+","+b+"]" {
				t.Errorf("the body is %q", req.Wire().Body)
			}
		})
	}
}

// TestYieldAsItComes has a server that writes the next file only when the one
// before has arrived.
func TestYieldAsItComes(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 1)
	const files = 5
	h := against(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", jsonUTF8)
		between := "["
		for n := range files {
			_, _ = io.WriteString(w, between+metadataOf(fmt.Sprint(n)))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-arrived:
			case <-r.Context().Done():
				return
			}
			between = ","
		}
		_, _ = io.WriteString(w, "]")
	})
	resp, err := h.Do(t.Context(), pluginsRequest(func(indirector.Instance) error {
		arrived <- struct{}{}
		return nil
	}))
	if err != nil || resp.Value != files {
		t.Errorf("got %v, %v", resp, err)
	}
}
