package cli

import (
	"context"
	"fmt"
	"os"

	"indirtui/indirector/redact"
	"indirtui/traces/export"
)

// A live sends requests to a collector as they end.
type live struct {
	url string
	to  *export.Live // nil if it is not wanted
}

// start begins to send, if the flag or the environment names a collector.
func (l *live) start(secrets []string) (err error) {
	wanted := l.url != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
	if l.to == nil && wanted {
		l.to, err = export.NewLive(context.Background(), export.LiveOptions{URL: l.url, Redact: redact.New(redact.Rules{Names: secrets}).Text})
	}
	return err
}

// end sends what waits, and reports what was lost.
func (l *live) end(std Streams) {
	if l.to == nil {
		return
	}
	err := l.to.CloseSoon()
	if st := l.to.Stats(); st.Dropped > 0 {
		std.report(st.String())
	} else if err != nil {
		std.report(fmt.Sprintf("OTLP: %v", err))
	}
}
