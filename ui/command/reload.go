package command

import "indirtui/indirector/engine"

// A Configuration can be read again while the engine runs: an *engine.Engine.
type Configuration interface {
	Configured
	// Recheck notices what changed on disk, and Reload reads it.
	Recheck() (found []engine.Problem, news bool)
	Reload() (engine.Reload, error)
	Restore(c *engine.Configuration, why string)
}

// A Reload reads puppet.conf and routes.yaml again, or takes that back.
type Reload struct {
	engine Configuration
	was    engine.Reload // what it did; zero before Do
}

// NewReload returns a Reload that nothing has done yet.
func NewReload(h Configuration) *Reload { return &Reload{engine: h} }

// Text is the text form.
func (r *Reload) Text() string { return ":reload" }

// Do reads the files, and returns what follows from it, a sentence each. With an
// error what was read before stays in force. After Undo it puts back what it had
// read.
func (r *Reload) Do() ([]string, error) {
	if r.was.After != nil {
		before := r.engine.Routes()
		r.engine.Restore(r.was.After, "redo "+r.Text())
		return follows(nil, before, r.engine.Routes()), nil
	}
	before := r.engine.Routes()
	was, err := r.engine.Reload()
	if err != nil {
		return nil, err
	}
	r.was = was
	lines := follows(was.Follow, before, r.engine.Routes())
	if len(lines) > 0 {
		return append(was.Files, lines...), nil
	}
	return append(was.Files, "read again: no route and no setting is another than before"), nil
}

// Undo puts back what was read before. Files on disk are other than that then.
func (r *Reload) Undo() error {
	r.engine.Restore(r.was.Before, "undo "+r.Text())
	return nil
}
