package rest

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// Content-Types of answers, in Puppet Server's spelling. Rule REST-FMT-08.
var (
	jsonType    = []string{"application/json;charset=utf-8"}
	contentType = map[string][]string{
		"json":              jsonType,
		"rich_data_json":    {"application/vnd.puppet.rich+json; charset=utf-8"},
		"rich_data_msgpack": {"application/vnd.puppet.rich+msgpack"},
		"msgpack":           {"application/x-msgpack"},
		"pson":              {"text/pson"},
		"yaml":              {"text/yaml"},
		"dot":               {"text/dot"},
		"s":                 {"text/plain;charset=utf-8"},
		"binary":            {"application/octet-stream"},
	}
	vary    = []string{"Accept-Encoding, User-Agent"}
	gzipped = []string{"gzip"}
)

// accepted returns the entries of the Accept header.
func (c *call) accepted() []string {
	var all []string
	for _, line := range c.r.Header["Accept"] {
		for entry := range strings.SplitSeq(line, ",") {
			if entry = strings.TrimSpace(entry); entry != "" {
				all = append(all, entry)
			}
		}
	}
	return all
}

// formats returns the formats for the answer, most wanted first. Missing
// replaces a missing Accept. Rules REST-FMT-03, REST-FMT-04.
func (c *call) formats(missing string) ([]*format.Format, error) {
	accepted := c.accepted()
	lines := c.r.Header["Accept"]
	if len(lines) == 0 {
		if missing == "" {
			return nil, refuse(http.StatusBadRequest, MissingHeaderField, msgNoAccept)
		}
		accepted, lines = []string{missing}, []string{missing}
	}
	supported := []string{"json"}
	if class, ok := model.Lookup(c.req.Indirection); ok {
		supported = class.Formats
	}
	suitable := format.Suitable(accepted, supported)
	if len(suitable) == 0 {
		return nil, refuse(http.StatusNotAcceptable, UnsupportedFormat, msgNotAcceptable, strings.Join(lines, ", "))
	}
	return suitable, nil
}

// do runs the request and reports whether there is still an answer to render.
func (c *call) do() (indirector.Response, bool) {
	resp, err := c.h.x.Do(c.r.Context(), c.req)
	located := (*indirector.Error)(nil)
	if c.trace = resp.Trace; errors.As(err, &located) {
		c.trace = located.Trace
	}
	switch {
	case c.broken:
		panic(http.ErrAbortHandler)
	case c.taken, c.verbatim(resp, err):
		return resp, false
	case err != nil:
		c.unanswered(err)
		return resp, false
	}
	return resp, true
}

// take sends contents while the request still runs, so that its trace has them.
// All else is sent afterwards.
func (c *call) take(ctx context.Context, resp indirector.Response) error {
	contents := contentsOf(resp.Instance())
	if contents == nil {
		return nil
	}
	binary, _ := format.ByName("binary")
	if w := c.wants.Wire; w == nil || w.Status == 0 {
		if formats, err := c.formats(""); err != nil || formats[0] != binary {
			return nil // find reports it
		}
	}
	c.taken = true
	return c.stream(ctx, contents, binary)
}

// find answers with an instance. Puppet finds it before it looks at Accept.
func (c *call) find() {
	if c.h.o.CodeID != nil && c.req.Indirection == "catalog" && !c.h.o.PassThrough {
		id, err := c.h.o.CodeID(c.r.Context(), c.req.Environment)
		if err != nil {
			c.fail(internal(err), traces.Route)
			return
		}
		c.req.Options = append(c.req.Options, indirector.Option{Name: "code_id", Value: id})
	}
	c.wants.Take = c.take
	resp, ok := c.do()
	if !ok {
		return
	}
	inst := resp.Instance()
	if inst == nil || inst == indirector.False {
		c.unanswered(indirector.ErrNotFound)
		return
	}
	formats, err := c.formats("")
	if err != nil {
		c.fail(err, traces.Caller)
		return
	}
	buffer := buffers.Get().(*[]byte)
	defer keep(buffer)
	for _, f := range formats {
		b, renderErr := format.Append((*buffer)[:0], f, inst)
		if renderErr != nil {
			err = renderErr // the next format may do: REST-FMT-05
			continue
		}
		*buffer = b
		c.send(f, b)
		return
	}
	c.h.o.Log.Debug("no format could be rendered", "indirection", c.req.Indirection, "key", c.req.Key, "err", err)
	c.fail(refuse(http.StatusNotAcceptable, UnsupportedFormat, msgNotAcceptable, mediaTypes(formats)), traces.Caller)
}

