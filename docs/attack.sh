#!/usr/bin/env bash
# Attacks serve on this machine, then proxy in front of serve, and prints how each
# fared: 10 000 hostile requests, 20 bodies that need much memory, 1000 slow
# clients, some secrets; and for serve 500 saves that are killed. A healthy client
# asks all the while. Everything is on loopback, and in a directory that is gone
# afterwards. Takes seven minutes; by hand, and nightly.
# SEED repeats the hostile requests of another run; HOSTILE, BOMBS, SLOW and
# KILLS are the numbers. SOAK=1h instead sends for that long what agents send, 36
# requests a second, and fails if memory or descriptors grow.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${SEED:=$(date +%s)}" "${HOSTILE:=10000}" "${BOMBS:=20}" "${SLOW:=1000}" "${KILLS:=500}"
ulimit -n "$(ulimit -Hn)"
. docs/listener.sh attack
mkdir -p "$work/code/environments/production/modules/x/files"
echo y >"$work/code/environments/production/modules/x/files/y"
printf -- '---\nserver:\n  facts:\n    terminus: json\n' >"$work/srv/routes.yaml"
start serve serve --confdir "$work/srv" --record "$work/serve.jsonl" --rotate 8M --keep 3
for name in hostile.example.com good.example.com; do
  "$work/indirtui" ca generate "$name" --confdir "$work/srv" >/dev/null
done
failed=0
if [ -n "${SOAK:-}" ]; then
  sed 's/"name":"[^"]*"/"name":"good.example.com"/' termini/testdata/bench/catalog.json >"$work/srv/var/server_data/catalog/good.example.com.json"
  "$work/attack" -soak "$SOAK" -facts .ci/peers/fixtures/facts.agent01.json -url "$url_serve" -ca "$work/ca/ca_crt.pem" -pidfile "$work/serve.pid" \
    -cert "$work/ssl/certs/hostile.example.com.pem" -key "$work/ssl/private_keys/hostile.example.com.pem" \
    -good-certname good.example.com -good-cert "$work/ssl/certs/good.example.com.pem" -good-key "$work/ssl/private_keys/good.example.com.pem" || failed=1
  files=("$work"/serve*.jsonl)
  echo "recording         $(du -cm "${files[@]}" | tail -1 | cut -f1) MiB in ${#files[@]} files"
  [ ${#files[@]} -le 3 ] || { echo 'attack: there are more files than --keep allows'; failed=1; }
  exit $failed
fi
# attack NAME URL attacks a program, and looks for secrets in what it wrote.
attack() {
  echo "== $1"
  "$work/attack" -url "$2" -ca "$work/ca/ca_crt.pem" -pidfile "$work/$1.pid" -seed "$SEED" -hostile "$HOSTILE" -bombs "$BOMBS" -slow "$SLOW" \
    -certname hostile.example.com -cert "$work/ssl/certs/hostile.example.com.pem" -key "$work/ssl/private_keys/hostile.example.com.pem" \
    -good-certname good.example.com -good-cert "$work/ssl/certs/good.example.com.pem" -good-key "$work/ssl/private_keys/good.example.com.pem" || failed=1
  files=("$work/$1"*.jsonl)
  echo "recording         $(du -cm "${files[@]}" | tail -1 | cut -f1) MiB in ${#files[@]} files"
  [ ${#files[@]} -le 3 ] || { echo 'attack: there are more files than --keep allows'; failed=1; }
  if grep -i -m 3 panic "$work/$1.err"; then failed=1; fi
  sleep 2 # what is recorded waits a moment
  leaks=$(cat "${files[@]}" "$work/$1.out" "$work/$1.err" | grep -o '.\{0,40\}hunter2[0-9]*' | sort -u || true)
  echo "secrets           $(cat "${files[@]}" | grep -c '(masked ') lines with redactions; $(grep -c hunter2 <<<"$leaks") secrets in recording, lines and log"
  [ -z "$leaks" ] || { echo "$leaks"; failed=1; }
}
attack serve "$url_serve"
start proxy proxy --upstream "$url_serve" --confdir "$work/srv" --agents-ssl "$work/ssl" --record "$work/proxy.jsonl" --rotate 8M --keep 3
attack proxy "$url_proxy"

# Saves that are killed: what is there is whole, and nothing is left after the
# next save.
save=("$work/indirtui" save facts killed --file "$work/body.json" terminus=json --write --confdir "$work/srv" --application server)
head -c 3000000 /dev/zero | tr '\0' x >"$work/long" # so that writing takes a while
broken=0
for i in $(seq "$KILLS"); do
  { printf '{"name":"killed","values":{"n":"%s","long":"' "$i"; cat "$work/long"; printf '"}}'; } >"$work/body.json"
  "${save[@]}" >"$work/saved" 2>&1 &
  saver=$!
  sleep "$(printf 0.%03d $((RANDOM % 60 + 40)))"
  kill -9 $saver 2>/dev/null || true
  wait $saver 2>/dev/null || true
  for saved in $(find "$work/srv/var" -name 'killed.json'); do
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$saved" 2>/dev/null || broken=$((broken + 1))
  done
done
left() { find "$work/srv" -name '.save-*' | wc -l; }
[ "$KILLS" -gt 0 ] || exit $failed
before=$(left)
find "$work/srv" -name '.save-*' -exec touch -d '2 hours ago' {} +
"${save[@]}" >"$work/saved" 2>&1 || { cat "$work/saved"; failed=1; }
echo "kills             $KILLS, $broken broken files, $before temporary files before the next save and $(left) after it"
[ "$broken" = 0 ] && [ "$(left)" = 0 ] || failed=1
exit $failed
