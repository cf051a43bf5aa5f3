package redact

import (
	"encoding/base64"
	"strings"
)

// A place is where in a name a word must stand.
type place uint8

const (
	anywhere place = iota // with or without separators between its letters
	part                  // not within a longer word: pass is in db_pass and dbPass, not in bypass
	lastPart              // part, and the end of the name
	atEnd                 // the end of the name
	query                 // all of the name of a parameter of a URL
	keyword               // anywhere, and a blank assigns
)

// names are the words that make a name secret, in any case.
var names = [...]struct {
	where place
	words string
}{
	{anywhere, "password passwd passphrase passcode passwort secret token private_key"},
	{anywhere, "api_key access_key shared_key encryption_key decryption_key signing_key master_key auth_key account_key storage_key"},
	{anywhere, "session_key license_key unseal_key cipher_key credential connection_string session_id"},
	{part, "pass pwd pw psk cred creds bearer jwt otp totp"},
	{part, "storepass keypass bindpw bindpass rootpw rootpass dbpass dbpwd dbpw userpass adminpass authpass"},
	{lastPart, "community communities"},
	{query, "sig signature auth code key sid ticket"},
	{keyword, "identified_by require_pass master_auth ro_community rw_community"},
}

// headers are names of which the word must be the end: Proxy-Authorization,
// HTTP_COOKIE, Set-Cookie.
const headers = "authorization cookie"

// A form is a secret that is known by how it begins: the prefix, case and all,
// and at least so many bytes of a set behind it.
type form struct {
	prefix string
	least  int
	set    *[256]bool
	rule   string
	keep   bool // the prefix is no part of the secret
}

// The bytes of forms.
var (
	upper   = set("A-Z", "0-9")
	hexes   = set("a-f", "0-9")
	wordly  = set("a-z", "A-Z", "0-9", "__", "--")
	dotted  = set("a-z", "A-Z", "0-9", "__", "--", "..", "==")
	path    = set("a-z", "A-Z", "0-9", "__", "--", "//")
	crypt   = set("a-z", "A-Z", "0-9", "./", "$$", "==", ",,", "++", "**", "__", "--")
	base64s = set("a-z", "A-Z", "0-9", "++", "//", "==")
	armour  = set("a-z", "A-Z", "0-9", "++", "//", "==", ":-;", "  ", "\r\r", "\n\n", "--")
)

// set returns the bytes of ranges, each written as its first and last byte with
// or without a dash between them.
func set(ranges ...string) *[256]bool {
	var s [256]bool
	for _, r := range ranges {
		for c := int(r[0]); c <= int(r[len(r)-1]); c++ {
			s[c] = true
		}
	}
	return &s
}

// The rules of forms.
const (
	RuleToken   = "token"
	RuleHash    = "password hash"
	RuleFacts   = "packed facts"
	RuleHeader  = "header"
	RuleCommand = "password of a command"
)

var forms = [...]struct {
	rule  string
	set   *[256]bool
	least int
	begin string // prefixes, by blanks
}{
	{RuleToken, wordly, 36, "ghp_ gho_ ghu_ ghs_ ghr_ npm_"},
	{RuleToken, wordly, 20, "github_pat_ glpat- gldt- glrt- glptt- glft- glsoat- glcbt- glimt- glagent- gloas- dckr_pat_ sk-ant- sk-proj- sk-svcacct- tskey- whsec_"},
	{RuleToken, wordly, 10, "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxo- xoxe.xoxp- xapp- sk_live_ sk_test_ rk_live_ rk_test_"},
	{RuleToken, upper, 16, "AKIA ASIA ABIA ACCA"},
	{RuleToken, wordly, 35, "AIza"},
	{RuleToken, dotted, 20, "ya29. hvs. hvb. hvr. SG. dt0c01."},
	{RuleToken, wordly, 30, "hf_ gsk_ shpat_ shpss_ shpca_ shppa_ rubygems_ lin_api_ glsa_ glc_ figd_ pul- sntrys_ sntryu_ nfp_ tfp_ NRAK- PMAK-"},
	{RuleToken, wordly, 22, "sq0atp- sq0csp- xkeysib- LTAI EZAK EZTK CLOJARS_"},
	{RuleToken, wordly, 50, "pypi-AgE ATATT3 AKCp eyJrIjoi ops_eyJ AGE-SECRET-KEY-1"},
	{RuleToken, hexes, 32, "dapi key- dop_v1_ doo_v1_ dor_v1_"},
	{RuleToken, path, 20, "hooks.slack.com/services/ discord.com/api/webhooks/ office.com/webhook/"},
	{RuleHash, crypt, 22, "$1$ $apr1$ $md5 $sha1$ $pbkdf2 $argon2 $P$ $H$ $S$ $8$ $9$ $14$"},
	{RuleHash, crypt, 40, "$5$ $6$ $7$ $y$ $gy$ $2$ $2a$ $2b$ $2x$ $2y$ $scrypt$ SCRAM-SHA-1$ SCRAM-SHA-256$ pbkdf2_sha256$"},
	{RuleHash, crypt, 16, "{SSHA} {SHA} {SMD5} {MD5} {CRYPT} {SSHA256} {SSHA512} {SHA256} {SHA512} {PBKDF2} {PBKDF2-SHA256} {PBKDF2-SHA512}"},
	{RuleKey, armour, 20, "Private-Lines:"},
	{RuleFacts, base64s, 80, "facts:\x00eN facts:\x00eJ facts=eN facts=eJ"},
}

