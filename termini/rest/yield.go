package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/network/client"
	"indirtui/traces"
)

// Limits in bytes: of an instance in a list, and of a list read as a whole.
const (
	maxElement = 64 << 20
	maxList    = 256 << 20
)

// keptList is how much of a list is kept for a caller that passes it on, in
// bytes as they arrive. Longer ones are streamed.
const keptList = 1 << 20

// A yielder also gives each match as it arrives: of a list in JSON it holds one
// instance at a time. Lists in other formats, or whose bytes are wanted, are
// read as a whole, unless they are passed on and long. A list that breaks off
// is an error after its instances.
type yielder struct{ searcher }

func (t yielder) Yield(ctx context.Context, req *indirector.Request, give func(indirector.Instance) error) error {
	w := req.Wire()
	if w != nil && w.KeepBody && w.Through == nil {
		all, err := t.Search(ctx, req)
		return giveAll(all, err, give)
	}
	answer, err := t.ask(ctx, req, true)
	if err != nil {
		return err
	}
	if !answer.OK() {
		return t.unlisted(ctx, req, answer)
	}
	f, err := t.formatOf(ctx, answer)
	if w != nil && w.KeepBody {
		return t.yieldOn(ctx, w, answer, f, err, give)
	}
	if err != nil {
		return errors.Join(err, answer.Stream.Close())
	}
	if f.Name == "json" {
		err := t.elements(ctx, answer, f, answer.Stream, give)
		if closed := answer.Stream.Close(); err == nil {
			err = closed
		}
		return err
	}
	answer.Body, err = io.ReadAll(newBounded(answer.Stream, maxList))
	if closed := answer.Stream.Close(); err == nil {
		err = closed
	}
	return t.giveList(ctx, answer, err, give)
}

// giveList gives the instances of a whole body.
func (t *service) giveList(ctx context.Context, answer *client.Answer, err error, give func(indirector.Instance) error) error {
	if err != nil {
		return err
	}
	all, err := t.internMany(ctx, answer)
	if err == nil && len(all) == 0 {
		traces.Explain(ctx, noneListed(answer))
	}
	return giveAll(all, err, give)
}

// yieldOn gives a list that is also passed on: kept if it is short, streamed if
// it is long and in JSON. All of it is passed on, also if it is invalid.
// Unknown is the error of an unknown format.
func (t *service) yieldOn(ctx context.Context, w *indirector.Wire, answer *client.Answer, f *format.Format, unknown error, give func(indirector.Instance) error) error {
	most := keptList
	if unknown == nil && f.Name != "json" {
		most = maxList
	}
	came, err := io.ReadAll(io.LimitReader(answer.Stream, int64(most)+1))
	switch {
	case err != nil:
		return errors.Join(err, answer.Stream.Close())
	case len(came) <= most:
		answer.Body = came
		if answer.Coding != "" {
			answer.Body, err = decoded(came)
			w.Coded = came
		}
		w.Body, w.Kept = answer.Body, true
		if err = errors.Join(err, answer.Stream.Close(), unknown); err != nil {
			return err
		}
		return t.giveList(ctx, answer, nil, give)
	case most == maxList:
		return errors.Join(&indirector.Failure{Class: "Puppet::HTTP::HTTPError", Message: fmt.Sprintf("the answer is longer than %d bytes", most), Origin: "network"}, answer.Stream.Close())
	}
	passing := &passing{from: io.MultiReader(bytes.NewReader(came), answer.Stream), to: w.Through()}
	err = unknown
	if err == nil {
		err = t.through(ctx, answer, f, passing, give)
	}
	if passing.lost == nil && ctx.Err() == nil {
		_, rest := io.Copy(io.Discard, passing) // its reader gets an invalid list, too
		err = errors.Join(err, rest)
	}
	w.Passed = passing.all
	if closed := answer.Stream.Close(); err == nil {
		err = closed
	}
	return err
}

func (t *service) through(ctx context.Context, answer *client.Answer, f *format.Format, from io.Reader, give func(indirector.Instance) error) error {
	if answer.Coding != "" {
		plain, err := client.Decode(from)
		if err != nil {
			return t.undecoded(answer, f, newBounded(from, 0), 0, err)
		}
		from = plain
	}
	return t.elements(ctx, answer, f, from, give)
}

