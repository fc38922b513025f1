#!/usr/bin/env python3
"""Checks what is written about metrics against the metrics that there are: every name in the board, the alerts and the
adapter's rule is one of daemon/operator/metrics.def, with labels that it has, and every alert links to a heading of
docs/operate/troubleshooting.md. Also that every folder of the build is one that images are built of (.dockerignore). Prints each violation and exits 1 if there is one. --self-test puts faults into what is
read, and fails unless each of them is found.

usage: check_names.py [--self-test]
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[2]
ELSEWHERE = {"job", "instance", "namespace", "pod", "le"}  # labels that Prometheus adds, and those of buckets


def metrics(text):
    """Names with their labels."""
    rows = re.findall(r'^METRIC\(\w+, "([a-z_]+)",\s*(\w+),\s*"([^"]*)"', text, re.M)
    labels = {name: {each.split("=")[0] for each in labels.split(",") if each} for name, _, labels in rows}
    return labels | {f"{name}_{part}": labels[name] for name, kind, _ in rows if kind == "histogram"
                     for part in ("bucket", "sum", "count")}


def check_query(place, query, known):
    for name, selector in re.findall(r"\b((?:burn|process)_[a-z_]+)(?:\{([^}]*)\})?", re.sub(r"by \([^)]*\)", "", query)):
        if name not in known:
            yield f"{place}: there is no metric {name}"
            continue
        for label in re.findall(r"([a-z_]+)\s*[=!]", selector):
            if label not in known[name] | ELSEWHERE:
                yield f"{place}: {name} has no label {label}"


def violations(files):
    known = metrics(files["metrics.def"])
    for panel in json.loads(files["burn.json"])["panels"]:
        for target in panel.get("targets", []):
            yield from check_query(f"burn.json: {panel['title']}", target["expr"], known)
    for expression in re.findall(r"expr: (.*)", files["burn.rules.yml"]):
        yield from check_query("burn.rules.yml", expression, known)
    yield from check_query("adapter.yml", " ".join(re.findall(r"seriesQuery: '(.*)'", files["adapter.yml"])), known)
    headings = {line[3:].lower().replace(" ", "-") for line in files["troubleshooting.md"].splitlines() if line.startswith("## ")}
    for link in re.findall(r"runbook: \S*#(\S+)", files["burn.rules.yml"]):
        if link not in headings:
            yield f"troubleshooting.md has no heading {link}"
    admitted = set(re.findall(r"^!(\S+)$", files[".dockerignore"], re.M))
    for folders in re.findall(r"^set\(folders ([a-z ]+)\)$|list\(APPEND folders ([a-z ]+)\)", files["CMakeLists.txt"], re.M):
        for folder in " ".join(folders).split():
            if folder != "tests" and folder not in admitted:
                yield f".dockerignore: images are built without {folder}"


FAULTS = [("burn.json", "burn_runs_total", "burn_run_total"), ("burn.json", 'result=\\"hit\\"', 'outcome=\\"hit\\"'),
          ("burn.rules.yml", "burn_device_up ==", "burn_device_down =="), ("burn.rules.yml", 'reason="token"', 'why="token"'),
          ("burn.rules.yml", "#runs-wait-long", "#runs-are-slow"), ("adapter.yml", "queue_seconds_bucket{", "queue_bucket{"),
          ("troubleshooting.md", "## A device is lost", "## A device is gone"), (".dockerignore", "!router\n", ""),
          ("CMakeLists.txt", "folders bench tools", "folders bench tools more")]


def main():
    paths = ["daemon/operator/metrics.def", "deploy/grafana/burn.json", "deploy/prometheus/burn.rules.yml",
             "deploy/prometheus/adapter.yml", "docs/operate/troubleshooting.md", ".dockerignore", "CMakeLists.txt"]
    files = {pathlib.PurePath(path).name: (ROOT / path).read_text() for path in paths}
    found = list(violations(files))
    if "--self-test" in sys.argv:
        for name, right, wrong in FAULTS:
            assert right in files[name], (name, right)
            if not list(violations(files | {name: files[name].replace(right, wrong)})):
                found.append(f"not found: {wrong} in {name}")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
