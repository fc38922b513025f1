#!/usr/bin/env python3
"""Checks each combination of docker/compose*.yaml that docs/operate/docker.md names: services have keys that Compose knows,
what they refer to is there, daemons get flags that they have and no rights that they do not need, GPUs are given to one
worker each, and Grafana finds the board and the Prometheus beside it.

Prints each violation and exits 1 if there is one. --self-test makes one fault after the other in what is read, and fails
unless each of them is found.

usage: check_compose.py [--self-test]
"""
import copy
import itertools
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).parents[2]
COMBINATIONS = [("worker",), ("",), ("worker", "cuda"), ("worker", "grafana"), ("", "grafana"), ("worker", "cuda", "grafana")]
# Of the Compose Specification, those that these files use: another one is a slip of the pen until it is added here.
KEYS = {"image", "command", "user", "read_only", "cap_drop", "security_opt", "tmpfs", "stop_grace_period", "restart", "networks",
        "volumes", "ports", "depends_on", "environment", "deploy"}
DAEMONS = {"burn-server": "worker", "burn-server-cuda": "worker", "burn-router": "router"}  # images; daemons of options.def
MARGIN = 15  # seconds that a container has to end, beyond --drain-timeout


def file_name(part):
    return f"compose.{part}.yaml" if part else "compose.yaml"


def merged(first, second):
    """As Compose merges two files: mappings by key, lists behind each other, but commands are replaced."""
    result = dict(first)
    for key, value in second.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        elif isinstance(value, list) and isinstance(result.get(key), list) and key != "command":
            result[key] = result[key] + value
        else:
            result[key] = value
    return result


def without_variables(text):
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def flags_of(daemon, options):
    rows = re.findall(r'^OPTION\(\w+, "([a-z0-9-]+)", (\w+),', options, re.M)
    return {name for name, has in rows if has in (daemon, "every")}


class Checker:
    def __init__(self, name, composed, read):
        self.name, self.composed, self.read, self.violations = name, composed, read, []
        self.services = composed["services"]

    def complain(self, what):
        self.violations.append(f"{self.name}: {what}")

    def check(self):
        for name, service in self.services.items():
            for key in service.keys() - KEYS:
                self.complain(f"{name}: there is no key {key}")
            for other in service.get("depends_on", []):
                if other not in self.services:
                    self.complain(f"{name}: there is no service {other}")
            for network in service.get("networks", []):
                if network not in self.composed.get("networks", {}):
                    self.complain(f"{name}: there is no network {network}")
            for volume in service.get("volumes", []):
                self.check_volume(name, without_variables(volume))
            image = without_variables(service["image"]).rsplit("/", 1)[-1].split(":")[0]
            if ":" not in without_variables(service["image"]):
                self.complain(f"{name}: the image has no version")
            if image in DAEMONS:
                self.check_daemon(name, service, DAEMONS[image])
            if image.startswith("burn-"):
                self.check_rights(name, service)
        self.check_ports()
        self.check_devices()
        if "grafana" in self.services:
            self.check_grafana(self.services["grafana"])
        return self.violations

    def check_volume(self, name, volume):
        source, target = volume.split(":")[:2]
        if not target.startswith("/"):
            self.complain(f"{name}: {volume} is mounted at no absolute path")
        if source.startswith("."):
            if not (ROOT / "docker" / source).exists() and not source.startswith("./certificates.d/"):  # docker/certificates makes them
                self.complain(f"{name}: there is no {source}")
        elif source not in self.composed.get("volumes", {}):
            self.complain(f"{name}: there is no volume {source}")

    def check_rights(self, name, service):
        if service.get("cap_drop") != ["ALL"] or "no-new-privileges:true" not in service.get("security_opt", []):
            self.complain(f"{name} has rights that it does not need")
        if not service.get("read_only") or not service.get("user") or service["user"].startswith("0"):
            self.complain(f"{name} may write to its root, or runs as root")

    def check_daemon(self, name, service, daemon):
        command = service["command"]
        given = {each[2:].split("=")[0] for each in command if each.startswith("--")}
        for flag in given - flags_of(daemon, self.read["options.def"]):
            self.complain(f"{name}: the {daemon} has no --{flag}")
        grace = int(service.get("stop_grace_period", "10s").rstrip("s"))
        if grace < int(command[command.index("--drain-timeout") + 1]) + MARGIN:
            self.complain(f"{name}: {grace} s are too few to drain")
        for url in (command[k + 1] for k, each in enumerate(command) if each == "--worker"):
            if re.sub(r"^\w+://|:\d+.*$", "", url) not in self.services:
                self.complain(f"{name}: there is no service for {url}")

    def check_ports(self):
        published = [port.rsplit(":", 1)[0] for service in self.services.values() for port in service.get("ports", [])]
        for port in {each for each in published if published.count(each) > 1}:
            self.complain(f"{port} is published twice")
        for port in published:
            if not port.startswith("127.0.0.1:"):
                self.complain(f"{port} is open to other machines")

    def check_devices(self):
        taken = []
        for name, service in self.services.items():
            wants = any(each.startswith("cuda") for each in service.get("command", []))
            reserved = service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices", [])
            if wants != bool(reserved):
                self.complain(f"{name}: --device and the reserved GPUs differ")
            for each in reserved:
                if each.get("driver") != "nvidia" or "gpu" not in each.get("capabilities", []):
                    self.complain(f"{name}: what is reserved is no GPU of NVIDIA's")
                taken += each.get("device_ids", [])
        for gpu in {each for each in taken if taken.count(each) > 1}:
            self.complain(f"GPU {gpu} is given to two workers")

    def check_grafana(self, grafana):
        mounts = {target: source for source, target in (volume.split(":")[:2] for volume in grafana["volumes"])}
        if mounts.get("/etc/grafana/provisioning") != "../deploy/grafana/provisioning":
            self.complain("grafana does not get deploy/grafana/provisioning")
        board = next((target for target, source in mounts.items() if source.endswith("burn.json")), "")
        folders = {each["options"]["path"] for each in self.read["burn.yml"]["providers"]}
        if str(pathlib.PurePosixPath(board).parent) not in folders:
            self.complain(f"the board is at {board or 'no path'}, Grafana looks in {sorted(folders)}")
        if grafana["environment"].get("GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH") != board:
            self.complain("Grafana's first page is not the board")
        sources = self.read["prometheus.yml"]["datasources"]
        for each in sources:
            if re.sub(r"^http://|:\d+$", "", each["url"]) not in self.services:
                self.complain(f"there is no service for {each['url']}")
        wanted = [each["current"]["value"] for each in self.read["burn.json"]["templating"]["list"] if each["type"] == "datasource"]
        if wanted != [each["uid"] for each in sources]:
            self.complain(f"the board asks the source {wanted}")


