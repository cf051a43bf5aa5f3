package types

import (
	"strings"
	"sync"
)

// All are the types that are built in, by name. The map is not written.
func All() map[string]*Type { return builtin() }

// Find is a type that is built in, by its name in any case, or nil.
func Find(name string) *Type { return find(builtin(), name) }

func find(all map[string]*Type, name string) *Type { return all[strings.ToLower(name)] }

var builtin = sync.OnceValue(func() map[string]*Type {
	all := map[string]*Type{}
	for _, t := range []*Type{
		augeasType(), componentType(), cronType(), execType(), fileType(), filebucketType(), groupType(), hostType(),
		mailaliasType(), mountType(), notifyType(), packageType(), resourcesType(all), scheduleType(), selbooleanType(),
		selmoduleType(), serviceType(), sshAuthorizedKeyType(), sshkeyType(), stageType(), tidyType(), userType(), whitType(),
	} {
		all[t.Name] = t
	}
	return all
})
