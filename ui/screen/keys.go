package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// An Action is what a key does, by its name. The names are the commands of the
// palette and of the configuration file.
type Action string

// OfRoot reports whether the root does an action on every screen.
func (a Action) OfRoot() bool {
	switch a {
	case GoTo, Back, Quit, Stop, Suspend, Undo, Redo, Last, CommandLine, Help, PaletteOpen, Console:
		return true
	}
	return false
}

// The actions. The table of keys describes each.
const (
	// Everywhere.
	GoTo        Action = "go"
	Help        Action = "help"
	CommandLine Action = "command"
	Console     Action = "console"
	Back        Action = "back"
	Quit        Action = "quit"
	Stop        Action = "stop"
	Undo        Action = "undo"
	Redo        Action = "redo"
	Suspend     Action = "suspend"
	Last        Action = "last-place"

	PaletteOpen Action = "palette"

	TourSkip Action = "tour-skip"
	TourEnd  Action = "tour-end"

	// Moving.
	Down      Action = "down"
	Up        Action = "up"
	Left      Action = "fold"
	Right     Action = "unfold"
	FoldAll   Action = "fold-all"
	OpenAll   Action = "unfold-all"
	Top       Action = "first"
	Bottom    Action = "last"
	HalfDown  Action = "half-page-down"
	HalfUp    Action = "half-page-up"
	PageDown  Action = "page-down"
	PageUp    Action = "page-up"
	Tab       Action = "next-pane"
	BackTab   Action = "previous-pane"
	Enter     Action = "open"
	Zoom      Action = "zoom"
	WallLeft  Action = "wall-left"
	WallRight Action = "wall-right"

	// Lists.
	FilterBy    Action = "filter"
	FilterCell  Action = "filter-cell"
	Select      Action = "select"
	GroupBy     Action = "group"
	SortNext    Action = "sort"
	SortBack    Action = "sort-reverse"
	Follow      Action = "follow"
	SetMark     Action = "mark"
	JumpMark    Action = "jump"
	NextFailure Action = "next-failure"
	PrevFailure Action = "previous-failure"
	NextInRun   Action = "next-in-run"
	PrevInRun   Action = "previous-in-run"
	DiffTwo     Action = "diff"
	DiffGood    Action = "diff-last-good"
	HiddenOnly  Action = "hidden-only"
	LastTrace   Action = "last-trace"
	Times       Action = "times"

	// Steps, Value and Compare.
	Search     Action = "search"
	SearchNext Action = "search-next"
	SearchPrev Action = "search-previous"
	OpenValue  Action = "value"
	Pager      Action = "pager"
	Reveal     Action = "reveal"
	Explain    Action = "why"
	Exporter   Action = "exporter"
	CopyMenu   Action = "copy"
	CopyValue  Action = "copy-value"
	Write      Action = "write"
	NextDiff   Action = "next-difference"
	PrevDiff   Action = "previous-difference"
	Swap       Action = "swap-sides"
	Ignore     Action = "ignore"
	Unified    Action = "unified"
	OnlyDiffs  Action = "only-differences"

	// Routes.
	SwapTerminus Action = "swap-terminus"
	SwapCache    Action = "swap-cache"
	WhatIf       Action = "what-if"
	History      Action = "history"
	Reset        Action = "reset"
	UsedBy       Action = "requests-served"

	Mute  Action = "mute"
	Break Action = "break"

	// Breaks, and requests that are held.
	BreakIf     Action = "break-if"
	AddBreak    Action = "add-breakpoint"
	EditBreak   Action = "edit-breakpoint"
	OnOff       Action = "on-off"
	AllOff      Action = "all-off"
	LogOf       Action = "break-log"
	StepOnce    Action = "step"
	StepOver    Action = "step-over"
	Finish      Action = "finish"
	Continue    Action = "continue"
	ContinueAll Action = "continue-all"
	EditHeld    Action = "edit"
	Inject      Action = "inject"
	AsItWas     Action = "as-it-was"

	Baseline     Action = "baseline"
	Rename       Action = "rename"
	ListRedacted Action = "list-masked"

	PlanIt    Action = "plan"
	MarkPlan  Action = "mark-plan"
	IsShould  Action = "is-and-should"
	ApplyPlan Action = "apply"

	TypeInto  Action = "type-into"
	NextTable Action = "next-table"

	Replay     Action = "replay"
	ReplayEdit Action = "edit-and-replay"

	// Cache.
	Expire Action = "expire"
	Remove Action = "remove"
	Reload Action = "reload"

	// First run.
	Demo   Action = "demo"
	OpenIt Action = "open-recording"
)

