package fileserving

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"indirtui/indirector"
)

// maxConfiguration is the most that is read of fileserver.conf, in bytes.
const maxConfiguration = 1 << 20

// A mount is a name under which files are served.
type mount struct {
	name string
	path string // of a custom mount; may hold %h, %H and %d
}

// built are the mounts that always exist, and cannot have a path. Pluginfacts
// is one, too, but may be defined as a custom mount.
var built = []string{"modules", "plugins", "locales", "scripts", "tasks"}

// A configuration is fileserver.conf. It is safe for concurrent use.
type configuration struct {
	path    string
	timeout time.Duration // how long the file is believed; negative is not at all
	log     *slog.Logger
	now     func() time.Time

	mu     sync.Mutex // guards what follows
	mounts map[string]mount
	read   status    // of the file as it was read
	next   time.Time // when to look at it again
}

func newConfiguration(env indirector.Env) *configuration {
	c := &configuration{log: env.Log, now: env.Now, mounts: map[string]mount{}}
	c.path, _ = env.Settings.Get("fileserverconfig")
	c.timeout, _ = indirector.DurationOf(env.Settings, "filetimeout", 15*time.Second)
	return c
}

// mount returns the mount of that name. Rule TERM-FSRV-04.
func (c *configuration) mount(name string) (mount, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); c.timeout < 0 || !now.Before(c.next) {
		c.next = now.Add(c.timeout)
		c.reread()
	}
	if m, ok := c.mounts[name]; ok {
		return m, true
	}
	return mount{name: name}, isBuilt(name) || name == "pluginfacts"
}

func isBuilt(name string) bool { return slices.Contains(built, name) }

// reread reads the file if it has changed. The last configuration stays if the
// file is gone or invalid.
func (c *configuration) reread() {
	s, err := stat(c.path)
	if err != nil || s.ctime.Equal(c.read.ctime) && s.size == c.read.size && s.node == c.read.node {
		return
	}
	c.read = s
	text, err := readConfiguration(c.path)
	if err == nil {
		var mounts map[string]mount
		if mounts, err = parse(c.path, text, c.log); err == nil {
			c.mounts = mounts
			return
		}
	}
	c.log.Error(fmt.Sprintf("Error parsing fileserver configuration: %s; using old configuration", indirector.Message(err)), "path", c.path)
}

func readConfiguration(path string) ([]byte, error) {
	file, s, err := open(path, false)
	if errors.Is(err, fs.ErrPermission) {
		return nil, &indirector.Failure{Message: "Cannot read file server configuration " + path, Err: err}
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if s.size > maxConfiguration {
		return nil, fmt.Errorf("%s has %d bytes; more than %d are not read", path, s.size, maxConfiguration)
	}
	return io.ReadAll(io.LimitReader(file, maxConfiguration))
}

var (
	mountLine = regexp.MustCompile(`\[([-\w]+)\]`) // anywhere in the line
	entryLine = regexp.MustCompile(`^\s*(\w+)\s+(.+?)(\s*#.*)?$`)
)

// parse reads the text of fileserver.conf. Warnings go to the log.
func parse(path string, text []byte, log *slog.Logger) (map[string]mount, error) {
	mounts := map[string]mount{}
	var current *mount
	var order []string
	for n := 1; len(text) > 0; n++ {
		var raw []byte
		raw, text, _ = bytes.Cut(text, []byte("\n"))
		line := string(raw)
		at := fmt.Sprintf("(file: %s, line: %d)", path, n)
		if !utf8.ValidString(line) {
			return nil, &indirector.Failure{Class: "ArgumentError", Message: "invalid byte sequence in UTF-8", Hidden: at}
		}
		trimmed := strings.TrimLeft(line, " \t\r\f\v")
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if m := mountLine.FindStringSubmatch(line); m != nil {
			if _, ok := mounts[m[1]]; ok {
				return nil, refuse("mount[%s] is already mounted at %s at (file: <WatchedFile: filename = %s, timeout = 15>, line: %d)", m[1], m[1], path, n)
			}
			current = &mount{name: m[1]}
			mounts[m[1]] = *current
			order = append(order, m[1])
			continue
		}
		m := entryLine.FindStringSubmatch(line)
		if m == nil {
			return nil, refuse("Invalid entry at %s: '%s'", at, line)
		}
		key, value := m[1], strings.TrimSpace(m[2])
		switch {
		case strings.HasPrefix(value, "="):
			return nil, refuse("Fileserver configuration file does not use '=' as a separator")
		case key == "path":
			if err := setPath(mounts, current, value, log); err != nil {
				return nil, err
			}
		case key == "allow" && value == "*":
		case key == "allow" || key == "deny":
			log.Error(fmt.Sprintf("Entry '%s' is unsupported and will be ignored at %s", line, at))
		default:
			return nil, refuse("Invalid argument '%s' at %s", key, at)
		}
	}
	for _, name := range order {
		if m, ok := mounts[name]; ok && m.path == "" && !isBuilt(name) {
			return nil, refuse("Mounts without paths are not usable")
		}
	}
	return mounts, nil
}

var placeholder = regexp.MustCompile(`%.`)

// setPath gives a mount its path, or removes the mount.
func setPath(mounts map[string]mount, m *mount, path string, log *slog.Logger) error {
	if m == nil {
		return &indirector.Failure{Class: "NoMethodError", Message: "undefined method `name' for nil:NilClass", Hidden: "the path stands before the first [mount]"}
	}
	if isBuilt(m.name) {
		log.Warn(fmt.Sprintf("The '%s' module can not have a path. Ignoring attempt to set it", m.name))
		return nil
	}
	if !placeholder.MatchString(path) {
		problem := ""
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			problem = "does not exist or is not a directory"
		} else if d, err := os.Open(path); err != nil {
			problem = "is not readable"
		} else if err := d.Close(); err != nil {
			return err
		}
		if problem != "" {
			log.Error(fmt.Sprintf("Removing mount \"%s\": %s %s", m.name, path, problem))
			delete(mounts, m.name)
			return nil
		}
	}
	m.path = path
	if _, ok := mounts[m.name]; ok { // a removed mount stays removed
		mounts[m.name] = *m
	}
	return nil
}

// expand fills in the placeholders of a path. Unknown ones stay.
func expand(path string, words map[byte]string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' || i+1 == len(path) {
			b.WriteByte(path[i])
			continue
		}
		i++
		word, ok := words[path[i]]
		switch {
		case path[i] == '%':
			b.WriteByte('%')
		case ok:
			b.WriteString(word)
		default:
			b.WriteByte('%')
			b.WriteByte(path[i])
		}
	}
	return b.String()
}
