package flatfile

import (
	"indirtui/indirector"
)

// settingOlder is the one setting here that Puppet does not have.
const settingOlder = "yaml_read_older"

var (
	yamlSettings = []indirector.Setting{
		{Name: "run_mode", Doc: "Decides the directory: server, or anything else."},
		{Name: "yamldir", Doc: "Base directory in server mode."},
		{Name: "clientyamldir", Doc: "Base directory in agent and user mode."},
		{Name: settingOlder, Doc: "true reads files of Puppet 2 and 3 that Puppet 7 and 8 refuse: unquoted times, nested objects. Not a setting of Puppet."},
		sidecarSetting,
	}
	dataSettings = []indirector.Setting{
		{Name: "run_mode", Doc: "Decides the directory: server, or anything else."},
		{Name: "server_datadir", Doc: "Base directory in server mode."},
		{Name: "client_datadir", Doc: "Base directory in agent and user mode."},
		sidecarSetting,
	}
	catalogSettings = append(dataSettings[:len(dataSettings):len(dataSettings)],
		indirector.Setting{Name: "rich_data", Doc: "Whether values that JSON does not know are written with their type."})
	reportSettings = []indirector.Setting{
		{Name: "lastrunreport", Doc: "The file, whatever the key and the format."},
	}
	reportYAMLSettings = append(reportSettings[:len(reportSettings):len(reportSettings)], yamlSettings[3])
)

var (
	yamlRules = []string{
		"IND-KEY-01", "IND-EXP-05", "TERM-FILE-01", "TERM-FILE-02", "TERM-FILE-03", "TERM-FILE-04", "TERM-FILE-05", "TERM-FILE-06",
		"TERM-FILE-07", "TERM-FILE-08", "TERM-FILE-10", "TERM-FILE-11", "TERM-FILE-12", "TERM-FILE-13",
	}
	dataRules = []string{
		"IND-KEY-01", "IND-EXP-05", "TERM-FILE-01", "TERM-FILE-02", "TERM-FILE-03", "TERM-FILE-04", "TERM-FILE-05",
		"TERM-FILE-07", "TERM-FILE-08", "TERM-FILE-10", "TERM-FILE-11", "TERM-FILE-12", "TERM-FILE-13",
	}
	queryRules = []string{"TERM-FQ-01", "TERM-FQ-02", "TERM-FQ-03", "TERM-FQ-04", "TERM-FQ-05"}
)

// Descriptors of the termini that keep files.
var (
	CatalogYAML = ofFiles("catalog", "yaml", yamlSettings, newYAML,
		"Keeps catalogs in YAML files. Puppet 7 and 8 cannot read them back: they find a catalog without a name and without resources. Here they are read.")
	CatalogJSON = ofFiles("catalog", "json", catalogSettings, newCatalogJSON,
		"Keeps catalogs in JSON files. What JSON cannot hold is written as PSON. It is the cache of the agent, and never expires.")
	CatalogMsgpack = ofFiles("catalog", "msgpack", dataSettings, newMsgpack,
		"Keeps catalogs in MessagePack files.")
	FactsYAML = ofFiles("facts", "yaml", yamlSettings, newFactsYAML,
		"Keeps facts in YAML files. A search returns the names of the nodes whose facts meet its options.")
	FactsJSON = ofFiles("facts", "json", dataSettings, newFactsJSON,
		"Keeps facts in JSON files. A search returns the names of the nodes whose facts meet its options.")
	NodeYAML = ofFiles("node", "yaml", yamlSettings, newYAML,
		"Keeps nodes in YAML files. As a cache it never expires: the files do not keep the expiration.")
	NodeJSON = ofFiles("node", "json", dataSettings, newJSON,
		"Keeps nodes in JSON files. As a cache it never expires: the files do not keep the expiration.")
	NodeMsgpack = ofFiles("node", "msgpack", dataSettings, newMsgpack,
		"Keeps nodes in MessagePack files. As a cache it never expires: the files do not keep the expiration.")
	ReportYAML = ofFiles("report", "yaml", reportYAMLSettings, newReportYAML,
		"Keeps the last report, and no other, in a YAML file. The key does not count.")
	ReportJSON = ofFiles("report", "json", reportSettings, newReportJSON,
		"Keeps the last report, and no other, as JSON in the file of the yaml terminus. The key does not count.")
	ReportMsgpack = ofFiles("report", "msgpack", reportSettings, newReportMsgpack,
		"Keeps the last report, and no other, as MessagePack in the file of the yaml terminus. The key does not count.")
)

func ofFiles[T any](indirection, name string, settings []indirector.Setting, construct func(indirector.Env) (*T, error), doc string) indirector.Descriptor {
	rules := dataRules
	if name == "yaml" {
		rules = yamlRules
	}
	var note string
	switch indirection {
	case "facts":
		rules = append(queryRules, rules...)
	case "report":
		note = "the last report, and no other"
	default:
		note = "as a cache it never expires"
	}
	return indirector.Descriptor{
		Indirection: indirection, Name: name, Note: note, Doc: doc, Settings: settings, Rules: rules,
		KeepsExpiry: indirection == "facts", Type: (*T)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			t, err := construct(env)
			if err != nil {
				return nil, err
			}
			return t, nil
		},
	}
}

func newFactsYAML(env indirector.Env) (*FactsYAMLFiles, error) {
	t, err := newYAML(env)
	return &FactsYAMLFiles{*t}, err
}

func newFactsJSON(env indirector.Env) (*FactsDataFiles, error) {
	t, err := newJSON(env)
	return &FactsDataFiles{*t}, err
}

func newReportYAML(env indirector.Env) (*YAMLFiles, error) {
	return &YAMLFiles{files: lastRun(env, 0o640), older: readsOlder(env)}, nil
}

func newReportJSON(env indirector.Env) (*DataFiles, error) {
	return &DataFiles{files: lastRun(env, 0o640), format: mustFormat("json"), label: "JSON", known: newDecoded()}, nil
}

func newReportMsgpack(env indirector.Env) (*DataFiles, error) {
	return &DataFiles{files: lastRun(env, 0o660), format: mustFormat("msgpack"), label: "MessagePack", known: newDecoded()}, nil
}
