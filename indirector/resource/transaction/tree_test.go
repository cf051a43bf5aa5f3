package transaction_test

import (
	"testing"

	"indirtui/indirector/resource/systemtest"
)

// tree lists the files of a place as recordings do.
func (p place) tree(t *testing.T) map[string]string {
	t.Helper()
	return systemtest.List(t, p.dir+"/root", p.norm)
}
