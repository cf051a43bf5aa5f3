package types

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
)

// cronType is a job of cron. Rule RES-LIST-02.
func cronType() *Type {
	return Define(Type{
		Name: "cron", Module: "cron_core", Doc: "A job in the crontab of a user. It takes a command, and a time or special.",
		Namevars: []string{"name"}, Instances: ByProviders, Providers: cronProviders, Validate: validateCron,
		Require: []Auto{{"user", func(r *Resource) []string {
			if u := r.Value("user"); u.Truthy() {
				return []string{u.Text()}
			}
			return nil
		}}},
		Attributes: []*Attribute{
			ensurable("Whether the job is there."),
			{
				Name: "command", Doc: "The command, which a shell runs.", ShowIs: showCommand, ShowShould: showCommand,
				InSync: cronInSync("command", showCommand),
				Munge: func(_ *Resource, v data.Value) (data.Value, error) {
					s, err := textOf(v)
					return data.OfString(strings.Trim(s, " \t\n\v\f\r\x00")), err
				},
			},
			{Name: "special", Doc: "A time in one word, as reboot or daily. It is instead of all others.", Validate: validateSpecial, Munge: mungeAbsent},
			cronTime(clockField{"minute", 0, 59, nil}, "The minutes."),
			cronTime(clockField{"hour", 0, 23, nil}, "The hours."),
			cronTime(clockField{"weekday", 0, 7, days}, "The days of the week, as numbers (0 and 7 are Sunday) or names."),
			cronTime(clockField{"month", 1, 12, months}, "The months, as numbers or names."),
			cronTime(clockField{"monthday", 1, 31, nil}, "The days of the month."),
			{
				Name: "environment", Doc: "Variables, as NAME=value.", Validate: validateCronEnvironment, InSync: cronEnvironmentInSync,
				Wanted:     func(_ *Resource, should []data.Value, _ data.Value) data.Value { return data.OfList(should) },
				ShowShould: func(_ *Resource, v data.Value) string { return JoinWords(list(v), ",") },
			},
			{Name: "user", Doc: "The user whose crontab it is.", Default: func(r *Resource) (data.Value, bool) {
				return currentUser(r.Host), r.Provider == nil
			}},
			{Name: "target", Doc: "The crontab, by its user. The default is the user.", Default: cronTarget},
			nameParameter("The name, which is in a comment of the crontab."),
		},
	})
}

// clockField is a part of the time of a job: its numbers, and the names of some.
type clockField struct {
	name        string
	first, last int64
	names       []string // of the numbers from 0
}

var (
	days   = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	months = []string{"", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
)

func cronTime(f clockField, doc string) *Attribute {
	return &Attribute{
		Name: f.name, Doc: doc + " Ranges (\"1-5\"), steps (\"*/10\") and lists are taken; * and absent are all.",
		Munge: func(_ *Resource, v data.Value) (data.Value, error) { return f.munge(v) },
		Wanted: func(_ *Resource, should []data.Value, _ data.Value) data.Value {
			if len(should) > 0 && isAbsent(should[0]) {
				return absent()
			}
			return data.OfList(should)
		},
		InSync: cronInSync(f.name, showCron), ShowIs: showCron, ShowShould: showCron,
	}
}

var cronRange = regexp.MustCompile(`(?m)^(\*/[0-9]+|[0-9]+-[0-9]+(/[0-9]+)?)$`)

// munge takes ranges and steps as they are, and makes numbers of names.
func (f clockField) munge(v data.Value) (data.Value, error) {
	w := v.Text()
	switch {
	case w == "absent", w == "*" && v.Kind() == data.String:
		return absent(), nil
	case cronRange.MatchString(w):
		return v, nil
	case v.Kind() == data.Int, v.Kind() == data.String && digits.MatchString(w):
		if n := leadingNumber(w); n >= f.first && n <= f.last {
			return data.OfString(w), nil
		}
	case v.Kind() == data.String:
		if n := f.named(w); n >= 0 {
			return data.OfString(strconv.Itoa(n)), nil
		}
	}
	return v, badArgument("%s is not a valid %s", w, f.name)
}

// named is the number of a name, which may be cut to three letters, or -1.
func (f clockField) named(w string) int {
	w = strings.ToLower(w)
	return slices.IndexFunc(f.names, func(name string) bool {
		return name != "" && (name == w || len(w) == 3 && name[:3] == w)
	})
}

// cronInSync compares what is shown.
func cronInSync(name string, show func(*Resource, data.Value) string) func(*Resource, data.Value) (bool, error) {
	return func(r *Resource, is data.Value) (bool, error) {
		return show(r, is) == show(r, data.OfList(r.Should(name))), nil
	}
}

// showCron shows the word of a list that is the symbol absent.
func showCron(_ *Resource, v data.Value) string {
	if !v.Truthy() {
		return ""
	}
	if v.Kind() == data.List && v.Len() > 0 && v.List()[0].Kind() == data.Symbol {
		v = v.List()[0]
	}
	return Display(v)
}

// showCommand shows the only word of a list.
func showCommand(r *Resource, v data.Value) string {
	if v.Kind() == data.List && v.Len() == 0 {
		return ""
	}
	return showCron(r, first(v))
}

var specials = strings.Fields("reboot yearly annually monthly weekly daily midnight hourly absent")

func validateSpecial(_ *Resource, v data.Value) error {
	if _, isText := v.AsStr(); !isText || !slices.Contains(specials, v.Str()) {
		return refuse("Invalid special schedule %s", v.Inspect())
	}
	return nil
}

func mungeAbsent(_ *Resource, v data.Value) (data.Value, error) {
	if v.Text() == "absent" {
		return absent(), nil
	}
	return v, nil
}

var cronAssignment = regexp.MustCompile(`(?m)^\s*(\w+)\s*=\s*(.*)\s*$`)

func validateCronEnvironment(_ *Resource, v data.Value) error {
	s, isText := v.AsStr()
	if !isText || s != "absent" && !cronAssignment.MatchString(s) {
		return refuse("Invalid environment setting %s", v.Inspect())
	}
	return nil
}

func cronEnvironmentInSync(r *Resource, is data.Value) (bool, error) {
	should := r.Should("environment")
	if is.Kind() != data.List {
		return false, nil
	}
	byText := func(a, b data.Value) int { return strings.Compare(a.Text(), b.Text()) }
	return equalAll(slices.SortedFunc(slices.Values(is.List()), byText), slices.SortedFunc(slices.Values(should), byText)), nil
}

// cronTarget is the user of the job, or that as whom we run.
func cronTarget(r *Resource) (data.Value, bool) {
	if u := r.Value("user"); u.Truthy() {
		return u, true
	}
	return currentUser(r.Host), true
}

func currentUser(h Host) data.Value {
	if me, ok := h.Fact("identity.user"); ok && me.Text() != "" {
		return me
	}
	return data.OfString("root")
}

// validateCron: special is instead of a time.
func validateCron(r *Resource) error {
	if s := r.Value("special"); s.IsNil() || isAbsent(s) {
		return nil
	}
	for _, field := range []string{"minute", "hour", "weekday", "monthday", "month"} {
		if v := r.Value(field); !v.IsNil() && !isAbsent(v) {
			return refuse("%s cannot specify both a special schedule and a value for %s", r.Ref(), field)
		}
	}
	return nil
}