func mediaTypes(formats []*format.Format) string {
	types := make([]string, len(formats))
	for i, f := range formats {
		types[i] = f.MediaType
	}
	return strings.Join(types, ", ")
}

func contentsOf(inst indirector.Instance) model.Contents {
	switch x := inst.(type) {
	case *model.FileContent:
		return x.Contents
	case *model.FileBucketFile:
		return x.Contents
	}
	return nil
}

func (c *call) head() {
	resp, ok := c.do()
	if !ok {
		return
	}
	if resp.Value != true {
		c.unanswered(indirector.ErrNotFound)
		return
	}
	c.w.Header()["X-Puppet-Version"] = c.h.version
	c.finish(http.StatusOK, nil)
}

// save stores the body. Puppet looks at Accept before it looks at the body.
// Rules REST-FMT-03, REST-FMT-07.
func (c *call) save() {
	formats, err := c.formats("application/json")
	if err == nil {
		err = c.h.space.readInstance(c.r, c.req)
	}
	if err != nil {
		c.unserved(err)
		return
	}
	if contents, ok := contentsOf(c.req.Instance).(*stream); ok {
		defer contents.end()
		if w := c.wants.Wire; w != nil && c.kept != nil {
			w.Came.Body, c.kept.off = nil, true
		}
	} else if w := c.wants.Wire; w != nil && c.kept != nil {
		w.Came.Again = c.kept.ended
	}
	if report, ok := c.req.Instance.(*model.Report); ok && report.TransactionUUID != "" && (c.req.Run == "" || c.req.RunGuessed) {
		c.req.Run = report.TransactionUUID
		c.joinRun()
	}
	if !c.h.o.PassThrough { // Puppet saves instance and key only
		c.req.Options, c.req.Flags = slices.DeleteFunc(c.req.Options, func(o indirector.Option) bool { return o.Name != "transaction_uuid" }), 0
	}
	if resp, ok := c.do(); ok {
		c.result(formats[0], resp.Value)
	}
}

func (c *call) destroy() {
	formats, err := c.formats("application/json")
	if err != nil {
		c.unserved(err)
		return
	}
	if resp, ok := c.do(); ok {
		c.result(formats[0], resp.Value)
	}
}

// result answers with the result of a verb: 0, 1, null, ["store"], a file.
func (c *call) result(f *format.Format, v any) {
	if inst, ok := v.(indirector.Instance); ok {
		if contents := contentsOf(inst); contents != nil && f.Name == "binary" {
			if err := c.stream(c.r.Context(), contents, f); err != nil {
				c.refused(asError(err), traces.Caller)
			}
			if c.broken {
				panic(http.ErrAbortHandler)
			}
			return
		}
		b, err := format.Append(nil, f, inst)
		if err != nil {
			c.fail(err, traces.Caller)
			return
		}
		c.send(f, b)
		return
	}
	value, err := valueOf(v)
	var b []byte
	switch {
	case err != nil:
	case c.legacy:
		f, _ = format.ByName("yaml") // of Puppet 2.6 to 3, whatever is accepted
		b = yaml(value)
	case strings.HasSuffix(f.Name, "msgpack"):
		b, err = format.AppendMsgpack(nil, value)
	case f.Name == "pson":
		b, err = format.AppendPSON(nil, value)
	case f.Name == "s", f.Name == "binary":
		b = []byte(value.Text())
	default:
		b, err = format.AppendJSON(nil, value)
	}
	if err != nil {
		c.fail(err, traces.Caller)
		return
	}
	c.send(f, b)
}

// search answers with a list, sent as it is found. An error before the first
// piece is full is answered like any other.
func (c *call) search() {
	p := &piece{c: c}
	var list *format.ListWriter
	var refused error
	open := func() error {
		formats, err := c.formats("")
		if err != nil {
			refused = err
			return err
		}
		p.format = formats[0]
		list = format.NewListWriter(p, p.format)
		return nil
	}
	through := false
	c.wants.Yield = func(i indirector.Instance) error {
		switch w := c.wants.Wire; {
		case w != nil && w.Status != 0:
			return nil // its bytes are passed on
		case through:
			return errTooLate
		}
		if list == nil {
			if err := open(); err != nil {
				return err
			}
		}
		return list.Add(i)
	}
	if c.wants.Wire != nil && !c.h.x.Holds() {
		c.wants.Wire.Through = func() io.Writer {
			through = true
			c.passOn(c.wants.Wire)
			return c.out()
		}
	}
	defer p.release()
	resp, err := c.h.x.Do(c.r.Context(), c.req)
	if err == nil {
		c.trace = resp.Trace
	}
	switch {
	case through && c.wants.Wire.Passed:
		c.endPassed() // whatever was made of it here
		return
	case through:
		panic(http.ErrAbortHandler) // a broken answer must not look complete
	case p.lost != nil:
		c.lost(p.lost)
	case c.verbatim(resp, err):
		return
	case refused != nil:
		c.write(asError(refused))
		return
	case err != nil:
		c.unanswered(err)
		return
	}
	if list == nil {
		if err := open(); err != nil {
			c.fail(err, traces.Caller)
			return
		}
	}
	found, _ := resp.Value.([]indirector.Instance)
	p.finish(list, found)
}

