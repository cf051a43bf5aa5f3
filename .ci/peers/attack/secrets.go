package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// planted begins every secret that is sent. Nothing that the server prints or
// writes down may have it.
const planted = "hunter2"

// secrets sends secrets in keys, parameters, headers and bodies.
func (a *attack) secrets() string {
	n := 0
	next := func() string {
		n++
		return fmt.Sprintf("%s%04dq7Zx", planted, n)
	}
	values := make(map[string]any)
	for _, name := range strings.Fields("password db_password dbPass passphrase pwd secret api_key accessKey client_secret auth_token bearer psk snmp_community pw_hash credentials private_key") {
		values[name] = next()
		values["of_"+name] = map[string]any{name: next()}
	}
	for _, text := range []string{
		"mysql -p%s -u root", "curl -u admin:%s https://h/", "https://u:%s@h/x", "https://h/x?token=%s", "Authorization: Bearer %sAAAAAAAAAAAA",
		"machine h login l password %s", "PGPASSWORD=%s psql", "redis-cli -a %s", "the password is '%s'", "--password=%s",
	} {
		values[fmt.Sprintf("text%d", len(values))] = fmt.Sprintf(text, next())
	}
	facts, err := json.Marshal(map[string]any{"name": *node, "values": values})
	if err != nil {
		return err.Error()
	}
	log, err := json.Marshal(fmt.Sprintf("could not log in with password=%s", next()))
	if err != nil {
		return err.Error()
	}
	form := url.Values{"environment": {"production"}, "facts_format": {"application/json"}, "facts": {url.QueryEscape(string(facts))}, "password": {next()}}.Encode()
	now := time.Now().UTC().Format(time.RFC3339)
	report := fmt.Sprintf(`{"host":%q,"time":%q,"configuration_version":1,"transaction_uuid":null,"report_format":12,"puppet_version":"7","status":"failed","environment":"production","logs":[{"level":"err","message":%s,"source":"s","tags":[],"time":%q,"file":null,"line":null}],"metrics":{},"resource_statuses":{}}`, *node, now, log, now)
	var requests []string
	add := func(method, path, kind, body string) {
		requests = append(requests, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: application/json\r\nAuthorization: Basic %s\r\nCookie: session=%s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			method, path, next(), next(), kind, len(body), body))
	}
	add("PUT", "/puppet/v3/facts/"+*node+"?environment=production", "application/json", string(facts))
	add("POST", "/puppet/v3/catalog/"+*node+"?environment=production", "application/x-www-form-urlencoded", form)
	add("PUT", "/puppet/v3/report/"+*node+"?environment=production", "application/json", report)
	for _, path := range []string{
		"node/%s?environment=production&password=", "node/%s?environment=production&api_key=", "file_metadata/modules/x?environment=production&token=",
		"file_content/modules/x?environment=production&secret=", "catalog/%s?environment=production&client_secret=", "node/%s?environment=production&access_token=",
	} {
		add("GET", "/puppet/v3/"+strings.ReplaceAll(path, "%s", *node)+next(), "text/plain", "")
	}
	for _, key := range []string{"https://u:%s@h/x", "https://h/x?token=%s", "mysql -p%s", "password=%s", "ghp_%s" + strings.Repeat("A", 30)} {
		add("GET", "/puppet/v3/node/"+url.PathEscape(fmt.Sprintf(key, next()))+"?environment=production", "text/plain", "")
	}
	answered := 0
	for _, r := range requests {
		if a.send(a.own, []byte(r), 10*time.Second) != "" {
			answered++
		}
	}
	return fmt.Sprintf("%d in %d requests, %d answered", n, len(requests), answered)
}
