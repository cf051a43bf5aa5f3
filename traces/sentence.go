package traces

import (
	"cmp"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A sentence is what went wrong, in words for users.
type sentence struct {
	text  string
	known bool // a rule made it; else it is the message, without what servers put before it
	whole bool // what the message hides would add nothing
}

// Wrong returns what went wrong at a fault, in the fewest words and on one line:
// the note that explains it, or the sentence for Puppet's message. The message
// itself stays what it is. Several rows, recordings of other programs and faults
// without a step are fine: what is not known is left out.
func (t *Trace) Wrong(f *Fault) string {
	if note := t.explained(f.Step, AnyFailure); note != "" {
		return oneLine(note)
	}
	return t.sentence(f).text
}

// sentence is the sentence for the message of a fault, whatever notes there are.
func (t *Trace) sentence(f *Fault) sentence {
	message := oneLine(f.Message)
	if strings.HasPrefix(message, Ours) {
		return sentence{message, true, true}
	}
	if name, is := processorOf(f); is {
		return sentence{t.processed(f, name, strings.TrimPrefix(message, "Report processor failed: ")), true, false}
	}
	return t.diagnose(f, message)
}

// maxDiagnosed is the length from which a message is no message of Puppet's, but a
// body that something sent: it is not searched.
const maxDiagnosed = 4096

// diagnose looks for the rule of a message.
func (t *Trace) diagnose(f *Fault, message string) sentence {
	if len(message) > maxDiagnosed {
		return sentence{text: message}
	}
	if m := onServer.FindStringSubmatch(message); m != nil {
		inner := t.diagnose(&Fault{}, m[2]) // file and cause are known to the server only
		return sentence{strings.TrimSuffix("Error "+m[1]+": "+inner.text, ": "), true, false}
	}
	for i := range diagnoses {
		d := &diagnoses[i]
		if !slices.ContainsFunc(d.has, func(part string) bool { return strings.Contains(message, part) }) {
			continue
		}
		m := d.message.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		if text := d.sentence(t, f, m); text != "" {
			return sentence{text, true, d.whole}
		}
	}
	return sentence{text: tidy(message)}
}

// onServer is what Puppet makes of an answer that is an error.
var onServer = regexp.MustCompile(`^Error (\d+) on SERVER: ?(?:Server Error: )?(.*)$`)

// A diagnosis makes a sentence of one kind of message, or "" if it is not of that
// kind after all.
type diagnosis struct {
	has      []string // one of these must be in the message, which is faster to see
	message  *regexp.Regexp
	sentence func(t *Trace, f *Fault, m []string) string
	whole    bool
}

// diagnoses are the messages of Puppet, Ruby and OpenSSL that have a sentence. The
// first that applies is taken.
var diagnoses = []diagnosis{
	{[]string{"Could not find terminus "}, regexp.MustCompile(`^Could not find terminus (\S+) for indirection (\S+)$`), (*Trace).noTerminus, true},
	{[]string{"Could not find indirection "}, regexp.MustCompile(`^Could not find indirection '(.*)'$`), (*Trace).noIndirection, true},
	{[]string{"undefined method "}, regexp.MustCompile("^undefined method [`'](find|search|head|save|destroy)' for (?:an instance of |#<)"), (*Trace).cannotDo, true},
	{[]string{"Could not parse "}, regexp.MustCompile(`^Could not parse (\S+) data for \S+ .+?: (.*)$`), (*Trace).unreadable, false},
	{[]string{"Could not load external "}, regexp.MustCompile(`^Could not load external node results for .+?: (.*)$`), func(_ *Trace, f *Fault, m []string) string {
		return no("the classifier printed", "YAML", m[1], f.Hidden)
	}, false},
	{[]string{"Failed to deserialize "}, regexp.MustCompile(`^Failed to deserialize (?:multiple )?\S+ from (\S+): (.*)$`), func(_ *Trace, f *Fault, m []string) string {
		return no("the answer is", labelOf(m[1]), m[2], f.Hidden)
	}, false},
	{[]string{" via exec: "}, regexp.MustCompile(`^Failed to find .+ via exec: Execution of '.*' returned (-?\d+):? ?(.*)$`), func(_ *Trace, _ *Fault, m []string) string {
		return strings.TrimSuffix("the classifier failed (exit "+m[1]+"): "+m[2], ": ")
	}, false},
	{[]string{"Could not find a directory environment "}, regexp.MustCompile(`^Could not find a directory environment named '([^']+)' anywhere in the path: (\S+?)\.?(?: Does the directory exist\?)?$`), func(_ *Trace, _ *Fault, m []string) string {
		return "there is no environment " + m[1] + " in " + m[2]
	}, false},
	{[]string{"Forbidden request: "}, regexp.MustCompile(`^Forbidden request: (\S+) \(method :(\w+)\)`), func(_ *Trace, _ *Fault, m []string) string {
		return "auth.conf of the server forbids " + strings.ToUpper(m[2]) + " of " + m[1]
	}, false},
	{[]string{"<"}, regexp.MustCompile(`^\s*<(?i:!doctype|html|head|body|\?xml)\b`), func(*Trace, *Fault, []string) string {
		return "a page of HTML"
	}, false},
	{[]string{"No more routes "}, regexp.MustCompile(`^No more routes to (\S+)$`), func(_ *Trace, _ *Fault, m []string) string {
		return "no server could be reached (" + m[1] + ")"
	}, false},
	{[]string{"certificate verify failed "}, regexp.MustCompile(`certificate verify failed \[(.*) for (.*)\]`), func(_ *Trace, _ *Fault, m []string) string {
		return "the certificate of " + m[2] + " is not trusted: " + m[1]
	}, false},
	{[]string{"Server hostname "}, regexp.MustCompile(`Server hostname '(.*)' did not match server certificate; expected (.*)$`), func(_ *Trace, _ *Fault, m []string) string {
		return "the server's certificate is not for " + m[1] + ", but for " + strings.TrimPrefix(m[2], "one of ")
	}, false},
	{[]string{"Request to "}, regexp.MustCompile(`^Request to (\S+) (failed|timed out connect operation|timed out read operation|interrupted) after ([\d.]+) seconds(?:: (.*))?$`), (*Trace).exchange, false},
	{[]string{"connect(2) for "}, refused, func(_ *Trace, _ *Fault, m []string) string { return "connection refused by " + address(m) }, false},
	{[]string{"Connection refused"}, regexp.MustCompile(`^(?:.*: )?Connection refused$`), func(_ *Trace, f *Fault, _ []string) string {
		if m := dialed.FindStringSubmatch(f.Hidden); m != nil {
			return "connection refused by " + address(m)
		}
		return "connection refused"
	}, true},
	{errnos, regexp.MustCompile(`^(?:(.*?): )?(` + strings.Join(errnos, "|") + `)(?: @ (\w*))?(?: - (.+))?$`), (*Trace).systemError, true},
	{[]string{" @ "}, regexp.MustCompile(`^(?:(.*?): )?([A-Z][a-z]+(?:[ /][A-Za-z-]+)*) @ (\w+) - (.+)$`), (*Trace).systemError, true},
}

func (t *Trace) noTerminus(f *Fault, m []string) string {
	near, all := advice(f.Hidden)
	switch text := "there is no terminus " + m[1]; {
	case near != "":
		return text + "; did you mean " + near + "?"
	case all != "":
		return text + " of " + m[2] + "; there are " + all
	default:
		return text + " of " + m[2]
	}
}

func (t *Trace) noIndirection(f *Fault, m []string) string {
	text := "there is no indirection " + m[1]
	if near, _ := advice(f.Hidden); near != "" {
		text += "; did you mean " + near + "?"
	}
	return text
}

// advice returns the nearest name and all names, as they stand in what is hidden:
// "nearest: yaml; there are: exec, yaml".
func advice(hidden string) (near, all string) {
	for part := range strings.SplitSeq(hidden, "; ") {
		if name, ok := strings.CutPrefix(part, "nearest: "); ok {
			near = name
		}
		if names, ok := strings.CutPrefix(part, "there are: "); ok {
			all = names
		}
	}
	return near, all
}

// cannotDo is about a verb that the terminus or the cache lacks. That another
// object lacks a method of that name is another error.
func (t *Trace) cannotDo(f *Fault, m []string) string {
	switch {
	case f.Step == CacheRead || f.Step == CacheWrite:
		return t.cache() + " cannot do " + m[1]
	case f.Step == Terminus && m[1] == t.Verb.String():
		return t.subject() + " cannot do " + m[1]
	}
	return ""
}

// unreadable is about a file whose content is not in the format of its terminus.
func (t *Trace) unreadable(f *Fault, m []string) string {
	about := "the file is"
	switch name := base(f.Path); {
	case f.Step == CacheRead && t.Indirection == "facts":
		about = "the cached facts are"
	case f.Step == CacheRead:
		about = "the cached " + t.Indirection + " is"
	case name != "":
		about = name + " is"
	}
	return no(about, m[1], m[2], f.Hidden)
}

// no is "the cached facts are no JSON: cut off at byte 40". What is in the format,
// but not what it should be, cannot be read.
func no(about, format, problem, hidden string) string {
	problem = interned.ReplaceAllString(problem, "")
	switch {
	case hidden == emptyFile:
		return about + " no " + format + ": " + hidden
	case ended.MatchString(problem) || strings.Contains(hidden, tooEarly):
		return about + " no " + format + ": cut off" + end(problem, hidden)
	case syntax.MatchString(problem):
		return about + " no " + format + ": " + position.ReplaceAllString(problem, "in line $1, column $2")
	}
	if is := copula.FindString(about); is != "" {
		return strings.TrimSuffix(about, is) + " cannot be read: " + problem
	}
	return about + " what cannot be read: " + problem
}

// What may stand in what is hidden about a file that cannot be read.
const (
	emptyFile = "the file is empty"
	tooEarly  = "ends too early"
)

var copula = regexp.MustCompile(` (?:is|are)$`)

var (
	// interned is what formats put before the problem: their name, the file, and
	// the line of the parser's own source.
	interned = regexp.MustCompile(`^(?:Could not intern from \S+: )?(?:\([^()]*\): )?(?:\d+: )?`)
	// ended are the problems of those decoders that know that the input ended.
	ended    = regexp.MustCompile(`^(?:unexpected end\b|end of buffer reached|found unexpected end of stream|unexpected token at ''$)`)
	syntax   = regexp.MustCompile(`\bunexpected\b|\bexpected '|\bat line \d|extra bytes|invalid byte`)
	position = regexp.MustCompile(`\bat line (\d+) column (\d+)`)
	size     = regexp.MustCompile(`^the file has (\d+) bytes`)
)

// end is where the input ended, if that is known: " at byte 40".
func end(problem, hidden string) string {
	if m := size.FindStringSubmatch(hidden); m != nil {
		return " at byte " + m[1]
	}
	if m := position.FindStringSubmatch(problem); m != nil {
		return " in line " + m[1] + ", column " + m[2]
	}
	return ""
}

// labelOf is what users call a format: "JSON" of "rich_data_json".
func labelOf(format string) string {
	switch name := strings.TrimPrefix(format, "rich_data_"); name {
	case "msgpack":
		return "MessagePack"
	case "json", "yaml", "pson":
		return strings.ToUpper(name)
	}
	return format
}

// exchange is about a request over the network that got no answer.
func (t *Trace) exchange(_ *Fault, m []string) string {
	host, cause := m[1], m[4]
	if u, err := url.Parse(m[1]); err == nil && u.Host != "" {
		host = u.Host
	}
	switch m[2] {
	case "timed out connect operation":
		return "no connection to " + host + " within " + seconds(m[3])
	case "timed out read operation":
		return "no answer from " + host + " within " + seconds(m[3])
	case "interrupted":
		return host + " closed the connection before its answer was complete"
	}
	opened := open.FindStringSubmatch(cause)
	if opened != nil {
		host, cause = opened[1], opened[2]
	}
	name, _, _ := strings.Cut(host, ":")
	switch tls := secure.FindStringSubmatch(cause); {
	case strings.HasPrefix(cause, "Connection refused"):
		return "connection refused by " + host
	case strings.HasPrefix(cause, "getaddrinfo: Name or service not known"):
		return "the name " + name + " has no address (DNS)"
	case strings.HasPrefix(cause, "getaddrinfo: "):
		return "the name " + name + " cannot be looked up now (DNS)"
	case opened != nil:
		return "no connection to " + host + ": " + lower(cause)
	case tls != nil:
		return "TLS with " + host + " failed: " + tls[1]
	case strings.HasPrefix(cause, "wrong status line"):
		return host + " does not speak HTTP"
	}
	return "no answer from " + host + ": " + lower(cause)
}

var (
	open    = regexp.MustCompile(`^Failed to open TCP connection to (\S+) \((.*?)(?: - connect\(2\) for .*)?\)$`)
	secure  = regexp.MustCompile(`^SSL_(?:connect returned=.* state=[^:]*|read): (.*)$`)
	refused = regexp.MustCompile(`Connection refused (?:- |\()` + dialed.String())
	dialed  = regexp.MustCompile(`connect\(2\) for "?([^" )]+)"?(?: port (\d+))?`)
)

// address is host and port of a refused connection.
func address(m []string) string { return strings.TrimSuffix(m[1]+":"+m[2], ":") }

// seconds are rounded: how long was waited is a setting.
func seconds(s string) string {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s + " s"
	}
	if n >= 1 {
		n = math.Round(n)
	}
	return strconv.FormatFloat(n, 'g', -1, 64) + " s"
}

