package listfile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

// Hosts is /etc/hosts. Rule RES-LIST-01.
var Hosts = &Format{
	Name: "parsed", header: usualHeader, line: hostLine, parse: parseHost,
	order: []textLine{comment, blankLine, {kind: "incomplete", match: regexp.MustCompile(``), last: true}},
}

var hostPattern = regexp.MustCompile(`^([0-9a-f:][^\s\v]+)[\s\v]+([^#+\s\v][^\s\v]+)[\s\v]*(.*?)?(?:[\s\v]*#[\s\v]*(.*))?$`)

func parseHost(line string) (map[string]data.Value, string, error) {
	m := hostPattern.FindStringSubmatch(line)
	if m == nil {
		return nil, "", nil
	}
	aliases := absent
	if m[3] != "" {
		aliases = data.OfStrings(blanks.Split(m[3], -1))
	}
	return map[string]data.Value{
		"ip": data.OfString(m[1]), "name": data.OfString(m[2]), "host_aliases": aliases, "comment": data.OfString(m[4]),
	}, "parsed", nil
}

func hostLine(r *Record) (string, error) {
	for _, name := range []string{"ip", "name"} {
		if isAbsent(r.Get(name)) {
			return "", fmt.Errorf("%s is a required attribute for hosts", name)
		}
	}
	line := r.Get("ip").Text() + "\t" + r.Get("name").Text()
	if v := r.Get("host_aliases"); !isAbsent(v) {
		line += "\t" + text(v, " ")
	}
	if c := r.String("comment"); c != "" {
		line += "\t# " + c
	}
	return line, nil
}

// Fstab is /etc/fstab. Rule RES-LIST-03.
var Fstab = &Format{
	Name: "parsed", header: usualHeader, line: mountLine, parse: parseMount,
	order: []textLine{indented, blankLine, {kind: "incomplete", match: regexp.MustCompile(`^[\s\v]*[^\s\v]*[\s\v]*$`)}},
	hook: func(records []*Record, _ string, _ int) []*Record {
		for _, r := range records {
			if name := r.String("name"); len(name) > 1 {
				r.Values["name"] = data.OfString(name[:1] + strings.TrimRight(name[1:], "/"))
			}
		}
		return records
	},
}

func parseMount(line string) (map[string]data.Value, string, error) {
	values := fields(line, []string{"device", "name", "fstype", "options", "dump", "pass"}, "\t")
	for _, name := range []string{"device", "name"} {
		if v := values[name]; v.Kind() == data.String {
			values[name] = data.OfString(strings.ReplaceAll(v.Str(), `\040`, " "))
		}
	}
	return values, "parsed", nil
}

func mountLine(r *Record) (string, error) {
	r = r.Clone()
	if v, ok := r.Values["options"]; !ok || v.Kind() == data.String && v.Str() == "" {
		r.Values["options"] = data.OfString("defaults")
	}
	if v, ok := r.Values["fstype"]; !ok || v.Kind() == data.String && v.Str() == "" {
		return "", &FormatError{fmt.Sprintf("Mount[%s]: Field 'fstype' is required", r.String("name"))}
	}
	for _, name := range []string{"device", "name"} {
		if v := r.Values[name]; v.Kind() == data.String {
			r.Values[name] = data.OfString(strings.ReplaceAll(v.Str(), " ", `\040`))
		}
	}
	optional := map[string]bool{"fstype": true, "options": true, "dump": true, "pass": true}
	return join(r, "\t", optional, "device", "name", "fstype", "options", "dump", "pass")
}

// A FormatError is one that Puppet raises as its own, where other errors of records are
// Ruby's.
type FormatError struct{ Message string }

func (e *FormatError) Error() string { return e.Message }

// Aliases is /etc/aliases. Rule RES-LIST-04.
var Aliases = &Format{
	Name: "aliases", header: usualHeader, line: aliasLine, parse: parseAlias,
	order: []textLine{comment, blankLine},
}

func parseAlias(line string) (map[string]data.Value, string, error) {
	parts := strings.SplitN(line, ":", 4)
	if len(parts) < 2 {
		return nil, "", errors.New("undefined method `strip' for nil:NilClass")
	}
	values := map[string]data.Value{"name": data.OfString(strip(parts[0]))}
	if len(parts) == 4 && strip(parts[2]) == "include" {
		values["file"] = data.OfString(strip(parts[3]))
		return values, "aliases", nil
	}
	_, recipients, _ := strings.Cut(line, ":")
	values["recipient"] = data.OfStrings(splitQuoted(strip(recipients)))
	return values, "aliases", nil
}

// strip is Ruby's: blanks and zero bytes.
func strip(s string) string { return strings.Trim(s, " \t\r\n\f\v\x00") }

// splitQuoted splits at commas that are not within double quotes: behind them stands an
// even number of quotes. Quotes around a part go.
func splitQuoted(s string) []string {
	quotes := strings.Count(s, `"`)
	var parts []string
	from := 0
	for i := range len(s) {
		switch s[i] {
		case '"':
			quotes--
		case ',':
			if quotes%2 == 0 {
				parts = append(parts, s[from:i])
				from = i + 1
			}
		}
	}
	parts = append(parts, s[from:])
	for i, p := range parts {
		if i > 0 {
			p = strings.TrimLeft(p, " \t\r\n\f\v")
		}
		if i < len(parts)-1 {
			p = strings.TrimRight(p, " \t\r\n\f\v")
		}
		parts[i] = p
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	for i, p := range parts {
		if p != "" && strings.ContainsRune(`'"`, rune(p[0])) {
			p = p[1:]
		}
		if p != "" && strings.ContainsRune(`'"`, rune(p[len(p)-1])) {
			p = p[:len(p)-1]
		}
		parts[i] = p
	}
	return parts
}

var plainRecipient = regexp.MustCompile(`^[-+\w@.]*$`)

func aliasLine(r *Record) (string, error) {
	name := r.Get("name").Text()
	if v := r.Get("recipient"); !v.IsNil() {
		if v.Kind() != data.List {
			return "", fmt.Errorf("undefined method `map' for %s", v.Inspect())
		}
		var to []string
		for _, e := range v.List() {
			recipient := e.Text()
			if !plainRecipient.MatchString(recipient) {
				recipient = `"` + recipient + `"`
			}
			to = append(to, recipient)
		}
		return name + ": " + strings.Join(to, ","), nil
	}
	if v := r.Get("file"); !v.IsNil() {
		return name + ": :include: " + v.Text(), nil
	}
	return "", nil
}

// KnownHosts is /etc/ssh/ssh_known_hosts. Rule RES-LIST-04.
var KnownHosts = &Format{
	Name: "parsed", header: usualHeader, line: knownHostLine, parse: parseKnownHost,
	order: []textLine{comment, blankLine},
}

func parseKnownHost(line string) (map[string]data.Value, string, error) {
	values := fields(line, []string{"name", "type", "key"}, " ")
	if isAbsent(values["name"]) {
		return nil, "", errors.New("undefined method `split' for :absent:Symbol")
	}
	names := strings.Split(values["name"].Str(), ",")
	values["name"], values["host_aliases"] = data.OfString(names[0]), data.OfStrings(names[1:])
	return values, "parsed", nil
}

func knownHostLine(r *Record) (string, error) {
	r = r.Clone()
	if v := r.Get("host_aliases"); v.Kind() == data.List && v.Len() > 0 {
		r.Values["name"] = data.OfString(r.Get("name").Text() + "," + text(v, ","))
	}
	return join(r, " ", nil, "name", "type", "key")
}
