package types

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// serviceType is a program that runs in the background. Rules RES-SVC-01 to RES-SVC-05.
func serviceType() *Type {
	return Define(Type{
		Name: "service", Doc: "A service: a program that runs in the background, and whether it starts with the system.",
		Namevars: []string{"name"}, Instances: ByProviders, Refreshable: true, Providers: serviceProviders,
		Features: strings.Fields("configurable_timeout controllable delayed_startable enableable flaggable " +
			"manages_logon_credentials manual_startable maskable refreshable"),
		Validate:   validateService,
		Attributes: append(serviceProperties(), serviceParameters()...),
	})
}

func serviceProperties() []*Attribute {
	return []*Attribute{
		{
			Name: "ensure", Doc: "Whether the service runs.",
			Choices: []Choice{
				{Name: "stopped", Aliases: []string{"false"}, Event: "service_stopped"},
				{Name: "running", Aliases: []string{"true"}, Event: "service_started", Unschedules: true},
			},
		},
		{
			Name: "enable", Doc: "Whether the service starts with the system. A masked one cannot be started at all.",
			Features: []string{"enableable"},
			Choices: []Choice{
				{Name: "true", Event: "service_enabled"},
				{Name: "false", Event: "service_disabled"},
				{Name: "manual", Event: "service_manual_start", Features: []string{"manual_startable"}},
				{Name: "mask", Event: "service_disabled", Features: []string{"maskable"}},
				{Name: "delayed", Event: "service_delayed_start", Features: []string{"delayed_startable"}},
			},
		},
		{Name: "logonaccount", Doc: "The account as which the service runs (Windows).", Features: []string{"manages_logon_credentials"}},
		{Name: "flags", Doc: "Flags of the program (OpenBSD).", Features: []string{"flaggable"}},
	}
}

func serviceParameters() []*Attribute {
	param := func(name, doc string) *Attribute { return &Attribute{Name: name, Kind: Parameter, Doc: doc} }
	return []*Attribute{
		{
			Name: "logonpassword", Kind: Parameter, Doc: "The password of that account (Windows). It is never shown.", Secret: true,
			Features: []string{"manages_logon_credentials"}, Validate: validatePassword,
			Default: func(r *Resource) (data.Value, bool) { return data.OfString(""), r.Value("logonaccount").Truthy() },
		},
		param("binary", "The program, where it cannot be found otherwise. It is for services without init scripts."),
		{
			Name: "hasstatus", Kind: Parameter, Choices: choices("true", "false"), Preset: data.OfSymbol("true"),
			Doc: "Whether the init script knows the command status. If not, the process table is searched.",
		},
		nameParameter("The name that the service manager knows."),
		{Name: "path", Kind: Parameter, Munge: mungeServicePath, Default: defaultServicePath, Doc: "Where init scripts are."},
		{
			Name: "pattern", Kind: Parameter, Doc: "What is searched for in the process table. The default is the binary, or the name.",
			Default: func(r *Resource) (data.Value, bool) {
				if b := r.Value("binary"); b.Truthy() {
					return b, true
				}
				return r.Value("name"), true
			},
		},
		param("restart", "A command that restarts the service."),
		param("start", "A command that starts the service."),
		param("status", "A command that exits 0 if the service runs."),
		param("stop", "A command that stops the service."),
		{
			Name: "control", Kind: Parameter, Doc: "The variable that switches the service on (HP-UX).",
			Default: func(r *Resource) (data.Value, bool) {
				name := strings.ToUpper(strings.ReplaceAll(r.Name(), ".", "_")) + "_START"
				return data.OfString(name), r.Provider != nil && r.Provider.Supports([]string{"controllable"})
			},
		},
		{Name: "hasrestart", Kind: Parameter, Choices: choices("true", "false"), Doc: "Whether the init script knows the command restart."},
		param("manifest", "The manifest of the service (Solaris)."),
		{
			Name: "timeout", Kind: Parameter, Doc: "Seconds that starting and stopping may take (Windows).",
			Features: []string{"configurable_timeout"}, Munge: mungeServiceTimeout,
			Default: func(*Resource) (data.Value, bool) { return data.OfInt(10), true },
		},
	}
}

func mungeServicePath(_ *Resource, v data.Value) (data.Value, error) {
	dirs := []string{}
	for _, d := range flat(v) {
		s, err := textOf(d)
		if err != nil {
			return v, badArgument("%v", err)
		}
		dirs = append(dirs, splitColons(s)...)
	}
	return data.OfStrings(dirs), nil
}

// defaultServicePath is where init scripts are, for providers that have them.
func defaultServicePath(r *Resource) (data.Value, bool) {
	p := r.Provider
	switch {
	case p == nil:
	case p.Name == "upstart":
		return data.OfStrings([]string{"/etc/init", "/etc/init.d"}), true
	case p.Name == "rcng":
		return data.OfString("/etc/rc.d"), true
	case p.Name == "daemontools":
		return firstThere(r.Host, "/var/lib/service", "/etc")
	case p.Name == "runit":
		return firstThere(r.Host, "/var/lib/service", "/etc/sv")
	case p.Name == "init", slices.Contains(p.Parents, "init"):
		return initPath(fact(r.Host, "operatingsystem")), true
	}
	return data.Value{}, false
}

func firstThere(h Host, dirs ...string) (data.Value, bool) {
	for _, d := range dirs {
		if h.Exists(d) {
			return data.OfString(d), true
		}
	}
	return data.Value{}, false
}

func initPath(os string) data.Value {
	switch os {
	case "freebsd", "dragonfly":
		return data.OfStrings([]string{"/etc/rc.d", "/usr/local/etc/rc.d"})
	case "hp-ux":
		return data.OfString("/sbin/init.d")
	case "archlinux":
		return data.OfString("/etc/rc.d")
	case "aix":
		return data.OfString("/etc/rc.d/init.d")
	}
	return data.OfString("/etc/init.d")
}

func mungeServiceTimeout(_ *Resource, v data.Value) (data.Value, error) {
	n := v
	switch v.Kind() {
	case data.String:
		n = data.OfInt(leadingNumber(v.Str()))
	case data.Float:
		n = data.OfInt(int64(v.Float()))
	}
	if n.Int() < 1 {
		return v, refuse("\"%s\" is not a positive integer: the timeout parameter must be specified as a positive integer", v.Text())
	}
	return n, nil
}

func validateService(r *Resource) error {
	if r.Has("logonpassword") && !r.Has("logonaccount") {
		return refuse("The 'logonaccount' parameter is mandatory when setting 'logonpassword'.")
	}
	return nil
}
