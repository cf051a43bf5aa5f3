package console

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/stores"
	"indirtui/traces/spell"
	"indirtui/ui/command"
	"indirtui/ui/screen"
)

// A call is one line as the user has written it.
type call struct {
	name  string
	words []string // behind the name, unquoted
	rest  string   // behind the name, as written
}

// A cmd is one command, with all that is known about it.
type cmd struct {
	name, args string
	help       string                        // a few words
	effect     func(*Console, call) string   // what would happen; nil is help
	offered    func(*Console) bool           // nil is always
	next       func(*Console, call) []option // how the line goes on; nil is not at all
	run        func(*Console, call) (tea.Cmd, error)

	expression bool                          // what is behind the name has quotes of its own, and a lone one is nothing wrong: key=it's
	plainArgs  string                        // with --plain, where it differs from args
	silent     bool                          // with --plain nothing is printed when it is done
	shell      shell                         // as a command of the shell; zero if it is none
	shellNext  func(*Console, call) []option // how the line goes on in a shell; nil is by names of files
}

// A shell is how a command is written in a shell, and its help there.
type shell struct{ group, args, help string }

// The groups of commands in the help of the shell. Those below another command
// have none.
const (
	asks  = "ask"
	looks = "look"
)

// table is every command that there is.
func table() []cmd { return slices.Concat(inSession(), shellCommands()) }

// inSession is every command of a session, in the order of help. It is a function
// because help is one of the commands.
func inSession() []cmd {
	return slices.Concat(askCommands(), debugCommands(), sessionCommands(), lineCommands())
}

const (
	keyArgs      = "IND KEY [terminus=T] [cache=C|none] [env=E] [FLAG] [NAME=VALUE]"
	shellKeyArgs = "INDIRECTION KEY [NAME=VALUE ...]"
)

