package redact_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/redact"
)

func salted(names ...string) *redact.Redactor {
	return redact.New(redact.Rules{Names: names, Salt: []byte("salt")})
}

var tag = regexp.MustCompile(`, tag [0-9a-f]{4}\)`)

// untagged makes redacted values easy to compare.
func untagged(s string) string { return tag.ReplaceAllString(s, ")") }

func decode(t testing.TB, json string) data.Value {
	t.Helper()
	v, err := format.DecodeJSON([]byte(json), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----"

func TestValue(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     string // as Ruby would inspect it
		found    []redact.Redacted
	}{
		{"nothing", `{"a":[1,"x",null]}`, `{"a"=>[1, "x", nil]}`, nil},
		{"name", `{"password":"hunter2"}`, `{"password"=>"(masked password, 7 B)"}`, []redact.Redacted{{"password", "password"}}},
		{"part of a snake word", `{"db_password_hash":"x"}`, `{"db_password_hash"=>"(masked password, 1 B)"}`, []redact.Redacted{{"db_password_hash", "password"}}},
		{"part of a camel word", `{"tlsPrivateKey":"x"}`, `{"tlsPrivateKey"=>"(masked private_key, 1 B)"}`, []redact.Redacted{{"tlsPrivateKey", "private_key"}}},
		{"upper case", `{"AUTH-TOKEN":"x"}`, `{"AUTH-TOKEN"=>"(masked token, 1 B)"}`, []redact.Redacted{{"AUTH-TOKEN", "token"}}},
		{"scope", `{"profile::db::passwd":"x"}`, `{"profile::db::passwd"=>"(masked passwd, 1 B)"}`, []redact.Redacted{{`profile::db::passwd`, "passwd"}}},
		{"the user's", `{"pinCode":1234}`, `{"pinCode"=>"(masked pin_code, 4 B)"}`, []redact.Redacted{{"pinCode", "pin_code"}}},
		{"a list", `{"secrets":["a","b"]}`, `{"secrets"=>"(masked secret, 10 B)"}`, []redact.Redacted{{"secrets", "secret"}}},
		{"nothing to hide", `{"password":null,"token":false,"secret":"","passwd":[]}`, `{"password"=>nil, "token"=>false, "secret"=>"", "passwd"=>[]}`, nil},
		{"not a name", `{"Exec[password]":{"title":"x"},"/etc/secret":{"a":1}}`, `{"Exec[password]"=>{"title"=>"x"}, "/etc/secret"=>{"a"=>1}}`, nil},
		{
			"headers", `{"headers":{"Authorization":"Basic eA==","Set-Cookie":["a=b"],"Accept":"x"}}`,
			`{"headers"=>{"Authorization"=>"(masked header, 10 B)", "Set-Cookie"=>"(masked header, 7 B)", "Accept"=>"x"}}`,
			[]redact.Redacted{{"headers.Authorization", "header"}, {"headers.Set-Cookie", "header"}},
		},
		{
			"private key", `["x",{"content":"a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----\nb"}]`,
			`["x", {"content"=>"a\n(masked private key, 70 B)\nb"}]`,
			[]redact.Redacted{{"[1].content", "private key"}},
		},
		{
			"Sensitive", `{"a":{"b.c":{"__ptype":"Sensitive","__pvalue":"hunter2"}}}`, `{"a"=>{"b.c"=>"(masked Sensitive, 7 B)"}}`,
			[]redact.Redacted{{`a["b.c"]`, "Sensitive"}},
		},
		{"Sensitive hash", `{"__pvalue":{"x":1},"__ptype":"Sensitive"}`, `"(masked Sensitive, 8 B)"`, []redact.Redacted{{"", "Sensitive"}}},
		{"Sensitive boolean with a name", `{"token":{"__ptype":"Sensitive","__pvalue":true}}`, `{"token"=>"(masked Sensitive, 4 B)"}`, []redact.Redacted{{"token", "Sensitive"}}},
		{
			"hash as pairs", `{"__ptype":"Hash","__pvalue":["token","x",1,"y"]}`, `{"__ptype"=>"Hash", "__pvalue"=>["token", "(masked token, 1 B)", 1, "y"]}`,
			[]redact.Redacted{{"__pvalue[1]", "token"}},
		},
		{
			"parameters", `{"resources":[{"type":"File","parameters":{"content":"s3cr","mode":"0644","x":["--password=y"]},"sensitive_parameters":["content","gone"]}]}`,
			`{"resources"=>[{"type"=>"File", "parameters"=>{"content"=>"(masked sensitive parameter, 4 B)", "mode"=>"0644", "x"=>["--password=(masked password, 1 B)"]}, "sensitive_parameters"=>["content", "gone"]}]}`,
			[]redact.Redacted{{"resources[0].parameters.content", "sensitive parameter"}, {"resources[0].parameters.x[0]", "password"}},
		},
		{
			"FMT-REP-05 event of a redacted thing", `{"property":"ensure","previous_value":"old","desired_value":"[redacted]","message":"changed old to new","redacted":true}`,
			`{"property"=>"ensure", "previous_value"=>"(masked redacted event, 3 B)", "desired_value"=>"[redacted]", "message"=>"(masked redacted event, 18 B)", "redacted"=>true}`,
			[]redact.Redacted{{"previous_value", "redacted event"}, {"message", "redacted event"}},
		},
		{
			"event of a property with a name", `{"property":"password","desired_value":"new","redacted":false}`,
			`{"property"=>"password", "desired_value"=>"(masked redacted event, 3 B)", "redacted"=>false}`,
			[]redact.Redacted{{"desired_value", "redacted event"}},
		},
		{"event of something else", `{"property":"ensure","desired_value":"new","redacted":false}`, `{"property"=>"ensure", "desired_value"=>"new", "redacted"=>false}`, nil},
		{"key", `{"see http://u:pw@h":1}`, `{"see http://u:(masked password in URL, 2 B)@h"=>1}`, []redact.Redacted{{"", "password in URL"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := salted("pin_code")
			in := decode(t, tt.in)
			before := in.Inspect()
			got, found := m.Value(in)
			if d := cmp.Diff(tt.want, untagged(got.Inspect())); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			if d := cmp.Diff(tt.found, found); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			if in.Inspect() != before {
				t.Errorf("the value itself was changed: %s", in)
			}
			again, found := m.Value(got)
			if !data.Equal(again, got) || found != nil && tt.name != "event of a redacted thing" {
				t.Errorf("masked again: %s, %v", again, found)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	const x = "(masked token, "
	tests := []struct{ in, want string }{
		{"", ""},
		{"nothing of the kind", "nothing of the kind"},
		{"password: hunter2", "password: (masked password, 7 B)"},
		{"  password: correct horse \n  user: x", "  password: (masked password, 14 B)\n  user: x"},
		{`"token": "x", "user": "y"`, `"token": (masked token, 3 B), "user": "y"`},
		{`{"token":12,"user":"y"}`, `{"token":(masked token, 2 B),"user":"y"}`},
		{`{"token" :` + "\n" + `{"a":"}","b":[1]},"user":"y"}`, `{"token" :` + "\n" + `(masked token, 17 B),"user":"y"}`},
		{`{"token":"a\"b","user":"y"}`, `{"token":(masked token, 6 B),"user":"y"}`},
		{`"{\"token\":\"a\",\"user\":\"y\"}"`, `"{\"token\":(masked token, 5 B),\"user\":\"y\"}"`},
		{"{:token=>\"a\", :user=>\"y\"}", "{:token=>(masked token, 3 B), :user=>\"y\"}"},
		{"User <| password == 'hunter2' |>", "User <| password == (masked password, 9 B) |>"},
		{"title == 'x' and password != 'hunter2'", "title == 'x' and password != (masked password, 9 B)"},
		{"  password +> 'hunter2',", "  password +> (masked password, 9 B),"},
		{"if @db_password === 'a' then", "if @db_password === (masked password, 3 B) then"},
		{"mysql --password=x --user=y", "mysql --password=(masked password, 1 B) --user=y"},
		{"mysql --password x --user=y", "mysql --password (masked password, 1 B) --user=y"},
		{"mysql --password --user=y", "mysql --password --user=y"},
		{"mysql --password='a b' --user=y", "mysql --password=(masked password, 5 B) --user=y"},
		{"mysql --password='a'b c", "mysql --password=(masked password, 6 B)"},
		{"DB_PASSWORD=x y", "DB_PASSWORD=(masked password, 3 B)"},
		{"env DB_PASSWORD=x y", "env DB_PASSWORD=(masked password, 1 B) y"},
		{"export TOKEN=x", "export TOKEN=(masked token, 1 B)"},
		{"apiToken = a b\nx = y", "apiToken = (masked token, 3 B)\nx = y"},
		{"token: |\n  a\n\n  b\nuser: y", "token: (masked token, 10 B)\nuser: y"},
		{"token:\n- a\n- b\nuser: y", "token:(masked token, 8 B)\nuser: y"},
		{"token:\nuser: y", "token:\nuser: y"},
		{"  token: a\n    b\n  user: y", "  token: (masked token, 7 B)\n  user: y"},
		{"token: 'it''s'\nuser: y", "token: (masked token, 7 B)\nuser: y"},
		{"token: 'it's'\nuser: y", "token: (masked token, 6 B)\nuser: y"},
		{"token: \"a\n  b\"\nuser: y", "token: (masked token, 7 B)\nuser: y"},
		{"token: \"open", "token: (masked token, 5 B)"},
		{"token: true\npassword: ~\nsecret: ''", "token: true\npassword: ~\nsecret: ''"},
		{"profile::token::db: x", "profile::token::db: (masked token, 1 B)"},
		{"profile::token::", "profile::token::"},
		{"params['token'] = 'x'", "params['token'] = (masked token, 3 B)"},
		{"<token>x</token>", "<token>(masked token, 1 B)</token>"},
		{"unexpected token at line 3", "unexpected token at line 3"},
		{"GET https://u:p%40w@h:8140/x?y=a@b", "GET https://u:(masked password in URL, 5 B)@h:8140/x?y=a@b"},
		{"https://u:p/w@h", "https://u:(masked password in URL, 3 B)@h"},
		{"https:/u:pw@h/x", "https:/u:(masked password in URL, 2 B)@h/x"}, // as a path has it
		{"https://h:8140/x@y ssh://git@h", "https://h:8140/x@y ssh://git@h"},
		{"/x?token=a&b=c d", "/x?token=(masked token, 5 B) d"},
		{"Authorization: Bearer a.b.c\r\nAccept: x", "Authorization: (masked header, 12 B)\r\nAccept: x"},
		{`curl -H "Authorization: Bearer a" https://h`, `curl -H "Authorization: (masked header, 8 B)" https://h`},
		{`curl -H 'Cookie: a=b; c=d' https://h`, `curl -H 'Cookie: (masked header, 8 B)' https://h`},
		{"set-cookie: a=b", "set-cookie: (masked header, 3 B)"},
		{"cookies: 3", "cookies: 3"},
		{"a " + pem + " b", "a (masked private key, 70 B) b"},
		{"a " + pem[:40], "a (masked private key, 40 B)"},
		{"-----BEGIN CERTIFICATE-----\nx", "-----BEGIN CERTIFICATE-----\nx"},
		{"--token=" + x + "3 B, tag 0000) y", "--token=" + x + "3 B) y"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			m := salted()
			got, n := m.Text(tt.in)
			if untagged(got) != tt.want {
				t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if (n > 0) != (got != tt.in) || n > 1 {
				t.Errorf("%d masked", n)
			}
			if again, n := m.Text(got); again != got || n > 0 {
				t.Errorf("masked again: %q", again)
			}
		})
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	m := salted()
	a, _ := m.Value(decode(t, `{"password":"hunter2","token":{"__ptype":"Sensitive","__pvalue":"hunter2"},"passwd":"hunter3"}`))
	text, _ := m.Text("--password=hunter2")
	of := func(s string) string { return tag.FindString(s) }
	same := of(a.Get("password").Str())
	if same == "" || of(a.Get("token").Str()) != same || of(text) != same {
		t.Errorf("equal secrets, different tags: %s, %s", a, text)
	}
	if of(a.Get("passwd").Str()) == same {
		t.Errorf("different secrets, equal tags: %s", a)
	}
	var tags []string
	for range 4 { // two bytes may be equal by chance, eight are not
		other, _ := redact.New(redact.Rules{}).Text("--password=hunter2")
		tags = append(tags, of(other))
	}
	if tags[0] == tags[1] && tags[1] == tags[2] && tags[2] == tags[3] {
		t.Errorf("another salt, the same tag: %v", tags)
	}
}

// What holds no secret is the same memory as before, and costs none but that of
// the way to where the walk is.
func TestShared(t *testing.T) {
	m := salted()
	in := decode(t, `{"a":{"list":[1,2,"x"]},"b":{"password":"hunter2"}}`)
	out, _ := m.Value(in)
	if &in.Get("a").Hash()[0] != &out.Get("a").Hash()[0] {
		t.Error("a subtree without a secret was copied")
	}
	clean := in.Get("a")
	if n := testing.AllocsPerRun(10, func() { m.Value(clean) }); n > 1 {
		t.Errorf("a value without a secret costs %.0f allocations", n)
	}
	if n := testing.AllocsPerRun(10, func() { m.Text("a plain line of text: nothing = special") }); n > 0 {
		t.Errorf("a text without a secret costs %.0f allocations", n)
	}
}

func TestDeep(t *testing.T) {
	t.Parallel()
	v := data.OfHash([]data.Pair{data.P("password", data.OfString("hunter2"))})
	for range 100_000 {
		v = data.OfList([]data.Value{v})
	}
	out, found := salted().Value(v)
	if len(found) != 1 || found[0].Rule != redact.RuleDepth || strings.Contains(out.Inspect(), "hunter2") {
		t.Errorf("%d masked", len(found))
	}
}

// Each of these takes minutes if the time grows with the square of the length.
func TestHostileText(t *testing.T) {
	t.Parallel()
	m := salted()
	for _, s := range []string{
		"token", "cookie", "token ", "token:", "\"token", "'token=a ", "<token>", "://a:b/", "-----BEGIN ", "token:\n\n", "token: [", "token=\\\"",
		"- token", "--token a", "token::", "a_token-", "   token", "-----BEGIN PRIVATE KEY-----",
		" -p '", " -p {", "curl -u {", "curl -u \"", "mysql -p", "eyJ-", "eyJaaaaaaaaa.", "password 'a' ", "password 'a", "login password ", "%25", "%41", "%", "Basic A",
		"Bearer ", "Bearer=a ", "rocommunity {", "$1$", "$6$a/", "facts: eN", "Private-Lines:", "?sig=", "&sig=a", "ghp_", "glpat-", "pass ", "{SHA}", "*A",
	} {
		m.Text(strings.Repeat(s, 1<<20/len(s)))
	}
}

// A planter makes random structures and texts with a secret at each position
// where one may be.
type planter struct {
	*rand.Rand
	secrets []string
}

func (p *planter) secret(alphabet string) string {
	b := make([]byte, 12+p.IntN(20))
	for i := range b {
		b[i] = alphabet[p.IntN(len(alphabet))]
	}
	s := "Zq" + string(b) + "qZ" // nothing else looks like it
	p.secrets = append(p.secrets, s)
	return s
}

const (
	plain = "abcdefABCDEF0123456789+/=$!%^*._"
	ugly  = plain + " ,;:'\"\\(){}[]<>&|#@\t\xff"
)

var secretNames = []string{"password", "dbPassword", "MYSQL_PASSWD", "client-secret", "tokens", "private_key", "rootpasswd2", "x::token", "Authorization", "cookie"}

func (p *planter) name() string { return secretNames[p.IntN(len(secretNames))] }

func (p *planter) value(depth int) data.Value {
	switch n := p.IntN(13); {
	case n == 0 && depth > 0:
		l := make([]data.Value, p.IntN(5))
		for i := range l {
			l[i] = p.value(depth - 1)
		}
		return data.OfList(l)
	case n <= 4 && depth > 0:
		h := make([]data.Pair, p.IntN(5))
		for i := range h {
			h[i] = data.P(fmt.Sprint("k", i), p.value(depth-1))
		}
		return data.OfHash(h)
	case n <= 6:
		return data.OfHash([]data.Pair{data.P("a", data.OfInt(1)), data.P(p.name(), p.hidden())})
	case n == 7:
		return data.OfHash([]data.Pair{data.P("__ptype", data.OfString("Sensitive")), data.P("__pvalue", p.hidden())})
	case n == 8:
		return data.OfHash([]data.Pair{
			data.P("type", data.OfString("File")),
			data.P("parameters", data.OfHash([]data.Pair{data.P("content", p.hidden()), data.P("more", p.value(0))})),
			data.P("sensitive_parameters", data.OfStrings([]string{"content"})),
		})
	case n == 9:
		return data.OfHash([]data.Pair{
			data.P("desired_value", p.hidden()), data.P("message", data.OfString("changed to "+p.secret(ugly))), data.P("redacted", data.OfBool(true)),
		})
	case n <= 11:
		return data.OfString(p.text())
	}
	return data.OfInt(p.Int64())
}

func (p *planter) hidden() data.Value {
	switch p.IntN(4) {
	case 0:
		return data.OfList([]data.Value{data.OfInt(1), data.OfString(p.secret(plain))})
	case 1:
		return data.OfHash([]data.Pair{data.P("x", data.OfString(p.secret(plain)))})
	case 2:
		return data.OfSymbol(p.secret(ugly))
	}
	return data.OfString(p.secret(ugly))
}

// text returns lines of all kinds, each with a secret.
func (p *planter) text() string {
	var b strings.Builder
	for range 1 + p.IntN(4) {
		line := strings.ReplaceAll(strings.ReplaceAll(secretNames[p.IntN(7)], "::", "_"), ".", "_")
		switch n := strings.ReplaceAll(line, "::", "_"); p.IntN(15) {
		case 0:
			fmt.Fprintf(&b, "%s: %s", n, p.secret(plain+" ,;:'@#"))
		case 1:
			fmt.Fprintf(&b, "{\"a\": 1, %q: %q, \"b\": \"c\"}", n, p.secret(ugly[:len(ugly)-2]))
		case 2:
			fmt.Fprintf(&b, "run --%s=%s now", n, p.secret(plain+",;:"))
		case 3:
			fmt.Fprintf(&b, "run --%s %s now", n, p.secret(plain+",;:"))
		case 4:
			fmt.Fprintf(&b, "see https://user:%s@host:8140/path", p.secret("abcdef0123456789%:!$&*"))
		case 5:
			fmt.Fprintf(&b, "Authorization: Bearer %s", p.secret(plain+" ,;:"))
		case 6:
			fmt.Fprintf(&b, "curl -H \"Cookie: a=%s\" https://host", p.secret(plain+" ,;:"))
		case 7:
			fmt.Fprintf(&b, "-----BEGIN EC PRIVATE KEY-----\n%s\n%s\n-----END EC PRIVATE KEY-----", p.secret(plain), p.secret(plain))
		case 8:
			fmt.Fprintf(&b, "  %s: |\n    %s\n\n    %s\n  user: x", n, p.secret(plain+" :'\""), p.secret(plain))
		case 9:
			fmt.Fprintf(&b, "%s:\n  - %s\n  - %s", n, p.secret(plain), p.secret(plain+" "))
		case 10:
			fmt.Fprintf(&b, "{:%s=>%q, :user=>\"x\"}", n, p.secret(ugly[:len(ugly)-2]))
		case 11:
			fmt.Fprintf(&b, "%s = %s", n, p.secret(plain+" ,;:'@#"))
		case 12:
			fmt.Fprintf(&b, "%q", fmt.Sprintf("{%q:%q,\"b\":1}", n, p.secret(plain)))
		case 13:
			fmt.Fprintf(&b, "%s: '%s'", n, strings.ReplaceAll(p.secret(plain+" :\""), "'", "''"))
		case 14:
			fmt.Fprintf(&b, "{%q: [1, {\"x\": %q}], \"b\": 2}", n, p.secret(plain+"]} "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// leaked returns a part of a secret that survived in s. Eight bytes in a row do
// not survive by chance.
func (p *planter) leaked(s string) string {
	for _, secret := range p.secrets {
		for i := 0; i+8 <= len(secret); i++ {
			if strings.Contains(s, secret[i:i+8]) {
				return secret
			}
		}
		if strings.Contains(s, secret[:6]) || strings.Contains(s, secret[len(secret)-6:]) {
			return secret
		}
	}
	return ""
}

// flat writes every byte of v without quoting.
func flat(b *strings.Builder, v data.Value) {
	for _, x := range v.List() {
		flat(b, x)
	}
	for _, p := range v.Hash() {
		flat(b, p.Key)
		flat(b, p.Value)
	}
	b.WriteString(v.Str())
	b.WriteByte('\n')
}

func checkNoLeak(t *testing.T, seed1, seed2 uint64) {
	t.Helper()
	p := &planter{Rand: rand.New(rand.NewPCG(seed1, seed2))}
	m := salted()
	v := p.value(5)
	out, found := m.Value(v)
	var b strings.Builder
	flat(&b, out)
	for _, x := range found {
		b.WriteString(x.Path + "\n")
	}
	if secret := p.leaked(b.String()); secret != "" {
		t.Fatalf("%q of\n%s\nsurvived in\n%s", secret, v, out)
	}
	if len(p.secrets) > 0 && len(found) == 0 {
		t.Fatalf("nothing is listed of %s", v)
	}
	p.secrets = nil
	text := p.text()
	got, n := m.Text(text)
	if secret := p.leaked(got); secret != "" || n == 0 {
		t.Fatalf("%q of\n%s\nsurvived in\n%s", secret, text, got)
	}
}

func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	for i := range uint64(20_000) {
		checkNoLeak(t, i, 1)
	}
}

// Names are found wherever they stand, in every case, with every separator, also
// those of one letter, of a digit, and of bytes beyond ASCII: the filter in front
// of the words passes over none.
func TestNamesAnywhere(t *testing.T) {
	t.Parallel()
	const letter, digit, umlaut = "q", "9z", "Ünter"
	m := salted(letter, digit, umlaut)
	for _, name := range []string{"password", "passwd", "secret", "token", "private_key", letter, digit, umlaut} {
		for _, between := range []string{"", "_", "-", ".", " ", "-."} {
			var spaced, upper strings.Builder
			for i, c := range strings.ReplaceAll(name, "_", "") {
				if i > 0 {
					spaced.WriteString(between)
				}
				spaced.WriteRune(c)
			}
			for i := range len(name) {
				upper.WriteByte(name[i])
				if c := name[i]; 'a' <= c && c <= 'z' && i%2 == 0 {
					s := upper.String()
					upper.Reset()
					upper.WriteString(s[:i] + string(c-'a'+'A'))
				}
			}
			for _, key := range []string{spaced.String(), upper.String()} {
				for _, around := range [][2]string{{"", ""}, {"a", ""}, {"", "a"}, {"-", "-"}, {"to", "pr"}, {"::", "::b"}} {
					key := around[0] + key + around[1]
					v, hits := m.Value(data.OfHash([]data.Pair{data.P(key, data.OfString("hunter2"))}))
					if len(hits) == 0 || strings.Contains(v.Inspect(), "hunter2") {
						t.Errorf("Value with key %q = %s", key, v.Inspect())
					}
				}
				line := "see " + key + ": hunter2"
				if got, n := m.Text(line); n != 1 || strings.Contains(got, "hunter2") {
					t.Errorf("Text(%q) = %q", line, got)
				}
			}
		}
	}
}

func FuzzNothingLeaks(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { checkNoLeak(t, a, b) })
}

// Whatever the text, redaction ends, is stable, and removes all that it
// reports.
func FuzzText(f *testing.F) {
	for _, s := range []string{"password: x", `"token": "a\"`, "--password=x", "https://u:p@h", pem, "<token>", "token: |\n  a", "'token: it's'", "token:\n- a"} {
		f.Add(s)
	}
	m := salted()
	f.Fuzz(func(t *testing.T, s string) {
		got, n := m.Text(s)
		if (n == 0) != (got == s) || strings.Count(got, "(masked ") < n {
			t.Fatalf("Text(%q) = %q, %d", s, got, n)
		}
	})
}

func readData(tb testing.TB, name string) data.Value {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return decode(tb, string(b))
}

func BenchmarkValue(b *testing.B) {
	m := salted()
	catalog := readData(b, "catalog.json")
	resources := catalog.Get("resources").List()
	many := make([]data.Value, 0, 500)
	for i := range 500 {
		many = append(many, resources[i%len(resources)])
	}
	for name, v := range map[string]data.Value{
		"facts":            readData(b, "facts.json"),
		"catalog_500":      catalog.With("resources", data.OfList(many)),
		"facts_one_secret": readData(b, "facts.json").With("token", data.OfString("hunter2")),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Value(v)
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	m := salted()
	text, err := os.ReadFile(filepath.Join("testdata", "facts.json"))
	if err != nil {
		b.Fatal(err)
	}
	s := string(text)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		m.Text(s)
	}
}
