package puppetdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// The settings of puppetdb.conf.
const (
	serverURLs      = "server_urls"
	urlTimeout      = "server_url_timeout"
	softFailure     = "soft_write_failure"
	unchanged       = "include_unchanged_resources"
	minSubmissions  = "min_successful_submissions"
	submitOnlyURLs  = "submit_only_server_urls"
	broadcast       = "command_broadcast"
	stickyFailover  = "sticky_read_failover"
	showCertificate = "verify_client_certificate"
)

// defaults are the values of settings that the file does not have. Rule
// PDB-CFG-02.
var defaults = map[string]string{
	serverURLs: "https://puppetdb:8081", urlTimeout: "30", softFailure: "false", unchanged: "false", minSubmissions: "1",
	submitOnlyURLs: "", broadcast: "false", stickyFailover: "false", showCertificate: "true",
}

// A Config is what puppetdb.conf has. It does not change.
type Config struct {
	ServerURLs []*url.URL // for commands and queries, in order; never empty
	SubmitOnly []*url.URL // for commands only, after the others
	// Timeout is how long one exchange with one URL may take, in whole seconds.
	// Zero is no limit; a negative one fails every exchange.
	Timeout time.Duration
	// MinSubmissions is how many URLs must take a command that is broadcast.
	MinSubmissions int
	SoftFailure    bool // a command that fails is a line of the log only
	Unchanged      bool // reports are sent with the resources that did not change
	Broadcast      bool // commands go to all URLs
	Sticky         bool // queries begin with the URL that answered after a failover
	Certificate    bool // the certificate of this host is shown

	path  string
	lines map[string]int
}

// maxFile is the largest puppetdb.conf, in bytes.
const maxFile = 1 << 20

// LoadConfig reads puppetdb.conf. A file that is missing is no error: all is
// default. What is wrong is logged, and returned. Rules PDB-CFG-01 to
// PDB-CFG-07.
func LoadConfig(path string, log *slog.Logger) (*Config, error) {
	c, err := readConfig(path, log)
	if err != nil {
		first, _, _ := strings.Cut(indirector.Message(err), "\n")
		log.Warn("Could not configure PuppetDB terminuses: " + first)
	}
	return c, err
}