// askCommands ask something, or show what was asked.
func askCommands() []cmd {
	return []cmd{
		{
			name: "find", args: keyArgs, help: "find one instance", effect: askEffect, next: nextRequest, run: ask,
			shellNext: nextRequest, shell: shell{asks, shellKeyArgs, "Find one instance and print it"},
		},
		{
			name: "search", args: "IND [KEY] [terminus=T] [env=E] [NAME=VALUE]", help: "list the instances that match", effect: askEffect, next: nextRequest, run: ask,
			shellNext: nextRequest, shell: shell{asks, shellKeyArgs, "List the instances that match and print them"},
		},
		{
			name: "head", args: keyArgs, help: "ask whether there is such an instance", effect: askEffect, next: nextRequest, run: ask,
			shellNext: nextRequest, shell: shell{asks, shellKeyArgs, "Ask whether there is such an instance"},
		},
		{
			name: "save", args: "IND [KEY] @FILE [json|yaml|pson|msgpack] [terminus=T] [cache=C|none]   or FILE [SELECTOR] [FORMAT] [bodies=all|small|failed|none]",
			help: "save the instance in a file; or a recording of requests", effect: askEffect, next: nextRequest, run: save, expression: true,
			shellNext: nextRequest, shell: shell{asks, shellKeyArgs, "Save the instance that comes from standard input or --file"},
		},
		{
			name: "destroy", args: "IND KEY [terminus=T] [cache=C|none] [confirm=KEY]", help: "remove an instance; asks for the key again", effect: askEffect, next: nextRequest, run: destroy,
			shellNext: nextRequest, shell: shell{asks, shellKeyArgs, "Remove an instance"},
		},
		{name: "route", args: "IND terminus=T cache=C|off ttl=SECONDS [dry] [for=request|thread|process]   or reset [IND]   or export", help: "change who answers; dry only looks", effect: routeEffect, next: nextRoute, run: route},
		{name: "filter", args: "[EXPR]", help: "list the requests that an expression means", next: nextFilter, run: filter, expression: true, silent: true},
		{name: "group", args: "none|run|indirection|node|outcome|terminus|caller|type|class", help: "group the list of requests", offered: func(c *Console) bool { return c.o.Group != nil }, next: nextGroup, run: group},
		{name: "sort", args: "COLUMN [desc]", help: "sort the list of requests", offered: func(c *Console) bool { return c.o.Sort != nil }, next: nextSort, run: sortBy},
		{
			name: "show", args: "PLACE | #N", help: "go to a place, or to the steps of a request", next: nextShow, run: show,
			plainArgs: "requests [EXPR] | steps N | value N | routes [IND] | failures | cache [IND [KEY]] | log",
		},
		{
			name: "diff", args: "#A #B | VERB IND KEY terminus=A,B | run A B | FILE [FILE]", help: "compare two requests, two termini, two runs, or a recording with another or what is shown", run: compareWhat,
			shell: shell{looks, "A B", "How two recordings, runs, requests or termini differ"},
		},
		{name: "ignore", args: "[PATH | off [PATH]]", help: "paths that do not count in comparisons; * is any text", run: ignore},
		{
			name: "why", args: "[#N] TYPE[TITLE] [ATTRIBUTE]", help: "where each attribute of a resource is from, in a catalog that was compiled here", next: nextWhy, run: why,
			shellNext: nextNode, shell: shell{asks, "NODE RESOURCE [ATTRIBUTE]", "Where each attribute of a resource of a catalog is from"},
		},
		{
			name: "graph", args: "[#N] [TYPE[TITLE]]", help: "the order of a catalog's resources, or what one waits for", next: nextGraph, run: graph,
			shellNext: nextNode, shell: shell{looks, "CATALOG [RESOURCE]", "The order of the resources of a catalog, or what one of them waits for"},
		},
		{
			name: "plan", args: "[#N | FILE | NODE [terminus=T]] [against=#N|FILE|NODE] [checks=yes] [helper=yes] [tags=A,B] [skip_tags=A,B]", help: "what applying a catalog to this machine would do, compared with a report or another plan; nothing is changed",
			offered: func(c *Console) bool { return c.o.Plan != nil }, next: nextPlan, run: planCatalog,
			shellNext: nextNode, shell: shell{asks, "CATALOG", "What applying a catalog to this machine would do; nothing is changed"},
		},
		{
			name: "apply", args: "#N | FILE | NODE [confirm=HOST] [host=NAME] [noop] [tags=A,B] [skip_tags=A,B]", help: "apply a catalog to this machine, each resource by a request: shows the plan first, unless confirm= is there; needs write on", offered: func(c *Console) bool { return c.o.Apply != nil }, next: nextApply, run: apply,
			shellNext: nextNode, shell: shell{asks, "CATALOG", "Apply a catalog to this machine; without --really only a plan is printed"},
		},
		{
			name: "describe", args: "[TYPE]", help: "a resource type, and why this provider here; alone a list", offered: func(c *Console) bool { return c.o.Machine != nil }, next: nextDescribe, run: describeType,
			shellNext: nextDescribe, shell: shell{looks, "[TYPE ...]", "A resource type: attributes, values, providers, and why this provider here"},
		},
		{name: "exporter", args: "TYPE[TITLE]", help: "who exports a resource that was collected: the request that brought it", run: exporter},
		{
			name: "replay", args: "EXPR [dry]", help: "ask recorded requests again by the routes there are now; dry only plans", offered: hasEngine, next: nextFilter, run: replayAll, expression: true,
			shell: shell{asks, "--recording FILE", "Ask recorded requests again, by the routes there are now"},
		},
		{name: "watch", args: "[EXPR | server(HOST:PORT) | off]", help: "while a request is held count what an expression means, or ask a server how it is", offered: hasDebugger, next: nextFilter, run: watch, expression: true},
	}
}

