package fleet

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// Bounds of one transaction, and of what a column holds.
const (
	maxRows  = 1000
	maxBytes = 8 << 20
	maxText  = 512 // bytes; the line has all of it
	maxSeq   = 1<<53 - 1
)

// columns are those of traces in the order of row, without instance and arrived.
var columns = []string{
	"instance", "sequence", "at", "arrived", "took", "verb", "indirection", "key", "environment", "caller", "outcome", "served", "terminus", "cache",
	"set_by", "cache_set_by", "run", "transaction", "run_guessed", "parent", "previous", "replay", "good", "flags", "cache_written", "touched",
	"lost", "origin", "problem", "size", "traceparent", "sent", "line",
}

// A batch is what one transaction adds: lines of a recording from one place to
// another.
type batch struct {
	instance func(from string) int // of a request that names one, or none
	pack     *packer
	arrived  int64 // requests before this batch
	from, to place
	missing  int // parts that were removed before they were shipped
	lines    int
	bytes    int
	rows     [][]any
	seen     map[int64]bool // sequences of rows
	days     map[time.Time]bool
	values   map[string][]byte // lines by digest
	used     map[string]bool   // digests
	runs     map[runKey]*runRow
	bare     int // requests without detail
	damaged  int
	over     bool // the recording was closed
}

