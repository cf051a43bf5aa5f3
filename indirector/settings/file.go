package settings

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFile is the size in bytes beyond which a configuration file is refused.
const maxFile = 4 << 20

// sections are the sections of puppet.conf.
var sections = []string{"main", "server", "master", "agent", "user"}

// An entry is one line of a configuration file that sets something.
type entry struct {
	section, name string
	value         raw
	line          int
	owner         string // "", or from { owner = … }
	group, mode   string
}

// A raw is a value before interpolation. Files and the command line turn true
// and false into booleans, which some types then refuse.
type raw struct {
	text string
	kind kind
}

type kind uint8

const (
	nothing kind = iota
	text
	boolean
	later // a default that is worked out when it is needed
)

// A ParseError is the first thing in a configuration file that cannot be
// understood. Puppet logs it and then ignores the whole file.
type ParseError struct {
	File   string
	Line   int
	Detail string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Detail)
}

var (
	fileOptions = regexp.MustCompile(`\{\s*([^}]+)\s*\}`)
	fileOption  = regexp.MustCompile(`^\s*(\w+)\s*=\s*(\w+)\s*$`)
)

// blank is Ruby's white space.
const blank = " \t\r\n\f\v"

// readFile returns the content of a file, one byte more than parse accepts at
// most.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// parse reads the ini format of puppet.conf and environment.conf. Lines before
// the first section belong to main; a section may appear again. There are no
// comments behind a value. If allowed is nil, any section is good.
func parse(file string, data []byte, allowed []string) ([]entry, error) {
	fail := func(line int, format string, args ...any) error {
		return &ParseError{File: file, Line: line, Detail: fmt.Sprintf(format, args...)}
	}
	if len(data) > maxFile {
		return nil, fail(1, "the file is larger than %d bytes", maxFile)
	}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return nil, fail(1, "the file begins with a byte order mark, which Puppet does not understand; save it without")
	}
	if !utf8.Valid(data) {
		return nil, fail(badLine(data), msgEncoding)
	}
	var entries []entry
	section := "main"
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		trimmed := strings.Trim(line, blank)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if name, ok := sectionName(trimmed); ok {
			if allowed != nil && !slices.Contains(allowed, name) {
				return nil, fail(number, msgSection, name, strings.Join(allowed, ", "))
			}
			section = name
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.Trim(name, blank)
		if !ok || !isWord(name) {
			return nil, fail(number, msgNoMatch+"; it is no setting, section or comment", shorten(trimmed))
		}
		e := entry{section: section, name: name, value: translate(strings.Trim(value, blank)), line: number}
		if err := e.takeMetadata(); err != nil {
			return nil, fail(number, "%s: %v", name, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func badLine(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[n:]
	}
	return line
}

func sectionName(line string) (string, bool) {
	if line[0] != '[' || line[len(line)-1] != ']' {
		return "", false
	}
	name := line[1 : len(line)-1]
	return name, isWord(name)
}

func isWord(s string) bool {
	for _, r := range s {
		if !unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc) {
			return false
		}
	}
	return s != ""
}

// translate does what Puppet does to every value of a file and of the command
// line: true and false become booleans, one quote at either end goes.
func translate(s string) raw {
	if strings.EqualFold(s, "true") || strings.EqualFold(s, "false") {
		return raw{strings.ToLower(s), boolean}
	}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s = s[1:]
	}
	if s != "" && (s[len(s)-1] == '"' || s[len(s)-1] == '\'') {
		s = s[:len(s)-1]
	}
	return raw{strings.TrimRight(s, blank), text}
}

// takeMetadata takes "{ owner = service, mode = 0640 }" out of a value.
func (e *entry) takeMetadata() error {
	if e.value.kind != text {
		return nil
	}
	s := e.value.text
	at := fileOptions.FindStringSubmatchIndex(s)
	if at == nil {
		return nil
	}
	inner := s[at[2]:at[3]]
	if at[0] > 0 && s[at[0]-1] == '$' {
		return errorf(msgBraces+"; in this file ${%s} is taken for file options, write $%[2]s", shorten(s), shorten(inner))
	}
	for option := range strings.SplitSeq(strings.TrimRight(inner, ", \t"), ",") {
		m := fileOption.FindStringSubmatch(option)
		if m == nil {
			return errorf(msgBraces+"; braces hold file options, as in { owner = root, mode = 0640 }", shorten(s))
		}
		switch m[1] {
		case "owner":
			e.owner = m[2]
		case "group":
			e.group = m[2]
		case "mode":
			if strings.Trim(m[2], "0123456789") != "" {
				return errorf(msgMode+"; %s is not", m[2])
			}
			e.mode = m[2]
		default:
			return errorf(msgOption+"; known are owner, group and mode", m[1])
		}
	}
	e.value.text = strings.TrimRight(s[:at[0]]+s[at[1]:], blank)
	return nil
}

func source(file string, e entry) string {
	return fmt.Sprintf("%s:%d [%s]", filepath.Base(file), e.line, e.section)
}

func shorten(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:77], "") + "…"
	}
	return s
}