// sessionCommands are about the session as a whole.
func sessionCommands() []cmd {
	return []cmd{
		{name: "mark", args: "[#N] a..z", help: "mark a request with a letter", run: mark, silent: true},
		{name: "note", args: "[#N] TEXT", help: "note something about a request", offered: func(c *Console) bool { return c.o.Note != nil }, run: note, silent: true},
		{
			name: "settings", args: "[NAME]", help: "Puppet's settings, and who decided each", offered: func(c *Console) bool { return c.o.Settings != nil }, next: nextSettings, run: showSettings,
			plainArgs: "[NAME ...]", shellNext: nextSettings, shell: shell{looks, "[NAME ...]", "Puppet's settings as they are in force, and where each comes from"},
		},
		{
			name: "set", args: "NAME=VALUE ...   or NAME   or nothing: what is set   or [#N] NAME=VALUE of a held request",
			help:   "set one of Puppet's settings while this runs, above puppet.conf; or change a held request",
			effect: setEffect, offered: func(c *Console) bool { return c.o.Configured != nil || hasDebugger(c) }, next: nextSet, run: set,
		},
		{name: "problems", help: "what is wrong with Puppet's configuration", offered: func(c *Console) bool { return c.env.Problems != nil }, run: problems},
		{name: "reload", help: "read puppet.conf and routes.yaml again", effect: reloadEffect, offered: func(c *Console) bool { return c.o.Files != nil }, run: reload},
		{
			name: "stores", args: "[retry]", help: "what became of what stores were sent from here; retry sends commands again to submit-only URLs that were dropped", offered: usedStores, next: nextStores, run: showStores,
			shell: shell{looks, "[sqlite|postgresql]", "What is in the stores in SQL: counts, size, age, and what was refused"},
		},
		{name: "unset", args: "NAME ... | all", help: "take back what set did", offered: func(c *Console) bool { return c.o.Configured != nil }, next: nextUnset, run: unset},
		{name: "write", args: "on|off", help: "allow save, destroy and expire, or forbid them", offered: hasEngine, next: nextOnOff, run: write, silent: true},
		{
			name: "export", args: "FORMAT FILE [SELECTOR] [bodies=all|small|failed|none]", help: "write requests for another program", offered: hasLog, next: nextExport, run: exportTo, expression: true,
			shellNext: nextFilter, shell: shell{looks, "--recording FILE --format FORMAT [SELECTOR]", "Write requests of a recording for another program"},
		},
		{name: "recordings", help: "the recordings there are: open, save, compare", offered: hasLog, run: listRecordings},
		{
			name: "open", args: "[FILE]", help: "open a recording, or list them", offered: func(c *Console) bool { return c.o.Open != nil }, run: open,
			shell: shell{looks, "FILE", "Look at a recording"},
		},
		{
			name: "demo", args: "[S-NN]", help: "play the built-in demo, or a situation that confuses people", offered: func(c *Console) bool { return c.o.Demo != nil }, next: nextDemo, run: demo,
			shellNext: nextDemo, shell: shell{looks, "[S-NN]", "Play the demo site, or a situation that confuses people"},
		},
		{
			name: "story", args: "[SELECTOR]", help: "runs of agents, one sentence each; without a selector the newest", offered: func(c *Console) bool { return c.o.Story != nil || c.owns("story") }, next: nextFilter, run: story, expression: true,
			shellNext: nextFilter, shell: shell{looks, "--recording FILE [SELECTOR]", "Tell what happened in a recording, as text"},
		},
		{
			name: "serve", args: "[--listen ADDRESS] [FLAG]", help: "answer agents, as indirtui serve does, and show what they ask", offered: func(c *Console) bool { return c.o.Serve != nil }, run: func(c *Console, l call) (tea.Cmd, error) { return c.o.Serve(l.words) },
			shell: shell{asks, "", "Answer agents, as Puppet Server does"},
		},
		{
			name: "proxy", args: "URL [--listen ADDRESS] [FLAG]", help: "stand between agents and a server, as indirtui proxy does", offered: func(c *Console) bool { return c.o.Proxy != nil }, run: func(c *Console, l call) (tea.Cmd, error) { return c.o.Proxy(l.words) },
			shell: shell{asks, "--upstream https://HOST:PORT", "Stand between agents and a server, and show what passes"},
		},
		{
			name: "attach", args: "[SOCKET]", help: "watch Puppet processes beside what is shown here, as indirtui attach does", offered: func(c *Console) bool { return c.o.Attach != nil }, run: func(c *Console, l call) (tea.Cmd, error) { return c.o.Attach(l.words) },
			shell: shell{looks, "[--listen [SOCKET]] [-- COMMAND...]", "Watch a real Puppet: what its indirector does, on the same screens"},
		},
		{name: "values", args: "on|off", help: "have watched processes render the values of their requests, which costs them time", offered: func(c *Console) bool { return c.o.Values != nil }, next: nextOnOff, run: values},
		{name: "detach", help: "watch no processes any longer; what they hold goes on", offered: func(c *Console) bool { return c.o.Detach != nil }, run: func(c *Console, _ call) (tea.Cmd, error) { return c.o.Detach() }},
		{name: "log", help: "the messages of the last line", run: func(*Console, call) (tea.Cmd, error) { return screen.Send(screen.Run{Text: "log"}), nil }},
		{name: "help", args: "[TOPIC]", help: "help about codes, reasons, keys, commands, expressions", next: nextHelp, run: showHelp},
		{name: "quit", help: "leave the program", run: func(*Console, call) (tea.Cmd, error) { return screen.Send(screen.Leave{}), nil }},
	}
}

