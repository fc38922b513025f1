#!/usr/bin/env bash
# Installs packages into a Debian whose process 1 is systemd, a container of podman, and operates burn-server there as a
# service: start, TLS and tokens as credentials, a training, reload, crash, stop, purge. scripts/test-deploy runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if (( $# != 2 )); then
  echo "usage: tests/deploy/service.sh IMAGE PACKAGES" >&2
  echo "  IMAGE has systemd, init and curl; CONTAINERS_CONF names podman's configuration" >&2
  exit 2
fi
image=$1 packages=$2
name=burn-test-service
work=$(mktemp -d)
trap 'podman rm -f -t 0 "$name" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

die() {
  echo "service: $*" >&2
  podman exec "$name" journalctl -u burn-server --no-pager -n 15 >&2 || true
  exit 1
}
inside() { podman exec "$name" "$@"; }
eventually() {  # <command>...: for 30 s
  local k
  for (( k = 0; k < 150; ++k )); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  die "not within 30 s: $*"
}
metric() { inside curl -sS http://127.0.0.1:3002/metrics | sed -n "s/^$1 //p"; }
has_metric() { [[ $(metric "$1") == "$2" ]]; }
property() { inside systemctl show -P "$1" burn-server; }
is_ready() { inside burn-server probe --operator 127.0.0.1:3002; }
write() { podman exec -i "$name" sh -c "umask 077; cat > $1"; }  # <file>: of standard input

podman rm -f -t 0 "$name" >/dev/null 2>&1 || true
# Mounts are shared, as they are on a machine: systemd 252 mounts a unit's credentials from another mount namespace.
podman run -d --name "$name" --systemd=always --privileged -v "$(realpath "$packages"):/packages:ro" "$image" \
  sh -c 'mount --make-rshared / && exec /sbin/init' >/dev/null
eventually inside systemctl is-system-running
inside apt-get update -q >/dev/null

# --- installation ----------------------------------------------------------------------------------------------------
began=$SECONDS
inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends /packages/burn-server_*.deb \
  /packages/burn-router_*.deb /packages/burn-tools_*.deb' >"$work/apt" 2>&1 || die "$(tail -20 "$work/apt")"
took=$(( SECONDS - began ))
(( took <= 60 )) || die "the installation took $took s, at most 60 are allowed"
[[ $(property ActiveState) == inactive ]] || die "the worker runs before its options were looked at"
inside burn-router --config /etc/burn/router.toml --check-config >/dev/null || die "/etc/burn/router.toml is no good"
inside systemctl start burn-server || die "it does not start"
[[ $(property ActiveState) == active ]] || die "systemctl start returned before the worker was ready"
is_ready || die "it is active, and not ready"
[[ $(inside ps -o user= -p "$(property MainPID)") == burn* ]] || die "it does not run as the user burn"
for unit in burn-server burn-router; do
  inside systemd-analyze security --threshold=20 "$unit.service" >"$work/exposure" || die "$unit: $(tail -1 "$work/exposure")"
  inside systemd-analyze verify --man=no "$unit.service" >"$work/verify" 2>&1 || die "$unit: $(cat "$work/verify")"
  [[ ! -s $work/verify ]] || die "$unit: $(cat "$work/verify")"
done

# --- a training with and without TLS ---------------------------------------------------------------------------------
train() {  # <name> <URL> [VARIABLE=VALUE...]
  local folder=/tmp/$1 url=$2
  shift 2
  inside env "$@" guide train --device "$url" --epochs 1 --artifacts "$folder" >"$work/guide" 2>&1 ||
    die "training at $url: $(tail -5 "$work/guide")"
}
train ws ws://127.0.0.1:3000
docker/certificates --output "$work/tls" localhost
token=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
echo "$token" | write /etc/burn/tokens
write /etc/burn/server.pem < "$work/tls/localhost/tls.crt"
write /etc/burn/server.key < "$work/tls/localhost/tls.key"
podman cp "$work/tls/localhost/ca.crt" "$name:/etc/burn/ca.pem"
credentials=/run/credentials/burn-server.service
configure() {  # <further lines>
  printf '%s\n' 'device = "cpu"' 'operator = "127.0.0.1:3002"' 'drain-timeout = 30' 'ws = "0.0.0.0:3000"' 'grpc = "0.0.0.0:3001"' \
    "token-file = \"$credentials/tokens\"" "tls-cert = \"$credentials/tls-cert\"" "tls-key = \"$credentials/tls-key\"" "$@" |
    podman exec -i "$name" sh -c 'cat > /etc/burn/server.toml'
}
configure
inside install -D -m 644 /usr/share/doc/burn-server/credentials.conf /etc/systemd/system/burn-server.service.d/credentials.conf
inside systemctl daemon-reload
inside systemctl restart burn-server || die "it does not start with credentials"
for url in wss://localhost:3000 grpcs://localhost:3001; do
  train "${url%%:*}" "$url" BURN_TLS_CA=/etc/burn/ca.pem "BURN_TOKEN=$token"
  inside cmp /tmp/ws/model.safetensors "/tmp/${url%%:*}/model.safetensors" || die "the training at $url ends with another model than at ws://"
done
inside env BURN_TLS_CA=/etc/burn/ca.pem BURN_TOKEN=wrong guide train --device wss://localhost:3000 --epochs 1 --artifacts /tmp/none \
  >"$work/guide" 2>&1 && die "a wrong token is let in"

# --- reload ----------------------------------------------------------------------------------------------------------
main=$(property MainPID)
configure 'log-level = "debug"'
inside systemctl reload burn-server || die "systemctl reload fails"
eventually has_metric 'burn_reloads_total{what="config",result="ok"}' 1
configure 'log-level = "debug"' 'session-memory = "40Q"'
inside systemctl reload burn-server || die "systemctl reload fails"
eventually has_metric 'burn_reloads_total{what="config",result="refused"}' 1
inside journalctl -u burn-server --no-pager | grep -q 40Q || die "the log does not say what is wrong with 40Q"
[[ $(property MainPID) == "$main" ]] || die "it has started again where it was to read its options"
is_ready || die "a reload that was refused leaves it not ready"
inside burn-server --config /etc/burn/server.toml --rollback >/dev/null || die "the options that held are not put back"
inside grep -q '^log-level = "debug"' /etc/burn/server.toml && ! inside grep -q 40Q /etc/burn/server.toml || die "other options are put back"
inside systemctl reload burn-server || die "systemctl reload fails"
eventually has_metric 'burn_reloads_total{what="config",result="ok"}' 2
configure

# --- crash, stop -----------------------------------------------------------------------------------------------------
inside kill -KILL "$main"
has_restarted() { [[ $(property NRestarts) == 1 && $(property ActiveState) == active ]]; }
eventually has_restarted
is_ready || die "it is not ready after a crash"
inside systemctl stop burn-server
[[ $(property ActiveState)/$(property Result)/$(property ExecMainStatus) == inactive/success/0 ]] ||
  die "stopped, it is $(property ActiveState), $(property Result), status $(property ExecMainStatus)"

# --- sockets of systemd ----------------------------------------------------------------------------------------------
inside systemctl start burn-server-ws.socket || die "the socket unit does not start"
inside systemctl start burn-server || die "it does not start with a socket of systemd"
train socket wss://localhost:3000 BURN_TLS_CA=/etc/burn/ca.pem "BURN_TOKEN=$token"
inside systemctl stop burn-server burn-server-ws.socket

# --- purge -----------------------------------------------------------------------------------------------------------
inside systemctl start burn-server
inside rm -r /etc/systemd/system/burn-server.service.d
inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get purge -y -q burn-server burn-router burn-tools' >"$work/apt" 2>&1 || die "$(tail -20 "$work/apt")"
inside pgrep -x burn-server >/dev/null && die "purge leaves the worker running"
left=$(inside find /etc /usr /var /run -xdev -name '*burn*' ! -path '*/dpkg/*' ! -path '*/apt/*' ! -path '/var/log/journal/*')
[[ -z $left ]] || die "purge leaves $left"
inside getent passwd burn >/dev/null || die "purge takes the user away"
echo "service: installed in $took s, operated and purged"