// A runRow is a run as one instance has seen it.
type runRow struct {
	instance    int32
	Run         string    `json:"run"`
	Node        string    `json:"node"`
	Transaction string    `json:"transaction"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Requests    int       `json:"requests"`
}

func newBatch(from place, z *packer, arrived int64, instance func(string) int) *batch {
	return &batch{
		instance: instance, pack: z, arrived: arrived, from: from, to: from, seen: map[int64]bool{}, days: map[time.Time]bool{}, values: map[string][]byte{},
		used: map[string]bool{}, runs: map[runKey]*runRow{},
	}
}

func (b *batch) empty() bool { return b.lines == 0 && b.missing == 0 && b.from == b.to }

// fill reads lines until the batch is large enough or nothing is left.
func (b *batch) fill(q *queue, most int) error {
	for len(b.rows) < most && b.bytes < maxBytes && b.lines < 4*most-3 {
		line, err := q.next()
		if err != nil {
			return err
		}
		if line == nil {
			missing, turned, err := q.turn()
			if err != nil || !turned {
				return err
			}
			b.missing += missing
			b.over = false
			b.to = q.place
			continue
		}
		b.lines++
		b.bytes += len(line)
		b.to = q.place
		if err := b.add(line); err != nil {
			return err
		}
	}
	return nil
}

// add takes in one line. What cannot be read is counted; the error is one of
// compressing.
func (b *batch) add(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		if len(line) != 1 {
			b.damaged++
		}
		return nil
	}
	c, err := store.ReadCopied(line)
	switch {
	case err != nil:
		b.damaged++
	case c.End:
		b.over = true // until more comes
	case c.Body != "":
		if _, known := b.values[c.Body]; !known {
			b.values[c.Body], err = b.pack.pack(line)
		}
	case c.Head != nil:
		return b.addRow(line, &c)
	}
	if err != nil && c.Body == "" {
		return nil
	}
	return err
}

func (b *batch) addRow(line []byte, c *store.Copied) error {
	h := c.Head
	if h.Trace > maxSeq || h.Parent > maxSeq || h.Previous > maxSeq || h.Good > maxSeq || b.seen[int64(h.Trace)] {
		b.damaged++
		return nil
	}
	packed, err := b.pack.pack(line)
	if err != nil {
		return err
	}
	b.seen[int64(h.Trace)] = true
	at := h.Time.UTC().Truncate(time.Microsecond)
	b.days[at.Truncate(24*time.Hour)] = true
	for _, d := range c.Digests {
		if _, err := hex.DecodeString(d); err == nil && len(d) == 64 {
			b.used[d] = true
		}
	}
	if h.Lost {
		b.bare++
	}
	b.addRun(h)
	b.rows = append(b.rows, []any{
		b.instance(h.From), int64(h.Trace), at, b.arrived + int64(len(b.rows)) + 1, h.Took, text(h.Verb), text(h.Indirection), text(h.Key), text(h.Environment), text(h.Caller),
		text(h.Outcome), text(h.Served), text(h.Terminus), text(h.Cache), text(h.SetBy), text(h.CacheSetBy), text(h.Run), text(h.Transaction),
		h.Guessed, int64(h.Parent), int64(h.Previous), h.Replay, int64(h.Good), text(strings.Join(h.Flags, ",")), h.CacheWrote, h.Touched,
		h.Lost, text(h.Origin), text(h.Fault), int64(h.Size), text(c.Traceparent), sentBy(h, c.Sent), packed,
	})
	return nil
}

// sentBy are the ids that the traceparents of what the request sent have, so that
// who received it is found.
func sentBy(h *store.Head, spans []int) string {
	const enough = 64
	var ids []string
	for _, n := range spans[:min(len(spans), enough)] {
		id := traces.WorkID(h.Trace, h.Time, n)
		ids = append(ids, hex.EncodeToString(id[:]))
	}
	return strings.Join(ids, " ")
}

// addRun counts a request for its run.
func (b *batch) addRun(h *store.Head) {
	if h.Run == "" {
		return
	}
	k := runKey{int32(b.instance(h.From)), text(h.Run)}
	r := b.runs[k]
	if r == nil {
		r = &runRow{instance: k.instance, Run: k.run, First: h.Time, Last: h.Time}
		b.runs[k] = r
	}
	r.Requests++
	if h.Time.Before(r.First) {
		r.First = h.Time
	}
	if end := h.Time.Add(time.Duration(h.Took)); end.After(r.Last) {
		r.Last = end
	}
	r.Transaction = cmp.Or(r.Transaction, text(h.Transaction))
	r.Node = cmp.Or(r.Node, text(nodeOf(h)))
}

// nodeOf is the certname that a request is about or from; "" if that is not known.
func nodeOf(h *store.Head) string {
	if name, ok := strings.CutPrefix(h.Caller, "agent "); ok {
		return name
	}
	switch h.Indirection {
	case "catalog", "facts", "node", "report":
		return h.Key
	}
	return ""
}

// text is a text as a column holds it: short, and without NUL.
func text(s string) string {
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText-len("…")], "") + "…"
	}
	return s
}

// sortedRuns are the runs in the order in which every shipper locks them.
func (b *batch) sortedRuns() []*runRow {
	all := slices.Collect(maps.Values(b.runs))
	slices.SortFunc(all, func(x, y *runRow) int {
		return cmp.Or(cmp.Compare(x.instance, y.instance), cmp.Compare(x.Run, y.Run))
	})
	if all == nil {
		all = []*runRow{} // which JSON must not have as null
	}
	return all
}

// digests returns digests as bytes, in order, so that two shippers lock them in
// the same.
func digests[V any](m map[string]V) (all [][]byte) {
	for _, d := range slices.Sorted(maps.Keys(m)) {
		b, _ := hex.DecodeString(d) // it is one
		all = append(all, b)
	}
	return all
}

// A packer compresses lines with gzip, which everything can read.
type packer struct{ w *gzip.Writer }

func newPacker() *packer {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // which is a level
	return &packer{w}
}

func (p *packer) pack(line []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(line)/3 + 64)
	p.w.Reset(&out)
	if _, err := p.w.Write(bytes.TrimRight(line, "\n")); err != nil {
		return nil, fmt.Errorf("compress a line: %w", err)
	}
	if err := p.w.Close(); err != nil {
		return nil, fmt.Errorf("compress a line: %w", err)
	}
	return out.Bytes(), nil
}

// unpack is the opposite of pack. What comes is bounded.
func unpack(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decompress a line: %w", err)
	}
	line, err := io.ReadAll(io.LimitReader(r, maxLine+1))
	if err == nil && len(line) > maxLine {
		err = fmt.Errorf("it is longer than %d bytes", maxLine)
	}
	if err != nil {
		return nil, fmt.Errorf("decompress a line: %w", err)
	}
	return line, nil
}
