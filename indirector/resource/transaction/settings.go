package transaction

import (
	"strconv"
	"strings"
	"time"

	"indirtui/indirector/resource/types"
)

// Settings are those of Puppet that a run goes by. Files that are "" are neither read
// nor written.
type Settings struct {
	Noop, IgnoreSchedules, Evaltrace, Graph bool
	DefaultSchedules                        bool // add them to the catalog
	MergeDependencyWarnings                 bool
	PreprocessDeferred                      bool // compute deferred values before the run, not before each resource
	WriteSummary                            bool // classes and resources, see ClassFile
	Agent                                   bool // run as the agent, which keeps a transaction store
	Unfinalized                             bool // as puppet apply --catalog: no defaults are added, and relationships are not checked before
	Compiled                                bool // as puppet apply FILE: a catalog that cannot be converted is no run
	Tags, SkipTags                          []string
	Certname, Environment                   string
	Prerun, Postrun                         string // commands around the run
	StateFile, StoreFile                    string
	ClassFile, ResourceFile, SummaryFile    string
	ClientBucket, GraphDir                  string
	StateTTL                                time.Duration // older entries of the state file go; 0 is never
}

// ReadSettings returns those that a host has. Files of state are among them.
func ReadSettings(h types.Host) Settings {
	text := func(name string) string { v, _ := h.Setting(name); return v }
	flag := func(name string) bool { return text(name) == "true" }
	ttl, err := duration(text("statettl"))
	if err != nil {
		ttl = 32 * 24 * time.Hour
	}
	return Settings{
		Noop: flag("noop"), IgnoreSchedules: flag("ignoreschedules"), Evaltrace: flag("evaltrace"), Graph: flag("graph"),
		DefaultSchedules: text("default_schedules") != "false", MergeDependencyWarnings: flag("merge_dependency_warnings"),
		PreprocessDeferred: text("preprocess_deferred") != "false", WriteSummary: flag("write_catalog_summary"),
		Tags: splitTags(text("tags")), SkipTags: splitTags(text("skip_tags")),
		Certname: text("certname"), Environment: text("environment"),
		Prerun: text("prerun_command"), Postrun: text("postrun_command"),
		StateFile: text("statefile"), StoreFile: text("transactionstorefile"),
		ClassFile: text("classfile"), ResourceFile: text("resourcefile"), SummaryFile: text("lastrunfile"),
		ClientBucket: text("clientbucketdir"), GraphDir: text("graphdir"), StateTTL: ttl,
	}
}

// splitTags reads a list of tags, which Ruby splits: what is empty at the end is dropped. They
// are not split at "::" here. Rule RES-SKIP-01.
func splitTags(s string) []string {
	var tags []string
	for tag := range strings.SplitSeq(strings.TrimRight(s, ", \t\n"), ",") {
		tags = append(tags, strings.ToLower(strings.TrimSpace(tag)))
	}
	if len(tags) == 1 && tags[0] == "" {
		return nil
	}
	return tags
}

// duration reads one of Puppet's: "32d", "3600".
func duration(s string) (time.Duration, error) {
	units := map[string]time.Duration{"y": 365 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	unit := time.Second
	for suffix, u := range units {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, u
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return time.Duration(n) * unit, err
}
