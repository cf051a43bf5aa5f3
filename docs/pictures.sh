#!/usr/bin/env bash
# Makes the pictures of README.md: starts the program in a terminal of tmux,
# presses the keys of a few journeys, and draws what the terminal shows.
#
#	bash docs/pictures.sh            all of them
#	bash docs/pictures.sh routes     those whose name begins so
set -euo pipefail
cd "$(dirname "$0")/.."
only=${1:-}
work=$(mktemp -d /tmp/site.XXX)
socket=indirtui-pictures-$$-0
terminal() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'terminal kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
go build -o "$work/indirtui" .
go build -o "$work/svg" ./docs/svg
mkdir -p "$work/.config/indirtui"
echo 'theme: dark' >"$work/.config/indirtui/config.yaml" # a terminal of tmux that nothing is attached to has no background

# start COLUMNSxROWS COMMAND: a shell command in a terminal of that size.
start() {
  size=$1
  terminal kill-server 2>/dev/null || true
  socket=${socket%-*}-$((${socket##*-} + 1)) # a server that ends must not be met
  terminal new-session -d -x "${size%x*}" -y "${size#*x}" \
    env -i HOME="$work" TMPDIR="$work" TZ=UTC LANG=C.UTF-8 TERM=tmux-256color COLORTERM=truecolor PATH="$work:$PATH" sh -c "cd $work; $2; sleep 60"
  terminal set -g status off
  terminal resize-window -x "${size%x*}" -y "${size#*x}"
}

# until_shown TEXT: waits for it to be on the screen.
until_shown() {
  for _ in $(seq 100); do
    terminal capture-pane -p | grep -qF -- "$1" && return
    sleep 0.1
  done
  echo "the screen never showed: $1" >&2
  terminal capture-pane -p >&2
  return 1
}

# press KEYS…: as tmux calls them; what begins with = is typed as it is.
press() {
  for key in "$@"; do
    case $key in
    =*) terminal send-keys -l -- "${key#=}" ;;
    *) terminal send-keys -- "$key" ;;
    esac
    sleep 0.15
  done
}

# picture NAME TITLE [-light]: what the terminal shows now.
picture() {
  sleep 0.3
  terminal capture-pane -e -p | "$work/svg" -size "$size" ${3:+"$3"} -title "$2" >"docs/$1.svg"
  echo "docs/$1.svg"
}

# journey NAME…: whether any of these pictures is wanted.
journey() {
  for name in "$@"; do
    case $name in "$only"*) return 0 ;; esac
  done
  return 1
}

# demo SIZE: the demo site, when its agents have run.
demo() {
  start "$1" "indirtui --demo"
  until_shown ' part'
  sleep 1
}

# stale puts the cursor on the newest request that an old entry answered.
stale() {
  press / =out=stale Enter G
  until_shown 'stale'
}

if journey requests; then
  demo 140x40
  stale
  press Escape
  sleep 3 # until the message is gone
  picture requests 'indirtui --demo'
fi
if journey failures; then
  start 110x32 'indirtui --demo --light'
  until_shown ' part'
  sleep 1
  press 2 j
  until_shown kinds
  picture failures 'what failed, in a light terminal' -light
fi
if journey requests-small; then
  demo 80x24
  stale
  press Escape
  sleep 3 # until the message is gone
  picture requests-small 'indirtui --demo'
fi
if journey steps; then
  demo 110x32
  stale
  press Enter
  until_shown STORY
  press =gjjj l
  picture steps 'why was an old catalog used?'
fi
if journey value; then
  demo 110x32
  stale
  press v
  until_shown resources
  press / =content Enter
  until_shown masked
  picture value 'a value, its secret masked'
fi
if journey routes; then
  demo 140x30
  press 3 j
  until_shown INDIRECTION
  picture routes 'who would answer, and who decided that'
fi
if journey what-if; then
  demo 110x32
  press 3 j W
  until_shown 'what if node'
  press j j j j j Enter
  until_shown 'would be answered'
  picture what-if 'what if node went to yaml?'
fi
if journey compare; then
  demo 110x28
  press : '=diff find node web01.example.com terminus=exec,plain' Enter
  until_shown 'provenance B'
  press =]
  picture compare 'one node, two termini'
fi
if journey cache; then
  demo 110x30
  press 4
  until_shown '4 orphan'
  press j j # below the stores
  sleep 1
  picture cache 'what is kept, by whom and for how long'
fi
if journey held; then
  demo 140x30
  press : '=break ind=catalog key=web01* before cache-read' Enter
  press : '=find catalog web01.example.com ignore_cache' Enter
  until_shown 'HELD 1'
  press 5 Enter
  until_shown 'WILL NOT ASK'
  press e j j j j j Enter
  until_shown 'would be served'
  picture held 'held before the cache is read'
fi
if journey console; then
  demo 110x18
  press : '=find node nobody.example.com' Enter
  until_shown '(sent by you)'
  press : '=find node nobody.example.com terminus=plain' Enter
  press : '=find facts app03.example.com' Enter
  press '~'
  until_shown 'Console  ~ hides'
  picture console 'asking by hand'
fi
if journey command-line; then
  mkdir "$work/conf"
  printf '[main]\nnode_terminus = exec\nexternal_nodes = %s/enc\n' "$work" >"$work/conf/puppet.conf"
  printf '#!/bin/sh\necho "inventory: no route to host" >&2\nexit 1\n' >"$work/enc"
  chmod +x "$work/enc"
  line='indirtui find node web01 --application apply --confdir conf --trace steps'
  start 128x25 "printf '\$ %s\\n' '$line'; $line; echo \"exit code \$?\""
  until_shown 'exit code'
  picture command-line "$line"
fi

# site lays out an environment with one module, and its data.
site() {
  local env=$work/code/environments/production
  mkdir -p "$env"/manifests "$env"/data "$env"/modules/ntp/manifests "$work"/conf "$work"/var
  echo 'node default { include ntp }' >"$env/manifests/site.pp"
  printf 'version: 5\nhierarchy:\n  - {name: role, path: "%%{role}.yaml"}\n  - {name: common, path: common.yaml}\n' >"$env/hiera.yaml"
  printf -- '---\nntp::servers:\n  - 0.pool.ntp.org\n  - 1.pool.ntp.org\nntp::minpoll: 6\n' >"$env/data/common.yaml"
  cat >"$env/modules/ntp/manifests/init.pp" <<'PP'
class ntp (
  Array[String] $servers,
  Integer $minpoll,
  Boolean $panic = true,
) {
  $lines = $servers.map |$server| {
    "server ${server} minpoll ${minpoll}"
  }
  file { '/etc/ntp.conf':
    content => $lines.join("\n"),
    mode    => '0644',
  }
  service { 'ntp':
    ensure    => running,
    subscribe => File['/etc/ntp.conf'],
  }
}
PP
  start "$1" "indirtui --confdir conf --vardir var --set codedir=$work/code --set certname=puppet --application server"
  until_shown 'Nothing has asked'
}

if journey manifest; then
  site 104x30
  press '=:break ind=catalog at ntp/manifests/init.pp:7' Enter
  press '=:find catalog web01' Enter
  until_shown 'HELD 1'
  press g g Enter
  until_shown 'VARIABLES'
  picture manifest 'a compile that is held in a manifest'
fi

if journey why; then
  site 104x16
  press '=:find catalog web01' Enter
  until_shown ' ok'
  press '=:why Class[Ntp]' Enter
  until_shown 'ATTRIBUTE'
  picture why 'where each parameter of a class is from'
fi
