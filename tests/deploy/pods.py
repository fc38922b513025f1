#!/usr/bin/env python3
"""Prints a pod of a StatefulSet in a rendered overlay, as `podman play kube` reads it.

usage: tests/deploy/pods.py MANIFEST STATEFULSET NUMBER ADDRESS SECRETS

Podman 4.3 knows no StatefulSets and no fields of a pod's status, runs probes by a shell in the container, which has none,
makes every port of a pod one of the machine, and writes files of Secrets for all users, whatever defaultMode says. So a pod
gets its name (STATEFULSET-NUMBER), ADDRESS in digits in place of status.podIP, no probes, which are for the caller to ask, no
list of ports, and the folders SECRETS/NAME in place of the Secrets NAME. All else is the manifest's: arguments, rights, limits,
volumes.
"""
import sys

import yaml


def main(manifest, name, number, address, secrets):
    with open(manifest, encoding="utf-8") as file:
        found = [d for d in yaml.safe_load_all(file) if d["kind"] == "StatefulSet" and d["metadata"]["name"] == name]
    if len(found) != 1:
        sys.exit(f"{manifest} has {len(found)} StatefulSets {name}, not one")
    template = found[0]["spec"]["template"]
    spec = template["spec"]
    for container in spec["containers"]:
        for variable in container.get("env", []):
            if variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath") == "status.podIP":
                variable["value"] = address
                del variable["valueFrom"]
        container["args"] = [a.replace("$(POD_IP)", address) for a in container["args"]]
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            container.pop(kind)
        container.pop("ports", None)
        container["image"] = "localhost/" + container["image"]
        container["imagePullPolicy"] = "Never"
    for volume in spec.get("volumes", []):
        if "secret" in volume:
            volume["hostPath"] = {"path": f"{secrets}/{volume.pop('secret')['secretName']}", "type": "Directory"}
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": f"{name}-{number}", "labels": template["metadata"]["labels"]}, "spec": spec}
    print(yaml.safe_dump(pod, sort_keys=False), end="")


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
