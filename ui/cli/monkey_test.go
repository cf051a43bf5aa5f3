package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"go.uber.org/goleak"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/ui/uitest"
)

// monkeyKeys are what it presses most: all that does something somewhere, and
// words for prompts.
var monkeyKeys = strings.Fields(`j k G g h l H L enter enter enter esc esc esc tab shift+tab 1 2 3 4 5 d D space y f . t < > ] [ } {
	/ n N F m ' z Z q q ~ ? ctrl+p ctrl+u ctrl+d pgup pgdown home end backspace up down left right
	b B r R c C s o O e i u a x X I = w v V W Y M ctrl+x ctrl+t ctrl+r ctrl+o ctrl+c ctrl+z f5 f10 f11 3j 999999k web01 out=stale ind=facts json story incident terminus=yaml`)

// monkeyLines are lines behind the colon. What is real is a site that the test
// has made, so that they may write.
var monkeyLines = strings.Split(`replay run=8f3c dry
replay key=db07.example.com
diff find node web01.example.com terminus=exec,plain
diff #3 #9
diff run 0001 0002
find facts web01.example.com
find node db07.example.com
find catalog web01.example.com
search facts *
head facts app03.example.com
route node terminus=yaml
route facts terminus=yaml dry
route reset
route export
recordings
ignore
ignore parameters/*
ignore off
watch failed
watch off
filter hidden
filter
filter key~web and ms>1
log
group run
group none
sort key
sort ms desc
sort #
show Cache
show #12
settings
settings vardir
mark #4 a
note #4 something about it
story
help codes
break ind=facts do hold once
break ind=facts after cache read do hold first 3
break verb=find before terminus do hold every 5
break ind=facts do delay 2ms jitter 2ms
break ind=facts do fail 503 'nobody there' 20%
break ind=node do nil every 7
break key~web do truncate 40%
break ind=facts do log key,env first 50
break 1 off
break remove 1
breaks
breaks off
breaks off
breaks on
hold
step
over
finish
continue
continue all
set key=app03.example.com
set env=testing
restore
inject fail 500 broken
inject nil
abort
fault node 503 50%
fault node off
swap facts retry(json,2)
write on
write off
save facts @nothing.json
destroy facts nobody.example.com confirm=nobody.example.com
save monkey.jsonl run=0001
export csv monkey.csv run=0002
export otlp monkey.json failed
export story monkey.txt run=0001
find facts
nonsense`, "\n")

// monkeyTexts are pasted, and keys of what is asked: they command a terminal, are
// wide, or are nothing at all.
var monkeyTexts = []string{
	"out=stale", "ind=facts and", "\x1b[2J\x1b[H", "\x1b]0;title\x07", "a\r\nb\tc", "\x00\x01\x7f", "\u009b31m", "\u202egnp.exe", "\u200b\u200d\ufeff",
	"e\u0301\u0301", "日本語のとても長いテキスト", "👩‍👩‍👧‍👦🇩🇪👍🏽", strings.Repeat("very-long-", 500), "\xff\xfe\xc3", "'\"`\\", "%s%d%!", "-1", "99999999999999999999",
}

// A gesture is one thing that a user does.
type gesture struct {
	keys  []string
	paste string
	mouse *tea.MouseMsg
	size  [2]int // width and height; of the terminal
}

func (g gesture) String() string {
	switch {
	case g.mouse != nil:
		return fmt.Sprintf("mouse %d,%d %v", g.mouse.X, g.mouse.Y, *g.mouse)
	case g.paste != "":
		return fmt.Sprintf("paste %.20q", g.paste)
	case g.size != [2]int{}:
		return fmt.Sprintf("%dx%d", g.size[0], g.size[1])
	}
	return strings.Join(g.keys, " ")
}

// gestureOf is the next one, for a terminal of some size. The same dice give the
// same ones.
func gestureOf(r *rand.Rand, width, height int) gesture {
	switch n := r.IntN(1000); {
	case n < 40:
		return gesture{keys: []string{":", monkeyLines[r.IntN(len(monkeyLines))], "enter"}}
	case n < 60: // any letter at all
		return gesture{keys: []string{string(rune(' ' + r.IntN('~'-' '+1)))}}
	case n < 75:
		return gesture{paste: monkeyTexts[r.IntN(len(monkeyTexts))]}
	case n < 105:
		m := tea.MouseMsg{X: r.IntN(width + 5), Y: r.IntN(height + 5), Action: tea.MouseAction(r.IntN(3)), Button: tea.MouseButton(r.IntN(6))}
		return gesture{mouse: &m}
	case n < 125:
		if r.IntN(5) == 0 { // too small to show anything
			return gesture{size: [2]int{1 + r.IntN(70), 1 + r.IntN(20)}}
		}
		return gesture{size: [2]int{60 + r.IntN(140), 16 + r.IntN(44)}}
	}
	return gesture{keys: []string{monkeyKeys[r.IntN(len(monkeyKeys))]}}
}