// errTooLate reports a list replaced after it was passed on.
var errTooLate = errors.New("the list was handed on as it came, and cannot be replaced any more")

// firstPiece is how much of a list is gathered before it is sent, in bytes. An
// error before that still gets its own status.
const firstPiece = 256 << 10

// A piece gathers the beginning of an answer of unknown length and sends the
// rest as it comes.
type piece struct {
	c      *call
	format *format.Format
	buffer *[]byte
	zip    *gzip.Writer
	lost   error // the client did not take it
}

func (p *piece) Write(b []byte) (int, error) {
	if p.buffer == nil {
		p.buffer = buffers.Get().(*[]byte)
		*p.buffer = (*p.buffer)[:0]
	}
	*p.buffer = append(*p.buffer, b...)
	if len(*p.buffer) < firstPiece {
		return len(b), nil
	}
	return len(b), p.flush()
}

func (p *piece) flush() error {
	if !p.c.committed {
		if p.c.answer(p.format, -1) {
			p.zip = zip(p.c.out())
		}
		p.c.commit(http.StatusOK)
	}
	var w io.Writer = p.c.out()
	if p.zip != nil {
		w = p.zip
	}
	_, err := w.Write(*p.buffer)
	*p.buffer = (*p.buffer)[:0]
	p.lost = err
	return err
}

// finish adds the instances that were not yielded, and ends the answer.
func (p *piece) finish(list *format.ListWriter, rest []indirector.Instance) {
	var err error
	for _, i := range rest {
		if err = list.Add(i); err != nil {
			break
		}
	}
	if err == nil {
		err = list.Close()
	}
	switch {
	case p.lost != nil:
		p.c.lost(p.lost)
	case err != nil:
		p.c.fail(err, traces.Caller)
	default:
		p.end()
	}
}

// end sends the rest.
func (p *piece) end() {
	if !p.c.committed {
		p.c.send(p.format, *p.buffer)
		return
	}
	err := p.flush()
	if p.zip != nil && err == nil {
		err = p.zip.Close()
	}
	if err != nil {
		p.c.lost(err)
	}
}

func (p *piece) release() {
	if p.buffer != nil {
		keep(p.buffer)
	}
	if p.zip != nil {
		zips.Put(p.zip)
	}
}

// answer sets the headers of an answer of size bytes, -1 if unknown. It reports
// whether to compress it, as Puppet Server does unless it is tiny.
func (c *call) answer(f *format.Format, size int64) bool {
	h := c.w.Header()
	if !c.bare {
		h["X-Puppet-Version"] = c.h.version
	}
	if t, ok := contentType[f.Name]; ok {
		h["Content-Type"] = t
	} else {
		h.Set("Content-Type", f.MediaType)
	}
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodPost {
		if size >= 0 {
			h["Content-Length"] = []string{strconv.FormatInt(size, 10)}
		}
		return false
	}
	h["Vary"] = vary
	const tiny = 32
	if (size < 0 || size >= tiny) && acceptsGzip(c.r.Header["Accept-Encoding"]) {
		h["Content-Encoding"] = gzipped
		return true
	}
	if size >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(size, 10)}
	}
	return false
}

// acceptsGzip reports whether gzip is accepted with a quality above zero.
func acceptsGzip(lines []string) bool {
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, ",") {
			name, q, _ := strings.Cut(entry, ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				return q == "" || strings.ContainsAny(q, "123456789")
			}
		}
	}
	return false
}

// send answers with a body in memory.
func (c *call) send(f *format.Format, b []byte) {
	compressed := c.answer(f, int64(len(b)))
	c.commit(http.StatusOK)
	var err error
	if compressed {
		z := zip(c.out())
		_, err = z.Write(b)
		err = errors.Join(err, z.Close())
		zips.Put(z)
	} else {
		_, err = c.out().Write(b)
	}
	if err != nil {
		c.lost(err)
	}
}

// out writes the body, with a new time limit for each write.
func (c *call) out() io.Writer { return limited{c} }