// A Scope is where a key works: a set, since a screen may be several things.
type Scope uint32

// The scopes.
const (
	InList Scope = 1 << iota // anything with rows
	InRequests
	InFailures
	InRoutes
	InSteps
	InValue
	InCompare
	InConsole
	InHelp
	InFirstRun
	InCache
	InBreaks
	InHeld // a held request in Steps
	InRecordings
	InMenu
	InSettings
	InWhy            // where the attributes of a resource are from
	InPlan           // what applying a catalog would do
	InAttached       // processes that are watched, and the terminal of one
	InPanes          // panes stand side by side
	Everywhere Scope = 0
)

// A Binding is one line of the table of keys, which feeds the keys, the hints,
// the help and the palette.
type Binding struct {
	// Binding has the keys as Bubble Tea spells them: "enter", "ctrl+d", "G". Its
	// help are the first of them and one or two words, for the line of hints.
	key.Binding
	Do    Action
	Where Scope  // Everywhere, or any of these
	Arg   bool   // the next key is its argument, a letter
	About string // a few words, for help and palette; "" keeps it out of both
	Why   string // the reason why it is disabled; see [Abilities.Now]
}

// A row describes a Binding.
type row struct {
	do          Action
	keys        []string
	where       Scope
	arg         bool
	hint, about string
}