// A shape is how a flag has its secret.
type shape uint8

const (
	attached shape = iota // -pX
	apart                 // -p X
	either                // -pX, -p X
	behind                // user:X after the flag, attached or not
)

// commands are the programs that take a secret after a flag without a name. A
// program is also each whose name begins with it.
var commands = [...]struct {
	flag     string
	shape    shape
	programs string
}{
	{"-p", attached, "mysql mariadb mycli 7z 7za"},
	{"-p", either, "sshpass mongo docker podman buildah skopeo nerdctl helm oc az cf usermod useradd psexec cadaver kinit"},
	{"-u", behind, "curl"},
	{"-U", behind, "curl smbclient rpcclient smbget net"},
	{"-a", behind, "http https xh"},
	{"-a", apart, "redis-cli"},
	{"-A", apart, "snmp"},
	{"-c", either, "snmp"},
	{"-X", apart, "snmp"},
	{"-w", apart, "ldap"},
	{"-P", either, "ipmitool sqlcmd bcp zip unzip mosquitto_"},
	{"-k", apart, "openssl"},
	{"-K", apart, "openssl"},
	{"--user", behind, "curl"},
	{"--proxy-user", behind, "curl"},
	{"--auth", behind, "http https xh"},
}

// add adds words of a place.
func (m *Redactor) add(name, rule string, where place) {
	var folded []byte
	for i := range len(name) {
		if !isSeparator(name[i]) {
			folded = append(folded, lower(name[i]))
		}
	}
	if len(folded) == 0 {
		return
	}
	if strings.ContainsAny(rule, "(),\n") {
		rule = "name"
	}
	row, second := m.mayBegin(string(folded), where.spaced())
	for c := range m.words[row] {
		if second&(1<<c) != 0 {
			m.words[row][c] = append(m.words[row][c], word{string(folded), rule, where})
		}
	}
}

// spaced reports whether separators may stand between the letters of a word.
func (p place) spaced() bool { return p == anywhere || p == atEnd || p == keyword }

// addForms adds what is known by how it begins.
func (m *Redactor) addForms() {
	for _, f := range forms {
		for _, prefix := range strings.Fields(f.begin) {
			prefix = strings.ReplaceAll(prefix, "\x00", " ")
			keep := f.rule == RuleFacts || f.set == path || f.set == armour
			m.forms[prefix[0]] = append(m.forms[prefix[0]], form{prefix, f.least, f.set, f.rule, keep})
			m.mayBegin(prefix, false)
		}
	}
	for _, prefix := range []string{"eyJ", "Basic "} {
		m.mayBegin(prefix, false)
	}
	for digit := range strings.SplitSeq("0123456789ABCDEF", "") {
		m.mayBegin("*"+digit, false)
	}
	for _, c := range commands {
		m.mayBegin(c.flag, false)
	}
}

// form returns where the secret is that s[i:] begins with, by its form; the
// rule is "" if there is none.
func (m *Redactor) form(s string, i int) (start, end int, rule string) {
	if i > 0 && isWordByte(s[i-1]) && isWordByte(s[i]) {
		return 0, 0, ""
	}
	rest := s[i:]
	for k := range m.forms[s[i]] {
		f := &m.forms[s[i]][k]
		if !strings.HasPrefix(rest, f.prefix) {
			continue
		}
		n := len(f.prefix)
		for n < len(rest) && f.set[rest[n]] {
			n++
		}
		if n-len(f.prefix) < f.least || f.set == upper && n < len(rest) && isWordByte(rest[n]) {
			continue
		}
		if f.keep {
			return i + len(f.prefix), i + n, f.rule
		}
		return i, i + n, f.rule
	}
	switch s[i] {
	case 'e':
		if n := webToken(rest); n > 0 {
			return i, i + n, RuleToken
		}
	case 'B':
		if n := basic(rest); n > 0 {
			return i + len("Basic "), i + n, RuleHeader
		}
	case '*':
		const digits = 40
		if n := skip(rest, 1, "0123456789ABCDEF"); n == 1+digits && (n == len(rest) || !isWordByte(rest[n])) {
			return i, i + n, RuleHash
		}
	}
	return 0, 0, ""
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z'
}

// webToken returns the length of the JSON web token that s begins with, or 0.
func webToken(s string) int {
	first := strings.IndexByte(s[:min(len(s), maxURL)], '.')
	if first < 10 || !strings.HasPrefix(s, "eyJ") {
		return 0
	}
	n, dots := 0, 0
	for n < len(s) && (wordly[s[n]] || s[n] == '.') {
		if s[n] == '.' {
			dots++
		}
		n++
	}
	if dots < 2 || n < first+10 {
		return 0
	}
	return n
}

