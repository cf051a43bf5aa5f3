package traces

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

// The ids of requests in OpenTelemetry and W3C Trace Context. They follow from
// the trace, so that every recording and export has the same.

// TraceID returns the id of a run's trace: the run if it is a UUID, as Puppet's
// transaction_uuid is. The other result is false if it is not.
func TraceID(run string) (id [16]byte, ok bool) {
	if len(run) != 36 || run[8] != '-' || run[13] != '-' || run[18] != '-' || run[23] != '-' {
		return id, false
	}
	b, err := hex.DecodeString(strings.ReplaceAll(run, "-", ""))
	if err != nil || len(b) != len(id) {
		return id, false
	}
	copy(id[:], b)
	return id, id != [16]byte{}
}

// RootID returns the id of the trace of a request without a parent whose run is
// no UUID: names of runs come again. Its nested requests belong to it too.
func RootID(id uint64, start time.Time) [16]byte { return [16]byte(digest("trace", id, start, 0)) }

// SpanID is the id of a request, made of its number and of when it began.
func SpanID(id uint64, start time.Time) [8]byte { return spanID("request", id, start, 0) }

// StepID is the id of a step of a request.
func StepID(id uint64, start time.Time, s Step) [8]byte { return spanID("step", id, start, int(s)) }

// WorkID is the id of a Span of a request.
func WorkID(id uint64, start time.Time, span int) [8]byte { return spanID("work", id, start, span) }

func spanID(kind string, id uint64, start time.Time, n int) [8]byte {
	sum := digest(kind, id, start, n)
	return [8]byte(sum[:8])
}

func digest(kind string, id uint64, start time.Time, n int) [16]byte {
	b := append([]byte(kind), 0)
	b = binary.BigEndian.AppendUint64(b, id)
	b = binary.BigEndian.AppendUint64(b, uint64(start.UnixNano()))
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(n)))
	sum[0] |= 1 // an id of zeros is none
	return [16]byte(sum[:16])
}

// Parent returns the traceparent header for a request sent within ctx by span
// a, which becomes the parent on the other side. It is "" if nothing is
// recorded. Rule: W3C Trace Context, 3.2.
func (a *Active) Parent() string {
	if a == nil {
		return ""
	}
	l := a.live
	id, start, run := l.origin()
	if id == 0 {
		return ""
	}
	trunk, ok := TraceID(run)
	if theirs := TraceparentOf(l.Context); theirs != nil {
		trunk, ok = theirs.Trace, true
	}
	if !ok {
		root, began := id, start
		for up := FromContext(l.Context); up != nil; up = FromContext(up.Context) {
			n, at, _ := up.origin()
			if n == 0 {
				break
			}
			root, began = n, at
		}
		trunk = RootID(root, began)
	}
	own := WorkID(id, start, a.span.ID)
	return "00-" + hex.EncodeToString(trunk[:]) + "-" + hex.EncodeToString(own[:]) + "-01"
}

// origin is what ids are made of, also when the request has ended.
func (l *Live) origin() (id uint64, start time.Time, run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return l.id, time.Unix(0, l.start), l.run
	}
	return l.Trace.ID, l.Trace.Start, l.Trace.Run
}