// table is every key that there is. What is more special stands before what is
// more general: the first that fits is taken.
var table = []row{
	{Enter, []string{"enter"}, InHeld, false, "detail", "show the detail of a step; in the pane EDIT: change; of a resource: what its run has still to do"},
	{StepOnce, []string{"s"}, InHeld, false, "step", "go on to the next question, also of a request that it asks, and of the next resource of a run"},
	{StepOver, []string{"o"}, InHeld, false, "over", "go on to the next phase: cache, terminus, store, filter, caller; in a manifest to the next statement here"},
	{Finish, []string{"O"}, InHeld, false, "finish", "go on to the end of this request"},
	{Continue, []string{"c"}, InHeld | InBreaks, false, "continue", "let the request go on"},
	{ContinueAll, []string{"C"}, InHeld | InBreaks, false, "all", "let every held request go on"},
	{EditHeld, []string{"e"}, InHeld, false, "edit", "edit what steps to come read; again leaves"},
	{Inject, []string{"i"}, InHeld, false, "inject", "a delay, an error, nil, a value, broken bytes; leave a step of a resource out, or take it once more"},
	{AsItWas, []string{"u"}, InHeld, false, "as it was", "take back every edit"},
	{AddBreak, []string{"a"}, InHeld | InBreaks, false, "add", "a new breakpoint"},
	{OnOff, []string{" "}, InBreaks, false, "on/off", "arm or disarm the breakpoint"},
	{EditBreak, []string{"e"}, InBreaks, false, "edit", "change the breakpoint"},
	{Remove, []string{"x"}, InBreaks, false, "remove", "forget the breakpoint"},
	{AllOff, []string{"O"}, InBreaks, false, "all off", "disarm everything and let everything go, or arm again"},
	{LogOf, []string{"L"}, InBreaks, false, "log", "what breakpoints have logged"},
	{UsedBy, []string{"u"}, InBreaks, false, "requests", "list the requests that it means"},
	{Enter, []string{"enter"}, InBreaks, false, "open held", "open the held request, or edit the breakpoint"},
	{Enter, []string{"enter"}, InRecordings, false, "open", "open the recording"},
	{Write, []string{"w"}, InRecordings, false, "save", "save requests to a new file, in any format"},
	{Baseline, []string{" "}, InRecordings, false, "baseline", "hold others against this recording"},
	{DiffTwo, []string{"d"}, InRecordings, false, "compare", "compare with the baseline, or with what is shown now"},
	{ListRedacted, []string{"l"}, InRecordings, false, "masked", "list what is masked in it"},
	{Rename, []string{"e"}, InRecordings, false, "rename", "give the file another name"},
	{Remove, []string{"x"}, InRecordings, false, "remove", "remove the file; its name must be typed"},
	{Reload, []string{"ctrl+r"}, InRecordings, false, "again", "read the directory again"},
	{Enter, []string{"enter"}, InSettings, false, "sources", "show every source of the setting, and which decides"},
	{EditHeld, []string{"e"}, InSettings, false, "set", "set it while this runs, above puppet.conf"},
	{Reset, []string{"u"}, InSettings, false, "unset", "take back what was set here"},
	{Break, []string{"b"}, InRequests | InSteps, false, "break", "hold requests like this, here"},
	{BreakIf, []string{"B"}, InRequests | InSteps, false, "break if", "a breakpoint with a condition, in a form"},
	{Replay, []string{"r"}, InRequests | InSteps, false, "again", "ask the same again"},
	{ReplayEdit, []string{"R"}, InRequests | InSteps, false, "edit, again", "change it, then ask it again"},

	{Enter, []string{"enter"}, InRequests, false, "open", "open the steps of a request"},
	{Enter, []string{"enter"}, InFailures, false, "requests", "list the requests of a group"},
	{Enter, []string{"enter"}, InRoutes, false, "swap", "choose another terminus"},
	{Enter, []string{"enter"}, InSteps, false, "detail", "show the detail of a step, or go where it leads"},
	{Enter, []string{"enter"}, InValue, false, "open", "open or close a node of the tree"},
	{TypeInto, []string{"enter"}, InAttached, false, "type", "type into the command; ctrl+] leaves it"},
	{Enter, []string{"enter"}, InWhy, false, "file", "show the file that the value is from, at its line"},
	{Enter, []string{"enter"}, InCompare, false, "open", "show both sides in full, or compare the two requests"},
	{Enter, []string{"enter"}, InCache, false, "value", "show what is kept, and what is known of its life"},
	{Enter, []string{"enter"}, InPlan, false, "open", "show the resource: is and should, why, what it waits for; or go to the one of a relation"},
	{Enter, []string{"enter"}, InMenu, false, "do", ""},
	{Enter, []string{"enter"}, Everywhere, false, "open", ""},

	{FilterBy, []string{"/"}, InRecordings, false, "narrow", "only recordings that have these letters in their names"},
	{FilterBy, []string{"/"}, InList, false, "filter", "filter the list by an expression"},
	{PlanIt, []string{"p"}, InRequests | InSteps | InCache, false, "plan", "what applying this catalog to this machine would do; nothing is changed"},
	{NextInRun, []string{"}"}, InPlan, false, "next", "next resource that is not in sync"},
	{PrevInRun, []string{"{"}, InPlan, false, "previous", "previous resource that is not in sync"},
	{FilterCell, []string{"f"}, InPlan, false, "by cell", "filter by outcome, type or class of this resource"},
	{Pager, []string{"v"}, InPlan, false, "diff", "how the content of the file would change"},
	{ApplyPlan, []string{"A"}, InPlan, false, "apply", "apply what is planned; the name of this host must be typed"},
	{PlanIt, []string{"p"}, InPlan, false, "plan anew", "make the plan again, of how this machine is now"},
	{MarkPlan, []string{"m"}, InPlan, false, "mark", "mark this plan, to compare others with it"},
	{DiffTwo, []string{"d"}, InPlan, false, "compare", "compare this plan with the marked one"},
	{IsShould, []string{"D"}, InPlan, false, "is/should", "compare what is with what should be"},
	{Write, []string{"w"}, InPlan, false, "write", "write the plan to a file: JSON can be opened again; text, diff"},
	{FilterCell, []string{"f"}, InRequests, false, "by cell", "filter by a cell of this row"},
	{Select, []string{" "}, InRequests, false, "select", "select this row, for a comparison"},
	{GroupBy, []string{"."}, InRequests, false, "group", "group by run, indirection, node, outcome, terminus or caller"},
	{GroupBy, []string{"."}, InFailures, false, "group", "group by origin, message, key or indirection"},
	{SortNext, []string{">"}, InRequests, false, "sort", "sort by the next column; after the last by number again"},
	{SortBack, []string{"<"}, InRequests, false, "reverse", "reverse the order"},
	{Follow, []string{"F"}, InRequests, false, "follow", "follow what is new"},
	{SetMark, []string{"m"}, InRequests | InSteps, true, "mark", "mark this request with a letter"},
	{JumpMark, []string{"'"}, InRequests | InSteps, true, "jump", "jump to the request marked with a letter"},
	{NextFailure, []string{"]"}, InRequests | InSteps, false, "fail", "next failure, seen or hidden"},
	{PrevFailure, []string{"["}, InRequests | InSteps, false, "fail", "previous failure"},
	{NextInRun, []string{"}"}, InRequests | InSteps, false, "run", "next request of this run, or what asked this one"},
	{PrevInRun, []string{"{"}, InRequests | InSteps, false, "run", "previous request of this run"},
	{DiffTwo, []string{"d"}, InRequests | InSteps, false, "diff", "compare the two selected requests, or this with the marked one"},
	{DiffGood, []string{"D"}, InRequests | InSteps | InFailures, false, "last good", "compare with the last good answer for this key"},
	{HiddenOnly, []string{"h"}, InFailures, false, "hidden", "list only what the callers never saw"},
	{Mute, []string{"m"}, InFailures, false, "mute", "take this group off the list; z brings it back"},
	{Break, []string{"b"}, InFailures, false, "break", "hold the next request that may fail like these"},
	{Write, []string{"w"}, InFailures, false, "write", "write an incident report: all groups, as text"},
	{LastTrace, []string{"v"}, InFailures, false, "steps", "open the steps of the last request of a group"},
	{OpenValue, []string{"v"}, InRequests | InSteps, false, "value", "show the value that was answered; a process that is watched is asked for one that it has not rendered"},
	{Times, []string{"t"}, InRequests, false, "times", "times of day, or how long ago"},

	{SwapCache, []string{"c"}, InRoutes, false, "cache", "choose another cache, or none"},
	{WhatIf, []string{"W"}, InRoutes, false, "what-if", "what another terminus would have answered; nothing is executed"},
	{History, []string{"H"}, InRoutes, false, "history", "every source of this route, and when it came"},
	{Reset, []string{"u"}, InRoutes, false, "reset", "reset to what is configured"},
	{Reload, []string{"ctrl+r"}, InRoutes, false, "reload", "read puppet.conf and routes.yaml again"},
	{DiffTwo, []string{"d"}, InCache, false, "diff", "compare the entry with what the terminus answers now"},
	{Expire, []string{"x"}, InCache, false, "expire", "expire the entry, so that the next find asks anew; asks first"},
	{Remove, []string{"X"}, InCache, false, "destroy", "remove the entry; the key must be typed again"},
	{UsedBy, []string{"u"}, InCache, false, "used by", "list the requests that the entry served"},
	{SortNext, []string{">"}, InCache, false, "sort", "sort by name, age, size, expiry or use"},
	{SortBack, []string{"<"}, InCache, false, "sort", "the order before"},
	{Reload, []string{"ctrl+r"}, InCache, false, "again", "list all termini again"},
	{NextTable, []string{"tab"}, InRoutes, false, "process", "the routes of the next process that is watched, and then those of this program"},
	{UsedBy, []string{"x"}, InRoutes, false, "requests", "list the requests that this route served"},

	{Search, []string{"/"}, InSteps | InValue | InCompare | InConsole | InWhy, false, "search", "search the text on this screen"},
	{SearchNext, []string{"n"}, InSteps | InValue | InCompare | InConsole | InWhy, false, "next", "next place that was found"},
	{SearchPrev, []string{"N"}, InSteps | InValue | InCompare | InConsole | InWhy, false, "previous", "previous place that was found"},
	{FoldAll, []string{"H"}, InSteps | InValue, false, "fold all", "fold everything"},
	{OpenAll, []string{"L"}, InSteps | InValue, false, "unfold all", "unfold everything"},
	{Left, []string{"h", "left"}, InSteps | InValue | InCompare, false, "fold", "fold, or go to the left"},
	{Right, []string{"l", "right"}, InSteps | InValue | InCompare, false, "unfold", "unfold, or go to the right"},
	{Reveal, []string{"."}, InValue, false, "reveal", "reveal the masked value for ten seconds"},
	{Explain, []string{"w"}, InValue, false, "why", "where each attribute of the resource is from"},
	{Exporter, []string{"x"}, InValue, false, "exporter", "who exports the resource: the request that brought it"},
	{Pager, []string{"v"}, InValue, false, "pager", "show the whole text, line by line"},
	{NextDiff, []string{"]"}, InCompare, false, "difference", "next difference"},
	{PrevDiff, []string{"["}, InCompare, false, "difference", "previous difference"},
	{Swap, []string{"s"}, InCompare, false, "swap", "swap the two sides"},
	{Ignore, []string{"I"}, InCompare, false, "ignore", "ignore this path"},
	{Unified, []string{"u"}, InCompare, false, "unified", "one below the other, or side by side"},
	{OnlyDiffs, []string{"="}, InCompare, false, "all", "only what differs, or also what is equal"},
	{Write, []string{"w"}, InCompare, false, "write", "write the comparison to a file, as JSON or text"},
	{Write, []string{"w"}, InSteps | InRequests, false, "write", "write the story to a file"},
	{CopyMenu, []string{"y"}, Everywhere, false, "copy", "copy something of this"},
	{CopyValue, []string{"Y"}, InSteps | InValue | InRequests, false, "copy value", "copy the value"},

	{Demo, []string{"d"}, InFirstRun, false, "demo", "play the built-in demo"},
	{OpenIt, []string{"o"}, InFirstRun, false, "open", "open a recording"},

	{Down, []string{"j", "down"}, Everywhere, false, "down", "down; 5j is five rows"},
	{Up, []string{"k", "up"}, Everywhere, false, "up", "up"},
	{Top, []string{"g", "home"}, Everywhere, false, "first", "first row"},
	{Bottom, []string{"G", "end"}, Everywhere, false, "last", "last row; in the list it follows again"},
	{HalfDown, []string{"ctrl+d"}, Everywhere, false, "half page", "half a page down"},
	{HalfUp, []string{"ctrl+u"}, Everywhere, false, "half page", "half a page up"},
	{PageDown, []string{"pgdown", "ctrl+f"}, Everywhere, false, "page", "a page down"},
	{PageUp, []string{"pgup", "ctrl+b"}, Everywhere, false, "page", "a page up"},
	{Tab, []string{"tab"}, InMenu, false, "complete", ""},
	{Tab, []string{"tab"}, InPanes, false, "pane", "to the next pane"},
	{BackTab, []string{"shift+tab"}, InPanes, false, "pane", "to the pane before"},
	{Tab, []string{"tab"}, InCompare, false, "part", "next part: values, steps, headers, times"},
	{BackTab, []string{"shift+tab"}, InCompare, false, "part", "previous part"},
	{Tab, []string{"tab"}, Everywhere, false, "next", "next pane or way of showing"},
	{BackTab, []string{"shift+tab"}, Everywhere, false, "previous", "previous pane or way of showing"},
	{Zoom, []string{"|"}, InPanes, false, "zoom", "this pane over the whole width, and back"},
	{WallLeft, []string{"(", "ctrl+left"}, InPanes, false, "wall", "move the wall left"},
	{WallRight, []string{")", "ctrl+right"}, InPanes, false, "wall", "move the wall right"},

	{GoTo, []string{"1", "2", "3", "4", "5", "6"}, Everywhere, false, "go", "go to a place"},
	{Back, []string{"esc"}, Everywhere, false, "back", "back, close, cancel; never quits"},
	{Quit, []string{"q"}, Everywhere, false, "quit", "back; on a place: quit"},
	{Stop, []string{"ctrl+c"}, Everywhere, false, "stop", "stop what is running; twice quits"},
	{Help, []string{"?"}, Everywhere, false, "help", "what the keys do here"},
	{CommandLine, []string{":"}, Everywhere, false, "cmd", "ask something, or give a command"},
	{PaletteOpen, []string{"ctrl+p"}, Everywhere, false, "palette", "everything that can be done, by name"},
	{Console, []string{"~"}, Everywhere, false, "console", "what was asked and answered here"},
	{Undo, []string{"z"}, Everywhere, false, "undo", "undo; what was sent cannot be undone"},
	{Redo, []string{"Z"}, Everywhere, false, "redo", "redo"},
	{Last, []string{"ctrl+o"}, Everywhere, false, "last place", "where you were before"},
	{TourSkip, []string{"ctrl+x"}, Everywhere, false, "skip", ""},
	{TourEnd, []string{"ctrl+t"}, Everywhere, false, "end tour", ""},
	{Suspend, []string{"ctrl+z"}, Everywhere, false, "suspend", "suspend the program"},
}

