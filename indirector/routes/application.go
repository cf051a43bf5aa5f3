package routes

import (
	"cmp"
	"slices"

	"indirtui/indirector"
	"indirtui/indirector/settings"
)

// An Application is one of Puppet's programs: the termini that it sets before
// and after the settings are read. Specification, section 4.2.
type Application struct {
	Name     string            // also its section in routes.yaml
	Doc      string            // one sentence
	RunMode  string            // "agent", "server", "user"
	Legacy   string            // the releases that had it; "" is Puppet 7 and 8
	Settings map[string]string // defaults of settings, weaker than puppet.conf
	Assigns  []Assign          // what its code does when it starts
	Actions  []Action          // what some of its actions do after routes.yaml was read
	CA       caLocation        // where it looked for certificates, until Puppet 6
	strings  bool              // its defaults are Ruby strings, not symbols (IND-TERM-09)
}

// A caLocation is Puppet's switch for all indirections of certificates at once.
// Puppet Server has none of them; its CA is what "only" was.
type caLocation string

// The locations. The empty one leaves the indirections as they are declared.
const (
	caLocal  caLocation = "local"  // the CA of this host, cached in its own files
	caRemote caLocation = "remote" // a CA over the network, likewise
	caOnly   caLocation = "only"   // the CA of this host, and no cache
	caNone   caLocation = "none"   // there is no CA here
)

// caLocations are the termini of each location: of certificates, requests and
// revocation lists, their cache, that of keys, and that of certificate_status;
// "" is as declared.
var caLocations = map[caLocation]struct{ terminus, cache, key, status string }{
	caLocal:  {"ca", "file", "file", "file"},
	caRemote: {"rest", "file", "file", "rest"},
	caOnly:   {"ca", "", "ca", "file"},
	caNone:   {"disabled_ca", "", "disabled_ca", ""},
}

// assigns returns a location as lines of code.
func (c caLocation) assigns() []Assign {
	set, ok := caLocations[c]
	if !ok {
		return nil
	}
	var all []Assign
	add := func(indirection, slot, name string) {
		if name != "" {
			all = append(all, Assign{Indirection: indirection, Slot: slot, Terminus: name})
		}
	}
	for _, name := range []string{"certificate", "certificate_request", "certificate_revocation_list"} {
		add(name, terminus, set.terminus)
		add(name, cache, set.cache)
	}
	add("key", terminus, set.key)
	add("certificate_status", terminus, set.status)
	return all
}

// An Assign is a line of code of an application that sets a terminus.
type Assign struct {
	Indirection string
	Slot        string // indirector.SlotTerminus or SlotCache
	Terminus    string // indirector.Off switches a cache off
	Setting     string // instead of Terminus: the setting to copy unless it is empty
}

// An Action is an action of a face, or a way to start an application, that
// sets termini when routes.yaml has been read already.
type Action struct {
	Name     string // "download", "--apply"
	RunMode  string // "" is that of the application
	Settings map[string]string
	Assigns  []Assign
}

const (
	terminus = indirector.SlotTerminus
	cache    = indirector.SlotCache
)

// Applications returns all applications, the most important first. The slice is
// the caller's; its contents are not.
func Applications() []Application { return slices.Clone(applications[:]) }

// Find returns the application called name, and whether there is one.
func Find(name string) (Application, bool) {
	for _, a := range applications {
		if a.Name == name {
			return a, true
		}
	}
	return Application{}, false
}

func applicationNames() []string {
	names := make([]string, len(applications))
	for i, a := range applications {
		names[i] = a.Name
	}
	return names
}

// Options returns o with the settings of the application, and of one of its
// actions unless that is "". A run mode in o is kept.
func (a Application) Options(o settings.Options, action string) settings.Options {
	o.Application, o.ApplicationDefaults = a.Name, a.Settings
	act := a.action(action)
	if act.RunMode != "" {
		o.RunMode = act.RunMode
	}
	o.RunMode = cmp.Or(o.RunMode, a.RunMode)
	o.Overrides = slices.Clone(o.Overrides)
	for _, name := range []string{"node_terminus", "catalog_terminus", "catalog_cache_terminus", "facts_terminus"} {
		if value, ok := act.Settings[name]; ok {
			o.Overrides = append(o.Overrides, settings.Override{Name: name, Value: value, Source: a.Name + " " + action})
		}
	}
	return o
}

