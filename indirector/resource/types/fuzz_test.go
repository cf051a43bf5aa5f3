package types_test

import (
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// FuzzMode: what is a valid mode can be applied or is refused with the reason; the
// result has twelve bits, and is the same when it is applied again as digits.
func FuzzMode(f *testing.F) {
	for _, s := range []string{"0644", "644", "u+x", "u=rw,g=r,o=", "a+X", "ug=rwxs,o-t", "=", "+,-", "u=g,g=o", "99", ""} {
		f.Add(s, uint32(0o644), true)
	}
	f.Fuzz(func(t *testing.T, mode string, now uint32, dir bool) {
		if !types.ValidMode(mode) {
			return
		}
		m, err := types.ApplyMode(mode, now&0o7777, dir)
		if err != nil {
			return
		}
		if m > 0o7777 {
			t.Errorf("%q of %o is %o", mode, now, m)
		}
		if again, err := types.ApplyMode(strconv.FormatUint(uint64(m), 8), now&0o7777, dir); err != nil || again != m {
			t.Errorf("%o as digits is %o, %v", m, again, err)
		}
	})
}

// FuzzTitle: any title makes a resource of each type, or is refused in words; one that
// is made has a name and a key, and the same title gives the same.
func FuzzTitle(f *testing.F) {
	for _, s := range []string{"/etc/motd/", "/", "h@ssh-rsa", "a\nb", "", "C:/x", "File[x]", "\xff", strings.Repeat("/", 1000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, title string) {
		for name, typ := range types.All() {
			r, err := types.New(typ, debian{}, types.Given{Title: title}, nil)
			if err != nil {
				continue
			}
			again, err := types.New(typ, debian{}, types.Given{Title: title}, nil)
			if err != nil || again.UniqueKey() != r.UniqueKey() || again.Ref() != r.Ref() {
				t.Errorf("%s of %q: %v", name, title, err)
			}
			if ref, ok := types.ParseRef(r.Ref()); ok && name != "component" && ref.Type != typ.Title() {
				t.Errorf("%q is a reference to %s", r.Ref(), ref)
			}
		}
	})
}

// FuzzSchedule: a range that is taken has hours below 24 and minutes below 60.
func FuzzSchedule(f *testing.F) {
	for _, s := range []string{"2 - 4", "22:30-04:00:59", "2", "25 - 26", "1:60 - 2", "-", "a2-3b", "1-2-3", "99999999999999999999-1"} {
		f.Add(s, "Mon")
	}
	f.Fuzz(func(t *testing.T, hours, day string) {
		r, err := types.New(types.All()["schedule"], debian{}, types.Given{Title: "s", Values: []data.Pair{
			data.P("range", data.OfString(hours)), data.P("weekday", data.OfString(day)),
		}}, nil)
		if err != nil {
			return
		}
		for _, span := range r.Value("range").List() {
			for _, at := range span.List() {
				if h, m := at.List()[0].Int(), at.List()[1].Int(); h < 0 || h > 23 || m < 0 || m > 59 {
					t.Errorf("%q is %s", hours, r.Value("range"))
				}
			}
		}
		for _, p := range r.Value("weekday").Hash() {
			if p.Key.Int() < 0 || p.Key.Int() > 6 {
				t.Errorf("%q is %s", day, r.Value("weekday"))
			}
		}
	})
}

// FuzzCronTime: a time that is taken is taken again as what it has become, and stays so.
func FuzzCronTime(f *testing.F) {
	for _, s := range []string{"5", "*/5", "1-5", "1-30/5", "Monday", "dec", "*", "absent", "08", "60", "", "1,15", "\n5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, field := range []string{"minute", "hour", "weekday", "month", "monthday"} {
			r, err := job(field, data.OfString(text))
			if err != nil {
				continue
			}
			became := r.Value(field)
			again, err := job(field, became)
			if err != nil || !data.Equal(again.Value(field), became) {
				t.Errorf("%s %q is %s, and then %v", field, text, became, err)
			}
			if ok, err := r.InSync(field, became); err != nil || !ok {
				t.Errorf("%s %s is not in sync with itself: %v", field, became, err)
			}
		}
	})
}

func job(field string, v data.Value) (*types.Resource, error) {
	return types.New(types.All()["cron"], debian{}, types.Given{Title: "j", Values: []data.Pair{data.P(field, v)}}, nil)
}

// BenchmarkNew makes files with three attributes.
func BenchmarkNew(b *testing.B) {
	host := types.NewSelection(debian{}, nil)
	given := types.Given{Title: "/etc/motd", Values: []data.Pair{
		data.P("ensure", data.OfString("file")), data.P("content", data.OfString("hello\n")), data.P("mode", data.OfString("0644")),
	}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := types.New(types.All()["file"], host, given, nil); err != nil {
			b.Fatal(err)
		}
	}
}
