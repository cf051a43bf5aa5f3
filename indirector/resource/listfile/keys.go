package listfile

import (
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// AuthorizedKeys are the keys of a user. Those without a comment are named after the
// file, in order. Rule RES-LIST-04.
var AuthorizedKeys = &Format{
	Name: "parsed", header: usualHeader, line: keyLine, parse: parseKey, order: []textLine{indented, blankLine},
	hook: func(records []*Record, target string, _ int) []*Record {
		unnamed := 0
		for _, r := range records {
			if r.Kind == "parsed" && r.String("name") == "" {
				unnamed++
				r.Values["unnamed"] = data.OfBool(true)
				r.Values["name"] = data.OfString(target + ":unnamed-" + strconv.Itoa(unnamed))
			}
		}
		return records
	},
}

var (
	keyPattern = regexp.MustCompile(`^(?:(.+)[\s\v]+)?(ssh-dss|ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp256|` +
		`ecdsa-sha2-nistp384|ecdsa-sha2-nistp521|ecdsa-sk|ed25519-sk|` +
		`sk-ecdsa-sha2-nistp256@openssh.com|sk-ssh-ed25519@openssh.com|` +
		`ssh-rsa-cert-v01@openssh.com|ssh-ed25519-cert-v01@openssh.com|` +
		`ssh-dss-cert-v01@openssh.com|ecdsa-sha2-nistp256-cert-v01@openssh.com|` +
		`ecdsa-sha2-nistp384-cert-v01@openssh.com|ecdsa-sha2-nistp521-cert-v01@openssh.com)[\s\v]+([^ ]+)[\s\v]*(.*)$`)
	oldKeyPattern = regexp.MustCompile(`^(?:(.+) )?(\d+) (\d+) (\d+)(?: (.+))?$`)
	keyOption     = regexp.MustCompile(`^(?:[-a-z0-9A-Z_]+=".*?[^\\]"|[-a-z0-9A-Z_]+)`)
)

func parseKey(line string) (map[string]data.Value, string, error) {
	if m := keyPattern.FindStringSubmatch(line); m != nil {
		options := data.OfList([]data.Value{absent})
		if m[1] != "" {
			options = data.OfStrings(keyOptions(m[1]))
		}
		return map[string]data.Value{"options": options, "type": data.OfString(m[2]), "key": data.OfString(m[3]), "name": data.OfString(m[4])}, "parsed", nil
	}
	if m := oldKeyPattern.FindStringSubmatch(line); m != nil {
		return map[string]data.Value{
			"options": orAbsent(m[1]), "bits": data.OfString(m[2]), "exponent": data.OfString(m[3]),
			"modulus": data.OfString(m[4]), "name": orAbsent(m[5]),
		}, "key_v1", nil
	}
	return nil, "", nil
}

// keyOptions splits options at commas that are not within quotes. What is no option, and
// all behind it, goes.
func keyOptions(s string) []string {
	var all []string
	for s = strings.TrimLeft(s, " \t"); s != ""; s = strings.TrimLeft(s, " \t") {
		option := keyOption.FindString(s)
		if option == "" {
			break
		}
		all = append(all, option)
		s = s[len(option):]
		if rest := strings.TrimLeft(s, " \t"); strings.HasPrefix(rest, ",") {
			s = rest[1:]
		}
	}
	return all
}

func keyLine(r *Record) (string, error) {
	names := []string{"options", "type", "key", "name"}
	if r.Kind == "key_v1" {
		names = []string{"options", "bits", "exponent", "modulus", "name"}
		if isAbsent(r.Get("name")) {
			names = names[:4]
		}
	}
	r = r.Clone()
	if r.Get("unnamed").Truthy() {
		r.Values["name"] = data.OfString("")
	}
	line, err := join(r, " ", map[string]bool{"options": true}, names...)
	return strings.TrimLeft(line, " \t\r\n\f\v"), err
}
