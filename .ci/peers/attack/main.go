// Command attack sends a server on loopback what no agent sends, and prints how
// it fared: hostile requests, bodies that need much memory, slow clients. A
// healthy client asks all the while. It exits with 1 if the server fell over,
// answered the healthy client late, or kept what it should have given back.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	base    = flag.String("url", "", "base URL, on loopback")
	ca      = flag.String("ca", "", "CA bundle")
	cert    = flag.String("cert", "", "client certificate of the attacker")
	key     = flag.String("key", "", "its key")
	goodC   = flag.String("good-cert", "", "client certificate of the healthy client")
	goodK   = flag.String("good-key", "", "its key")
	node    = flag.String("certname", "", "the attacker's name")
	good    = flag.String("good-certname", "", "the healthy client's name")
	pidfile = flag.String("pidfile", "", "file with the server's process id")
	hostile = flag.Int("hostile", 10_000, "hostile requests")
	bombs   = flag.Int("bombs", 20, "bodies that need much memory")
	slow    = flag.Int("slow", 1000, "slow clients")
	slowFor = flag.Duration("slow-for", 30*time.Second, "how long they stay")
	seed    = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the hostile requests")
	mostRSS = flag.Int("most-rss", 256, "MiB")
	mostMs  = flag.Duration("most-latency", time.Second, "of the healthy client")

	soakFor   = flag.Duration("soak", 0, "instead of an attack, send what agents send for that long")
	rate      = flag.Int("rate", 36, "requests a second of it")
	factsFile = flag.String("facts", "", "facts of its agents, as JSON")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

func run() error {
	u, err := url.Parse(*base)
	if err != nil || u.Hostname() != "localhost" {
		return fmt.Errorf("%q is not https://localhost:PORT", *base)
	}
	pem, err := os.ReadFile(*ca)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		return err
	}
	goodPair, err := tls.LoadX509KeyPair(*goodC, *goodK)
	if err != nil {
		return err
	}
	if *soakFor > 0 {
		return soak(&tls.Config{RootCAs: roots, Certificates: []tls.Certificate{goodPair}})
	}
	a := &attack{
		host: u.Host, own: &tls.Config{RootCAs: roots, ServerName: "localhost", Certificates: []tls.Certificate{pair}},
		none: &tls.Config{RootCAs: roots, ServerName: "localhost"},
	}
	h := startHealthy(&tls.Config{RootCAs: roots, Certificates: []tls.Certificate{goodPair}}, &tls.Config{RootCAs: roots})
	time.Sleep(2 * time.Second)
	before := descriptors()
	fmt.Printf("seed %d\n", *seed)
	var bad []string
	for _, phase := range []struct {
		name string
		do   func() string
	}{{"hostile requests", a.hostile}, {"bombs", a.bombs}, {"slow clients", a.slow}, {"secrets", a.secrets}} {
		h.reset()
		start := time.Now()
		did := phase.do()
		n, failed, max, p99, status := h.figures()
		fmt.Printf("%-17s %s in %.0f s; healthy: %d answers, %d failures, p99 %d ms, max %d ms; status max %d ms; memory %d MiB, peak %d MiB\n",
			phase.name, did, time.Since(start).Seconds(), n, failed, p99.Milliseconds(), max.Milliseconds(), status.Milliseconds(), memory("VmRSS"), memory("VmHWM"))
		if failed > 0 || max > *mostMs || status > *mostMs {
			bad = append(bad, phase.name+": the healthy client was not answered in time")
		}
	}
	h.stop()
	if memory("VmRSS") == 0 {
		bad = append(bad, "the server fell over")
	}
	if m := memory("VmHWM"); m > *mostRSS {
		bad = append(bad, fmt.Sprintf("it needed %d MiB", m))
	}
	var after int
	for range 20 { // what is closed takes a moment
		if after = descriptors(); after <= before {
			break
		}
		time.Sleep(time.Second)
	}
	fmt.Printf("afterwards        memory %d MiB, descriptors %d before and %d after\n", memory("VmRSS"), before, after)
	if after > before+2 {
		bad = append(bad, "descriptors are left")
	}
	if a.ours > 0 {
		bad = append(bad, "requests were answered with 500 that are the client's fault")
	}
	if bad != nil {
		return errors.New(strings.Join(bad, "; "))
	}
	return nil
}

// memory returns a line of the server's status, in MiB; 0 if it is gone.
func memory(name string) int {
	b, _ := os.ReadFile(filepath.Join("/proc", pid(), "status"))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name+":" {
			n, _ := strconv.Atoi(f[1])
			return n >> 10
		}
	}
	return 0
}