def violations(read):
    for parts in COMBINATIONS:
        composed = {}
        for part in parts:
            composed = merged(composed, read[file_name(part)])
        yield from Checker(" and ".join(map(file_name, parts)), composed, read).check()


def read_files():
    read = {file_name(part): yaml.safe_load((ROOT / "docker" / file_name(part)).read_text())
            for part in set(itertools.chain(*COMBINATIONS))}
    provisioning = ROOT / "deploy/grafana/provisioning"
    return read | {"options.def": (ROOT / "daemon/options.def").read_text(),
                   "burn.yml": yaml.safe_load((provisioning / "dashboards/burn.yml").read_text()),
                   "prometheus.yml": yaml.safe_load((provisioning / "datasources/prometheus.yml").read_text()),
                   "burn.json": json.loads((ROOT / "deploy/grafana/burn.json").read_text())}


def put(*path, value):
    def change(read):
        *way, last = path
        for key in way:
            read = read[key]
        read[last] = value
    return change


GRAFANA, CUDA, WORKER = "compose.grafana.yaml", "compose.cuda.yaml", "compose.worker.yaml"
FAULTS = [
    put(WORKER, "services", "worker-1", "privilege", value=True),
    put(WORKER, "services", "worker-1", "volumes", value=["cache-7:/var/lib/burn"]),
    put(WORKER, "services", "worker-1", "cap_drop", value=[]),
    put(WORKER, "services", "worker-1", "user", value="0:0"),
    put(WORKER, "services", "worker-1", "stop_grace_period", value="10s"),
    put(WORKER, "services", "training", "depends_on", value=["worker-9"]),
    put(WORKER, "services", "prometheus", "ports", value=["9090:9090"]),
    put("compose.yaml", "services", "router", "command", value=["--worker", "wss://worker-9:3000", "--drain-timeout", "10"]),
    put(CUDA, "services", "worker-1", "command", value=["--devices", "cuda:0", "--drain-timeout", "10"]),
    put(CUDA, "services", "worker-1", "deploy", value={}),
    put(CUDA, "services", "worker-2", "deploy", "resources", "reservations", "devices", 0, "device_ids", value=["0"]),
    put(CUDA, "services", "worker-2", "deploy", "resources", "reservations", "devices", 0, "capabilities", value=["tpu"]),
    put(CUDA, "services", "worker-1", "image", value="burn-server-cuda"),
    put(GRAFANA, "services", "grafana", "networks", value=["other"]),
    put(GRAFANA, "services", "grafana", "volumes", 1, value="../deploy/grafana/board.json:/etc/grafana/dashboards/burn.json:ro"),
    put(GRAFANA, "services", "grafana", "volumes", 1, value="../deploy/grafana/burn.json:/var/burn.json:ro"),
    put(GRAFANA, "services", "grafana", "environment", "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH", value="/burn.json"),
    put(GRAFANA, "services", "grafana", "ports", value=["127.0.0.1:9090:3000"]),
    put("prometheus.yml", "datasources", 0, "url", value="http://prom:9090"),
    put("prometheus.yml", "datasources", 0, "uid", value="other"),
]


def main():
    if sys.argv[1:] not in ([], ["--self-test"]):
        sys.exit(__doc__.strip().rsplit("\n", 1)[1])
    read = read_files()
    found = list(violations(read))
    if found:
        sys.exit("\n".join(dict.fromkeys(found)))
    if sys.argv[1:]:
        for k, fault in enumerate(FAULTS):
            broken = copy.deepcopy(read)
            fault(broken)
            if not list(violations(broken)):
                sys.exit(f"fault {k} is not found")
        print(f"{len(FAULTS)} faults are found")


if __name__ == "__main__":
    main()
