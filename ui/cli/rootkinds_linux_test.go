package cli_test

// A rootKind is a kind of resources that only root can apply.
type rootKind struct {
	name      string
	command   string   // without it the kind is left out
	before    string   // what a shell does first, so that there is something to do
	resources []string // of the catalog
	drift     string   // what a shell changes behind Puppet's back
	drifted   []string // what a run has to mend then
}

var rootKinds = []rootKind{
	{
		name:   "groups",
		before: "groupadd -g 4299 indirtui-gone",
		resources: []string{
			`{"type": "Group", "title": "indirtui-deploy", "parameters": {"ensure": "present", "gid": 4243}}`,
			`{"type": "Group", "title": "indirtui-ops", "parameters": {"ensure": "present", "gid": "4244"}}`,
			`{"type": "Group", "title": "indirtui-batch", "parameters": {"ensure": "present", "system": true}}`,
			`{"type": "Group", "title": "indirtui-gone", "parameters": {"ensure": "absent"}}`,
		},
		drift:   "groupmod -g 4245 indirtui-ops; groupdel indirtui-batch",
		drifted: []string{"Group[indirtui-batch]/ensure", "Group[indirtui-ops]/gid"},
	},
	{
		name:   "users",
		before: "useradd -u 4299 -M indirtui-left",
		resources: []string{
			`{"type": "User", "title": "indirtui-deploy", "parameters": {"ensure": "present", "uid": 4242, "gid": "indirtui-deploy", "groups": ["games", "indirtui-ops"],
			  "home": "/home/indirtui-deploy", "managehome": true, "shell": "/bin/sh", "comment": "Deploys Ünïcode",
			  "password": "$6$salt$0123456789abcdef", "password_max_age": 90, "password_min_age": 1, "password_warn_days": 7, "expiry": "2040-01-01"}}`,
			`{"type": "User", "title": "indirtui-sys", "parameters": {"ensure": "present", "system": true, "shell": "/usr/sbin/nologin", "membership": "inclusive", "groups": "games"}}`,
			`{"type": "User", "title": "indirtui-left", "parameters": {"ensure": "absent"}}`,
		},
		drift: "usermod -s /bin/false -c other indirtui-deploy; gpasswd -d indirtui-deploy games; usermod -G games,users indirtui-sys; chage -M 80 -E 2041-01-01 indirtui-deploy; usermod -p x indirtui-deploy",
		drifted: []string{
			"User[indirtui-deploy]/comment", "User[indirtui-deploy]/expiry", "User[indirtui-deploy]/groups", "User[indirtui-deploy]/password", "User[indirtui-deploy]/password_max_age",
			"User[indirtui-deploy]/shell", "User[indirtui-sys]/groups",
		},
	},
	{
		name:    "packages",
		command: "apt-get",
		before: `set -e
make() {
  mkdir -p /srv/repository/$1_$2/DEBIAN
  printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: n <n@example.com>\nDescription: probe\n nothing\n' $1 $2 >/srv/repository/$1_$2/DEBIAN/control
  mkdir /srv/repository/$1_$2/etc; echo $2 >/srv/repository/$1_$2/etc/$1; echo /etc/$1 >/srv/repository/$1_$2/DEBIAN/conffiles
  dpkg-deb --build --root-owner-group /srv/repository/$1_$2 /srv/repository/$1_$2.deb
  dpkg-deb -f /srv/repository/$1_$2.deb
  printf 'Filename: ./%s_%s.deb\nSize: %s\nSHA256: %s\n\n' $1 $2 $(stat -c %s /srv/repository/$1_$2.deb) $(sha256sum /srv/repository/$1_$2.deb | cut -d ' ' -f 1)
}
mkdir -p /srv/repository
for p in newest pinned held gone purged; do make indirtui-$p 1.0; make indirtui-$p 1.1; done >/srv/packages
grep -v '^dpkg-deb:' /srv/packages >/srv/repository/Packages
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/srv/repository ./' >/etc/apt/sources.list
apt-get update -q
apt-get install -qy indirtui-newest=1.0 indirtui-gone indirtui-purged`,
		resources: []string{
			`{"type": "Package", "title": "indirtui-newest", "parameters": {"ensure": "latest"}}`,
			`{"type": "Package", "title": "indirtui-pinned", "parameters": {"ensure": "1.0"}}`,
			`{"type": "Package", "title": "indirtui-held", "parameters": {"ensure": "present", "mark": "hold"}}`,
			`{"type": "Package", "title": "indirtui-gone", "parameters": {"ensure": "absent"}}`,
			`{"type": "Package", "title": "indirtui-purged", "parameters": {"ensure": "purged"}}`,
		},
		drift:   "apt-mark unhold indirtui-held; apt-get remove -qy indirtui-newest; apt-get install -qy indirtui-pinned=1.1 indirtui-gone",
		drifted: []string{"Package[indirtui-gone]/ensure", "Package[indirtui-held]/mark", "Package[indirtui-newest]/ensure", "Package[indirtui-pinned]/ensure"},
	},
	{
		name:    "cron",
		command: "crontab",
		before:  `printf 'MAILTO=ops\n# kept\n5 5 * * * /bin/kept\n# Puppet Name: old\n1 * * * * /bin/old\n' | crontab -`,
		resources: []string{
			`{"type": "Cron", "title": "sweep", "parameters": {"ensure": "present", "command": "/bin/sweep % x", "user": "root", "minute": [0, 30], "hour": "*/2", "weekday": "Mon", "environment": ["A=b", "PATH=/bin"]}}`,
			`{"type": "Cron", "title": "daily", "parameters": {"ensure": "present", "command": "/bin/daily", "user": "indirtui-deploy", "special": "daily"}}`,
			`{"type": "Cron", "title": "old", "parameters": {"ensure": "absent", "user": "root"}}`,
		},
		drift:   "crontab -l | sed 's/0,30/5/' | crontab -; crontab -r -u indirtui-deploy",
		drifted: []string{"Cron[daily]/ensure", "Cron[sweep]/minute"},
	},
	{
		name:   "hosts",
		before: `printf '127.0.0.1 localhost # kept\n192.0.2.7  old.example.com old\n# a comment\n' >/etc/hosts`,
		resources: []string{
			`{"type": "Host", "title": "web.example.com", "parameters": {"ensure": "present", "ip": "192.0.2.1", "host_aliases": ["web", "www"], "comment": "the web"}}`,
			`{"type": "Host", "title": "six.example.com", "parameters": {"ensure": "present", "ip": "2001:db8::1"}}`,
			`{"type": "Host", "title": "old.example.com", "parameters": {"ensure": "absent"}}`,
		},
		drift:   `sed -i 's/192.0.2.1\t/192.0.2.9 /; /2001:db8/d' /etc/hosts`,
		drifted: []string{"Host[six.example.com]/ensure", "Host[web.example.com]/ip"},
	},
	{
		name:   "fstab",
		before: `mkdir -p /srv/data /srv/scratch /srv/old; printf '# kept\n/dev/sdy1 /srv/old ext4 defaults 0 2\n' >/etc/fstab`,
		resources: []string{
			`{"type": "Mount", "title": "/srv/data", "parameters": {"ensure": "unmounted", "device": "/dev/sdz1", "fstype": "ext4", "options": "noatime,nofail", "dump": 0, "pass": 2}}`,
			`{"type": "Mount", "title": "/srv/scratch", "parameters": {"ensure": "mounted", "device": "tmpfs", "fstype": "tmpfs", "options": "size=1m"}}`,
			`{"type": "Mount", "title": "/srv/old", "parameters": {"ensure": "absent"}}`,
		},
		drift:   `sed -i 's/noatime,nofail/noatime/' /etc/fstab; umount /srv/scratch`,
		drifted: []string{"Mount[/srv/data]/options", "Mount[/srv/scratch]/ensure"},
	},
	{
		name:   "ssh keys",
		before: "mkdir -p /etc/ssh; printf '# kept\nold.example.com ssh-rsa AAAAB3old\n' >/etc/ssh/ssh_known_hosts",
		resources: []string{
			`{"type": "Ssh_authorized_key", "title": "dev@example.com", "parameters": {"ensure": "present", "user": "indirtui-deploy", "type": "ssh-ed25519",
			  "key": "AAAAC3NzaC1lZDI1NTE5AAAAIJ0000000000000000000000000000000000000000000", "options": ["from=\"192.0.2.0/24\"", "no-pty"]}}`,
			`{"type": "Sshkey", "title": "web.example.com", "parameters": {"ensure": "present", "type": "ssh-ed25519", "host_aliases": ["192.0.2.1", "web"],
			  "key": "AAAAC3NzaC1lZDI1NTE5AAAAIJ1111111111111111111111111111111111111111111"}}`,
			`{"type": "Sshkey", "title": "old.example.com", "parameters": {"ensure": "absent", "type": "ssh-rsa"}}`,
		},
		drift:   "sed -i s/no-pty/no-X11-forwarding/ /home/indirtui-deploy/.ssh/authorized_keys; sed -i s/1111/2222/ /etc/ssh/ssh_known_hosts",
		drifted: []string{"Ssh_authorized_key[dev@example.com]/options", "Sshkey[web.example.com@ssh-ed25519]/key"},
	},
	{
		name:   "mail aliases",
		before: `printf '# kept\npostmaster: root\nold: root\n' >/etc/aliases`,
		resources: []string{
			`{"type": "Mailalias", "title": "root", "parameters": {"ensure": "present", "recipient": ["ops", "dev@example.com"]}}`,
			`{"type": "Mailalias", "title": "piped", "parameters": {"ensure": "present", "recipient": "|/bin/cat >/dev/null"}}`,
			`{"type": "Mailalias", "title": "old", "parameters": {"ensure": "absent"}}`,
		},
		drift:   "sed -i 's/dev@example.com/test@example.com/' /etc/aliases",
		drifted: []string{"Mailalias[root]/recipient"},
	},
	{
		name:   "files",
		before: "mkdir -p /srv/source/sub; echo one >/srv/source/one; echo two >/srv/source/sub/two; chmod 2755 /srv/source/sub; chown games:games /srv/source/one; echo x >/srv/unwanted",
		resources: []string{
			`{"type": "File", "title": "/srv/app", "parameters": {"ensure": "directory", "owner": "indirtui-deploy", "group": "indirtui-ops", "mode": "2750"}}`,
			`{"type": "File", "title": "/srv/app/conf", "parameters": {"ensure": "file", "content": "grüße\n", "owner": "indirtui-deploy", "group": 4243, "mode": "u=rw,g=r,o="}}`,
			`{"type": "File", "title": "/srv/app/current", "parameters": {"ensure": "link", "target": "conf", "owner": "games"}}`,
			`{"type": "File", "title": "/srv/copy", "parameters": {"ensure": "directory", "source": "/srv/source", "recurse": true, "owner": "games", "group": "games", "source_permissions": "ignore"}}`,
			`{"type": "File", "title": "/srv/unwanted", "parameters": {"ensure": "absent"}}`,
		},
		drift: "chown root:root /srv/app/conf; chmod 0777 /srv/app; echo changed >/srv/copy/sub/two; ln -sfn other /srv/app/current",
		drifted: []string{
			"File[/srv/app/conf]/group", "File[/srv/app/conf]/owner", "File[/srv/app/current]/owner", "File[/srv/app/current]/target", "File[/srv/app]/mode", "File[/srv/copy/sub/two]/content",
		},
	},
}
