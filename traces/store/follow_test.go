package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
)

// A remote has one line for each request.
type remote struct{ near []uint64 }

func (r *remote) Line(id uint64) ([]byte, error) {
	if id == 13 {
		return nil, errors.New("the database is gone")
	}
	return fmt.Appendf(nil, `{"trace":%d,"parent":%d,"prev":%d,"t":"2026-01-02T03:04:05Z","verb":"find","ind":"node","key":"k%d","out":"ok","steps":[],"transaction":"x","run":"own"}`, id+1000, id+999, id+999, id), nil
}
func (r *remote) Number(_, recorded uint64) uint64     { return recorded - 1000 }
func (r *remote) Body(string) (line []byte, err error) { return nil, store.ErrDropped }
func (r *remote) Near(id uint64)                       { r.near = append(r.near, id) }

// entry is a request of an instance.
func entry(id, parent uint64, run string) store.Entry {
	return store.Entry{ID: id, Parent: parent, Head: store.Head{
		Time: time.Unix(int64(id), 0), Verb: "find", Indirection: "node", Key: fmt.Sprint("k", id), Outcome: "err", Run: run, From: fmt.Sprint("i", id%2), Caller: "agent n",
	}}
}

func idsOf(v *store.View) (ids []uint64) {
	for !v.Extend(0) {
	}
	for i := range v.Len() {
		ids = append(ids, v.At(i))
	}
	return ids
}

func TestFollow(t *testing.T) {
	t.Parallel()
	r := new(remote)
	s := store.Follow(r)
	defer s.Close()
	all := s.View(nil)
	e, err := query.Parse("failed")
	if err != nil {
		t.Fatal(err)
	}
	failed := s.View(e)
	check := func(what string, v *store.View, want ...uint64) {
		t.Helper()
		if got := idsOf(v); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	s.Add([]store.Entry{entry(100, 0, "a"), entry(102, 101, "a"), entry(103, 0, "b")}, 100)
	check("a page", all, 100, 102, 103)
	s.Add([]store.Entry{entry(101, 0, "a"), entry(104, 101, "b")}, 100) // 101 ended after what it asked
	check("what came later", all, 100, 101, 102, 103, 104)
	s.Add([]store.Entry{entry(40, 0, "a"), entry(13, 0, "")}, 100) // for a filter
	check("all, beside a filter", all, 100, 101, 102, 103, 104)
	check("the filter", failed, 13, 40, 100, 101, 102, 103, 104)
	s.Add([]store.Entry{entry(99, 0, "b")}, 99)
	check("an older page", all, 99, 100, 101, 102, 103, 104)

	if l := s.Links(101); !slices.Equal(l.Children, []uint64{102, 104}) {
		t.Errorf("%v are nested, want 102 and 104", l.Children)
	}
	if l := s.Links(100); l.PrevInRun != 40 || l.NextInRun != 101 {
		t.Errorf("got %+v", l)
	}
	s.SetRun(103, "a", "", true)
	if row, _ := s.Row(103); row.Run != "a" || !row.RunGuessed || row.Instance != "i1" || row.Caller != "agent n" {
		t.Errorf("got %+v", row)
	}
	if l := s.Links(103); l.PrevInRun != 101 { // 102 has a parent
		t.Errorf("got %+v", l)
	}
	s.Remove([]uint64{40, 13, 7})
	check("the filter is gone", failed, 99, 100, 101, 102, 103, 104)
	if st := s.Stats(); st.Total != 6 || st.Failed != 6 {
		t.Errorf("got %+v", st)
	}
	if l := s.Links(100); l.PrevInRun != 0 {
		t.Errorf("got %+v", l)
	}
	tr, err := s.Trace(102)
	if err != nil || tr.From.String() != "i0 #1102" || tr.ID != 102 || tr.Parent != 101 || tr.Run != "a" || tr.Previous != 101 {
		t.Errorf("got %+v, %v", tr, err)
	}
	if _, err := s.Trace(40); !errors.Is(err, store.ErrDropped) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Body(traces.Value{Digest: "zz"}); err == nil {
		t.Error("a value that has no digest was read")
	}
	if len(r.near) == 0 {
		t.Error("the remote does not know what is looked at")
	}
	if err := s.SetMark(100, 'a'); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("got %v", err)
	}
}
