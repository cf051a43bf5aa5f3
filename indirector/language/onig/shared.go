package onig

import "sync"

// shared are regular expressions by their sources: programs and types have the same ones in
// each compile. They hold no result, and all engines of a process share them.
var shared struct {
	sync.Mutex
	all map[string]*Regexp
}

// maxShared is how many are kept. Programs can make any number of them.
const maxShared = 1000

// Shared is like Compile, but an expression is compiled once while it is kept. It may be
// used from many goroutines.
func Shared(source string) (*Regexp, error) {
	shared.Lock()
	re, ok := shared.all[source]
	shared.Unlock()
	if ok {
		return re, nil
	}
	re, err := Compile(source)
	if err != nil {
		return nil, err
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.all == nil || len(shared.all) >= maxShared {
		shared.all = map[string]*Regexp{}
	}
	shared.all[source] = re
	return re, nil
}
