package terminustest

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"indirtui/indirector"
	"indirtui/traces"
)

// A Recorder keeps all traces, in the order in which they ended. The zero Recorder
// is ready for use. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	begun uint64
	ended []*traces.Trace
}

var _ traces.Recorder = (*Recorder)(nil)

func (r *Recorder) Begin(*traces.Trace) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	return r.begun
}

func (r *Recorder) End(t *traces.Trace, _ any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, t.Completed())
}

// All returns the traces that have ended.
func (r *Recorder) All() []*traces.Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ended)
}

// Last returns the newest trace. It panics if there is none.
func (r *Recorder) Last() *traces.Trace {
	all := r.All()
	return all[len(all)-1]
}

// A LogLine is what was logged once, with Puppet's name of the level.
type LogLine struct {
	Level   string `json:"level"`
	Message string `json:"message"`
}

func (l LogLine) String() string { return l.Level + " " + l.Message }

// A Log is a handler of slog that keeps lines. It is safe for concurrent use.
type Log struct {
	Least slog.Level // what is below is not kept; zero is info

	mu    sync.Mutex
	lines []LogLine
}

var _ slog.Handler = (*Log)(nil)

var levels = map[slog.Level]string{
	slog.LevelDebug: "debug", slog.LevelInfo: "info", indirector.LevelNotice: "notice",
	slog.LevelWarn: "warning", slog.LevelError: "err", indirector.LevelCritical: "crit",
}

func (l *Log) Enabled(_ context.Context, level slog.Level) bool { return level >= l.Least }
func (l *Log) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *Log) WithGroup(string) slog.Handler                    { return l }

func (l *Log) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, LogLine{levels[r.Level], r.Message})
	return nil
}

// String is every line, with a newline between them.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	texts := make([]string, len(l.lines))
	for i, line := range l.lines {
		texts[i] = line.String()
	}
	return strings.Join(texts, "\n")
}

// Take returns the lines since the last call.
func (l *Log) Take() []LogLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}
