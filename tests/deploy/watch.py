#!/usr/bin/env python3
"""Runs a worker, a router and a training under a Prometheus with the alerts of deploy/prometheus, and checks what an
operator sees: every query of deploy/grafana/burn.json but those about GPUs has data, and after the worker
is killed BurnWorkerDown arrives at a webhook behind an Alertmanager.

usage: watch.py BUILD
Needs prometheus and prometheus-alertmanager (of Debian), openssl. Takes about two minutes, most of it the alert's `for`.
"""
import hashlib
import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).parents[2]
TOKEN = "a token of the tenant vision"
PATIENCE = 60  # seconds


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def eventually(what, holds, patience=PATIENCE):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            if holds():
                return
        except OSError:  # nothing listens yet
            pass
        time.sleep(0.3)
    sys.exit(f"not within {patience} s: {what}")


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


class Processes:
    def __init__(self, folder):
        self.folder, self.all = folder, {}

    def start(self, name, *command, **environment):
        log = open(self.folder / f"{name}.log", "wb")
        self.all[name] = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env=os.environ | environment)
        return self.all[name]

    def end(self):
        for each in self.all.values():
            each.kill()
            each.wait()


class Webhook(http.server.BaseHTTPRequestHandler):
    alerts = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Webhook.alerts += [(each["labels"]["alertname"], each["annotations"]["summary"]) for each in body["alerts"]]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def make_certificate(folder):
    run = lambda *command: subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)
    run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem")
    os.chmod(folder / "key.pem", 0o600)


def queries(board):
    """Title and expression of each panel, with the board's variables filled in."""
    row = None
    for panel in board["panels"]:
        if panel["type"] == "row":
            row = panel["title"]
            continue
        for target in panel.get("targets", []):
            text = target["expr"]
            for variable, value in (("$job", "burn"), ("$instance", ".*"), ("$tenant", ".*"), ("$__rate_interval", "20s")):
                text = text.replace(variable, value)
            if not row.startswith("GPU"):
                yield panel["title"], text


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().rsplit("\n", 1)[0])
    programs = pathlib.Path(sys.argv[1]).resolve() / "bin"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        processes = Processes(folder)
        try:
            watch(programs, folder, processes)
        except SystemExit:
            for log in folder.glob("*.log"):
                print(f"== {log.name}\n" + "\n".join(log.read_text().splitlines()[-8:]), file=sys.stderr)
            raise
        finally:
            processes.end()


def watch(programs, folder, processes):
    make_certificate(folder)
    (folder / "tenants.toml").write_text(
        f'[[tenant]]\nname = "vision"\ntokens = ["sha256:{hashlib.sha256(TOKEN.encode()).hexdigest()}"]\n')
    ws, operator, router_ws, router_operator, prometheus, alertmanager, hook = (free_port() for _ in range(7))
    ca = {"BURN_TLS_CA": str(folder / "cert.pem"), "BURN_TOKEN": TOKEN}
    worker = processes.start("worker", programs / "burn-server", "--ws", f"127.0.0.1:{ws}", "--grpc", "off", "--tls-cert",
                             "cert.pem", "--tls-key", "key.pem", "--tenants", "tenants.toml", "--audit-log", "audit.log",
                             "--operator", f"127.0.0.1:{operator}")
    eventually("the worker is ready", lambda: get(f"http://127.0.0.1:{operator}/readyz"))
    processes.start("router", programs / "burn-router", "--worker", f"wss://127.0.0.1:{ws}", "--ws",
                    f"127.0.0.1:{router_ws}", "--grpc", "off", "--operator", f"127.0.0.1:{router_operator}", **ca)
    eventually("the router is ready", lambda: get(f"http://127.0.0.1:{router_operator}/readyz"))
    (folder / "prometheus.yml").write_text(f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{ROOT}/deploy/prometheus/burn.rules.yml]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["127.0.0.1:{alertmanager}"]}}]}}]}}
scrape_configs:
  - {{job_name: burn, static_configs: [{{targets: ["127.0.0.1:{operator}", "127.0.0.1:{router_operator}"]}}]}}
""")
    (folder / "alertmanager.yml").write_text(f"""
route: {{receiver: hook, group_wait: 1s, group_interval: 1s}}
receivers: [{{name: hook, webhook_configs: [{{url: "http://127.0.0.1:{hook}/"}}]}}]
""")
    threading.Thread(target=http.server.HTTPServer(("127.0.0.1", hook), Webhook).serve_forever, daemon=True).start()
    processes.start("alertmanager", "prometheus-alertmanager", "--config.file=alertmanager.yml", "--cluster.listen-address=",
                    f"--web.listen-address=127.0.0.1:{alertmanager}", "--storage.path=alerts")
    processes.start("prometheus", "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                    f"--web.listen-address=127.0.0.1:{prometheus}")

    def ask(query):
        answer = get(f"http://127.0.0.1:{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": query}))
        return [each["value"][1] for each in json.loads(answer)["data"]["result"]]

    eventually("Prometheus scrapes both", lambda: ask('sum(up{job="burn"})') == ["2"])
    # Both work while their rates are checked.
    for name, url in (("training", f"wss://127.0.0.1:{ws}"), ("training-by-router", f"ws://127.0.0.1:{router_ws}")):
        processes.start(name, programs / "guide", "train", "--device", url, "--epochs", "1000", "--artifacts", name, **ca)
    eventually("runs are counted", lambda: float((ask("sum(burn_runs_total)") or ["0"])[0]) > 50)
    board = json.loads((ROOT / "deploy/grafana/burn.json").read_text())
    asked = list(queries(board))
    for title, query in asked:
        eventually(f"{title}: {query} has data", lambda query=query: [each for each in ask(query) if each != "NaN"], 30)
    print(f"{len(asked)} queries of the board have data")
    worker.kill()
    killed = time.monotonic()
    eventually("BurnWorkerDown at the webhook", lambda: [each for each in Webhook.alerts if each[0] == "BurnWorkerDown"], 90)
    print(f"BurnWorkerDown came {time.monotonic() - killed:.0f} s after kill -9: {Webhook.alerts[-1][1]}")


if __name__ == "__main__":
    main()