func descriptors() int {
	all, _ := os.ReadDir(filepath.Join("/proc", pid(), "fd"))
	return len(all)
}

func pid() string {
	b, _ := os.ReadFile(*pidfile)
	return strings.TrimSpace(string(b))
}

// A healthy client asks for its node ten times a second, and for the status
// without a certificate.
type healthy struct {
	mu     sync.Mutex
	took   []time.Duration
	status time.Duration
	failed int
	end    chan struct{}
	done   sync.WaitGroup
}

func startHealthy(own, none *tls.Config) *healthy {
	h := &healthy{end: make(chan struct{})}
	ask := func(c *http.Client, path string, note func(time.Duration)) {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-h.end:
				return
			case <-tick.C:
			}
			start := time.Now()
			req, _ := http.NewRequest("GET", *base+path, nil)
			req.Header.Set("Accept", "application/json")
			resp, err := c.Do(req)
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			h.mu.Lock()
			if err != nil || resp.StatusCode != 200 {
				if h.failed++; h.failed < 4 {
					fmt.Fprintln(os.Stderr, "healthy:", path, err, resp)
				}
			}
			note(time.Since(start))
			h.mu.Unlock()
		}
	}
	client := func(c *tls.Config) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: c}, Timeout: 30 * time.Second}
	}
	h.done.Go(func() {
		ask(client(own), "/puppet/v3/node/"+*good+"?environment=production", func(d time.Duration) { h.took = append(h.took, d) })
	})
	h.done.Go(func() { ask(client(none), "/status/v1/simple", func(d time.Duration) { h.status = max(h.status, d) }) })
	return h
}

func (h *healthy) stop() {
	close(h.end)
	h.done.Wait()
}

func (h *healthy) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.took, h.status, h.failed = nil, 0, 0
}

func (h *healthy) figures() (n, failed int, most, p99, status time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.took)
	if n = len(h.took); n > 0 {
		most, p99 = h.took[n-1], h.took[n*99/100]
	}
	return n, h.failed, most, p99, h.status
}

type attack struct {
	host      string
	own, none *tls.Config
	ours      int // answers of 500 where Puppet has none
}

// send sends bytes and returns the status line, or "" if there is none.
func (a *attack) send(c *tls.Config, b []byte, wait time.Duration) string {
	line, _ := a.exchange(c, b, wait, int64(len("HTTP/1.1 200")))
	return line
}

// exchange sends bytes and returns so many of the answer, or all of it if it is
// shorter.
func (a *attack) exchange(c *tls.Config, b []byte, wait time.Duration, most int64) (string, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: wait}, "tcp", a.host, c)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(wait))
	go func() { _, _ = conn.Write(b) }()
	answer, err := io.ReadAll(io.LimitReader(conn, most))
	return string(answer), err
}

// hostile sends requests that are made at random out of what breaks parsers.
func (a *attack) hostile() string {
	var next, answered, errors5, ours atomic.Int64
	var wg sync.WaitGroup
	for w := range 16 {
		r := rand.New(rand.NewPCG(*seed, uint64(w)))
		wg.Go(func() {
			for next.Add(1) <= int64(*hostile) {
				c := a.own
				if r.IntN(3) == 0 {
					c = a.none
				}
				sent := request(r)
				status := a.send(c, sent, 3*time.Second)
				if strings.HasPrefix(status, "HTTP/1.1 ") {
					answered.Add(1)
				}
				if strings.HasPrefix(status, "HTTP/1.1 500") {
					errors5.Add(1)
					if message := a.message(c, sent); !ofPuppet.MatchString(message) {
						if !bytes.HasPrefix(sent, []byte("HEAD ")) || strings.Contains(message, "Server Error") {
							ours.Add(1) // else what is stored is another thing now, and the reason unknown
						}
						fmt.Printf("answered with 500 %q\n  %.2000q\n", message, sent)
					}
				}
			}
		})
	}
	wg.Wait()
	a.ours += int(ours.Load())
	return fmt.Sprintf("%d, %d answered, %d with 500 as by Puppet, %d with a 500 of our own", *hostile, answered.Load(), errors5.Load()-ours.Load(), ours.Load())
}

