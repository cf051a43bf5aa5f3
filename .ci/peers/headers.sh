#!/usr/bin/env bash
# Asks whether a real Puppet Server believes what a proxy of ours tells it in
# headers (X-Client-Verify, X-Client-DN, X-Client-Cert) about who asks. That
# needs allow-header-cert-info in its auth.conf, with which it believes nobody's
# certificate any more: so this is a server of its own, which is removed in the
# end. It takes a minute or more and 1 GiB, too much for every change.
#
#   .ci/peers/headers.sh            # exit status 0: every answer was as expected
#   PEERS_DIR=... PEERS_PUPPETSERVER_PORT=... .ci/peers/headers.sh   # of a stack that is up, and stays
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d /tmp/headers.XXXXXX)
proxy= ours=
stop() {
  if [ -n "$proxy" ]; then kill "$proxy" && wait "$proxy" || true; fi
  if [ -n "$ours" ]; then .ci/peers/stack.sh down --purge >/dev/null; fi
  rm -rf "$work"
}
trap stop EXIT

if [ -z "${PEERS_DIR:-}" ]; then
  ours=yes
  PEERS_DIR=$(mktemp -d /tmp/hpeers.XXXXXX)
  chmod 755 "$PEERS_DIR"
  PEERS_PUPPETSERVER_PORT=$(ruby -rsocket -e 'puts TCPServer.new("127.0.0.1", 0).addr[1]')
  export PEERS_DIR PEERS_PUPPETSERVER_PORT
  .ci/peers/stack.sh up
fi
: "${PEERS_PUPPETSERVER_PORT:=18140}"
.ci/peers/stack.sh cert headers-proxy.example.com localhost 127.0.0.1 IP:127.0.0.1
certs=$PEERS_DIR/certs upstream=https://localhost:$PEERS_PUPPETSERVER_PORT
log=$PEERS_DIR/logs/puppetserver/puppetserver.log
if ! grep -q allow-header-cert-info "$PEERS_DIR/puppetserver/conf.d/auth.conf"; then
  sed -i '0,/version: 1/s//version: 1\n    allow-header-cert-info: true/' "$PEERS_DIR/puppetserver/conf.d/auth.conf"
  started=$(grep -c 'successfully started' "$log")
  kill -HUP "$(cut -d' ' -f1 "$PEERS_DIR/run/puppetserver.pid")"
  until [ "$(grep -c 'successfully started' "$log")" -gt "$started" ]; do sleep 1; done
fi

# The proxy itself lets everybody ask: it is the server that decides.
cat >"$work/open.conf" <<'CONF'
authorization: { version: 1, rules: [ { name: all, sort-order: 1, match-request: { path: "/", type: path }, allow-unauthenticated: true } ] }
CONF
printf '[main]\nvardir = %s/var\nssldir = %s/ssl\ncertificate_revocation = false\n' "$work" "$work" >"$work/puppet.conf"
go build -o "$work/indirtui" .
"$work/indirtui" proxy --confdir "$work" --auth-conf "$work/open.conf" --upstream "$upstream" --listen 127.0.0.1:0 \
  --cert "$certs/headers-proxy.example.com.crt" --key "$certs/headers-proxy.example.com.key" --ca "$certs/ca.pem" >"$work/out" 2>"$work/err" &
proxy=$!
until grep -q ' on 127' "$work/err"; do
  kill -0 "$proxy" || { cat "$work/err"; exit 1; }
  sleep 0.1
done
through=https://localhost:$(grep -o ' on 127.0.0.1:[0-9]*' "$work/err" | head -1 | cut -d: -f2)

failed=0
expect() { # STATUS WHAT URL [CURL ARGUMENT...]
  local want=$1 what=$2 url=$3 got
  shift 3
  got=$(curl -sS -o /dev/null -w '%{http_code}' --cacert "$certs/ca.pem" -H 'Accept: application/json' "$@" "$url")
  if [ "$got" = "$want" ]; then printf 'ok    %s  %s\n' "$got" "$what"; else
    printf 'WRONG %s  %s, want %s\n' "$got" "$what" "$want"
    failed=1
  fi
}
as() { printf -- '--cert\n%s/%s.crt\n--key\n%s/%s.key\n' "$certs" "$1" "$certs" "$1"; }
mapfile -t agent < <(as agent01.example.com)
mapfile -t admin < <(as puppet.example.com)
node='/puppet/v3/node/agent01.example.com?environment=production'
expect 403 'the agent itself: certificates of connections do not count any more' "$upstream$node" "${agent[@]}"
expect 200 'the agent through the proxy, its own node: X-Client-DN' "$through$node" "${agent[@]}"
expect 403 'the agent through the proxy, the node of another' "$through/puppet/v3/node/other.example.com?environment=production" "${agent[@]}"
expect 403 'nobody through the proxy: X-Client-Verify' "$through$node"
expect 403 'nobody who claims to be the agent' "$through$node" -H 'X-Client-DN: CN=agent01.example.com' -H 'X-Client-Verify: SUCCESS'
expect 200 'what is no indirection' "$through/puppet/v3/environments" "${agent[@]}"
expect 200 'who administers, by an extension: X-Client-Cert' "$through/puppet-ca/v1/certificate_statuses/all" "${admin[@]}"
expect 403 'who does not' "$through/puppet-ca/v1/certificate_statuses/all" "${agent[@]}"
code=0
.ci/peers/stack.sh agent --certname agent01.example.com --server localhost --port "${through##*:}" >"$work/agent.log" 2>&1 || code=$?
case $code in 0 | 2) printf 'ok    a real agent ends with %s\n' "$code" ;; *)
  printf 'WRONG a real agent ends with %s\n' "$code"
  tail -20 "$work/agent.log"
  failed=1
  ;;
esac
exit "$failed"