type limited struct{ c *call }

func (l limited) Write(b []byte) (int, error) {
	l.c.mayWrite(len(b))
	if l.c.passed != nil {
		return l.c.passed.Write(b)
	}
	return l.c.w.Write(b)
}

// mayWrite sets the time limit for writing n bytes.
func (c *call) mayWrite(n int) {
	_ = c.rc.SetWriteDeadline(earliest(c.r.Context(), time.Now().Add(c.h.o.Stall+transfer(int64(n)))))
}

// flush sends what net/http has buffered.
func (l limited) flush() { _ = l.c.rc.Flush() } // the next write returns the error

var (
	buffers = sync.Pool{New: func() any { return new([]byte) }}
	zips    = sync.Pool{New: func() any {
		z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil { // for unknown levels only
			panic(err)
		}
		return z
	}}
)

func zip(w io.Writer) *gzip.Writer {
	z := zips.Get().(*gzip.Writer)
	z.Reset(w)
	return z
}

// keep returns a buffer to the pool, unless it is too large.
func keep(b *[]byte) {
	if cap(*b) <= 4<<20 {
		buffers.Put(b)
	}
}

// valueOf returns the result of a terminus as data.
func valueOf(v any) (data.Value, error) {
	switch v := v.(type) {
	case nil:
		return data.Value{}, nil
	case bool:
		return data.OfBool(v), nil
	case int:
		return data.OfInt(int64(v)), nil
	case int64:
		return data.OfInt(v), nil
	case string:
		return data.OfString(v), nil
	case []string:
		return data.OfStrings(v), nil
	case data.Value:
		return v, nil
	}
	return data.Value{}, refuse(http.StatusInternalServerError, RuntimeError, "the terminus answered with a %T, which goes over no network", v)
}

// yaml writes a scalar or a list of strings.
func yaml(v data.Value) []byte {
	if v.Kind() != data.List {
		return []byte("--- " + v.Text() + "\n")
	}
	b := []byte("---\n")
	for _, e := range v.List() {
		b = append(b, "- "+strconv.Quote(e.Text())+"\n"...)
	}
	return b
}

// notForwarded are the headers of a request that are not sent with one that is
// written anew: those of the body, and those that are written anew, too.
// Contents are requested whole.
var notForwarded = []string{"Content-Type", "Content-Encoding", "Expect", "Accept", "Traceparent", "Range", "If-Range"}

// Forwarded returns the headers of a request that came to send with one that is
// written anew. Only encodings that can be decoded are offered.
func Forwarded(h map[string][]string) map[string][]string {
	sent := make(map[string][]string, len(h))
	for name, values := range h {
		if !slices.Contains(notForwarded, name) {
			sent[name] = values
		}
	}
	if lines, ok := sent["Accept-Encoding"]; ok {
		delete(sent, "Accept-Encoding")
		if known := knownCodings(lines); known != "" {
			sent["Accept-Encoding"] = []string{known}
		}
	}
	return sent
}

// knownCodings leaves out unknown encodings.
func knownCodings(lines []string) string {
	all := strings.Join(lines, ",")
	var known []string
	for entry := range strings.SplitSeq(all, ",") {
		name, _, _ := strings.Cut(entry, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip", "deflate", "identity":
			known = append(known, entry)
		}
	}
	if len(known) == strings.Count(all, ",")+1 {
		return all
	}
	return strings.TrimSpace(strings.Join(known, ","))
}

// passOn begins to answer with what came from another server.
func (c *call) passOn(w *indirector.Wire) {
	c.committed = true
	c.mayWrite(0)
	answer := Passed{Status: w.Status, Reason: w.Reason, Header: w.Header, Trailer: w.Trailer, Chunked: w.Chunked}
	passed, err := answer.Begin(c.w, c.r)
	c.passed = passed
	if err != nil {
		c.lost(err)
	}
}

// endPassed ends an answer that was passed on.
func (c *call) endPassed() {
	_ = c.passed.Close()
	c.passed = nil
}

// verbatim passes on what came over the network, if it is the answer: the
// bytes, or the other side's error.
func (c *call) verbatim(resp indirector.Response, err error) bool {
	w := c.wants.Wire
	if w == nil || !w.Kept || resp.Served == traces.ByCache {
		return false
	}
	located := (*indirector.Error)(nil)
	if errors.As(err, &located) && located.Point.Step != traces.Terminus {
		return false
	}
	c.passOn(w)
	body := w.Body
	if w.Coded != nil {
		body = w.Coded
	}
	c.put(body)
	c.endPassed()
	return true
}