// An errand is how long a monkey goes on: INDIRTUI_MONKEY is how many gestures,
// or a time as "10m"; INDIRTUI_MONKEY_SEED makes them others.
type errand struct {
	many int
	end  time.Time
	seed uint64
}

func errandOf(t *testing.T, many int) errand {
	t.Helper()
	e := errand{many: many, seed: 2025}
	if text := os.Getenv("INDIRTUI_MONKEY_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("INDIRTUI_MONKEY_SEED: %v", err)
		}
		e.seed = seed
	}
	if text := os.Getenv("INDIRTUI_MONKEY"); text != "" {
		n, err := strconv.Atoi(text)
		if err == nil {
			e.many = n
			return e
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("INDIRTUI_MONKEY: %q is neither a number nor a time as 10m", text)
		}
		e.end = time.Now().Add(d)
	}
	return e
}

func (e errand) done(n int) bool {
	if e.end.IsZero() {
		return n >= e.many
	}
	return time.Now().After(e.end)
}

// A watchdog ends the test program, with all that waits in it, when nothing has
// happened for too long.
type watchdog struct{ timer *time.Timer }

const tooLong = 9 * time.Minute

func watch(t *testing.T) *watchdog {
	w := &watchdog{time.AfterFunc(tooLong, func() {
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		panic("the monkey hangs") // a failed test would wait for what hangs
	})}
	t.Cleanup(func() { w.timer.Stop() })
	return w
}

func (w *watchdog) alive() { w.timer.Reset(tooLong) }

// A jungle is a session over the demo site in which there is always something
// going on.
type jungle struct {
	program *program
	session *workspace
	end     func()
}

