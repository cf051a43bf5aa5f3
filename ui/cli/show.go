package cli

import (
	"context"
	"errors"
)

// show runs the interactive program over a session, and closes that.
func (p *program) show(ctx context.Context, s *session) error {
	return errors.Join(errors.New("the interactive program is being built"), s.close())
}
