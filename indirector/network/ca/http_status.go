package ca

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

// method reports a method other than those of allow.
func (e *exchange) method(allow string) error {
	for m := range strings.SplitSeq(allow, ", ") {
		if m == e.r.Method {
			return nil
		}
	}
	e.w.Header().Set("Allow", allow)
	return &reply{http.StatusMethodNotAllowed, plainUTF8, "Method not allowed."}
}

// accept chooses the type of a status: of those that are wanted equally, the
// last.
func (e *exchange) accept() (mediaType string, err error) {
	header := e.r.Header.Values("Accept")
	if len(header) == 0 {
		return jsonUTF8, nil
	}
	best := 0.0
	for part := range strings.SplitSeq(strings.Join(header, ","), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight := 1.0
		if q, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			if _, err := fmt.Sscanf(q, "%g", &weight); err != nil {
				weight = 0
			}
		}
		var offered string
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "application/json", "*/*", "application/*":
			offered = jsonUTF8
		case "text/pson", "pson", "text/*":
			offered = psonUTF8
		}
		if offered != "" && weight > 0 && weight >= best {
			best, mediaType = weight, offered
		}
	}
	if mediaType == "" {
		return "", &reply{http.StatusNotAcceptable, plainUTF8, msgUnaccepted}
	}
	e.w.Header().Add("Vary", "Accept")
	return mediaType, nil
}

// status answers what Puppet Server calls a resource. The order of checks is its
// own.
func (e *exchange) status(key string) error {
	if err := e.method("GET, PUT, DELETE"); err != nil {
		return err
	}
	var desired *model.CertificateStatus
	if e.r.Method == http.MethodPut {
		var err error
		if desired, err = e.desired(key); err != nil {
			return err
		}
	}
	mediaType, err := e.accept()
	if err != nil {
		return err
	}
	v, err := e.do("certificate_status", indirector.Find, key, nil)
	switch {
	case absent(err) && desired != nil:
		e.w.Header().Del("Vary")
		return &reply{http.StatusNotFound, plainUTF8, msgNoSubject}
	case absent(err):
		return &reply{http.StatusNotFound, mediaType, msgNoResource}
	case err != nil:
		return err
	}
	switch e.r.Method {
	case http.MethodGet:
		return e.render(mediaType, v)
	case http.MethodPut:
		if _, err := e.do("certificate_status", indirector.Save, key, desired); err != nil {
			e.w.Header().Del("Vary")
			return conflict(err)
		}
		return e.plain(http.StatusNoContent, plainType, "")
	}
	if _, err := e.do("certificate_status", indirector.Destroy, key, nil); err != nil {
		return err
	}
	return e.plain(http.StatusNoContent, mediaType, "")
}

// conflict turns a refusal of a request into one of the state of the CA.
func conflict(err error) error {
	refusal := (*Refusal)(nil)
	if errors.As(err, &refusal) && refusal.Kind <= Signature {
		return &Refusal{Conflict, refusal.Message}
	}
	return err
}

