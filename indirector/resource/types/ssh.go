package types

import (
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

// keyKinds are the kinds of keys that hosts and users have.
func keyKinds(names ...string) []Choice {
	aliases := map[string]string{
		"ssh-dss": "dsa", "ssh-rsa": "rsa", "ssh-ed25519": "ed25519",
		"sk-ecdsa-sha2-nistp256@openssh.com": "ecdsa-sk", "sk-ssh-ed25519@openssh.com": "ed25519-sk",
	}
	all := choices(names...)
	for i, c := range all {
		if a := aliases[c.Name]; a != "" {
			all[i].Aliases = []string{a}
		}
	}
	return all
}

// sshAuthorizedKeyType is a key with which a user may log in. Rule RES-LIST-04.
func sshAuthorizedKeyType() *Type {
	return Define(Type{
		Name: "ssh_authorized_key", Module: "sshkeys_core", Doc: "A key in the authorized_keys of a user, who may log in with it.",
		Namevars: []string{"name"}, Instances: ByProviders, Providers: sshAuthorizedKeyProviders, Validate: validateAuthorizedKey,
		Require: []Auto{{"user", func(r *Resource) []string {
			if u := r.Value("user"); u.Truthy() {
				return []string{u.Text()}
			}
			return nil
		}}},
		Attributes: []*Attribute{
			ensurable("Whether the key is there."),
			{
				Name: "type", Doc: "The kind of the key.",
				Choices: keyKinds("ssh-dss", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-ed25519",
					"sk-ecdsa-sha2-nistp256@openssh.com", "sk-ssh-ed25519@openssh.com", "ssh-rsa-cert-v01@openssh.com",
					"ssh-ed25519-cert-v01@openssh.com", "ssh-dss-cert-v01@openssh.com", "ecdsa-sha2-nistp256-cert-v01@openssh.com",
					"ecdsa-sha2-nistp384-cert-v01@openssh.com", "ecdsa-sha2-nistp521-cert-v01@openssh.com"),
			},
			{Name: "key", Doc: "The key itself, without kind and comment.", Validate: validateKey},
			{Name: "user", Doc: "The account that the key opens."},
			{
				Name: "target", Doc: "The file. The default is .ssh/authorized_keys in the home directory of the user.",
				Preset: data.OfSymbol("absent"), Wanted: authorizedKeysFile,
				InSync: func(r *Resource, is data.Value) (bool, error) { return data.Equal(is, r.Wanted("target", is)), nil },
			},
			{
				Name: "options", Doc: "What the key may not, or must do: no-pty, or command=\"/bin/x\". A list of all.", All: true,
				Preset: data.OfSymbol("absent"), Validate: validateKeyOption,
			},
			nameParameter("The comment of the key, which must be unique."),
			boolean(Attribute{Name: "drop_privileges", Preset: data.OfBool(true), Doc: "Whether the file is written as the user."}),
		},
	})
}

func validateKey(_ *Resource, v data.Value) error {
	s, err := textOf(v)
	if err == nil && strings.ContainsAny(s, blanks) {
		return refuse("Key must not contain whitespace: %s", s)
	}
	return err
}

var keyOption = regexp.MustCompile(`(?m)^[-a-z0-9A-Z_]+(?:=".*?")?$`)

func validateKeyOption(_ *Resource, v data.Value) error {
	if isAbsent(v) || v.Kind() == data.String && keyOption.MatchString(v.Str()) {
		return nil
	}
	return refuse("Option %s is not valid. A single option must either be of the form 'option' or 'option=\"value\"'. Multiple options must be provided as an array", v.Text())
}

// authorizedKeysFile is in the home directory of the user, if the user is there.
func authorizedKeysFile(r *Resource, should []data.Value, _ data.Value) data.Value {
	switch {
	case len(should) == 0:
		return data.Value{}
	case !isAbsent(should[0]):
		return should[0]
	}
	dir := home(r.Host, r.Value("user").Text())
	if !r.Value("user").Truthy() || dir == "" {
		return data.Value{}
	}
	return data.OfString(dir + "/.ssh/authorized_keys")
}

func validateAuthorizedKey(r *Resource) error {
	target := r.Original("target")
	if len(target) > 0 && !isAbsent(target[0]) || r.Has("user") {
		return nil
	}
	return refuse("Attribute 'user' or 'target' is mandatory")
}

// sshkeyType is a known host of ssh. It is unique by name and kind. Rule RES-LIST-04.
func sshkeyType() *Type {
	return Define(Type{
		Name: "sshkey", Module: "sshkeys_core", Doc: "A key of a host in the known hosts of ssh.",
		Namevars: []string{"type", "name"}, Instances: ByProviders, Providers: sshkeyProviders,
		TitlePatterns: []TitlePattern{
			{`^(.*?)@(.*)$`, false, []string{"name", "type"}},
			{`^([^@]+)$`, false, []string{"name"}},
		},
		Ref: func(r *Resource) string {
			return "Sshkey[" + r.Value("name").Text() + "@" + r.Value("type").Text() + "]"
		},
		Attributes: []*Attribute{
			ensurable("Whether the key is there."),
			{Name: "key", Doc: "The key itself."},
			{
				Name: "host_aliases", Doc: "Other names and addresses of the host.", Validate: validateKeyAlias,
				Wanted: func(_ *Resource, should []data.Value, _ data.Value) data.Value { return data.OfList(should) },
				InSync: func(r *Resource, is data.Value) (bool, error) {
					return is.Kind() == data.List && equalAll(is.List(), r.Should("host_aliases")), nil
				},
			},
			target("The file of known hosts. The default is that of the system.", "/etc/ssh/ssh_known_hosts"),
			{
				Name: "type", Kind: Parameter, Doc: "The kind of the key. It may be in the title: name@type.",
				Choices: keyKinds("ssh-dss", "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
					"sk-ecdsa-sha2-nistp256@openssh.com", "sk-ssh-ed25519@openssh.com"),
			},
			{Name: "name", Kind: Parameter, Doc: "The name of the host.", Validate: validateKeyName},
		},
	})
}

func validateKeyAlias(_ *Resource, v data.Value) error {
	s, err := textOf(v)
	switch {
	case err != nil:
		return err
	case strings.ContainsAny(s, blanks):
		return refuse("Aliases cannot include whitespace")
	case strings.Contains(s, ","):
		return refuse("Aliases must be provided as an array, not a comma-separated list")
	}
	return nil
}

func validateKeyName(_ *Resource, v data.Value) error {
	s, err := textOf(v)
	switch {
	case err != nil:
		return err
	case strings.ContainsAny(s, blanks):
		return refuse("Resourcename cannot include whitespaces")
	case strings.Contains(s, ","):
		return refuse("No comma in resourcename allowed. If you want to specify aliases use the host_aliases property")
	}
	return nil
}
