package puppetdb

import (
	"context"

	"indirtui/indirector/puppetdb/command"
)

func (c *Client) confirmed(ctx context.Context, cfg *Config, cmd *command.Command, tried []attempt) error {
	return nil
}
