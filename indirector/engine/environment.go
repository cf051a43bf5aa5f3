package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"indirtui/indirector"
	"indirtui/indirector/settings"
)

// elsewhere holds the settings of other environments. Reading them takes as
// long as a hundred finds in a file, so they are kept until one of their files
// changes. It is safe for concurrent use.
type elsewhere struct {
	settings *settings.Settings

	mu   sync.Mutex // guards the field below
	kept map[string]kept
}

type kept struct {
	settings *settings.Settings
	stamp    string
}

// maxElsewhere is how many environments are kept at once.
const maxElsewhere = 1000

func (e *elsewhere) in(environment string) indirector.Settings {
	stamp := e.stamp(environment)
	e.mu.Lock()
	defer e.mu.Unlock()
	if k, ok := e.kept[environment]; ok && k.stamp == stamp {
		return k.settings
	}
	if e.kept == nil || len(e.kept) >= maxElsewhere {
		e.kept = make(map[string]kept)
	}
	s := e.settings.In(environment)
	e.kept[environment] = kept{s, stamp}
	return s
}

// stamp changes when the directory of an environment or its environment.conf
// does.
func (e *elsewhere) stamp(environment string) string {
	var b strings.Builder
	path, _ := e.settings.Get("environmentpath")
	for _, dir := range filepath.SplitList(path) {
		for _, name := range []string{"", "environment.conf"} {
			if info, err := os.Stat(filepath.Join(dir, environment, name)); err == nil {
				fmt.Fprint(&b, info.ModTime().UnixNano(), " ", info.Size())
			}
			b.WriteByte('/')
		}
	}
	return b.String()
}
