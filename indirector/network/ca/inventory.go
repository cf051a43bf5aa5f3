package ca

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"indirtui/traces"
)

// timeLayout is Puppet's: "2026-11-19T16:01:28UTC".
const timeLayout = "2006-01-02T15:04:05"

// FormatTime writes a date as Puppet Server does.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) + "UTC" }

// maxSerial is the largest number that Puppet Server reads.
var maxSerial = big.NewInt(1<<31 - 1)

// A highest is the highest serial number of the inventory.
type highest struct {
	stamp  stamp
	serial *big.Int
}

// nextSerial takes the next serial number, under the lock. A serial file behind
// the inventory, as from a backup, is corrected: no number is used twice.
func (a *Authority) nextSerial(ctx context.Context) (*big.Int, error) {
	text, err := look(ctx, a.cfg.Serial)
	if err != nil {
		return nil, err
	}
	serial, err := parseSerial(string(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", a.cfg.Serial, err)
	}
	if last, err := a.highestSerial(); err != nil {
		return nil, err
	} else if last != nil && serial.Cmp(last) <= 0 {
		traces.AddNote(ctx, fmt.Sprintf("%s says %s, but the inventory knows %s already", a.cfg.Serial, formatSerial(serial), formatSerial(last)))
		serial = new(big.Int).Add(last, big.NewInt(1))
	}
	if serial.Cmp(maxSerial) >= 0 {
		return nil, fmt.Errorf("%s: there is no serial number after %s that Puppet Server could read", a.cfg.Serial, formatSerial(serial))
	}
	next := new(big.Int).Add(serial, big.NewInt(1))
	return serial, replace(ctx, a.cfg.Serial, publicMode, []byte(formatSerial(next)))
}

func parseSerial(text string) (*big.Int, error) {
	text = strings.TrimSpace(text)
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	n, ok := new(big.Int).SetString(digits, 16)
	if !ok || len(digits) > 40 || n.Sign() <= 0 {
		return nil, fmt.Errorf("%.60q is no serial number in hexadecimal", text)
	}
	return n, nil
}

// formatSerial writes a number as in the serial file: at least four upper case
// digits.
func formatSerial(n *big.Int) string { return fmt.Sprintf("%04X", n) }

// highestSerial reads the inventory if it has changed.
func (a *Authority) highestSerial() (*big.Int, error) {
	now, err := stampOf(a.cfg.Inventory)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.highest.serial != nil && a.highest.stamp == now {
		return a.highest.serial, nil
	}
	text, err := readFile(a.cfg.Inventory)
	if err != nil {
		return nil, err
	}
	h := highest{stamp: now}
	entries, _ := ParseInventory(text)
	for _, e := range entries {
		if h.serial == nil || e.Serial.Cmp(h.serial) > 0 {
			h.serial = e.Serial
		}
	}
	a.highest = h
	return h.serial, nil
}

// An Entry is a line of the inventory.
type Entry struct {
	Serial     *big.Int
	From, Till time.Time
	Subject    string // "/CN=web01.example.com"
}

// String returns the line as Puppet writes it, without a newline.
func (e Entry) String() string {
	return fmt.Sprintf("0x%s %s %s %s", formatSerial(e.Serial), FormatTime(e.From), FormatTime(e.Till), e.Subject)
}

// Name returns the common name.
func (e Entry) Name() string {
	_, name, _ := strings.Cut(e.Subject, "CN=")
	return name
}

func entryOf(cert *x509.Certificate) Entry {
	return Entry{cert.SerialNumber, cert.NotBefore, cert.NotAfter, "/" + cert.Subject.ToRDNSequence().String()}
}

// ParseInventory reads an inventory. Bad lines are skipped and counted;
// comments of older Puppets are skipped.
func ParseInventory(text []byte) (entries []Entry, bad int) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<16)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		e, err := parseEntry(line)
		if err != nil {
			bad++
			continue
		}
		entries = append(entries, e)
	}
	if lines.Err() != nil {
		bad++
	}
	return entries, bad
}

func parseEntry(line string) (e Entry, err error) {
	fields := strings.SplitN(line, " ", 4)
	if len(fields) != 4 || !utf8.ValidString(line) {
		return e, errors.New("a line of the inventory has four parts")
	}
	if e.Serial, err = parseSerial(fields[0]); err != nil {
		return e, err
	}
	for i, into := range []*time.Time{&e.From, &e.Till} {
		if *into, err = ParseTime(fields[1+i]); err != nil {
			return e, err
		}
	}
	e.Subject = fields[3]
	return e, nil
}

// ParseTime reads a date as Puppet writes it: "2026-11-19T16:01:28UTC" or GMT.
func ParseTime(s string) (time.Time, error) {
	for _, zone := range []string{"UTC", "GMT"} {
		if bare, ok := strings.CutSuffix(s, zone); ok {
			return time.ParseInLocation(timeLayout, bare, time.UTC)
		}
	}
	return time.Time{}, fmt.Errorf("%.60q is no date of Puppet's", s)
}

// Inventory reads the inventory of the CA.
func (a *Authority) Inventory(ctx context.Context) ([]Entry, error) {
	text, err := look(ctx, a.cfg.Inventory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	entries, bad := ParseInventory(text)
	if bad > 0 {
		traces.AddNote(ctx, fmt.Sprintf("%d lines of %s cannot be read", bad, a.cfg.Inventory))
	}
	return entries, err
}

// record adds a certificate to the inventory, under the lock.
func (a *Authority) record(ctx context.Context, cert *x509.Certificate) error {
	if err := appendTo(ctx, a.cfg.Inventory, entryOf(cert).String()+"\n"); err != nil {
		return err
	}
	now, err := stampOf(a.cfg.Inventory)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.highest.serial == nil || cert.SerialNumber.Cmp(a.highest.serial) > 0 {
		a.highest = highest{now, cert.SerialNumber}
	} else {
		a.highest.stamp = now
	}
	return nil
}
