package probe

import (
	"encoding/json"
	"time"

	"indirtui/traces"
)

// Version is the version of the protocol.
const Version = 1

// What one connection may cost. More of it ends the connection.
const (
	maxLine    = 64 << 10 // bytes of a line
	maxValue   = 1 << 20  // bytes of a value, of all its parts
	maxValues  = 8 << 20  // bytes of values whose request has not ended
	maxOpen    = 1 << 14  // requests that run at the same time
	maxRoutes  = 1 << 12  // sets of candidates
	maxNotes   = 100      // lines of the log that are kept for a request
	maxNumbers = 1 << 15  // requests that have ended and may still be named
)

// An Attach is the first line of a process: what it is, and what can be done
// with it.
type Attach struct {
	Version   int         `json:"attach"`
	Conn      string      `json:"conn"` // 32 hexadecimal digits
	PID       int         `json:"pid"`
	Parent    int         `json:"ppid"`
	UID       int         `json:"uid"`
	Ruby      string      `json:"ruby"`
	Puppet    string      `json:"puppet"`
	Argv      string      `json:"argv"`
	App       string      `json:"app"` // "agent"; "" if it is not known
	Host      string      `json:"host"`
	Certname  string      `json:"certname"`
	Mono      int64       `json:"mono"`      // the monotonic clock, in nanoseconds,
	Wall      int64       `json:"wall"`      // when this was the time since the epoch
	Settings  [][3]string `json:"settings"`  // name, value, place
	Can       []string    `json:"can"`       // "hold", "edit.key", "value", …
	Lacks     [][2]string `json:"lacks"`     // a name of Puppet's that is not there, and what is lost
	Instances int         `json:"instances"` // of JRuby in a server; 0 is not known
	Borrow    int64       `json:"borrow"`    // how long requests wait for one, in nanoseconds; 0 is not known
}

// A listening is the first line of the connection that a process reads.
type listening struct {
	Version int    `json:"listen"`
	Conn    string `json:"conn"`
	PID     int    `json:"pid"`
}

// A value is a part of a value, which belongs to the request of that number.
type value struct {
	Request uint64 `json:"value"`
	Name    string `json:"name"` // "value" or "sent"
	Model   string `json:"model"`
	Part    int    `json:"part"` // from 1
	Parts   int    `json:"parts"`
	Text    string `json:"text"`
}

// A logged is a line of Puppet's log.
type logged struct {
	Level   string `json:"log"`
	Message string `json:"message"`
	Place   string `json:"place"`
	Count   int    `json:"count"` // so many times the same; 0 is once
	Request uint64 `json:"trace"` // that caused it; zero if none did
}

// An exchange is one over HTTP without a request around it.
type exchange struct {
	Number uint64 `json:"exchange"`
	At     int64  `json:"at"`
	Took   int64  `json:"took"`
	Method string `json:"method"`
	URL    string `json:"url"`
	Status int    `json:"status"`
	Reason string `json:"reason"`
	Bytes  int64  `json:"bytes"`
	Err    string `json:"err"`
	Place  string `json:"place"`
	Run    string `json:"run"`
}

// A Held is a request of a process that waits for a [Go].
type Held struct {
	Number   uint64          `json:"held"` // that of the probe
	Step     string          `json:"step"`
	Done     bool            `json:"done"` // the step was taken, else it comes
	Arm      int             `json:"arm"`
	At       int64           `json:"at"` // the monotonic clock of the process
	Thread   int64           `json:"thread"`
	Limit    time.Duration   `json:"limit"` // it goes on by itself then
	Key      string          `json:"key"`
	Flags    []string        `json:"flags"`
	Env      string          `json:"env"`
	Options  []Pair          `json:"options"`
	Terminus string          `json:"terminus"`
	Cache    string          `json:"cache"`
	Answer   *Answer         `json:"answer"`
	Error    *Raised         `json:"error"`
	Steps    json.RawMessage `json:"steps"`  // so far, as in a recording
	Spans    json.RawMessage `json:"spans"`  // likewise
	Faults   json.RawMessage `json:"faults"` // likewise
	Behind   []Limit         `json:"behind"` // the time limits of who waits for it
	started

	// Trace is the request so far. Its number is that of the store; it is the
	// receiver's.
	Trace   *traces.Trace `json:"-"`
	Process Process       `json:"-"`
}

// started is what a held line has of a request whose begin was not announced.
type started struct {
	Verb        string `json:"verb"`
	Ind         string `json:"ind"`
	Began       int64  `json:"began"`
	Parent      uint64 `json:"parent"`
	ParentStep  string `json:"pstep"`
	Caller      string `json:"caller"`
	App         string `json:"app"`
	Run         string `json:"run"`
	Route       uint64 `json:"route"`
	Traceparent string `json:"traceparent"`
}