// ofPuppet are the messages of requests that Puppet Server answers with 500, too:
// what a terminus or the CA refuses is an error of the server there, whoever
// caused it. Each was compared with Puppet 7.23; the words of the last two are
// Java's there.
var ofPuppet = regexp.MustCompile(`^(\{"message":"Server Error: (` + strings.Join([]string{
	`Unsupported checksum type `, `Invalid checksum `, `Listing remote file buckets is not allowed`,
	`Not authorized to call `, `Cannot find file: Invalid mount `, `No module specified`,
	`:links can only be set to :manage or :follow`, `Invalid :links value `, `Unsupported source_permission `,
	"undefined method `(checksum_type|source_permissions)=' for ", `comparison of (String|true|false) with 0 failed`,
	`comparison of Integer with (String|true|false) failed`, `Fileset recurse parameter must not be a number anymore`,
	`Instance name .* does not match requested key `, `(Could not destroy \w+ .*: )?invalid key`, `Could not render to json: Infinity not allowed in JSON`,
}, "|") + `)|Internal Server Error: (PEM_read_bio_X509_REQ: |java\.lang\.IllegalStateException: Cannot retrieve code content))`)

// message returns the body of the answer to a request that is sent again. What
// was sent as HEAD is sent as GET, as HEAD has none.
func (a *attack) message(c *tls.Config, b []byte) string {
	if rest, head := bytes.CutPrefix(b, []byte("HEAD ")); head {
		b = append([]byte("GET "), rest...)
	}
	answer, err := a.exchange(c, b, 3*time.Second, 64<<10)
	if answer == "" {
		return fmt.Sprint(err)
	}
	_, body, _ := strings.Cut(answer, "\r\n\r\n")
	return body
}

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

