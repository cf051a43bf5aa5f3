package settings

import "sync/atomic"

// A Current holds the Settings in force where they may be replaced. It is safe
// for concurrent use. Each call uses the Settings of that moment; callers that
// need answers that fit together call Load once.
type Current struct{ now atomic.Pointer[Settings] }

// NewCurrent returns a Current of s.
func NewCurrent(s *Settings) *Current {
	c := new(Current)
	c.Replace(s)
	return c
}

// Replace puts other settings in force.
func (c *Current) Replace(s *Settings) { c.now.Store(s) }

// Load returns the Settings in force. They never change.
func (c *Current) Load() *Settings { return c.now.Load() }

// Get is Settings.Get.
func (c *Current) Get(name string) (value, source string) { return c.Load().Get(name) }

// Setting is Settings.Setting.
func (c *Current) Setting(name string) (Setting, bool) { return c.Load().Setting(name) }

// All is Settings.All.
func (c *Current) All() []Setting { return c.Load().All() }

// In is Settings.In.
func (c *Current) In(environment string) *Settings { return c.Load().In(environment) }