func (a Application) action(name string) Action {
	for _, act := range a.Actions {
		if act.Name == name {
			return act
		}
	}
	return Action{}
}

var serverAssigns = []Assign{
	{Indirection: "file_content", Slot: terminus, Terminus: "file_server"},
	{Indirection: "file_metadata", Slot: terminus, Terminus: "file_server"},
	{Indirection: "file_bucket_file", Slot: terminus, Terminus: "file"},
}

var serverCache = Assign{Indirection: "node", Slot: cache, Setting: "node_cache_terminus"}

var applications = [...]Application{
	{
		Name: "agent", RunMode: "agent", Doc: "Fetches a catalog from the server and applies it.",
		Settings: map[string]string{"catalog_terminus": "rest", "catalog_cache_terminus": "json", "node_terminus": "rest", "facts_terminus": "facter"},
		CA:       caRemote,
		Assigns: []Assign{
			{Indirection: "report", Slot: terminus, Terminus: "rest"},
			{Indirection: "report", Slot: cache, Terminus: "yaml"},
			{Indirection: "catalog", Slot: cache, Setting: "catalog_cache_terminus"},
		},
	},
	{
		Name: "apply", RunMode: "user", Doc: "Compiles a manifest and applies it here.",
		Settings: map[string]string{"default_file_terminus": "file_server", "write_catalog_summary": "false"},
		Assigns: []Assign{
			{Indirection: "catalog", Slot: cache, Setting: "catalog_cache_terminus"},
			{Indirection: "report", Slot: cache, Terminus: "yaml"},
		},
	},
	{
		Name: "server", RunMode: "server", Doc: "Puppet Server: answers agents.",
		Settings: map[string]string{"facts_terminus": "json"},
		CA:       caOnly,
		Assigns:  append(slices.Clone(serverAssigns), serverCache),
		strings:  true,
	},
	{
		Name: "master", RunMode: "server", Doc: "The server as an application of Puppet itself.", Legacy: "≤ 5",
		Settings: map[string]string{"facts_terminus": "yaml", "node_cache_terminus": "write_only_yaml"},
		CA:       caLocal,
		Assigns:  append(slices.Clone(serverAssigns), serverCache),
		strings:  true,
	},
	{
		Name: "device", RunMode: "agent", Doc: "Runs an agent for each device.",
		Settings: map[string]string{"catalog_terminus": "rest", "catalog_cache_terminus": "json", "node_terminus": "rest", "facts_terminus": "network_device"},
		CA:       caRemote,
		Assigns: []Assign{
			{Indirection: "report", Slot: terminus, Terminus: "rest"},
			{Indirection: "catalog", Slot: cache, Setting: "catalog_cache_terminus"},
		},
		Actions: []Action{{
			Name:     "--apply",
			Settings: map[string]string{"node_terminus": "plain", "catalog_terminus": "compiler", "catalog_cache_terminus": "", "facts_terminus": "network_device"},
			Assigns: []Assign{
				{Indirection: "report", Slot: terminus, Terminus: "yaml"},
				{Indirection: "catalog", Slot: cache, Terminus: indirector.Off},
			},
		}},
	},
	{
		Name: "lookup", RunMode: "server", Doc: "Looks data up as the compiler would.",
		Settings: map[string]string{"facts_terminus": "yaml"},
		Assigns:  serverAssigns,
		Actions:  []Action{{Name: "--facts", Settings: map[string]string{"facts_terminus": "facter"}}},
		strings:  true,
	},
	{
		Name: "script", RunMode: "user", Doc: "Runs a manifest without a catalog.",
		Settings: map[string]string{"default_file_terminus": "file_server"},
		Assigns: []Assign{
			{Indirection: "catalog", Slot: cache, Terminus: indirector.Off},
			{Indirection: "report", Slot: cache, Terminus: indirector.Off},
		},
	},
	{
		Name: "catalog", RunMode: "user", Doc: "Finds, compiles and downloads catalogs.",
		Actions: []Action{{Name: "download", Assigns: []Assign{
			{Indirection: "catalog", Slot: terminus, Terminus: "rest"},
			{Indirection: "catalog", Slot: cache, Terminus: indirector.Off},
		}}},
	},
	{
		Name: "facts", RunMode: "user", Doc: "Finds, shows and uploads facts.",
		Actions: []Action{
			{Name: "show", RunMode: "agent", Assigns: []Assign{{Indirection: "facts", Slot: terminus, Terminus: "facter"}}},
			{Name: "upload", RunMode: "agent", Assigns: []Assign{{Indirection: "facts", Slot: terminus, Terminus: "facter"}}},
		},
	},
	{
		Name: "node", RunMode: "user", Doc: "Finds nodes and removes what is kept of them.",
		Actions: []Action{{Name: "clean", RunMode: "server", Assigns: []Assign{
			{Indirection: "facts", Slot: terminus, Terminus: "yaml"},
			{Indirection: "facts", Slot: cache, Terminus: "yaml"},
			{Indirection: "node", Slot: terminus, Terminus: "yaml"},
			{Indirection: "node", Slot: cache, Terminus: "yaml"},
		}}},
	},
	{
		Name: "report", RunMode: "user", Doc: "Saves and submits reports.",
		Actions: []Action{{Name: "submit", Assigns: []Assign{{Indirection: "report", Slot: terminus, Terminus: "rest"}}}},
	},
	{Name: "resource", RunMode: "user", Doc: "Shows and changes resources of this host."},
	{Name: "filebucket", RunMode: "user", Doc: "Stores and restores files by their digest."},
	{Name: "ssl", RunMode: "agent", Doc: "Manages keys and certificates of this host."},
	{Name: "plugin", RunMode: "user", Doc: "Downloads plugins from the server."},
	{Name: "epp", RunMode: "user", Doc: "Renders templates."},
	{Name: "config", RunMode: "user", Doc: "Shows and changes settings."},
	{Name: "describe", RunMode: "user", Doc: "Describes resource types."},
	{Name: "doc", RunMode: "server", Doc: "Prints references."},
	{Name: "generate", RunMode: "user", Doc: "Writes types for environment isolation."},
	{Name: "help", RunMode: "user", Doc: "Prints help."},
	{Name: "module", RunMode: "user", Doc: "Installs and builds modules."},
	{Name: "parser", RunMode: "user", Doc: "Checks manifests."},
	{
		Name: "inspect", RunMode: "agent", Doc: "Reports on resources without changing them.", Legacy: "≤ 4",
		Assigns: []Assign{
			{Indirection: "report", Slot: terminus, Terminus: "rest"},
			{Indirection: "catalog", Slot: terminus, Terminus: "yaml"},
		},
	},
	{
		Name: "queue", RunMode: "server", Doc: "Stores catalogs from a message queue.", Legacy: "≤ 3",
		Assigns: []Assign{
			{Indirection: "catalog", Slot: terminus, Terminus: "store_configs"},
			{Indirection: "catalog", Slot: cache, Terminus: indirector.Off},
		},
	},
	{
		Name: "kick", RunMode: "user", Doc: "Starts agents on other hosts.", Legacy: "≤ 3",
		Assigns: []Assign{{Indirection: "run", Slot: terminus, Terminus: "rest"}},
	},
	{Name: "cert", RunMode: "server", Doc: "Manages the CA.", CA: caOnly, Legacy: "≤ 5"},
	{Name: "ca", RunMode: "server", Doc: "Manages the CA.", CA: caOnly, Legacy: "≤ 5"},
	{Name: "certificate", RunMode: "user", Doc: "Finds and signs certificates.", Legacy: "≤ 5"},
	{Name: "certificate_request", RunMode: "user", Doc: "Finds certificate requests.", Legacy: "≤ 5"},
	{Name: "certificate_revocation_list", RunMode: "user", Doc: "Finds the revocation list.", Legacy: "≤ 5"},
	{Name: "file", RunMode: "user", Doc: "Stores files in the file bucket.", Legacy: "≤ 3"},
	{Name: "key", RunMode: "user", Doc: "Finds and removes keys.", Legacy: "≤ 5"},
	{Name: "resource_type", RunMode: "user", Doc: "Lists classes and defined types.", Legacy: "≤ 4"},
	{Name: "status", RunMode: "user", Doc: "Asks a server whether it is alive.", Legacy: "≤ 6"},
}
