package types

import "sync"

// All are the types that are built in, by name. The map is not written.
func All() map[string]*Type { return builtin() }

var builtin = sync.OnceValue(func() map[string]*Type {
	all := map[string]*Type{}
	for _, t := range []*Type{
		componentType(), execType(), fileType(), filebucketType(), hostType(), notifyType(),
		scheduleType(), stageType(), whitType(),
	} {
		all[t.Name] = t
	}
	return all
})
