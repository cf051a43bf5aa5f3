package routes

import (
	"slices"

	"indirtui/ui/session"
)

// tables are those of the processes that are watched and have announced routes.
func (r *Routes) tables() []session.Table {
	if r.env.Tables == nil {
		return nil
	}
	return r.env.Tables()
}

// takeProcess takes the routes of the process whose table is shown as they are now, and
// reports whether there is one. The newest process is shown unless the user has chosen.
func (r *Routes) takeProcess() bool {
	all := r.tables()
	i := slices.IndexFunc(all, func(t session.Table) bool { return t.Process == r.process })
	if !r.chosen {
		i = len(all) - 1
	}
	if i < 0 || r.chosen && r.process == "" {
		r.process, r.engine = "", r.own
		return false
	}
	r.process, r.engine = all[i].Process, nil
	r.recorded.table = all[i].Routes
	return true
}

// nextProcess shows the table of the next process, and after the last one the own.
func (r *Routes) nextProcess() {
	all := r.tables()
	i := slices.IndexFunc(all, func(t session.Table) bool { return t.Process == r.process })
	r.chosen, r.process = true, ""
	if i++; i < len(all) {
		r.process = all[i].Process
	}
	r.takeProcess()
	r.list.SetLen(len(r.rows()))
	r.layout()
}

// title is what users call the process whose table is shown.
func (r *Routes) title() string {
	for _, t := range r.tables() {
		if t.Process == r.process {
			return t.Title
		}
	}
	return r.process
}

// fixed is why the routes that are shown cannot be changed here.
func (r *Routes) fixed() string {
	if r.process != "" {
		return "these are of a process: :route with for=process changes them"
	}
	return isRecording
}
