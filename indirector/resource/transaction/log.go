package transaction

import (
	"slices"
	"strings"

	"indirtui/indirector/model"
)

// levels are those of log lines, the lowest first.
var levels = []string{"debug", "info", "notice", "warning", "err", "alert", "emerg", "crit"}

// A logger keeps the lines of a run. Rule RES-REP-05.
type logger struct {
	level string // the lowest that is kept
	lines *[]model.Log
	sink  func(model.Log) // takes each line as well; may be nil
	now   func() model.Time
}

// Source is what a line is of.
type logSource struct {
	name string // "Puppet", a path
	of   *Resource
}

func (l *logger) keeps(level string) bool {
	return slices.Index(levels, level) >= slices.Index(levels, l.level)
}

func (l *logger) write(level, message string, from logSource, tags ...string) {
	if !l.keeps(level) {
		return
	}
	line := model.Log{Level: level, Message: message, Source: from.name, Tags: []string{level}, Time: l.now()}
	if r := from.of; r != nil {
		line.File, line.Line = r.File, r.Line
		for _, tag := range slices.Concat(r.Tags, tags) {
			if !slices.Contains(line.Tags, tag) {
				line.Tags = append(line.Tags, tag)
			}
		}
	}
	*l.lines = append(*l.lines, line)
	if l.sink != nil {
		l.sink(line)
	}
}

// puppet logs what is of no resource.
func (l *logger) puppet(level, message string) { l.write(level, message, logSource{name: "Puppet"}) }

// resource logs what is of a resource; nil is none.
func (l *logger) resource(r *Resource, level, message string) {
	switch {
	case r == nil:
		l.puppet(level, message)
	case l.keeps(level):
		l.write(level, message, logSource{r.Path(), r})
	}
}

// property logs an event of a property.
func (l *logger) property(r *Resource, property, level, message string) {
	if l.keeps(level) {
		l.write(level, message, logSource{r.propertyPath(property), r})
	}
}

// ofProperty logs what a property logs itself: it has its name for a tag.
func (l *logger) ofProperty(r *Resource, property, level, message string) {
	if l.keeps(level) {
		l.write(level, message, logSource{r.propertyPath(property), r}, property)
	}
}

// consoleLevels are the words of a console for levels that differ.
var consoleLevels = map[string]string{"err": "Error", "crit": "Critical", "emerg": "Emergency"}

// ConsoleLine is a line as Puppet prints it, and whether that goes to standard error.
// Rule RES-REP-10.
func ConsoleLine(l model.Log) (text string, stderr bool) {
	word := consoleLevels[l.Level]
	if word == "" {
		word = strings.ToUpper(l.Level[:1]) + l.Level[1:]
	}
	text = word + ": "
	if l.Source != "" && l.Source != "Puppet" {
		text += l.Source + ": "
	}
	return text + l.Message, slices.Index(levels, l.Level) >= slices.Index(levels, "warning")
}