// A passing body is passed on as it is read.
type passing struct {
	from io.Reader
	to   io.Writer
	lost error // it could not be passed on
	all  bool  // read and passed on to the end
}

func (p *passing) Read(b []byte) (int, error) {
	if p.lost != nil {
		return 0, p.lost
	}
	n, err := p.from.Read(b)
	if n > 0 {
		if _, lost := p.to.Write(b[:n]); lost != nil {
			p.lost = fmt.Errorf("hand the answer on: %w", lost)
			return n, p.lost
		}
	}
	p.all = errors.Is(err, io.EOF)
	return n, err
}

func giveAll(all []indirector.Instance, err error, give func(indirector.Instance) error) error {
	for i := 0; err == nil && i < len(all); i++ {
		err = give(all[i])
	}
	return err
}

// elements gives the instances of a list in JSON, one by one.
func (t *service) elements(ctx context.Context, a *client.Answer, f *format.Format, from io.Reader, give func(indirector.Instance) error) (err error) {
	_, span := traces.Start(ctx, traces.Codec, "decode "+f.Name+" as it comes")
	r := newBounded(from, maxElement)
	n := 0
	defer func() {
		span.End(fmt.Sprintf("%d instances of %d bytes", n, r.came), traces.Because{Reason: traces.FormatAccepted, About: f.MediaType}, err)
	}()
	list := json.NewDecoder(r)
	first, err := list.Token()
	if err != nil {
		return t.undecoded(a, f, r, n, err)
	}
	if first != json.Delim('[') {
		return t.undecoded(a, f, r, n, errors.New("the answer is no list"))
	}
	for list.More() {
		var element json.RawMessage
		if err := list.Decode(&element); err != nil {
			return t.undecoded(a, f, r, n, err)
		}
		r.left = r.most
		inst, notes, err := format.Intern(f, t.env.Indirection, element, format.Options{})
		if err != nil {
			if e := (*format.Error)(nil); errors.As(err, &e) && e.Err != nil {
				err = e.Err
			}
			return t.undecoded(a, f, r, n, err)
		}
		if n == 0 {
			for _, note := range notes {
				traces.AddNote(ctx, note)
			}
		}
		if err := give(inst); err != nil {
			return err
		}
		n++
	}
	if _, err := list.Token(); err != nil { // the end of the list
		return t.undecoded(a, f, r, n, err)
	}
	rest, err := io.ReadAll(io.LimitReader(io.MultiReader(list.Buffered(), r), 4<<10))
	if err != nil {
		return t.undecoded(a, f, r, n, err)
	}
	if rest = bytes.TrimSpace(rest); len(rest) > 0 {
		return t.undecoded(a, f, r, n, fmt.Errorf("unexpected %s after the list", strconv.QuoteToASCII(string(rest[:min(len(rest), 20)]))))
	}
	if n == 0 {
		traces.Explain(ctx, noneListed(a))
	}
	return nil
}

// undecoded returns the error of a list that cannot be read to its end. Network
// errors are the client's.
func (t *service) undecoded(a *client.Answer, f *format.Format, r *bounded, n int, err error) error {
	if r.err != nil {
		return r.err
	}
	return &indirector.Failure{
		Class:   "Puppet::HTTP::SerializationError",
		Message: fmt.Sprintf("Failed to deserialize multiple %s from %s: %s", t.class, f.Name, err),
		Origin:  "decode", Path: a.URL.Redacted(), Err: err,
		Hidden: fmt.Sprintf("%s answered %d with a list that cannot be read to its end: %d given away, %d bytes had come; %v", a.Candidate, a.Status, n, r.came, err),
	}
}

// A bounded reader fails after that many bytes, unless left is reset. It keeps
// the error.
type bounded struct {
	from       io.Reader
	most, left int
	came       int64
	err        error // nil at the end
}

func newBounded(from io.Reader, most int) *bounded {
	return &bounded{from: from, most: most, left: most}
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.err = &indirector.Failure{Class: "Puppet::HTTP::HTTPError", Message: fmt.Sprintf("the answer has a part that is longer than %d bytes", b.most), Origin: "network"}
		return 0, b.err
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	b.came += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
