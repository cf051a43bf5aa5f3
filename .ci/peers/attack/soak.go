package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// soak sends what agents send, for a long time and at an even rate, and prints
// every minute what the server takes. It fails if that grows: if the most that
// was seen in the last third is a tenth over that of the third before.
func soak(own *tls.Config) error {
	text, err := os.ReadFile(*factsFile)
	if err != nil {
		return err
	}
	var facts struct {
		Name   string         `json:"name"`
		Values map[string]any `json:"values"`
	}
	if err := json.Unmarshal(text, &facts); err != nil {
		return err
	}
	facts.Name = *good
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: own, MaxIdleConnsPerHost: 8}, Timeout: 30 * time.Second}
	var sent, failed atomic.Int64
	begin := time.Now()
	tick := time.NewTicker(time.Second / time.Duration(*rate))
	defer tick.Stop()
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	turn := make(chan struct{}, 8)
	var thirds [3]struct{ memory, descriptors int }
	look := func() {
		third := &thirds[min(int(3*time.Since(begin) / *soakFor), 2)]
		m, d := memory("VmRSS"), descriptors()
		third.memory, third.descriptors = max(third.memory, m), max(third.descriptors, d)
		fmt.Printf("%6s  %7d requests, %d failed  memory %d MiB, peak %d MiB  descriptors %d\n",
			time.Since(begin).Round(time.Second), sent.Load(), failed.Load(), m, memory("VmHWM"), d)
	}
	for n := 0; time.Since(begin) < *soakFor; {
		select {
		case <-minute.C:
			look()
		case <-tick.C:
			n++
			facts.Values["soak"] = n
			body, err := json.Marshal(facts)
			if err != nil {
				return err
			}
			turn <- struct{}{}
			go func(n int) {
				defer func() { <-turn }()
				if err := agent(client, n, string(body)); err != nil {
					if failed.Add(1) < 4 {
						fmt.Fprintln(os.Stderr, "soak:", err)
					}
				}
				sent.Add(1)
			}(n)
		}
	}
	look()
	switch before, after := thirds[1], thirds[2]; {
	case after.memory == 0:
		return errors.New("the server fell over")
	case failed.Load() > 0:
		return fmt.Errorf("%d requests failed", failed.Load())
	case before.memory > 0 && 10*after.memory > 11*before.memory:
		return fmt.Errorf("memory grew from %d to %d MiB", before.memory, after.memory)
	case before.descriptors > 0 && after.descriptors > before.descriptors+2:
		return fmt.Errorf("descriptors grew from %d to %d", before.descriptors, after.descriptors)
	}
	return nil
}

// agent sends one request of an agent's run: node, catalog with facts, facts.
func agent(client *http.Client, n int, facts string) error {
	method, path, kind, body := "GET", "node/", "", ""
	switch n % 4 {
	case 1:
		method, path, kind, body = "PUT", "facts/", "application/json", facts
	case 2, 3:
		method, path, kind = "POST", "catalog/", "application/x-www-form-urlencoded"
		body = url.Values{"environment": {"production"}, "facts_format": {"application/json"}, "facts": {url.QueryEscape(facts)}}.Encode()
	}
	req, err := http.NewRequest(method, *base+"/puppet/v3/"+path+*good+"?environment=production", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return nil
}