// desired reads the desired state of a name.
func (e *exchange) desired(key string) (*model.CertificateStatus, error) {
	b, err := e.body(maxBody)
	if err != nil {
		return nil, err
	}
	var given map[string]any
	bad := func(format string, args ...any) (*model.CertificateStatus, error) {
		return nil, &reply{http.StatusBadRequest, plainUTF8, fmt.Sprintf(format, args...)}
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if d.Decode(&given) != nil {
		return bad(msgNotJSON)
	}
	state, ok := given["desired_state"].(string)
	if !ok {
		return bad(msgNoState)
	}
	if state != Signed && state != Revoked {
		return bad(msgBadState, state, key)
	}
	s := &model.CertificateStatus{Name: key, Desired: state}
	if ttl, given := given["cert_ttl"]; given && ttl != nil {
		n, ok := ttl.(json.Number)
		seconds, err := n.Int64()
		if !ok || err != nil {
			text, _ := json.Marshal(ttl)
			return bad(msgBadTTL, key, text)
		}
		if seconds <= 0 || seconds > int64(maxTTL/time.Second) {
			return bad("cert_ttl specified for host %s must be from 1 to %d, not %d", key, int64(maxTTL/time.Second), seconds)
		}
		s.TTL = time.Duration(seconds) * time.Second
	}
	if header := e.r.Header.Get("Content-Type"); header != "" {
		kind, _, _ := strings.Cut(header, ";")
		if kind = strings.TrimSpace(kind); kind != jsonType && kind != "text/pson" && kind != "pson" {
			return nil, &reply{http.StatusUnsupportedMediaType, plainUTF8, msgUnsupported}
		}
	}
	return s, nil
}

// render answers with one status or a list.
func (e *exchange) render(mediaType string, v any) error {
	f, _ := format.ByName("json")
	var b []byte
	var err error
	if inst, one := v.(indirector.Instance); one {
		b, err = format.Render(f, inst)
	} else {
		list, _ := v.([]indirector.Instance)
		b, err = format.RenderMultiple(f, list)
	}
	if err != nil {
		return err
	}
	return e.found(mediaType, string(b))
}

func (e *exchange) statuses(key string) error {
	if err := e.method("GET"); err != nil {
		return err
	}
	mediaType, err := e.accept()
	if err != nil {
		return err
	}
	var options []indirector.Option
	if s := e.r.URL.Query().Get("state"); s == Requested || s == Signed || s == Revoked {
		options = append(options, indirector.Option{Name: "state", Value: s})
	}
	v, err := e.do("certificate_status", indirector.Search, key, nil, options...)
	if err != nil && !absent(err) {
		return err
	}
	return e.render(mediaType, v)
}

// names reads the list of names of a body; raw is nil if it is no JSON object.
func (e *exchange) names() (names []string, async bool, raw map[string]json.RawMessage, err error) {
	b, err := e.body(maxBody)
	if err != nil || json.Unmarshal(b, &raw) != nil || raw == nil {
		return nil, false, nil, err
	}
	_ = json.Unmarshal(raw["async"], &async)
	if json.Unmarshal(raw["certnames"], &names) != nil {
		names = nil
	}
	return names, async, raw, nil
}

func (e *exchange) clean(string) error {
	names, async, raw, err := e.names()
	switch {
	case err != nil:
		return err
	case raw == nil:
		return &reply{http.StatusBadRequest, plainType, msgNotJSON}
	case async:
		return &reply{http.StatusBadRequest, plainType, msgAsync}
	case names == nil:
		return &reply{http.StatusBadRequest, plainType, msgNoNames}
	}
	var missing, there []string
	for _, name := range names {
		switch _, err := e.do("certificate", indirector.Find, name, nil); {
		case absent(err):
			missing = append(missing, fmt.Sprintf("%q", name))
		case err != nil:
			return notCleaned(err)
		default:
			there = append(there, name)
		}
	}
	for _, name := range there {
		_, err := e.do("certificate_status", indirector.Save, name, &model.CertificateStatus{Name: name, Desired: Revoked})
		if err == nil {
			_, err = e.do("certificate", indirector.Destroy, name, nil)
		}
		if err != nil {
			return notCleaned(err)
		}
	}
	text := msgCleaned
	if len(missing) > 0 {
		text = fmt.Sprintf(msgNotCleaned, "["+strings.Join(missing, " ")+"]")
	}
	return e.plain(http.StatusOK, plainType, text)
}

func notCleaned(err error) error {
	return &reply{http.StatusInternalServerError, plainType, fmt.Sprintf(msgCleanFailed, indirector.Message(err))}
}

// A bulk is the result of signing many requests.
type bulk struct {
	Signed []string `json:"signed"`
	NoCSR  []string `json:"no-csr"`
	Errors []string `json:"signing-errors"`
}

func (e *exchange) sign(string) error {
	names, _, raw, err := e.names()
	if err != nil {
		return err
	}
	if names == nil {
		given := raw["certnames"]
		if len(given) == 0 {
			given = json.RawMessage("null")
		}
		b, _ := json.Marshal(map[string]any{"kind": "schema-violation", "submitted": given, "error": "(not (sequential? certnames))"})
		return &reply{http.StatusUnprocessableEntity, jsonType, string(b)}
	}
	return e.signThese(names)
}

func (e *exchange) signAll(string) error {
	v, err := e.do("certificate_status", indirector.Search, "all", nil, indirector.Option{Name: "state", Value: Requested})
	if err != nil && !absent(err) {
		return err
	}
	list, _ := v.([]indirector.Instance)
	names := make([]string, 0, len(list))
	for _, i := range list {
		names = append(names, i.Key())
	}
	return e.signThese(names)
}

func (e *exchange) signThese(names []string) error {
	b := bulk{[]string{}, []string{}, []string{}}
	for _, name := range names {
		_, err := e.do("certificate_status", indirector.Save, name, &model.CertificateStatus{Name: name, Desired: Signed})
		refusal := (*Refusal)(nil)
		switch {
		case err == nil:
			b.Signed = append(b.Signed, name)
		case errors.As(err, &refusal) && refusal.Kind == Conflict, absent(err):
			b.NoCSR = append(b.NoCSR, name)
		default:
			b.Errors = append(b.Errors, name)
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return e.plain(http.StatusOK, jsonType, string(text))
}
