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

// CatalogYAML describes the yaml terminus of the catalog indirection.
var CatalogYAML = indirector.Descriptor{
	Indirection: "catalog", Name: "yaml",
	Doc:      "Keeps catalogs in YAML files. Puppet 7 and 8 cannot read them back: they find a catalog without a name and without resources. Here they are read.",
	Settings: yamlSettings, Rules: yamlRules,
	Type: (*YAMLFiles)(nil), New: makes(newYAML),
}

// CatalogJSON describes the json terminus of the catalog indirection.
var CatalogJSON = indirector.Descriptor{
	Indirection: "catalog", Name: "json",
	Doc:      "Keeps catalogs in JSON files. What JSON cannot hold is written as PSON. It is the cache of the agent, and never expires.",
	Settings: catalogSettings, Rules: dataRules,
	Type: (*DataFiles)(nil), New: makes(newCatalogJSON),
}

// CatalogMsgpack describes the msgpack terminus of the catalog indirection.
var CatalogMsgpack = indirector.Descriptor{
	Indirection: "catalog", Name: "msgpack",
	Doc:      "Keeps catalogs in MessagePack files.",
	Settings: dataSettings, Rules: dataRules,
	Type: (*DataFiles)(nil), New: makes(newMsgpack),
}

// FactsYAML describes the yaml terminus of the facts indirection.
var FactsYAML = indirector.Descriptor{
	Indirection: "facts", Name: "yaml",
	Doc:      "Keeps facts in YAML files. A search returns the names of the nodes whose facts meet its options.",
	Settings: yamlSettings, Rules: append(queryRules, yamlRules...), KeepsExpiry: true,
	Type: (*FactsYAMLFiles)(nil),
	New: makes(func(env indirector.Env) (*FactsYAMLFiles, error) {
		t, err := newYAML(env)
		return &FactsYAMLFiles{*t}, err
	}),
}

// FactsJSON describes the json terminus of the facts indirection.
var FactsJSON = indirector.Descriptor{
	Indirection: "facts", Name: "json",
	Doc:      "Keeps facts in JSON files. A search returns the names of the nodes whose facts meet its options.",
	Settings: dataSettings, Rules: append(queryRules, dataRules...), KeepsExpiry: true,
	Type: (*FactsDataFiles)(nil),
	New: makes(func(env indirector.Env) (*FactsDataFiles, error) {
		t, err := newJSON(env)
		return &FactsDataFiles{*t}, err
	}),
}

// NodeYAML describes the yaml terminus of the node indirection.
var NodeYAML = indirector.Descriptor{
	Indirection: "node", Name: "yaml",
	Doc:      "Keeps nodes in YAML files. As a cache it never expires: the files do not keep the expiration.",
	Settings: yamlSettings, Rules: yamlRules,
	Type: (*YAMLFiles)(nil), New: makes(newYAML),
}

// NodeJSON describes the json terminus of the node indirection.
var NodeJSON = indirector.Descriptor{
	Indirection: "node", Name: "json",
	Doc:      "Keeps nodes in JSON files. As a cache it never expires: the files do not keep the expiration.",
	Settings: dataSettings, Rules: dataRules,
	Type: (*DataFiles)(nil), New: makes(newJSON),
}

// NodeMsgpack describes the msgpack terminus of the node indirection.
var NodeMsgpack = indirector.Descriptor{
	Indirection: "node", Name: "msgpack",
	Doc:      "Keeps nodes in MessagePack files. As a cache it never expires: the files do not keep the expiration.",
	Settings: dataSettings, Rules: dataRules,
	Type: (*DataFiles)(nil), New: makes(newMsgpack),
}

// ReportYAML describes the yaml terminus of the report indirection.
var ReportYAML = indirector.Descriptor{
	Indirection: "report", Name: "yaml",
	Doc:      "Keeps the last report, and no other, in a YAML file. The key does not count.",
	Settings: reportYAMLSettings, Rules: yamlRules,
	Type: (*YAMLFiles)(nil),
	New: makes(func(env indirector.Env) (*YAMLFiles, error) {
		return &YAMLFiles{files: lastRun(env, 0o640), older: readsOlder(env)}, nil
	}),
}

// ReportJSON describes the json terminus of the report indirection.
var ReportJSON = indirector.Descriptor{
	Indirection: "report", Name: "json",
	Doc:      "Keeps the last report, and no other, as JSON in the file of the yaml terminus. The key does not count.",
	Settings: reportSettings, Rules: dataRules,
	Type: (*DataFiles)(nil),
	New: makes(func(env indirector.Env) (*DataFiles, error) {
		return &DataFiles{files: lastRun(env, 0o640), format: mustFormat("json"), label: "JSON"}, nil
	}),
}

// ReportMsgpack describes the msgpack terminus of the report indirection.
var ReportMsgpack = indirector.Descriptor{
	Indirection: "report", Name: "msgpack",
	Doc:      "Keeps the last report, and no other, as MessagePack in the file of the yaml terminus. The key does not count.",
	Settings: reportSettings, Rules: dataRules,
	Type: (*DataFiles)(nil),
	New: makes(func(env indirector.Env) (*DataFiles, error) {
		return &DataFiles{files: lastRun(env, 0o660), format: mustFormat("msgpack"), label: "MessagePack"}, nil
	}),
}

// makes adapts a constructor to a Descriptor.
func makes[T any](construct func(indirector.Env) (*T, error)) func(indirector.Env) (indirector.Terminus, error) {
	return func(env indirector.Env) (indirector.Terminus, error) {
		t, err := construct(env)
		if err != nil {
			return nil, err
		}
		return t, nil
	}
}