// grow starts a session, the demo in it, and those who ask. They end with the
// test, which fails if they leave something behind.
func grow(t *testing.T) *jungle {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(t.TempDir())
	p := &program{Streams: Streams{Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
	p.ui = interactive{demo: true, ascii: true}
	configure(t, p, "")
	s, err := viewer{p}.session()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var traffic sync.WaitGroup
	traffic.Go(func() {
		if err := ignoreCanceled(s.play(ctx)); err != nil {
			t.Error(err)
		}
	})
	for i := range 6 {
		traffic.Go(func() { ask(ctx, s.engine, i) })
	}
	j := &jungle{program: p, session: s}
	j.end = sync.OnceFunc(func() {
		s.engine.Debugger.SetOff(true) // what is held is let go
		cancel()
		traffic.Wait()
		if err := s.close(); err != nil {
			t.Error(err)
		}
		if v := s.guard.Exit().Panic; v != nil {
			t.Errorf("in the background: %v\n%s", v, s.guard.Exit().Stack)
		}
		if !t.Failed() {
			goleak.VerifyNone(t, before)
		}
	})
	t.Cleanup(j.end)
	return j
}

// ask asks until the context ends.
func ask(ctx context.Context, e *engine.Engine, seed int) {
	r := rand.New(rand.NewPCG(uint64(seed), 5))
	keys := []string{"web01.example.com", "db07.example.com", "app03.example.com"}
	for n := 0; ctx.Err() == nil; n++ {
		req := &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: keys[r.IntN(len(keys))], Caller: "agent", Run: fmt.Sprintf("%04x", n/5)}
		switch r.IntN(8) {
		case 0, 1:
			req.Verb = indirector.Head
		case 2:
			req.Indirection, req.Verb = "node", indirector.Find
		case 3:
			req.Key = monkeyTexts[r.IntN(len(monkeyTexts))]
		}
		if r.IntN(3) == 0 {
			req.Flags = traces.IgnoreTerminus
		}
		_, _ = e.Once(ctx, req) // whether it fails does not matter
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestMonkey does at random what a user can do, always the same, while
// requests come in. Nothing panics, nothing hangs, every frame is exact, what is
// typed arrives, and in the end nothing is left.
func TestMonkey(t *testing.T) {
	errand := errandOf(t, 1500)
	j := grow(t)
	r := rand.New(rand.NewPCG(11, errand.seed))
	m := &monkey{t: t, jungle: j, width: 80, height: 24, log: newMonkeyLog(t, j), dog: watch(t)}
	m.start()
	for n := 0; !errand.done(n); n++ {
		m.do(gestureOf(r, m.width, m.height))
		if r.IntN(30) == 0 {
			m.player.Wait(time.Minute)
		}
		if r.IntN(400) == 0 {
			m.probe(n)
		}
		m.log.after(n)
		m.dog.alive()
	}
	m.probe(-1)
	m.rest()
	m.log.sum()
	m.player.Sync()
	if err := j.session.log.Flush(); err != nil {
		t.Fatal(err)
	}
}

// A monkey plays keys to the program without a terminal, and sees every frame.
type monkey struct {
	t             *testing.T
	jungle        *jungle
	player        *uitest.Player
	width, height int
	done          []string // the last gestures
	log           *monkeyLog
	dog           *watchdog
}

func (m *monkey) start() {
	s := m.jungle.session
	cfg := viewer{m.jungle.program}.config(m.t.Context(), s, func(func() (*workspace, error)) tea.Cmd { return tea.Quit })
	cfg.Save = func(name, _ string) (string, int, error) { return name, 0, nil }
	m.player = uitest.New(m.t, cfg, m.width, m.height)
	m.player.Held = func() int { return heldByYou(s.engine) }
	m.player.Patience = 100 * time.Millisecond
}

// heldByYou is how many requests wait that the player has sent: those of the
// traffic wait for themselves.
func heldByYou(e *engine.Engine) int {
	n := 0
	for _, h := range e.Debugger.Held() {
		if h.Request.Caller == "you" || h.State.Trace.Parent != 0 {
			n++
		}
	}
	return n
}

func (m *monkey) do(g gesture) {
	m.t.Helper()
	if m.done = append(m.done, g.String()); len(m.done) > 20 {
		m.done = m.done[1:]
	}
	m.player.Busy = 0
	switch {
	case g.mouse != nil:
		m.player.Send(*g.mouse)
		m.player.Sync()
	case g.paste != "":
		m.player.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(g.paste), Paste: true})
		m.player.Sync()
	case g.size != [2]int{}:
		m.width, m.height = g.size[0], g.size[1]
		m.player.Size(m.width, m.height)
	default:
		m.player.Keys(g.keys...)
	}
	drawn := time.Now()
	frame := m.player.Raw()
	m.log.frame(m.player.Busy + time.Since(drawn))
	if what := uitest.Wrong(frame, m.width, m.height); what != "" {
		m.t.Fatalf("%dx%d after %q: %s", m.width, m.height, m.done, what)
	}
	if m.player.Quit {
		m.rest()
		m.start()
	}
}

// rest lets everything come to an end.
func (m *monkey) rest() {
	m.t.Helper()
	m.dog.alive()
	d := m.jungle.session.engine.Debugger
	defer d.SetOff(d.Off())
	d.SetOff(true) // also of what is held anew
	for range 3 {  // what waits may begin something that is waited for
		m.player.Wait(time.Minute)
		m.dog.alive()
		if !m.player.Rest(tooLong - time.Minute) {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
			m.t.Fatalf("after %q: a command does not end", m.done)
		}
	}
}

// probe closes all that is open, and types a word that must be seen.
func (m *monkey) probe(n int) {
	m.t.Helper()
	m.rest()
	if m.width < 80 || m.height < 24 {
		m.do(gesture{size: [2]int{80, 24}})
	}
	for range 40 {
		m.do(gesture{keys: []string{"esc"}})
	}
	word := fmt.Sprintf("probe%d", n)
	m.player.Keys(":", word)
	if !strings.Contains(m.player.Frame(), word) {
		m.player.Wait(time.Minute) // of a request that is held anew
	}
	if frame := m.player.Frame(); !strings.Contains(frame, word) {
		m.t.Fatalf("after %q: %q was typed and is not there:\n%s", m.done, word, frame)
	}
	m.player.Keys("esc")
}

// A monkeyLog reports how fast the program is, and how large, as time goes on.
type monkeyLog struct {
	t     *testing.T
	j     *jungle
	began time.Time
	next  time.Time
	took  []time.Duration // of this period
	all   []time.Duration
	most  uint64 // bytes of the heap
}

// period is how often a monkeyLog speaks.
const period = time.Minute

func newMonkeyLog(t *testing.T, j *jungle) *monkeyLog {
	now := time.Now()
	return &monkeyLog{t: t, j: j, began: now, next: now.Add(period)}
}

func (l *monkeyLog) frame(d time.Duration) { l.took = append(l.took, d) }

func (l *monkeyLog) after(n int) {
	if time.Now().Before(l.next) {
		return
	}
	l.next = l.next.Add(period)
	l.add(fmt.Sprintf("%d gestures", n), l.took)
	l.all = append(l.all, l.took...)
	l.took = l.took[:0]
}

func (l *monkeyLog) add(what string, took []time.Duration) {
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	l.most = max(l.most, mem.HeapAlloc)
	slices.Sort(took)
	at := func(percent int) time.Duration {
		if len(took) == 0 {
			return 0
		}
		return took[min(len(took)*percent/100, len(took)-1)].Round(10 * time.Microsecond)
	}
	s := l.j.session.log.Stats()
	l.t.Logf("%s: %s, %d requests, held %d; frame p50 %v p99 %v max %v; heap %d MB, %d goroutines",
		time.Since(l.began).Round(time.Second), what, s.Total, s.Held, at(50), at(99), at(100), mem.HeapAlloc>>20, runtime.NumGoroutine())
}

// sum reports on all, and fails if memory has no bound.
func (l *monkeyLog) sum() {
	l.all = append(l.all, l.took...)
	l.add(fmt.Sprintf("%d frames", len(l.all)), l.all)
	if l.most > memoryLimit {
		l.t.Errorf("%d MB are in use, the limit is %d MB", l.most>>20, memoryLimit>>20)
	}
	if l.j.session.log.Stats().Total < 10 {
		l.t.Error("there was no traffic")
	}
}