// errnos are the texts of the system that also come without the name of a call.
var errnos = []string{
	"Is a directory", "Not a directory", "Permission denied", "Operation not permitted", "No such file or directory",
	"No space left on device", "Read-only file system", "File exists", "Directory not empty", "File name too long",
	"Too many levels of symbolic links", "Too many open files", "Disk quota exceeded", "Input/output error",
}

// systemError is about a call of the operating system, as Ruby words it: "Is a
// directory @ rb_file_s_rename - (/tmp/a, /tmp/b)".
func (t *Trace) systemError(f *Fault, m []string) string {
	before, what, call := m[1], m[2], m[3]
	if routine.MatchString(before) {
		before = ""
	}
	name := meant(f, call, m[4])
	text := t.system(f, what, call, name)
	if name == "" {
		text = lower(what)
	}
	if before != "" {
		return before + ": " + text
	}
	return text
}

// routine is what stands before an error of the system and repeats what the list
// has beside it.
var routine = regexp.MustCompile(`^(?:Could not (?:read|write|save|load|open)\b|Errno::)`)

// system returns what the system reports about a file.
func (t *Trace) system(f *Fault, what, call, name string) string {
	switch what {
	case "Is a directory":
		return name + " is a directory"
	case "Not a directory":
		if call == "dir_s_mkdir" {
			return "a file is in the way of the directory " + name
		}
		return "a directory above " + name + " is a file"
	case "Permission denied":
		return "permission denied for " + name
	case "No such file or directory":
		if f.Step == CacheWrite || t.Verb == Save || call == "dir_s_mkdir" {
			return "the directory of " + name + " does not exist"
		}
		return "there is no " + name
	case "No space left on device":
		return "no space is left on the disk for " + name
	case "Read-only file system":
		return name + " is on a read-only file system"
	case "File exists":
		if call == "dir_s_mkdir" {
			return "a file is in the way of the directory " + name
		}
		return name + " exists already"
	case "Directory not empty":
		return "the directory " + name + " is not empty"
	case "File name too long":
		return "the file name " + name + " is too long"
	case "Too many levels of symbolic links":
		return name + " is a symbolic link that leads back to itself"
	case "Disk quota exceeded":
		return "the disk quota is used up for " + name
	}
	return lower(what) + ": " + name
}

