package cli

import (
	"context"
	"fmt"
	"os"

	"indirtui/indirector/redact"
	"indirtui/traces/export"
)

// startLive begins to send requests to a collector, if the flag or the
// environment names one.
func (p *program) startLive() error {
	wanted := p.otlp != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
	if p.live != nil || !wanted {
		return nil
	}
	mine, err := p.mine()
	if err != nil {
		return err
	}
	p.live, err = export.NewLive(context.Background(), export.LiveOptions{URL: p.otlp, Redact: redact.New(redact.Rules{Names: mine.Secrets}).Text})
	return err
}

// endLive sends what waits, and reports what was lost.
func (p *program) endLive() {
	if p.live == nil {
		return
	}
	err := p.live.CloseSoon()
	if st := p.live.Stats(); st.Dropped > 0 {
		p.report(st.String())
	} else if err != nil {
		p.report(fmt.Sprintf("OTLP: %v", err))
	}
}
