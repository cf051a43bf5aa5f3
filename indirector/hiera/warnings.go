package hiera

import (
	"fmt"
	"sync"
)

// Warnings receives what Puppet would log. The zero value drops it. It is safe for
// concurrent use.
type Warnings struct {
	// Log gets each warning, as Puppet prints it. May be nil.
	Log func(message string)

	mu    sync.Mutex
	given map[string]bool // what is logged once
}

func (w *Warnings) warn(format string, args ...any) {
	if w.Log != nil {
		w.Log(fmt.Sprintf(format, args...))
	}
}

// once warns unless the same key was warned of before. Puppet adds the place, or
// that it has none.
func (w *Warnings) once(key, file, message string) {
	w.mu.Lock()
	given := w.given[key]
	if w.given == nil {
		w.given = map[string]bool{}
	}
	w.given[key] = true
	w.mu.Unlock()
	if given || w.Log == nil {
		return
	}
	if file == "" {
		w.Log(message + "\n   (file & line not available)")
		return
	}
	w.Log(fmt.Sprintf("%s\n   (file: %s)", message, file))
}