// basic returns the length of "Basic " and the name and password behind it, or
// 0.
func basic(s string) int {
	const scheme = "Basic "
	if !strings.HasPrefix(s, scheme) {
		return 0
	}
	n := len(scheme)
	for n < len(s) && base64s[s[n]] {
		n++
	}
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[len(scheme):n], "="))
	if err != nil || !strings.Contains(string(text), ":") {
		return 0
	}
	return n
}

// maxLine is how far back the program of a flag is looked for, and how long its
// value may be, in bytes.
const maxLine = 256

// flag returns where the secret is that the flag at s[i:] gives to a program;
// zero if there is none.
func flag(s string, i int) (from, to int) {
	if i == 0 || strings.IndexByte(" \t\"'[,", s[i-1]) < 0 {
		return 0, 0
	}
	for k := range commands {
		c := &commands[k]
		if !strings.HasPrefix(s[i:], c.flag) {
			continue
		}
		end := i + len(c.flag)
		if end == len(s) || !c.shape.fits(s[end], len(c.flag) > 2) || !runs(s[max(0, i-maxLine):i], c.programs) {
			continue
		}
		if from, to = c.shape.value(s[:min(len(s), i+maxLine)], end); from < to {
			return from, to
		}
	}
	return 0, 0
}

// fits reports whether a value may begin with c right behind its flag. One with
// a name has a blank or an equals sign there.
func (h shape) fits(c byte, named bool) bool {
	if c == ' ' || c == '\t' {
		return h != attached
	}
	return c != '\n' && (named && c == '=' || !named && h != apart)
}

// value returns where the secret is behind a flag that ends at i.
func (h shape) value(s string, i int) (from, to int) {
	from = skip(s, i, " \t=")
	if to = enclosed(s, from); to == from {
		to = from + until(s[from:], " \t\r\n\"',;|&")
	}
	if from > i && strings.HasPrefix(s[from:], "-") || tokenAt(s[from:]) > 0 {
		return 0, 0
	}
	if h == behind {
		colon := strings.IndexAny(s[from:to], ":%")
		if colon < 0 || tokenAt(s[from+colon+1:]) > 0 {
			return 0, 0
		}
		from += colon + 1
		if to > from && (s[to-1] == '"' || s[to-1] == '\'') {
			to--
		}
	}
	return from, to
}

// runs reports whether one of the programs is named in the last line of a
// command.
func runs(line, programs string) bool {
	line = line[strings.LastIndexByte(line, '\n')+1:]
	for program := range strings.FieldsSeq(programs) {
		for at := 0; ; at++ {
			n := strings.Index(line[at:], program)
			if n < 0 {
				break
			}
			at += n
			if at == 0 || strings.IndexByte(" \t\"'/`(;|&=[,>", line[at-1]) >= 0 {
				return true
			}
		}
	}
	return false
}

// spoken returns where the secret is that follows a word without an assignment:
// a line of netrc, SQL, a scheme of HTTP, a message of Puppet. Zero if none does.
func (w *word) spoken(s string, k *key) (from, to int) {
	if strings.HasSuffix(s[:k.start], redacted) {
		return 0, 0
	}
	from = skip(s, k.end, " \t")
	if w.where == keyword && from > k.end {
		if to = enclosed(s, from); to > from {
			return from, to
		}
		return from, from + until(s[from:], " \t\r\n;")
	}
	if w.folded == "bearer" && from > k.end {
		to = from
		for to < len(s) && (crypt[s[to]] || s[to] == '~') {
			to++
		}
		if to-from >= 16 {
			return from, to
		}
		return 0, 0
	}
	if !strings.HasPrefix(w.folded, "pass") {
		return 0, 0
	}
	closed := skip(s, k.end, `"'`)
	at := skip(s, closed, " \t(")
	for _, verb := range [...]string{"changed ", "as ", "is ", "was ", "to ", "from "} {
		if at > closed && strings.HasPrefix(s[at:], verb) {
			at += len(verb)
			break
		}
	}
	switch {
	case at == closed || at == len(s):
		return 0, 0
	case s[at] == '\'' || s[at] == '"':
		line := at + until(s[at:min(len(s), at+maxURL)], "\r\n")
		if k.quote == 0 || closed > k.end {
			if to = enclosed(s[:line], at); strings.HasPrefix(s[to:line], " to ") {
				to = max(to, enclosed(s[:line], to+len(" to ")))
			}
			return at, to
		}
	case at == skip(s, k.end, " \t") && isNetrc(s[max(0, k.start-maxLine):k.start]):
		return at, at + until(s[at:], " \t\r\n")
	}
	return 0, 0
}

// isNetrc reports whether a text names a machine or a login as netrc does.
func isNetrc(s string) bool {
	at := max(strings.LastIndex(s, "login "), strings.LastIndex(s, "machine "), strings.LastIndex(s, "default "))
	return at >= 0 && (at == 0 || strings.IndexByte(" \t\r\n\"'", s[at-1]) >= 0) && !strings.Contains(s[at:], ". ")
}