// Actions returns every action that has keys, in the order of the table.
func Actions() []Action {
	var all []Action
	for _, b := range table {
		if !slices.Contains(all, b.do) {
			all = append(all, b.do)
		}
	}
	return all
}

// FunctionKeys are the keys of other debuggers beside our own: F5 continues, F10
// steps over, F11 steps. They are for NewKeys; many terminals and desktops take
// them for themselves, so they must be asked for. Rule: UI design,
// section 3.5.
func FunctionKeys() map[Action][]string {
	return map[Action][]string{StepOnce: {"s", "f11"}, StepOver: {"o", "f10"}, Continue: {"c", "f5"}}
}

// reserved are keys that arrive as others in many terminals, or stop the flow
// of output. Rule: UI design, section 6.
var reserved = []string{"ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+[", "ctrl+s", "ctrl+q", "shift+enter"}

// Keys is the table of keys in force.
type Keys struct{ bindings []Binding }

// NewKeys returns the table with the keys of some actions replaced by others,
// and a sentence for each thing that was wrong with those: an unknown action,
// a reserved key, a clash. Of two that clash the later one wins.
func NewKeys(remap map[Action][]string) (*Keys, []string) {
	k := &Keys{bindings: make([]Binding, len(table))}
	for i, r := range table {
		b := &k.bindings[i]
		*b = Binding{Do: r.do, Where: r.where, Arg: r.arg, About: r.about}
		b.SetHelp("", r.hint)
		b.bind(r.keys)
	}
	var notes []string
	for _, do := range slices.Sorted(mapsKeys(remap)) {
		keys := remap[do]
		if i := slices.IndexFunc(keys, func(key string) bool { return slices.Contains(reserved, key) }); i >= 0 {
			notes = append(notes, fmt.Sprintf("key %s for %s: terminals do not send it reliably; choose another", keys[i], do))
			continue
		}
		found := Scope(0)
		known := false
		for i := range k.bindings {
			if b := &k.bindings[i]; b.Do == do {
				b.bind(keys)
				known = true
				found |= b.Where
			}
		}
		if !known {
			notes = append(notes, fmt.Sprintf("key for %q: there is no such action", do))
			continue
		}
		notes = append(notes, k.yield(do, found, keys)...)
	}
	return k, notes
}