// lineCommands are offered where there is no screen, to owners that run them.
func lineCommands() []cmd {
	all := []cmd{
		{name: "expire", args: "IND KEY [cache=C]", help: "let a cached instance count as expired; needs write on"},
		{
			name: "check", args: "EXPECTATION", help: "hold the requests against what is expected, as in count(hidden) = 0",
			shell: shell{looks, "--recording FILE --expect EXPECTATION ...", "Hold a recording against what is expected of it"},
		},
		{name: "quiet", args: "on | off", help: "whether requests come by themselves"},
		{name: "undo", help: "take back what was done last"},
		{name: "redo", help: "do again what was undone last"},
		{name: "expect", args: "EXPECTATION | EXPR", help: "what must be so of all requests, or of the one that was answered last"},
		{name: "wait", args: "[held [N]]", help: "until all requests have ended, or N (default 1) are held"},
		{name: "sleep", args: "TIME", help: "250ms, 2s"},
		{name: "echo", args: "TEXT", help: "print a text"},
	}
	for i := range all {
		name := all[i].name
		all[i].offered = func(c *Console) bool { return c.owns(name) }
	}
	return all
}

// shellCommands are those of the shell alone. What is below another command
// stands behind it, with both names.
func shellCommands() []cmd {
	return []cmd{
		{name: "run", shell: shell{asks, "SCRIPT", "Run a file of commands as they are written behind the colon"}},
		{name: "ca", shell: shell{asks, "", "Look after the CA of this host: list, sign, revoke and generate certificates"}},
		{name: "ca setup", shell: shell{"", "", "Make a CA where there is none"}},
		{name: "ca list", shell: shell{"", "[NAME...]", "List the requests that wait, or with --all everything"}},
		{name: "ca print", shell: shell{"", "NAME...", "Print the fields of certificates and requests"}},
		{name: "ca sign", shell: shell{"", "NAME...", "Sign requests that wait"}},
		{name: "ca revoke", shell: shell{"", "NAME...", "Revoke certificates, which stay where they are"}},
		{name: "ca clean", shell: shell{"", "NAME...", "Revoke certificates, and remove them and requests"}},
		{name: "ca generate", shell: shell{"", "NAME...", "Make keys, and certificates for them"}},
		{name: "lookup", shell: shell{asks, "KEY...", "Look data up through the levels of hiera, as puppet lookup does"}},
		{name: "device", shell: shell{asks, "[TYPE [NAME [ATTRIBUTE=VALUE...]]]", "The network devices of device.conf: list them, or ask one for its facts"}},
		{name: "node", shell: shell{asks, "", "Deactivate nodes in PuppetDB, or show what it knows of them"}},
		{name: "node deactivate", shellNext: nextNode, shell: shell{"", "NODE...", "Deactivate nodes"}},
		{name: "node status", shellNext: nextNode, shell: shell{"", "NODE...", "Show whether nodes are active, and what came of them when"}},
		{name: "compile", shellNext: nextNode, shell: shell{asks, "[NODE...]", "Compile the catalogs of nodes, and list what came of each"}},
		{name: "routes", shellNext: nextIndirection, shell: shell{looks, "[INDIRECTION]", "Who would answer what, and who decided that"}},
		{name: "termini", shellNext: nextIndirection, shell: shell{looks, "[INDIRECTION]", "The termini of this build, and what each can do"}},
		{name: "config", shell: shell{looks, "[KEY ...]", "How this program itself is configured, and who decided that"}},
		{name: "config check", shell: shell{"", "[FILE]", "Check the files, or one file, and list all that is wrong"}},
		{name: "config path", shell: shell{"", "", "Print where the files are, and whether they are there"}},
		{name: "stores check", shell: shell{"", "[sqlite|postgresql]", "Work out the hashes of what is stored anew, and look for what refers to nothing"}},
		{name: "stores export", shell: shell{"", "[sqlite|postgresql]", "Write what is stored as commands, a line of JSON each"}},
		{name: "stores sweep", shell: shell{"", "[sqlite|postgresql]", "End and remove what is too old, and what is not used any longer"}},
		{name: "cache", shellNext: nextIndirection, shell: shell{looks, "[INDIRECTION]", "What is stored in the termini that can be listed, and how long it lives"}},
		{name: "parse", shell: shell{looks, "FILE...", "Validate manifests and templates, and print their trees"}},
		{name: "check-types", shellNext: nextType, shell: shell{looks, "[TYPE ...]", "What is known of each resource type, and from where"}},
		{name: "traces", shell: shell{looks, "", "Look after the traces of a fleet in PostgreSQL, and the recordings here"}},
		{name: "traces list", shell: shell{"", "URL", "List the instances of a fleet: how far each was shipped, and what is missing"}},
		{name: "traces ship", shell: shell{"", "FILE URL", "Ship a recording that is here, once"}},
		{name: "traces prune", shell: shell{"", "[URL]", "Remove traces of a fleet that are old, or old recordings here"}},
		{name: "schema", shell: shell{looks, "NAME", "Print the JSON schema of what a command prints"}},
		{name: "version", shell: shell{looks, "", "The version of this program, and what it is compatible with"}},
		{name: "man", shell: shell{looks, "[COMMAND]", "Print the manual page of the program, or of a command"}},
	}
}

