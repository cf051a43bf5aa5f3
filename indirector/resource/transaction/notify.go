package transaction

import (
	"context"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// A notifier does notify, which is nothing but a line of the log: it needs no system,
// but the run. Rule RES-MISC-01.
type notifier struct {
	log *logger
	r   *Resource
}

func (n notifier) Retrieve(context.Context, providers.System, *types.Resource) ([]data.Pair, error) {
	return []data.Pair{data.P("message", data.OfSymbol("absent"))}, nil
}

func (n notifier) Set(_ context.Context, _ providers.System, r *types.Resource, property string) error {
	message := r.Value(property).Text()
	if r.Sensitive(property) {
		message = "Sensitive [value redacted]"
	}
	level := r.Value("loglevel").Str()
	if withpath := r.Value("withpath"); withpath.Text() == "true" {
		n.log.property(n.r, property, level, message)
	} else {
		n.log.puppet(level, message)
	}
	return nil
}