func noise(r *rand.Rand, n int) string {
	b := make([]byte, r.IntN(n)+1)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// request returns a request that is nearly right, or not at all.
func request(r *rand.Rand) []byte {
	switch {
	case r.IntN(20) == 0:
		return []byte(noise(r, 4096))
	case r.IntN(2) == 0:
		return nearly(r)
	}
	indirection := pick(r, "node", "facts", "catalog", "report", "file_metadata", "file_metadatas", "file_content", "file_bucket_file", "status", "resource", "certificate", "nodes", "x", "%00", "..", "")
	target := pick(r, "/puppet/v3/", "/puppet/v3/", "/puppet-ca/v1/", "/status/v1/", "//puppet//v3//", "/../", "/production/") + indirection + "/" +
		pick(r, *node, *node, "%2e%2e/%2e%2e/etc/passwd", "a%00b", strings.Repeat("a/", r.IntN(3000)), url.PathEscape(noise(r, 50)), "modules/x/y", "sha256/"+strings.Repeat("0", 64)) +
		pick(r, "?environment=production", "?environment=production", "?environment=..%2f..", "?environment=a&environment=b", "", "?"+strings.Repeat("a=b&", r.IntN(3000)), "?%zz=%", "?environment=production&recurse=true&recurselimit=99999999999999999999&links="+url.QueryEscape(noise(r, 20)))
	value := pick(r, "0", `""`, "null", "{}", "[", "1e999", "-", strings.Repeat("9", 5000), `"\ud800"`, strings.Repeat("[", 200), strings.Repeat(`{"a":`, 5000), "\x00", "\xff\xfe", `{"__ptype":"Deferred"}`)
	body := pick(r, `{"name":"`+*node+`","values":{"a":`+value+`}}`, value, noise(r, 2000), "facts="+url.QueryEscape(value)+"&facts_format=application%2Fjson", "--- !ruby/object:Puppet::Node\n", "\xdd\xff\xff\xff\xff", "\xc9\xff\xff\xff\xff", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n")
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", pick(r, "GET", "PUT", "POST", "HEAD", "DELETE", "PATCH", "G\x00T", "get"), target)
	fmt.Fprintf(&b, "Content-Type: %s\r\n", pick(r, "application/json", "text/pson", "application/x-msgpack", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream", "yaml", "\x01"))
	fmt.Fprintf(&b, "Accept: %s\r\n", pick(r, "application/json", "*/*", "", strings.Repeat("x/y,", r.IntN(500)), "text/pson;q=zz"))
	switch r.IntN(6) {
	case 0:
		fmt.Fprintf(&b, "Content-Length: %s\r\n\r\n", pick(r, "-1", "99999999999999999999", "1, 2", "x"))
	case 1:
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%s\r\n%s", pick(r, "ffffffffffffffff", "-1", "5", "zz"), body)
		return b.Bytes()
	case 2:
		fmt.Fprintf(&b, "X-Client-DN: %s\r\nContent-Length: %d\r\n\r\n", noise(r, 100), len(body))
	default:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	}
	b.WriteString(body)
	return b.Bytes()
}

// nearly returns a request of an agent in which one thing is wrong, so that it
// gets further than others.
func nearly(r *rand.Rand) []byte {
	const json, form = "application/json", "application/x-www-form-urlencoded"
	odd := func() string {
		return pick(r, "", "0", "-1", "true", "nil", "x", "manage", "99999999999999999999", "..", "%", "a b", "[]", noise(r, 20), strings.Repeat("9", 300), "\x00", "é", "../../x")
	}
	value := pick(r, "0", `""`, "null", "{}", "[]", "[", "1e999", "-", `"x"`, "true", strings.Repeat("9", 500), `"\ud800"`, `{"__ptype":"Deferred"}`, `{"__ptype":"Timespan","__pvalue":"x"}`, "\xff\xfe", `{"a":[1,{"b":null}]}`)
	facts := pick(r, `{"name":`+value+`,"values":{}}`, `{"name":"`+*node+`","values":`+value+`}`, `{"name":"`+*node+`","values":{},"timestamp":`+value+`,"expiration":`+value+`}`, value)
	report := `{"host":"` + *node + `","time":` + pick(r, value, `"2024-01-01T00:00:00Z"`) + `,"configuration_version":` + value + `,"report_format":12,"puppet_version":"7","status":` + pick(r, value, `"changed"`) + `,"environment":"production","logs":` + pick(r, value, "[]", "["+value+"]") + `,"metrics":` + pick(r, value, "{}", `{"time":`+value+`}`) + `,"resource_statuses":` + pick(r, value, "{}", `{"File[x]":`+value+`}`) + `}`
	query := func(names ...string) string {
		s := "?environment=" + pick(r, "production", "production", "production", url.QueryEscape(odd()))
		for _, name := range names {
			if r.IntN(3) == 0 {
				s += "&" + name + "=" + url.QueryEscape(odd())
			}
		}
		return s
	}
	path := "/" + pick(r, "modules/x/y", "modules/x", "modules", "plugins", "plugins/x", "pluginfacts", "locales", "tasks/x/y", "scripts/x/y", "x/y", "", url.PathEscape(odd()))
	method, target, kind, body := "GET", "", "text/plain", ""
	switch r.IntN(9) {
	case 0:
		target = "node/" + *node + query("configured_environment", "transaction_uuid", "fail_on_404", "ignore_cache", "terminus", "cached_catalog")
	case 1:
		method, target, kind, body = pick(r, "POST", "POST", "GET"), "catalog/"+*node+query("job_uuid"), form, "environment=production&facts_format="+url.QueryEscape(pick(r, json, json, "pson", "yaml", odd()))+"&facts="+url.QueryEscape(url.QueryEscape(facts))+"&"+pick(r, "checksum_type", "static_catalog", "transaction_uuid", "use_node")+"="+url.QueryEscape(odd())
	case 2:
		method, target, kind, body = "PUT", "facts/"+*node+query("links"), pick(r, json, "text/pson", "application/x-msgpack", "text/yaml"), facts
	case 3:
		method, target, kind, body = "PUT", "report/"+*node+query("transaction_uuid"), pick(r, json, "text/pson", "application/x-msgpack", "text/yaml"), report
	case 4:
		target = pick(r, "file_metadata", "file_content") + path + query("links", "checksum_type", "source_permissions", "code_id")
	case 5:
		target = "file_metadatas" + path + query("recurse", "recurselimit", "ignore", "links", "checksum_type", "max_files", "source_permissions")
	case 6:
		method, target, body = pick(r, "GET", "PUT"), "file_bucket_file/"+pick(r, "md5", "sha256", "sha512", odd())+"/"+pick(r, strings.Repeat("0", 32), strings.Repeat("0", 64), strings.Repeat("0", 64)+"/etc/x", url.PathEscape(odd()))+query("bucket_path", "diff_with", "list_all", "fromdate"), noise(r, 100)
		kind = "application/octet-stream"
	case 7:
		target = pick(r, "environments", "environment/production", "status/x", "static_file_content/modules/x/files/y", "environment_classes", "environment_modules") + query("code_id", "x")
	case 8:
		method = pick(r, "GET", "PUT", "DELETE")
		target, kind, body = pick(r, "certificate/", "certificate_request/", "certificate_status/", "certificate_statuses/", "certificate_revocation_list/", "expirations", "sign", "clean")+pick(r, *node, "ca", "any_key", url.PathEscape(odd())), pick(r, "text/plain", json), pick(r, value, `{"desired_state":`+value+`}`, `{"certnames":`+value+`}`, "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n", "")
		return fmt.Appendf(nil, "%s /puppet-ca/v1/%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", method, target, pick(r, json, "text/plain", "*/*"), kind, len(body), body)
	}
	return fmt.Appendf(nil, "%s /puppet/v3/%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		method, target, pick(r, json, "*/*", "application/octet-stream", "text/pson, application/json"), kind, len(body), body)
}

// bombs sends bodies that are small for what is made of them, eight at once.
func (a *attack) bombs() string {
	const size = 30 << 20
	facts := `{"name":"` + *node + `","values":{"a":`
	all := []struct{ method, path, kind, body string }{
		{"PUT", "facts", "application/json", facts + "[" + strings.Repeat("0,", size/2)},
		{"PUT", "facts", "application/json", facts + "[" + strings.Repeat("0,", size/2) + "0]}}"},
		{"PUT", "facts", "application/json", facts + strings.Repeat(`{"a":`, size/5)},
		{"PUT", "facts", "application/json", facts + "[" + strings.Repeat("{},", size/3) + "0]}}"},
		{"PUT", "facts", "application/json", facts + `"` + strings.Repeat("x", size) + `"}}`},
		{"PUT", "facts", "text/pson", facts + "[" + strings.Repeat("0,", size/2) + "0]}}"},
		{"PUT", "facts", "application/x-msgpack", "\xdd\x01\x00\x00\x00" + strings.Repeat("\x00", size)},
		{"PUT", "report", "application/json", `{"host":"` + *node + `","logs":[` + strings.Repeat(`{},`, size/3) + `{}]}`},
		{"POST", "catalog", "application/x-www-form-urlencoded", strings.Repeat("a=b&", size/4)},
		{"POST", "catalog", "application/x-www-form-urlencoded", "facts_format=application%2Fjson&facts=" + strings.Repeat("%255B", size/5)},
	}
	var answers sync.Map
	var wg sync.WaitGroup
	turn := make(chan struct{}, 8)
	for i := range *bombs {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			bomb := all[i%len(all)]
			head := fmt.Sprintf("%s /puppet/v3/%s/%s?environment=production HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: application/json\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", bomb.method, bomb.path, *node, bomb.kind, len(bomb.body))
			status := a.send(a.own, append([]byte(head), bomb.body...), time.Minute)
			n, _ := answers.LoadOrStore(strings.TrimPrefix(status, "HTTP/1.1 "), new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
		})
	}
	wg.Wait()
	var answered []string
	answers.Range(func(k, v any) bool {
		answered = append(answered, fmt.Sprintf("%d × %q", v.(*atomic.Int64).Load(), k))
		return true
	})
	slices.Sort(answered)
	return fmt.Sprintf("%d (%s)", *bombs, strings.Join(answered, ", "))
}

// slow opens connections that send little: nothing at all, headers or a body one
// byte at a time, with and without a certificate.
func (a *attack) slow() string {
	until := time.Now().Add(*slowFor)
	var wg sync.WaitGroup
	var open, cut atomic.Int64
	turn := make(chan struct{}, 16) // handshakes at once
	for i := range *slow {
		wg.Go(func() {
			turn <- struct{}{}
			raw, err := net.DialTimeout("tcp", a.host, 5*time.Second)
			if err != nil {
				<-turn
				return
			}
			defer raw.Close()
			open.Add(1)
			to := net.Conn(raw)
			first := ""
			if i%4 > 0 {
				config := a.none
				if i%4 == 3 {
					config = a.own
				}
				c := tls.Client(raw, config)
				_ = c.SetDeadline(time.Now().Add(20 * time.Second))
				if c.Handshake() != nil {
					<-turn
					return
				}
				_ = c.SetDeadline(time.Time{})
				to = c
				first = "PUT /puppet-ca/v1/certificate_request/slow" + strconv.Itoa(i) + " HTTP/1.1\r\nHost: localhost\r\n"
				if i%4 >= 2 {
					first += "Content-Type: text/plain\r\nContent-Length: 10000\r\n\r\n"
				}
			}
			<-turn
			if _, err := io.WriteString(to, first); err != nil {
				return
			}
			for time.Now().Before(until) {
				time.Sleep(2 * time.Second)
				if _, err := to.Write([]byte("a")); err != nil {
					cut.Add(1)
					return
				}
			}
		})
	}
	wg.Wait()
	return fmt.Sprintf("%d, %d of %d open ones were cut off", *slow, cut.Load(), open.Load())
}
