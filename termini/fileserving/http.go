package fileserving

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	"indirtui/traces"
)

// HTTP asks web servers.
type HTTP struct {
	maker
	client *client.Client
}

var (
	_ indirector.Finder   = (*HTTP)(nil)
	_ indirector.Searcher = (*HTTP)(nil)
	_ io.Closer           = (*HTTP)(nil)
)

func newHTTP(env indirector.Env) (indirector.Terminus, error) {
	return &HTTP{maker{env: env, content: env.Indirection == "file_content", digest: "sha256"}, client.Of(env)}, nil
}

// Close closes idle connections.
func (t *HTTP) Close() error { return t.client.Close() }

// Search fails. Rule TERM-HTTP-04.
func (t *HTTP) Search(context.Context, *indirector.Request) ([]indirector.Instance, error) {
	return nil, &indirector.Failure{Message: "cannot lookup multiple files"}
}

// Find asks the server for a file's headers. Contents are fetched when they are
// read; now only their existence is checked. Rules TERM-HTTP-01, TERM-HTTP-05.
func (t *HTTP) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	address := req.Key
	if req.URI != nil {
		address = req.URI.Text
	}
	o, err := t.options(req)
	if err != nil {
		return nil, err
	}
	u, err := parseURL(address)
	if err != nil {
		return nil, err
	}
	answer, err := t.head(ctx, u, req.Wire())
	if err != nil {
		return nil, err
	}
	if t.content {
		return &model.FileContent{Path: "/dev/null", Links: o.links, Contents: &body{t, u, size(answer)}}, nil
	}
	sum, _ := given(req, "checksum_type")
	return t.metadata(ctx, answer, sum)
}

// head returns a successful answer: that to HEAD, or to GET of one byte where
// HEAD is not allowed.
func (t *HTTP) head(ctx context.Context, u *url.URL, wire *indirector.Wire) (*client.Answer, error) {
	x := client.Exchange{URL: u, Method: http.MethodHead, SystemStore: true, Bare: true, Verbatim: true, Wire: wire}
	answer, err := t.client.Do(ctx, &x)
	if err == nil && (answer.Status == http.StatusForbidden || answer.Status == http.StatusMethodNotAllowed) {
		traces.AddNote(ctx, fmt.Sprintf("HEAD was answered with %d %s, so one byte is asked for", answer.Status, answer.Reason))
		x.Method, x.Header, x.Stream = http.MethodGet, http.Header{"Range": {"bytes=0-0"}}, true
		if answer, err = t.client.Do(ctx, &x); err == nil && answer.Stream != nil {
			_ = answer.Stream.Close() // all that the server may send is of no use
		}
	}
	if err != nil {
		return nil, err
	}
	if !answer.OK() {
		return nil, indirector.NotFound(traces.NilFrom404, fmt.Sprintf("%s %s: %d %s", x.Method, answer.URL.Redacted(), answer.Status, answer.Reason))
	}
	return answer, nil
}

// size returns the size of the whole file by the answer; negative if it has
// none.
func size(a *client.Answer) int64 {
	n, err := strconv.ParseInt(a.Header.Get("Content-Length"), 10, 64)
	if err != nil || a.Status == http.StatusPartialContent {
		return -1
	}
	return n
}

func parseURL(address string) (*url.URL, error) {
	bad := func(why string) error {
		return &indirector.Failure{Class: "URI::InvalidURIError", Message: fmt.Sprintf("bad URI(is not URI?): %q", address), Path: address, Hidden: why}
	}
	if i := strings.IndexFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r) }); i >= 0 {
		return nil, bad(fmt.Sprintf("the character at %d must be written as %%%02X", i, address[i]))
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, bad(err.Error())
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, bad("the terminus http takes addresses that begin with http:// or https:// and name a host")
	}
	u.Fragment = ""
	return u, nil
}

// metadata reads the headers. Rules TERM-HTTP-02, TERM-HTTP-03.
func (t *HTTP) metadata(ctx context.Context, resp *client.Answer, wanted string) (indirector.Instance, error) {
	// A header that comes twice is one to Ruby.
	header := func(name string) string { return strings.Join(resp.Header.Values(name), ", ") }
	sums := map[string]string{"mtime": "{mtime}" + t.env.Now().Local().Format("2006-01-02 15:04:05 -0700")}
	if v := header("Content-MD5"); v != "" {
		sums["md5"] = "{md5}" + hex.EncodeToString([]byte(psych.Unbase64(v)))
	}
	for _, kind := range []string{"md5", "sha1", "sha256"} {
		if v := header("X-Checksum-" + kind); v != "" {
			sums[kind] = "{" + kind + "}" + v
		}
	}
	modified := header("Last-Modified")
	if modified != "" {
		at, err := http.ParseTime(modified)
		if err != nil {
			return nil, &indirector.Failure{
				Class: "Date::Error", Message: "invalid date", Origin: "network", Path: resp.URL.Redacted(),
				Hidden: fmt.Sprintf("the header is Last-Modified: %q", modified), Err: err,
			}
		}
		sums["mtime"] = "{mtime}" + at.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	f := &model.FileMetadata{Path: "/dev/null", Links: "manage", Type: "file", Owner: data.Value{}, Group: data.Value{}, Mode: data.Value{}}
	for _, kind := range []string{wanted, "sha256", "sha1", "md5", "mtime"} {
		if sums[kind] != "" {
			f.ChecksumType, f.Checksum = kind, sums[kind]
			break
		}
	}
	if wanted != "" && f.ChecksumType != wanted {
		traces.AddNote(ctx, fmt.Sprintf("the server tells no %s; %s is taken", wanted, f.ChecksumType))
	}
	if sum := strings.TrimPrefix(f.Checksum, "{"+f.ChecksumType+"}"); f.ChecksumType != "mtime" && !isSum(f.ChecksumType, sum) {
		traces.Explain(ctx, fmt.Sprintf("what the server tells as %s is none, but %q; Puppet takes it, so the file looks changed every time", f.ChecksumType, sum))
	}
	if f.ChecksumType == "mtime" && modified == "" {
		traces.Explain(ctx, traces.NoValidators)
	}
	traces.AddNote(ctx, "owner, group and mode are missing: HTTP does not tell them")
	return f, nil
}

// isSum reports whether sum is the hexadecimal form of a checksum of that kind.
func isSum(kind, sum string) bool {
	b, err := hex.DecodeString(sum)
	return err == nil && len(b) == map[string]int{"md5": md5.Size, "sha1": sha1.Size, "sha256": sha256.Size}[kind]
}

// body is the contents of a file of a web server.
type body struct {
	from *HTTP
	url  *url.URL
	size int64
}

var _ model.Contents = (*body)(nil)

// Open asks for the whole file; it is read as it comes, and fails when nothing
// comes for too long.
func (b *body) Open() (io.ReadCloser, error) {
	answer, err := b.from.client.Do(context.Background(), &client.Exchange{
		URL: b.url, Method: http.MethodGet, SystemStore: true, Bare: true, Verbatim: true, Stream: true,
	})
	if err != nil {
		return nil, err
	}
	if !answer.OK() {
		return nil, &indirector.Failure{
			Class: "Puppet::HTTP::ResponseError", Message: fmt.Sprintf("Error %d on SERVER: %s", answer.Status, answer.Reason),
			Origin: "network", Path: answer.URL.Redacted(), Hidden: "the server had answered HEAD with success",
		}
	}
	return answer.Stream, nil
}

// Size returns the size that the server gave.
func (b *body) Size() int64 { return b.size }