func mapsKeys(m map[Action][]string) func(func(Action) bool) {
	return func(yield func(Action) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// yield takes keys away from every other action that has them in the scope.
func (k *Keys) yield(do Action, where Scope, keys []string) []string {
	var notes []string
	for i := range k.bindings {
		b := &k.bindings[i]
		if b.Do == do || where != Everywhere && b.Where != Everywhere && b.Where&where == 0 {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(b.Keys()), func(key string) bool { return slices.Contains(keys, key) })
		if len(kept) < len(b.Keys()) {
			notes = append(notes, fmt.Sprintf("keys: %s takes %s from %s", do, strings.Join(keys, " "), b.Do))
			b.bind(kept)
		}
	}
	return notes
}

// bind gives the binding other keys. Without any it is never found.
func (b *Binding) bind(keys []string) {
	hint := b.Hint()
	if len(keys) == 0 {
		b.Unbind()
		b.SetHelp("", hint)
		return
	}
	b.SetKeys(keys...)
	b.SetHelp(KeyName(keys[0]), hint)
}

// Bindings returns the whole table. Read only.
func (k *Keys) Bindings() []Binding { return k.bindings }

// For returns what works in a scope, in the order of the table, what is special
// first. Of an action that has several lines the first that fits counts.
func (k *Keys) For(where Scope) []Binding {
	var out []Binding
	for _, b := range k.bindings {
		if b.fits(where) && b.Enabled() && !slices.ContainsFunc(out, func(o Binding) bool { return o.Do == b.Do }) {
			out = append(out, b)
		}
	}
	return out
}

func (b *Binding) fits(where Scope) bool { return b.Where == Everywhere || b.Where&where != 0 }

// Find returns what a key does in a scope, or nil.
func (k *Keys) Find(name string, where Scope) *Binding {
	for i := range k.bindings {
		if b := &k.bindings[i]; b.fits(where) && key.Matches(pressed(name), b.Binding) {
			return b
		}
	}
	return nil
}

// pressed is the name of a key, as [key.Matches] takes it.
type pressed string

func (p pressed) String() string { return string(p) }

// Of returns how an action is done in a scope, or nil.
func (k *Keys) Of(do Action, where Scope) *Binding {
	for i := range k.bindings {
		if b := &k.bindings[i]; b.Do == do && b.fits(where) && b.Enabled() {
			return b
		}
	}
	return nil
}

// Key returns the first key of a binding, as it is written.
func (b *Binding) Key() string { return b.Help().Key }

// Hint returns the one or two words about a binding.
func (b *Binding) Hint() string { return b.Help().Desc }

// KeyName returns a key as it is written.
func KeyName(key string) string {
	if key == " " {
		return "space"
	}
	return key
}

// KeyOf returns the name of a key that was pressed, as the table spells it.
func KeyOf(msg tea.KeyMsg) string {
	if msg.Type == tea.KeySpace || msg.Type == tea.KeyRunes && string(msg.Runes) == " " {
		return " "
	}
	return msg.String()
}