// meant is the name of the file that an error of the system is about: what is
// written first under a name beside it is what was to be written.
func meant(f *Fault, call, path string) string {
	if from, to, two := strings.Cut(path, ", "); two && strings.HasPrefix(from, "(") {
		return base(strings.TrimSuffix(to, ")"))
	}
	if i := strings.LastIndex(path, ": /"); i >= 0 {
		path = path[i+2:] // Ruby repeats the error before it
	}
	if call != "dir_s_mkdir" && f.Path != "" && directory(path) == directory(f.Path) {
		return base(f.Path)
	}
	return base(path)
}

// base is the last part of a path; "" of an address and of "".
func base(path string) string {
	if strings.Contains(path, "://") {
		return ""
	}
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

func directory(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// lower is a text within a sentence.
func lower(s string) string {
	if len(s) > 1 && 'A' <= s[0] && s[0] <= 'Z' && 'a' <= s[1] && s[1] <= 'z' {
		return string(s[0]+'a'-'A') + s[1:]
	}
	return s
}

// processorOf returns the report processor that failed, if one did.
func processorOf(f *Fault) (name string, is bool) {
	return strings.CutPrefix(f.Origin, "terminus processor › ")
}

// processed is about a report processor. Puppet goes on with the next.
func (t *Trace) processed(f *Fault, name, message string) string {
	subject := "the report processor " + name
	if m := unsubmitted.FindStringSubmatch(message); m != nil {
		why := cmp.Or(plainLine(f.Hidden), m[2])
		if m[1] < "500" {
			return subject + " was refused (" + m[1] + "): " + why
		}
		return subject + " got error " + m[1] + ": " + why
	}
	text := t.diagnose(f, message).text
	if by, is := strings.CutPrefix(text, "connection refused "); is {
		return subject + " was refused " + by
	}
	return subject + " failed: " + text
}

var unsubmitted = regexp.MustCompile(`^Unable to submit report to \S+ \[(\d{3})\] (.*)$`)

// plainLine is the first line of a body if it is a text that fits into a sentence;
// else "".
func plainLine(body string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	if len(line) > 80 || strings.HasPrefix(line, "<") || strings.HasPrefix(line, "{") || line == "the answer has no body" {
		return ""
	}
	return line
}

// tidy is a message without what servers put before and behind what matters.
func tidy(message string) string {
	message = preamble.ReplaceAllString(message, "")
	if strings.Contains(message, " on node ") {
		message = onNode.ReplaceAllString(message, "")
	}
	message = unknownVariable.ReplaceAllString(message, "Unknown variable $1")
	if !strings.Contains(message, "(file: ") {
		return message
	}
	return place.ReplaceAllStringFunc(message, func(s string) string {
		m := place.FindStringSubmatch(s)
		return ", " + manifest(m[1]) + " line " + m[2]
	})
}

var (
	preamble        = regexp.MustCompile(`^(?:Server Error: )?(?:Evaluation Error: )?(?:Error while evaluating an? [A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)*, )?`)
	onNode          = regexp.MustCompile(` on node \S+$`)
	unknownVariable = regexp.MustCompile(`^Unknown variable: ('[^']*')`)
	place           = regexp.MustCompile(`\.? \(file: ([^,()]+), line: (\d+)(?:, column: \d+)?\)`)
	inModule        = regexp.MustCompile(`([^/]+)/([^/]+/(?:manifests|templates|functions|types|plans|lib)/.+)$`)
)

// manifest is how a file of Puppet code is called: with its module, as every module
// has an init.pp.
func manifest(path string) string {
	if m := inModule.FindStringSubmatch(path); m != nil && m[1] != "environments" {
		return m[2]
	}
	return base(path)
}

// oneLine is a message on one line, without the piece of source and the exception
// within that Ruby and Puppet write below it.
func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\nWrapped exception:")
	if len(s) <= maxDiagnosed && strings.Contains(s, "\n\n") {
		s = highlight.ReplaceAllString(s, "")
	}
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", " ")
}

var highlight = regexp.MustCompile(`\n\n.*\n\s+\^+\s*$`)
