#!/usr/bin/env bash
# Runs the pods of the `cpu` overlay's StatefulSet by `podman play kube`, on a network where both have the name of the
# headless Service: rights and limits of the manifest, probes, tokens of a Secret, trainings during a rolling restart, a pod
# that is killed. scripts/test-deploy runs it; images burn-server and burn-guide stand, CONTAINERS_CONF names podman's configuration.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

manifest=tests/deploy/golden/cpu.yaml
set_name=burn-worker
network=burn-test-pods
subnet=10.204.9
work=$(mktemp -d)
rolling=

clean() {
  local k
  [[ -z $rolling ]] || { kill "$rolling" && wait "$rolling"; } 2>/dev/null || true
  for k in 0 1; do [[ ! -e $work/$k.yaml ]] || podman play kube --down "$work/$k.yaml" >/dev/null 2>&1 || true; done
  podman rm -f -t 0 burn-test-pods-training >/dev/null 2>&1 || true
  podman volume rm -f burn-test-pods >/dev/null 2>&1 || true
  podman network rm -f "$network" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap clean EXIT
container() { echo "$set_name-$1-worker"; }
address() { echo "$subnet.$(( 10 + $1 ))"; }
die() {
  local k
  echo "pods: $*" >&2
  for k in 0 1; do podman logs "$(container "$k")" 2>&1 | tail -5 >&2 || true; done
  exit 1
}
eventually() {  # <seconds> <command>...
  local k limit=$1
  shift
  for (( k = 0; k < limit * 5; ++k )); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  die "not within $limit s: $*"
}
start() { podman play kube --network "$network:alias=burn-workers" --ip "$(address "$1")" "$work/$1.yaml" >"$work/play" 2>&1 || die "$(cat "$work/play")"; }
# Probes like the kubelet: over HTTP, at the pod's address, with the path that the manifest has for this probe.
path_of() { sed -n "/^ *$1:/,/path:/s/^ *path: //p" "$manifest" | head -1; }
answers() { curl -fsS -m 5 "http://$(address "$1"):3002$(path_of "$2")"; }  # <pod> <kind of probe>

# A Secret as the kubelet mounts it: the group fsGroup may read, files are links through ..data, which is swapped whole.
write_secret() {  # <tokens>
  local folder=$work/secrets/burn-tokens next
  next=..$(date +%s%N)
  mkdir -p "$folder/$next"
  printf '%s\n' "$@" > "$folder/$next/tokens"
  chmod 440 "$folder/$next/tokens"
  chgrp 65532 "$folder/$next/tokens"
  ln -sfn "$next" "$folder/..data_tmp"
  mv -T "$folder/..data_tmp" "$folder/..data"
  ln -sfn ..data/tokens "$folder/tokens"
}
where=(-w /tmp)
train() {  # <token> [argument of guide...]: by the Service's name
  local token=$1
  shift
  podman run --rm --name burn-test-pods-training --network "$network" --read-only --cap-drop all --tmpfs /tmp -e "BURN_TOKEN=$token" \
    "${where[@]}" burn-guide:latest train --device ws://burn-workers:3000 "$@" >"$work/guide" 2>&1
}

podman network rm -f "$network" >/dev/null 2>&1 || true
podman network create --subnet "$subnet.0/24" "$network" >/dev/null
old=first-token-0123456789abcdef new=second-token-0123456789abcdef
write_secret "$old"
for k in 0 1; do
  tests/deploy/pods.py "$manifest" "$set_name" "$k" "$(address "$k")" "$work/secrets" > "$work/$k.yaml"
  start "$k"
done
for k in 0 1; do eventually 60 answers "$k" startupProbe; done

# --- rights and limits -----------------------------------------------------------------------------------------------
for k in 0 1; do
  said=$(podman inspect --format '{{.HostConfig.ReadonlyRootfs}} {{.Config.User}} {{.HostConfig.Memory}} {{.HostConfig.CpuQuota}} {{len .EffectiveCaps}}' "$(container "$k")")
  [[ $said == "true 65532:65532 $(( 8 << 30 )) 400000 0" ]] || die "pod $k: read-only root, user, memory, quota, capabilities: $said"
  status=$(cat "/proc/$(podman inspect --format '{{.State.Pid}}' "$(container "$k")")/status")
  grep -q $'^Seccomp:\t2' <<< "$status" || die "pod $k has no seccomp filter"
  grep -q $'^NoNewPrivs:\t1' <<< "$status" || die "pod $k may gain privileges"
done

# --- probes, names, tokens -------------------------------------------------------------------------------------------
for k in 0 1; do
  answers "$k" readinessProbe >/dev/null || die "pod $k is not ready"
  answers "$k" livenessProbe >/dev/null || die "pod $k is not healthy"
done
[[ $(podman run --rm --network "$network" burn-test-debian:12 getent ahostsv4 burn-workers | awk '$2 == "STREAM"' | sort -u | wc -l) == 2 ]] ||
  die "burn-workers has not the addresses of both pods"
train "$old" --epochs 1 || die "a training: $(tail -5 "$work/guide")"
undisturbed=$(grep '^epoch' "$work/guide")
train "$new" --epochs 1 && die "a token that is in no Secret is let in"
write_secret "$old" "$new"  # rotation: both hold for a while
lets_in() { train "$1" --epochs 1; }
eventually 90 lets_in "$new"
[[ $(grep '^epoch' "$work/guide") == "$undisturbed" ]] || die "other losses with the new token: $(grep '^epoch' "$work/guide")"

# --- a rolling restart beside trainings -------------------------------------------------------------------------------
grace=$(sed -n 's/^ *terminationGracePeriodSeconds: //p' "$manifest")
end() {  # before the pod is removed, as podman takes a pod's network down at once
  local status
  podman stop -t "$grace" "$(container "$1")" >/dev/null 2>&1
  status=$(podman inspect --format '{{.State.ExitCode}}' "$(container "$1")")
  [[ $status == 0 ]] || die "pod $1 ended with $status"
}
roll() {
  local k
  for k in 1 0; do  # as a StatefulSet: the last one first, the next when it is ready
    end "$k"
    podman play kube --down "$work/$k.yaml" >/dev/null 2>&1
    start "$k"
    eventually 60 answers "$k" readinessProbe
  done
}
epochs=10  # so that it lasts longer than the restart of one worker, also on a machine without other work
train "$new" --epochs "$epochs" || die "a training of $epochs epochs: $(tail -5 "$work/guide")"
undisturbed=$(grep "^epoch $epochs\|^test accuracy" "$work/guide")
podman volume rm -f burn-test-pods >/dev/null 2>&1 || true
(sleep 3; roll) & rolling=$!
again=0
while true; do
  status=0
  where=(-v burn-test-pods:/var/lib/burn)
  train "$new" --epochs "$epochs" --resume-if-any || status=$?
  where=(-w /tmp)
  if (( status != 75 )); then break; fi
  again=$(( again + 1 ))
done
(( status == 0 )) || die "a training during the restart ended with $status: $(tail -5 "$work/guide")"
wait "$rolling" || die "the rolling restart"
rolling=
(( again > 0 )) || die "the rolling restart met no training"
[[ $(grep "^epoch $epochs\\|^test accuracy" "$work/guide") == "$undisturbed" ]] ||
  die "undisturbed: $undisturbed; over a rolling restart: $(grep "^epoch $epochs\\|^test accuracy" "$work/guide")"

# --- a pod that is killed --------------------------------------------------------------------------------------------
before=$(podman inspect --format '{{.State.Pid}}' "$(container 0)")
kill -KILL "$before"
is_back() { [[ $(podman inspect --format '{{.State.Pid}}' "$(container 0)") != "$before" ]] && answers 0 readinessProbe; }
eventually 60 is_back
train "$new" --epochs 1 || die "a training after a pod was killed: $(tail -5 "$work/guide")"

# --- the end ---------------------------------------------------------------------------------------------------------
for k in 0 1; do end "$k"; done
echo "pods: two of $set_name; a rolling restart, which sent a training $again times elsewhere; a pod killed"