// A Pair is an option of a request.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Answer is what a held request has been answered, or what is to be saved.
type Answer struct {
	Model    string `json:"model"`
	Text     string `json:"text"`     // JSON; "" if it is too long or has secrets
	Many     bool   `json:"many"`     // it is an array, the answer of a search
	Redacted int    `json:"redacted"` // secrets, because of which there is no text
}

// A Raised is an exception of Ruby.
type Raised struct {
	Class   string `json:"class"`
	Message string `json:"message"`
	Place   string `json:"place"`
}

// A Limit is a time limit by its name, as ["runtimeout", 3600000000000].
type Limit struct {
	Name string
	Left time.Duration
}

// UnmarshalJSON reads a pair of a name and nanoseconds.
func (l *Limit) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[2]any{&l.Name, &l.Left})
}

// An Arm is a breakpoint as far as a probe can test it. Empty fields match all.
type Arm struct {
	ID       int    `json:"arm"` // from 1
	Step     string `json:"step,omitempty"`
	Done     bool   `json:"done,omitempty"` // after the step, else before it
	Verb     string `json:"verb,omitempty"`
	Ind      string `json:"ind,omitempty"`
	Key      string `json:"key,omitempty"` // a glob
	Terminus string `json:"terminus,omitempty"`
	Once     bool   `json:"once,omitempty"`
	Nth      int    `json:"nth,omitempty"`
	Do       string `json:"do"` // "hold", "fail", "delay" or "set"
	Message  string `json:"message,omitempty"`
	Class    string `json:"class,omitempty"`
	Millis   int64  `json:"ms,omitempty"`
	Limit    int64  `json:"limit,omitempty"` // milliseconds; the probe's own if zero
	Only     uint64 `json:"only,omitempty"`  // this request alone
	Nested   bool   `json:"nested,omitempty"`
}

// A Go lets a held request go on.
type Go struct {
	Number   uint64             `json:"go"`
	Do       string             `json:"do"` // "continue", "step", "over" or "finish"
	Key      *string            `json:"key,omitempty"`
	Flags    map[string]bool    `json:"flags,omitempty"`
	Env      *string            `json:"env,omitempty"`
	Options  map[string]*string `json:"options,omitempty"` // nil takes the option away
	Terminus string             `json:"terminus,omitempty"`
	Cache    string             `json:"cache,omitempty"`
	Value    *GoValue           `json:"value,omitempty"`
	Nil      bool               `json:"nil,omitempty"`
	Fail     *GoFail            `json:"fail,omitempty"`
	Skip     bool               `json:"skip,omitempty"`
}

// A GoValue answers a held request.
type GoValue struct {
	Model  string `json:"model"`
	Format string `json:"format"` // "json"
	Text   string `json:"text"`
}

// A Piece is a part of the text of a [GoValue] that is too long for a line. All come
// before their Go, whose text is empty then.
type Piece struct {
	Number uint64 `json:"piece"` // the request
	Text   string `json:"text"`
}

// A GoFail lets a held request fail.
type GoFail struct {
	Class   string `json:"class,omitempty"`
	Message string `json:"message"`
}

// A Swap lets another terminus answer in a process.
type Swap struct {
	ID   int    `json:"swap"` // from 1
	Ind  string `json:"ind"`
	Slot string `json:"slot"` // "terminus" or "cache"
	To   string `json:"to"`
	For  string `json:"for"` // "thread" or "process"
	// Thread is the one that is meant, as in Held; zero for a process.
	Thread int64 `json:"thread,omitempty"`
}

// went is a held request that goes on.
type went struct {
	Number uint64 `json:"went"`
	Why    string `json:"why"` // "go", "limit" or "gone"
}

// swapped is a swap that was made, refused one that cannot be.
type (
	swapped struct {
		ID   int    `json:"swapped"`
		Ind  string `json:"ind"`
		Slot string `json:"slot"`
		To   string `json:"to"`
		Was  string `json:"was"`
		For  string `json:"for"`
	}
	refused struct {
		What string `json:"refused"` // "swap", "go" or "open"
		ID   int    `json:"id"`
		Why  string `json:"why"`
	}
	dropped struct {
		Lines uint64 `json:"dropped"`
	}
	bye struct {
		Version  int    `json:"bye"`
		Faults   int    `json:"faults"`
		Last     string `json:"last"`
		Requests uint64 `json:"requests"`
		Exit     int    `json:"exit"`
	}
)
