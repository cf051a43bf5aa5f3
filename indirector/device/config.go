// Package device knows the devices of device.conf, and asks those of the type exec:
// programs that stand for a device and answer JSON.
//
//	[switch1.example.com]
//	type exec
//	url file:///usr/local/bin/switch1
//
// Such a program is called with the word facts, with get TYPE and perhaps a name, or
// with set TYPE NAME; what is to be set comes as JSON on its standard input. Its
// answer is one value of JSON. An exit code other than zero is a failure. All other
// types are written in Ruby. Rule RES-DEV-06.
package device

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"indirtui/indirector"
)

// A Device is a section of device.conf.
type Device struct {
	Name  string // its certname
	Type  string // "" if none is given
	URL   string // as it is written, with credentials; "" if none is given
	Debug bool
	Line  int // as Puppet counts: from 1, and only comments and blank lines count
}

// maxConfig bounds device.conf, in bytes.
const maxConfig = 1 << 20

// Read returns the devices of a device.conf, in its order. A file that is not there
// has none. Rule RES-DEV-01.
func Read(path string) ([]Device, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &indirector.Failure{Message: fmt.Sprintf("Configuration error: Cannot read %s; cannot serve", path), Origin: "file", Path: path, Err: err}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %q: %w", path, err)
	case len(text) > maxConfig:
		return nil, fmt.Errorf("read %q: more than %d bytes", path, maxConfig)
	}
	devices, err := Parse(text)
	if f, ok := errors.AsType[*indirector.Failure](err); ok {
		f.Path = path
	}
	return devices, err
}

var (
	sectionLine   = regexp.MustCompile(`^\[([\w.-]+)\]\s*$`)
	directiveLine = regexp.MustCompile(`^\s*(type|url|debug)(?:\s+(\S.*))?$`)
)

// Parse reads a device.conf. Errors are Puppet's, which name no file. Rule RES-DEV-01.
func Parse(text []byte) ([]Device, error) {
	var devices []Device
	at := map[string]int{} // line of a device
	n := 1
	for line := range bytes.Lines(text) {
		s := strings.TrimSuffix(string(line), "\n")
		blank := strings.Trim(s, " \t\r\f\v")
		section := sectionLine.FindStringSubmatch(s)
		directive := directiveLine.FindStringSubmatch(s)
		switch {
		case !utf8.ValidString(s):
			return nil, wrong("ArgumentError", "invalid byte sequence in UTF-8")
		case blank == "" || strings.HasPrefix(blank, "#"):
			n++
		case section != nil:
			name := section[1]
			if old, ok := at[name]; ok {
				return nil, wrong("", "Duplicate device found at (line: %d), already found at (line: %d)", n, old)
			}
			at[name] = n
			devices = append(devices, Device{Name: name, Line: n})
		case directive != nil:
			var current *Device
			if len(devices) > 0 {
				current = &devices[len(devices)-1]
			}
			if err := current.direct(directive[1], directive[2]); err != nil {
				return nil, err
			}
		default:
			return nil, wrong("", "Invalid entry at (line: %d): %s", n, Redact(s))
		}
	}
	return devices, nil
}

// direct applies one directive. Without a device it fails as Ruby does.
func (d *Device) direct(name, value string) error {
	if name == "url" && !isURI(value) {
		return wrong("", "%s is an invalid url", Redact(value))
	}
	if d == nil {
		method := map[string]string{"type": "provider=", "url": "url=", "debug": "options"}[name]
		return wrong("NoMethodError", "undefined method `%s' for nil:NilClass", method)
	}
	switch name {
	case "type":
		d.Type = value
	case "url":
		d.URL = value
	case "debug":
		d.Debug = true
	}
	return nil
}

func wrong(class, format string, args ...any) error {
	return &indirector.Failure{Class: class, Message: fmt.Sprintf(format, args...), Origin: "decode"}
}

var uriBytes = regexp.MustCompile(`\A(?:[!#$&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]|%[0-9A-Fa-f]{2})+\z`)

// isURI reports whether Ruby takes s for a URI.
func isURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && uriBytes.MatchString(s) && strings.Count(s, "#") <= 1 &&
		strings.Count(s, "[") == strings.Count(u.Host, "[") && strings.Count(s, "]") == strings.Count(u.Host, "]")
}

var credentials = regexp.MustCompile(`(//)[^/]*@`)

// Redact returns a text without the credentials of its URLs.
func Redact(s string) string { return credentials.ReplaceAllString(s, "${1}xxxxx@") }
