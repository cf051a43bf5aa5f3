package facter

import (
	"os/user"
	"strconv"
)

// account adds what is known of a user and of its group.
func account(u *user.User, id, legacy *hash) {
	id.text("user", u.Username)
	legacy.text("id", u.Username)
	if gid, err := strconv.ParseInt(u.Gid, 10, 64); err == nil {
		id.num("gid", gid)
	}
	if g, err := user.LookupGroupId(u.Gid); err == nil {
		id.text("group", g.Name)
		legacy.text("gid", g.Name)
	}
}
