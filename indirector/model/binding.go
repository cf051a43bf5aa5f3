package model

import "indirtui/indirector/data"

// A Binding is the value that a key of a lookup has. Nil is a value, too.
type Binding struct {
	Name   string // the key that was looked up
	Value  data.Value
	Secret bool // it was decrypted, and only the caller gets to see it
}

// Key returns the key that was looked up.
func (b *Binding) Key() string { return b.Name }

// Data returns the value itself.
func (b *Binding) Data() data.Value { return b.Value }
