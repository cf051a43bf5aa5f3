# What load.sh and attack.sh have in common; they source it with the name of
# their tool, which .ci/peers has: a directory that is gone at the end, the
# program and the tool, built from this tree, the files of a server, and
# processes that end with the script.
tool=$1
work=$(mktemp -d "/tmp/$tool.XXXXXX")
pids=()
stop() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null && wait "$p" 2>/dev/null || true; done
  rm -rf "$work"
}
trap stop EXIT

go build -o "$work/indirtui" .
(cd ".ci/peers/$tool" && go build -o "$work/$tool" .)
mkdir -p "$work/srv/var/server_data/catalog" "$work/code/environments/production"
cat >"$work/srv/puppet.conf" <<CONF
[main]
vardir = $work/srv/var
ssldir = $work/ssl
cadir = $work/ca
codedir = $work/code
basemodulepath = $work/none
certname = localhost
dns_alt_names = localhost
keylength = 2048
[server]
catalog_terminus = json
CONF

# start NAME ARGUMENT... starts a listener on any free port, or on PORT, and waits
# until it listens. It sets url_NAME, and writes NAME.pid, NAME.out and NAME.err.
start() {
  local name=$1
  shift
  : >"$work/$name.err" # of a process before
  "$work/indirtui" "$@" --listen "127.0.0.1:${PORT:-0}" >"$work/$name.out" 2>"$work/$name.err" &
  pids+=($!)
  echo $! >"$work/$name.pid"
  until grep -q ' on 127' "$work/$name.err"; do
    kill -0 "${pids[-1]}" || { cat "$work/$name.err"; exit 1; }
    sleep 0.1
  done
  declare -g "url_$name=https://localhost:$(grep -o ' on 127.0.0.1:[0-9]*' "$work/$name.err" | head -1 | cut -d: -f2)"
}