func hasEngine(c *Console) bool   { return c.o.Engine != nil }
func hasDebugger(c *Console) bool { return c.env.Debugger != nil }

// usedStores reports whether a store was used.
func usedStores(c *Console) bool {
	return c.o.Stores != nil && slices.ContainsFunc(c.o.Stores(), func(s stores.State) bool { return len(s.Lines(c.env.Zone)) > 0 })
}

// owns reports whether the owner of the Console runs a command itself.
func (c *Console) owns(name string) bool { return c.o.Own[name] != nil }

// offered returns the commands that make sense now.
func (c *Console) offered() []cmd {
	return slices.DeleteFunc(inSession(), func(m cmd) bool { return m.offered != nil && !m.offered(c) })
}

func (c *Console) find(name string) *cmd {
	for _, m := range c.offered() {
		if m.name == name {
			return &m
		}
	}
	return nil
}

func (c *Console) unknown(name string) error {
	if c.o.Plain {
		if c.o.Engine == nil && slices.ContainsFunc(inSession(), func(m cmd) bool { return m.name == name }) {
			return errRecording
		}
		return &command.UsageError{What: fmt.Sprintf("no command is called %q", name), Advice: "help lists them"}
	}
	var names []string
	for _, m := range c.offered() {
		names = append(names, m.name)
	}
	near := spell.Nearest(name, names)
	switch {
	case c.o.Script:
		return &command.UsageError{What: fmt.Sprintf("no command is called %q", name), Advice: advice(near, names)}
	case near == "":
		return &command.UsageError{What: fmt.Sprintf("no command %q", name), Advice: "tab lists all"}
	}
	return &command.UsageError{What: fmt.Sprintf("no command %q", name), Advice: fmt.Sprintf("did you mean %s? tab lists all", near)}
}

// Silent reports whether --plain prints nothing when a command is done.
func (c *Console) Silent(name string) bool {
	m := c.find(name)
	return m != nil && m.silent
}

// Usages lists how each command that is offered is written, and what it does.
func (c *Console) Usages() []string {
	var out []string
	for _, m := range c.offered() {
		out = append(out, m.usage(c.o.Plain)+": "+m.help)
	}
	return out
}

// usage is how the command is written.
func (m *cmd) usage(plain bool) string {
	args := m.args
	if plain && m.plainArgs != "" {
		args = m.plainArgs
	}
	return strings.TrimSpace(m.name + " " + args)
}

func (m *cmd) completion(lead string) screen.Completion {
	return screen.Completion{Text: lead + m.name + " ", Name: m.name, Kind: "command", Note: m.help}
}

// NotUnderstood is the error of a line that is not written as its command is.
func (c *Console) NotUnderstood(name string) error {
	return &command.UsageError{What: name + ": that is not understood", Advice: "usage: " + c.find(name).usage(c.o.Plain)}
}

// A ShellCommand is a command as it is written in a shell, and its help there.
type ShellCommand struct {
	Name  string // "ca sign" is below ca
	Word  string // the last of the name
	Args  string // behind it
	Short string // help in one line
	Group string // "ask" or "look"; "" below another command
	Next  bool   // Console.ShellNext can complete it
}

// ShellCommands returns the commands of the shell. What is below another command
// comes after it.
func ShellCommands() []ShellCommand {
	var all []ShellCommand
	for _, m := range table() {
		if m.shell.help != "" {
			word := m.name[strings.LastIndexByte(m.name, ' ')+1:]
			all = append(all, ShellCommand{m.name, word, m.shell.args, m.shell.help, m.shell.group, m.shellNext != nil})
		}
	}
	return all
}
