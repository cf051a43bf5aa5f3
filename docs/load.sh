#!/usr/bin/env bash
# Measures serve and proxy on this machine, beside nginx on the same file with
# the same TLS settings: requests per second, latencies, memory. Tracing is on
# in all of it. What is measured is built from this tree; everything is on
# loopback, and in a directory that is gone afterwards. Takes three minutes;
# DURATION=5s makes each case shorter or longer.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${DURATION:=5s}" "${CLIENTS:=8}"
. docs/listener.sh load

node=bench01.example.com
modules=$work/code/environments/production/modules/bench/files
mkdir -p "$work/proxy" "$modules"
head -c 1024 < <(yes 'one kibibyte of text for measurements') >"$modules/1k.txt"
head -c 1048576 < <(yes 'one mebibyte of text for measurements') >"$modules/1m.bin"
truncate -s 1G "$modules/1g.bin"
sed "s|^vardir.*|vardir = $work/proxy/var|" "$work/srv/puppet.conf" >"$work/proxy/puppet.conf"
resources=
for i in $(seq 12); do
  resources+="${resources:+,}{\"type\":\"File\",\"title\":\"/tmp/bench/$i\",\"tags\":[\"file\",\"class\",\"bench\"],\"file\":\"/etc/puppet/code/environments/production/manifests/site.pp\",\"line\":$i,\"exported\":false,\"parameters\":{\"ensure\":\"file\",\"content\":\"file number $i of the small catalog\\n\",\"mode\":\"0644\"}}"
done
echo "{\"tags\":[],\"name\":\"$node\",\"version\":1,\"code_id\":null,\"catalog_uuid\":\"827a74c8-cf98-44da-9ff7-18c5e4bee41e\",\"catalog_format\":1,\"environment\":\"production\",\"resources\":[$resources],\"edges\":[],\"classes\":[\"bench\"]}" >"$work/srv/var/server_data/catalog/$node.json"

serve=(serve --confdir "$work/srv")
start serve "${serve[@]}"
"$work/indirtui" ca generate "$node" --confdir "$work/srv" >/dev/null
cert=$work/ssl/certs/$node.pem key=$work/ssl/private_keys/$node.pem ca=$work/ca/ca_crt.pem
proxy=(proxy --confdir "$work/proxy" --upstream "$url_serve" --agents-ssl "$work/ssl"
  --cert "$work/ssl/certs/localhost.pem" --key "$work/ssl/private_keys/localhost.pem" --ca "$ca" --crl "$work/ca/ca_crl.pem")
start proxy "${proxy[@]}"

load() { # NAME ARGUMENT...
  local name=$1 url=url_$1
  shift
  "$work/load" -url "${!url}" -ca "$ca" -cert "$cert" -key "$key" -certname "$node" -pidfile "$work/$name.pid" \
    -duration "$DURATION" -warmup 1s -clients "$CLIENTS" "$@" 2>"$work/load.err" || { cat "$work/load.err"; exit 1; }
}
peak() { awk '/VmHWM/ { printf "%d MiB", $2 / 1024 }' "/proc/$(cat "$work/$1.pid")/status"; }

if [ -z "${MEMORY_ONLY:-}" ]; then
printf '\n## serve\n\n'
load serve -facts .ci/peers/fixtures/facts.agent01.json
if command -v nginx >/dev/null; then
  # nginx serves what file_content serves, under the same path, and also
  # writes a line for each request.
  cat >"$work/nginx.conf" <<CONF
user root; daemon off; pid $work/nginx.pid; error_log $work/nginx.err; worker_processes auto;
events { worker_connections 1024; }
http {
  access_log $work/nginx.log; sendfile on; keepalive_requests 1000000;
  server {
    listen 127.0.0.1:${NGINX_PORT:-19443} ssl;
    ssl_certificate $work/ssl/certs/localhost.pem; ssl_certificate_key $work/ssl/private_keys/localhost.pem;
    ssl_client_certificate $ca; ssl_verify_client on; ssl_protocols TLSv1.3;
    location /puppet/v3/file_content/modules/bench/ { alias $modules/; }
  }
}
CONF
  nginx -c "$work/nginx.conf" 2>/dev/null &
  pids+=($!)
  url_nginx=https://localhost:${NGINX_PORT:-19443}
  until [ -s "$work/nginx.pid" ]; do sleep 0.1; done
  printf '\n## nginx\n\n'
  load nginx -cases 'file_content 1 KiB,file_content 1 MiB'
fi
printf '\n## proxy in front of serve, one client, and serve alone\n\n'
CLIENTS=1 load proxy
CLIENTS=1 load serve

# Catalogs that are compiled: 105 resources for each of 500 nodes, whose facts are saved.
mkdir -p "$work/compile/var" "$work/code/environments/production/manifests"
cp indirector/language/compile/testdata/hundred.pp "$work/code/environments/production/manifests/site.pp"
sed "s|^vardir.*|vardir = $work/compile/var|; s|^catalog_terminus.*|catalog_terminus = compiler|" "$work/srv/puppet.conf" >"$work/compile/puppet.conf"
cat >"$work/compile/auth.conf" <<'CONF'
authorization: { version: 1, rules: [
  { name: "all", match-request: { path: "/", type: path }, allow: "*", sort-order: 500 } ] }
CONF
start compile serve --confdir "$work/compile" --auth-conf "$work/compile/auth.conf"
printf '\n## serve, which compiles\n\n'
for round in 1 2 3; do
  load compile -facts .ci/peers/fixtures/facts.agent01.json -cases catalog -nodes 500
done
echo "the most memory it took: $(peak compile)"

fi
printf '\n## memory\n\n'
for name in serve proxy; do
  url=url_$name
  kill "$(cat "$work/$name.pid")" # a fresh process: its peak is that of one transfer
  wait "$(cat "$work/$name.pid")" || true
  declare -n arguments=$name
  PORT=${!url##*:} start "$name" "${arguments[@]}"
  curl -sS --cacert "$ca" --cert "$cert" --key "$key" -H 'Accept: application/octet-stream' -o /dev/null \
    -w "1 GiB through $name: %{size_download} bytes in %{time_total} s" "${!url}/puppet/v3/file_content/modules/bench/1g.bin?environment=production"
  echo ", the most memory it took: $(peak $name)"
done
load serve -idle "${IDLE:-1000}"