func readConfig(path string, log *slog.Logger) (*Config, error) {
	text, err := readSome(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		log.Debug(fmt.Sprintf("No %s file found; falling back to default server_urls %s", path, defaults[serverURLs]))
	case err != nil:
		return nil, fmt.Errorf("read PuppetDB's configuration %q: %w", path, err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("read PuppetDB's configuration %q: it is longer than the limit of %d bytes", path, maxFile)
	default:
		log.Debug("Configuring PuppetDB terminuses with config file " + path)
	}
	return ParseConfig(path, string(text), log)
}

// readSome reads a file up to the limit, and one byte more.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// The lines of puppetdb.conf, with Ruby's idea of a blank. A section is
// followed by nothing, not even a blank.
var (
	sectionLine = regexp.MustCompile(`^\[(\w+)[ \t\r\f\v]*\]$`)
	retiredLine = regexp.MustCompile(`^[ \t\r\f\v]*(server|port)[ \t\r\f\v]*=`)
	settingLine = regexp.MustCompile(`(?s)^[ \t\r\f\v]*(\w+)[ \t\r\f\v]*=(.+)$`)
	noLine      = regexp.MustCompile(`^[ \t\r\f\v]*([#;]|$)`)
)

// ParseConfig reads the text of the file path. Rules PDB-CFG-01 to PDB-CFG-06.
func ParseConfig(path, text string, log *slog.Logger) (*Config, error) {
	if !utf8.ValidString(text) {
		return nil, wrong("ArgumentError", path, "it is no UTF-8", "invalid byte sequence in UTF-8")
	}
	values, lines := map[string]string{}, map[string]int{}
	section, number := "", 0
	for line := range strings.Lines(text) {
		number++
		at := fmt.Sprintf("%s:%d", path, number)
		bare := strings.TrimSuffix(line, "\n")
		if m := sectionLine.FindStringSubmatch(bare); m != nil {
			section = m[1]
			continue
		}
		if retiredLine.MatchString(bare) {
			log.Warn(fmt.Sprintf("Setting '%s' is retired: use 'server_urls' instead. Defaulting to 'server_urls=%s'.", Redact(strings.TrimSuffix(bare, "\r")), defaults[serverURLs]))
			continue
		}
		m := settingLine.FindStringSubmatch(line)
		switch {
		case m == nil && noLine.MatchString(bare):
		case m == nil:
			return nil, wrong("RuntimeError", at, whyUnparseable(bare, number), "Unparseable line '%s' in PuppetDB config %s", Redact(line), at)
		case section == "":
			return nil, wrong("RuntimeError", at, "the section [main] is missing before it", "Setting '%s' is illegal outside of section in PuppetDB config %s", Redact(line), at)
		case section != "main":
		default:
			if _, known := defaults[m[1]]; !known {
				log.Warn(fmt.Sprintf("%s: the setting %s is unknown, and ignored", at, m[1]))
				continue
			}
			values[m[1]], lines[m[1]] = strings.TrimSpace(m[2]), number
		}
	}
	c := &Config{path: path, lines: lines}
	return c, c.fill(values)
}

// whyUnparseable is what is unusual about a line; "" if nothing is.
func whyUnparseable(line string, number int) string {
	switch {
	case strings.HasSuffix(line, "\r"):
		return "the line ends with a carriage return, as on Windows, which is not allowed behind a section"
	case number == 1 && strings.HasPrefix(line, "\ufeff"):
		return "the file begins with a byte order mark"
	}
	return ""
}

// fill takes the values in the order in which Puppet does, which decides the
// error that is reported.
func (c *Config) fill(values map[string]string) (err error) {
	value := func(name string) string {
		if v, ok := values[name]; ok {
			return v
		}
		return defaults[name]
	}
	flag := func(into *bool, name string) {
		v := value(name)
		if *into = v == "true"; err == nil && v != "true" && v != "false" {
			// In Puppet a NameError about its own variable. Rule PDB-CFG-05.
			err = wrong("NameError", c.Source(name), "Puppet's own message is about a variable val", "%s is %q in %s; it may be true or false", name, v, c.Source(name))
		}
	}
	if c.ServerURLs, err = c.urls(serverURLs, value(serverURLs)); err != nil {
		return err
	}
	c.Timeout = time.Duration(toInteger(value(urlTimeout))) * time.Second
	flag(&c.Unchanged, unchanged)
	flag(&c.SoftFailure, softFailure)
	if err == nil {
		c.SubmitOnly, err = c.urls(submitOnlyURLs, value(submitOnlyURLs))
	}
	c.MinSubmissions = toInteger(value(minSubmissions))
	flag(&c.Broadcast, broadcast)
	flag(&c.Sticky, stickyFailover)
	flag(&c.Certificate, showCertificate)
	if err != nil {
		return err
	}
	return c.agree()
}

// agree reports settings that exclude each other. Rule PDB-CFG-06.
func (c *Config) agree() error {
	both := slices.DeleteFunc(slices.Clone(c.ServerURLs), func(u *url.URL) bool {
		return !slices.ContainsFunc(c.SubmitOnly, func(o *url.URL) bool { return sameURL(u, o) })
	})
	fail := func(setting, format string, args ...any) error {
		return wrong("RuntimeError", c.Source(setting), setting+", "+c.Source(setting), format, args...)
	}
	switch {
	case c.SoftFailure && c.MinSubmissions > 1:
		return fail(softFailure, "soft_write_failure cannot be enabled when min_successful_submissions is greater than 1")
	case len(both) > 0:
		return fail(submitOnlyURLs, "Server URLs must be in either server_urls or submit_only_server_urls, not both. (%s are in both)", data.OfStrings(texts(both)).Inspect())
	case c.MinSubmissions > 1 && !c.Broadcast:
		return fail(minSubmissions, "command_broadcast must be set to true to use min_successful_submissions")
	case c.MinSubmissions > len(c.ServerURLs):
		return fail(minSubmissions, "min_successful_submissions (%d) must be less than or equal to the number of server_urls (%d)", c.MinSubmissions, len(c.ServerURLs))
	}
	return nil
}

// Source is where the value of a setting is from: "puppetdb.conf:4", or
// "default".
func (c *Config) Source(name string) string {
	if line := c.lines[name]; line > 0 {
		return fmt.Sprintf("%s:%d", filepath.Base(c.path), line)
	}
	return "default"
}

// urls reads a list of URLs. Rule PDB-CFG-04.
func (c *Config) urls(name, list string) ([]*url.URL, error) {
	var all []*url.URL
	words := strings.Split(list, ",")
	for (list != "" || c.lines[name] == 0) && len(words) > 0 && words[len(words)-1] == "" { // as Ruby splits; a blank value is one URL
		words = words[:len(words)-1]
	}
	for _, word := range words {
		word = strings.TrimSpace(word)
		u, err := parseURL(word)
		if err != nil {
			return nil, wrong("URI::InvalidURIError", c.Source(name), name+", "+c.Source(name), "Error parsing URL '%s' in PuppetDB 'server_urls', error message was '%s'", Redact(word), Redact(err.Error()))
		}
		if u.Scheme != "https" {
			return nil, wrong("RuntimeError", c.Source(name), name+", "+c.Source(name), "PuppetDB 'server_urls' must be https, found '%s'", Redact(word))
		}
		if u.Path != "" && u.Path != "/" {
			return nil, wrong("RuntimeError", c.Source(name), name+", "+c.Source(name), "PuppetDB 'server_urls' cannot contain URL paths, found '%s'", Redact(word))
		}
		u.Path, u.RawPath = "", ""
		all = append(all, u)
	}
	return all, nil
}

// ofURL matches what has only the characters of a URL.
var ofURL = regexp.MustCompile(`^([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$`)

// parseURL reads a URL, or fails in Ruby's words.
func parseURL(text string) (*url.URL, error) {
	if i := strings.IndexFunc(text, func(r rune) bool { return r > 127 }); i >= 0 {
		var dump strings.Builder
		for _, r := range text {
			if r < 128 {
				dump.WriteRune(r)
			} else {
				fmt.Fprintf(&dump, `\u%04X`, r)
			}
		}
		return nil, fmt.Errorf(`URI must be ascii only "%s"`, dump.String())
	}
	u, err := url.Parse(text)
	if err != nil || !ofURL.MatchString(text) {
		return nil, fmt.Errorf("bad URI(is not URI?): %s", data.InspectString(text))
	}
	return u, nil
}

// sameURL compares URLs whose port may be left out.
func sameURL(a, b *url.URL) bool {
	x, y := *a, *b
	for _, u := range []*url.URL{&x, &y} {
		u.Host = u.Hostname() + ":" + portOf(u)
	}
	return x.String() == y.String()
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return "443"
}

// texts are the URLs without their passwords.
func texts(all []*url.URL) []string {
	out := make([]string, len(all))
	for i, u := range all {
		out[i] = u.Redacted()
	}
	return out
}

var words = regexp.MustCompile(`[^\s,]+`)

// Redact takes the passwords out of the URLs in a text, also of URLs that are
// broken.
func Redact(text string) string { return words.ReplaceAllStringFunc(text, redactWord) }

// redactWord redacts from the first colon that begins no "://" to the last @, or a
// port that is no number.
func redactWord(w string) string {
	const hidden = "xxxxx"
	name, password, scheme := w, "", -1
	at := strings.LastIndexByte(w, '@')
	for i := range w {
		if w[i] != ':' || i > at && at >= 0 {
			continue
		}
		if !strings.HasPrefix(w[i:], "://") {
			name, password = w[:i+1], w[i+1:]
			break
		}
		scheme = i
	}
	switch {
	case at < 0 && (scheme < 0 || password == "" || strings.Contains(w, "[") || port.MatchString(password)):
		return w
	case at < 0:
		return name + hidden
	case password == "" && scheme >= 0: // a user alone
		return w
	case password == "": // the end of a password with a blank or a comma
		return hidden + w[at:]
	}
	return name + hidden + w[at:]
}

// port matches what follows the name of a host.
var port = regexp.MustCompile(`^\d*([/?#]|$)`)

var integers = regexp.MustCompile(`^[-+]?\d+(_\d+)*`)

// toInteger is Ruby's to_i: "5 seconds" is 5, a word is 0. What is too large for
// a number of seconds is the largest there is.
func toInteger(s string) int {
	n, err := strconv.ParseInt(strings.ReplaceAll(integers.FindString(s), "_", ""), 10, 64)
	const most = math.MaxInt64 / int64(time.Second)
	if errors.Is(err, strconv.ErrSyntax) {
		return 0
	}
	return int(max(min(n, most), -most))
}

// wrong is an error about the file.
func wrong(class, path, hidden, format string, args ...any) error {
	return &indirector.Failure{Class: class, Message: fmt.Sprintf(format, args...), Origin: "puppetdb.conf", Path: path, Hidden: hidden}
}
