#!/usr/bin/env python3
"""Checks rendered manifests (kubectl kustomize OVERLAY): that what they name is there, and that workers run as they should.

Prints each violation and exits 1 if there is one. --self-test makes one fault after the other in what is read, and
fails unless each of them is found.

usage: check_manifests.py [--self-test] OPTIONS.DEF RENDERED.YAML

The rule of the metric that an autoscaler asks for is looked up in deploy/prometheus/adapter.yml.
"""
import copy
import pathlib
import re
import sys

import yaml

PATHS = {"/startupz", "/readyz", "/healthz"}
FROM_OUTSIDE = {"burn-tokens", "burn-tls", "burn-tenants", "burn-worker-token"}  # Secrets that an operator makes (docs/operate/kubernetes.md)
PROGRAMS = {"worker": "burn-server", "router": "burn-router"}  # of containers
ADAPTER = pathlib.Path(__file__).parents[2] / "deploy/prometheus/adapter.yml"
MARGIN = 15  # seconds that a pod has to end, beyond --drain-timeout


def selects(selector, labels):
    return bool(selector) and selector.items() <= labels.items()


class Checker:
    def __init__(self, documents, flags):
        self.documents, self.flags, self.violations = documents, flags, []
        self.workloads = self.of("StatefulSet", "Deployment")
        self.templates = [each["spec"]["template"] for each in self.workloads]

    def of(self, *kinds):
        return [each for each in self.documents if each["kind"] in kinds]

    def names(self, kind):
        return {each["metadata"]["name"] for each in self.of(kind)}

    def complain(self, thing, what):
        self.violations.append(f"{thing['kind']} {thing['metadata']['name']}: {what}")

    def selected(self, selector):
        return [each for each in self.templates if selects(selector, each["metadata"]["labels"])]

    def ports_of(self, templates):
        containers = [each for template in templates for each in template["spec"]["containers"]]
        return {port["name"] for each in containers for port in each.get("ports", [])}

    def check(self):
        seen = set()
        for each in self.documents:
            key = (each["kind"], each["metadata"]["name"])
            if key in seen:
                self.complain(each, "is there twice")
            seen.add(key)
            if each["kind"] != "Namespace" and each["metadata"].get("namespace") not in self.names("Namespace"):
                self.complain(each, f"namespace {each['metadata'].get('namespace')} is not there")
        for each in self.of("Namespace"):
            level = "privileged" if self.locks_memory() else "restricted"
            if each["metadata"].get("labels", {}).get("pod-security.kubernetes.io/enforce") != level:
                self.complain(each, f"pod security is not {level}")
        for each in self.of("Service"):
            self.check_service(each)
        for each in self.of("PodDisruptionBudget"):
            if not self.selected(each["spec"]["selector"]["matchLabels"]):
                self.complain(each, "selects no pod")
        for each in self.of("NetworkPolicy"):
            self.check_policy(each)
        for each in self.workloads:
            self.check_workload(each)
        for each in self.of("HorizontalPodAutoscaler"):
            self.check_autoscaler(each)
        for each in self.of("PodMonitor"):
            self.check_monitor(each)
        return self.violations

    def locks_memory(self):
        containers = [each for template in self.templates for each in template["spec"]["containers"]]
        return any("IPC_LOCK" in each.get("securityContext", {}).get("capabilities", {}).get("add", []) for each in containers)

    def check_claims(self, workload, spec):
        offered = {each["name"] for each in spec.get("resourceClaims", [])}
        for each in spec.get("resourceClaims", []):
            if each["resourceClaimTemplateName"] not in self.names("ResourceClaimTemplate"):
                self.complain(workload, f"there is no ResourceClaimTemplate {each['resourceClaimTemplateName']}")
        used = {each["name"] for container in spec["containers"] for each in container.get("resources", {}).get("claims", [])}
        if used != offered:
            self.complain(workload, f"claims {sorted(offered)}, of which containers use {sorted(used)}")

    def check_autoscaler(self, autoscaler):
        target = autoscaler["spec"]["scaleTargetRef"]
        if target["name"] not in self.names(target["kind"]):
            self.complain(autoscaler, f"there is no {target['kind']} {target['name']}")
        rules = yaml.safe_load(ADAPTER.read_text())["rules"]
        for metric in autoscaler["spec"]["metrics"]:
            name = metric["pods"]["metric"]["name"]
            if name not in {each["name"]["as"] for each in rules}:
                self.complain(autoscaler, f"{ADAPTER.name} has no rule for {name}")

    def check_monitor(self, monitor):
        expression = monitor["spec"]["selector"]["matchExpressions"][0]
        templates = [each for each in self.templates
                     if each["metadata"]["labels"].get(expression["key"]) in expression["values"]]
        if not templates:
            self.complain(monitor, "selects no pod")
        for endpoint in monitor["spec"]["podMetricsEndpoints"]:
            if endpoint["port"] not in self.ports_of(templates):
                self.complain(monitor, f"the pods have no port {endpoint['port']}")

    def check_service(self, service):
        templates = self.selected(service["spec"].get("selector"))
        if not templates:
            self.complain(service, "selects no pod")
        for port in service["spec"]["ports"]:
            if port["targetPort"] not in self.ports_of(templates):
                self.complain(service, f"port {port['name']}: the pods have no port {port['targetPort']}")

    def check_policy(self, policy):
        labels = policy["spec"]["podSelector"].get("matchLabels")
        if labels is not None and not self.selected(labels):
            self.complain(policy, "selects no pod")
        ports = self.ports_of(self.selected(labels)) if labels else set()
        for rule in policy["spec"].get("ingress", []):
            if not rule.get("from"):
                self.complain(policy, "lets in everything")
            for port in rule.get("ports", []):
                if isinstance(port["port"], str) and port["port"] not in ports:
                    self.complain(policy, f"the pods have no port {port['port']}")

    def check_workload(self, workload):
        template = workload["spec"]["template"]
        spec = template["spec"]
        if not selects(workload["spec"]["selector"]["matchLabels"], template["metadata"]["labels"]):
            self.complain(workload, "does not select its own pods")
        if workload["kind"] == "StatefulSet":
            own = [each for each in self.of("Service") if each["metadata"]["name"] == workload["spec"].get("serviceName")]
            if not own or own[0]["spec"].get("clusterIP") != "None":
                self.complain(workload, f"{workload['spec'].get('serviceName')} is no headless Service")
        if spec.get("serviceAccountName") not in self.names("ServiceAccount"):
            self.complain(workload, f"there is no ServiceAccount {spec.get('serviceAccountName')}")
        if spec.get("automountServiceAccountToken", True):
            self.complain(workload, "pods get a token for the cluster, which they do not need")
        if spec.get("enableServiceLinks", True):
            self.complain(workload, "variables of Services would be taken for options")
        pod = spec.get("securityContext", {})
        if not pod.get("runAsNonRoot") or not pod.get("runAsUser"):
            self.complain(workload, "may run as root")
        if pod.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            self.complain(workload, "has no seccomp profile")
        volumes = {each["name"]: each for each in spec.get("volumes", [])}
        volumes |= {each["metadata"]["name"]: {} for each in workload["spec"].get("volumeClaimTemplates", [])}
        for each in volumes.values():
            self.check_volume(workload, each)
        self.check_claims(workload, spec)
        for container in spec["containers"]:
            self.check_container(workload, container, volumes)

    def check_volume(self, workload, volume):
        if "secret" in volume:
            if volume["secret"]["secretName"] not in FROM_OUTSIDE | self.names("Secret"):
                self.complain(workload, f"there is no Secret {volume['secret']['secretName']}")
            if volume["secret"].get("defaultMode", 0o644) & 0o007:
                self.complain(workload, f"all users may read the Secret {volume['secret']['secretName']}")

    def check_container(self, workload, container, volumes):
        mounts = {each["mountPath"]: each for each in container.get("volumeMounts", [])}
        for each in mounts.values():
            if each["name"] not in volumes:
                self.complain(workload, f"there is no volume {each['name']}")
            if "subPath" in each:
                self.complain(workload, f"{each['mountPath']} does not follow changes")
        for name in set(volumes) - {each["name"] for each in mounts.values()}:
            self.complain(workload, f"the volume {name} is not mounted")
        security = container.get("securityContext", {})
        capabilities = security.get("capabilities", {})
        if (security.get("allowPrivilegeEscalation", True) or capabilities.get("drop") != ["ALL"]
                or capabilities.get("add", []) not in ([], ["IPC_LOCK"])):
            self.complain(workload, "has rights that it does not need")
        if not security.get("readOnlyRootFilesystem"):
            self.complain(workload, "may write to its root")
        resources = container.get("resources", {})
        if not resources.get("limits") or resources.get("requests") != resources.get("limits"):
            self.complain(workload, "requests are not its limits")
        self.check_probes(workload, container)
        self.check_arguments(workload, container, mounts)

    def check_probes(self, workload, container):
        ports = {each["name"] for each in container.get("ports", [])}
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            asked = container.get(kind, {}).get("httpGet")
            if not asked:
                self.complain(workload, f"has no {kind}")
                continue
            if asked["port"] not in ports:
                self.complain(workload, f"{kind}: there is no port {asked['port']}")
            if asked["path"] not in PATHS:
                self.complain(workload, f"{kind}: the operator's port has no {asked['path']}")
        if container.get("readinessProbe", {}).get("httpGet", {}).get("path") == "/healthz":
            self.complain(workload, "is ready while it drains")
        if container.get("livenessProbe", {}).get("httpGet", {}).get("path") != "/healthz":
            self.complain(workload, "is killed while it drains")

    def check_arguments(self, workload, container, mounts):
        values = {}
        for argument in container.get("args", []):
            flag, _, value = argument.removeprefix("--").partition("=")
            program = PROGRAMS[container["name"]]
            if flag not in self.flags[program]:
                self.complain(workload, f"{program} has no --{flag}")
            if flag in values and flag not in ("worker", "advertise"):
                self.complain(workload, f"--{flag} is there twice")
            values[flag] = value
            for variable in re.findall(r"\$\((\w+)\)", value):
                if variable not in {each["name"] for each in container.get("env", [])}:
                    self.complain(workload, f"--{flag}: there is no variable {variable}")
            spoken = ("wss", "grpcs") if any("--tls-cert" in each for each in container["args"]) else ("ws", "grpc")
            if flag == "advertise" and value.partition("://")[0] not in spoken:
                self.complain(workload, f"--{flag}={value} is not what the worker speaks")
        ports = {each["containerPort"] for each in container.get("ports", [])}
        for flag in ("ws", "grpc", "operator"):
            if int(values.get(flag, ":0").rpartition(":")[2]) not in ports:
                self.complain(workload, f"--{flag} is on no port of the container")
        tokens = values.get("token-file")
        if tokens is None and "insecure" not in values:
            self.complain(workload, "has no token file")
        for flag in ("token-file", "worker-token-file", "tenants", "tls-cert", "tls-key", "tls-client-ca"):
            path = values.get(flag)
            if path and str(pathlib.PurePath(path).parent) not in mounts:
                self.complain(workload, f"nothing is mounted where {path} is to be")
        grace = workload["spec"]["template"]["spec"].get("terminationGracePeriodSeconds", 30)
        if grace < int(values.get("drain-timeout", 5)) + MARGIN:
            self.complain(workload, f"{grace} s are too short for --drain-timeout {values.get('drain-timeout')}")


def faults(documents):
    """Copies of the documents with one fault each, and what it is."""
    def one(kind, name=None):
        for index, each in enumerate(documents):
            if each["kind"] == kind and name in (None, each["metadata"]["name"]):
                return index
        raise KeyError(kind)

    worker, pod = one("StatefulSet"), lambda d: d[one("StatefulSet")]["spec"]["template"]["spec"]
    container = lambda d: pod(d)["containers"][0]
    secret = lambda d: next(each["secret"] for each in pod(d)["volumes"] if each["name"] == "tokens")
    changes = {
        "a selector of a Service": lambda d: d[one("Service", "burn-worker")]["spec"]["selector"].update(x="y"),
        "a port of a Service": lambda d: d[one("Service", "burn-worker")]["spec"]["ports"][0].update(targetPort="http"),
        "a headless Service that is none": lambda d: d[one("Service", "burn-workers")]["spec"].pop("clusterIP"),
        "a budget for other pods": lambda d: d[one("PodDisruptionBudget")]["spec"]["selector"].update(matchLabels={"a": "b"}),
        "a policy for other pods": lambda d: d[one("NetworkPolicy", "burn-worker")]["spec"].update(
            podSelector={"matchLabels": {"a": "b"}}),
        "a policy with another port": lambda d: d[one("NetworkPolicy", "burn-worker")]["spec"]["ingress"][0]["ports"].append(
            {"port": "http"}),
        "a policy without senders": lambda d: d[one("NetworkPolicy", "burn-worker")]["spec"]["ingress"][0].pop("from"),
        "labels that the selector does not select": lambda d: d[worker]["spec"]["template"]["metadata"]["labels"].clear(),
        "another account": lambda d: pod(d).update(serviceAccountName="default"),
        "a token for the cluster": lambda d: pod(d).pop("automountServiceAccountToken"),
        "variables of Services": lambda d: pod(d).pop("enableServiceLinks"),
        "root": lambda d: pod(d)["securityContext"].pop("runAsNonRoot"),
        "no seccomp": lambda d: pod(d)["securityContext"].pop("seccompProfile"),
        "a Secret that is not there": lambda d: secret(d).update(secretName="tokens"),
        "a Secret that all users may read": lambda d: secret(d).update(defaultMode=0o444),
        "a mount without a volume": lambda d: container(d)["volumeMounts"][1].update(name="cash"),
        "a subPath": lambda d: container(d)["volumeMounts"][0].update(subPath="tokens"),
        "capabilities": lambda d: container(d)["securityContext"].pop("capabilities"),
        "a root that may be written": lambda d: container(d)["securityContext"].update(readOnlyRootFilesystem=False),
        "one capability more": lambda d: container(d)["securityContext"]["capabilities"].update(add=["SYS_ADMIN"]),
        "a variable that is not there": lambda d: container(d).update(env=[]),
        "an advertised URL of another kind": lambda d: container(d)["args"].append("--advertise=http://$(POD_IP):3000"),
        "a claim that no container uses": lambda d: pod(d).update(
            resourceClaims=pod(d).get("resourceClaims", []) + [{"name": "x", "resourceClaimTemplateName": "burn-gpu"}]),
        "no limits": lambda d: container(d).pop("resources"),
        "a probe of another port": lambda d: container(d)["readinessProbe"]["httpGet"].update(port="ws2"),
        "a probe of another path": lambda d: container(d)["startupProbe"]["httpGet"].update(path="/health"),
        "liveness by readiness": lambda d: container(d)["livenessProbe"]["httpGet"].update(path="/readyz"),
        "no probe": lambda d: container(d).pop("livenessProbe"),
        "an unknown flag": lambda d: container(d)["args"].append("--grcp=0.0.0.0:3001"),
        "a flag twice": lambda d: container(d)["args"].append("--ws=0.0.0.0:3000"),
        "a port that is not the container's": lambda d: container(d)["ports"].pop(),
        "no token": lambda d: container(d)["args"].remove("--token-file=/etc/burn/tokens/tokens"),
        "a certificate where nothing is mounted": lambda d: container(d)["args"].append("--tls-client-ca=/etc/burn/ca/ca.pem"),
        "too short an end": lambda d: pod(d).update(terminationGracePeriodSeconds=30),
        "another namespace": lambda d: d[worker]["metadata"].update(namespace="default"),
        "a weaker namespace": lambda d: d[one("Namespace")]["metadata"].pop("labels"),
        "a flag of another program": lambda d: container(d)["args"].append("--worker-timeout=3"),
        "a thing twice": lambda d: d.append(copy.deepcopy(d[worker])),
    }
    kinds = {each["kind"] for each in documents}
    if "HorizontalPodAutoscaler" in kinds:
        scaler = one("HorizontalPodAutoscaler")
        changes |= {
            "an autoscaler of nothing": lambda d: d[scaler]["spec"]["scaleTargetRef"].update(name="burn"),
            "a metric that is not served": lambda d: d[scaler]["spec"]["metrics"][0]["pods"]["metric"].update(name="burn_wait"),
        }
    if "ResourceClaimTemplate" in kinds:
        changes["a claim of nothing"] = lambda d: pod(d)["resourceClaims"][0].update(resourceClaimTemplateName="x")
    if "PodMonitor" in kinds:
        monitor = one("PodMonitor")
        changes |= {
            "a monitor of nothing": lambda d: d[monitor]["spec"]["selector"]["matchExpressions"][0].update(values=["x"]),
            "a monitor of another port": lambda d: d[monitor]["spec"]["podMetricsEndpoints"][0].update(port="metrics"),
        }
    for what, change in changes.items():
        changed = copy.deepcopy(documents)
        change(changed)
        yield what, changed


def main():
    arguments = sys.argv[1:]
    tests_itself = arguments[:1] == ["--self-test"]
    if len(arguments) != 2 + tests_itself:
        sys.exit(__doc__.strip().rsplit("\n", 1)[-1])
    table, rendered = (pathlib.Path(each) for each in arguments[-2:])
    rows = re.findall(r'^OPTION\(\w+, "([a-z-]+)", (\w+)', table.read_text(), re.M)
    flags = {program: {flag for flag, daemons in rows if daemons in ("every", kind)} for kind, program in
             (("worker", "burn-server"), ("router", "burn-router"))}
    documents = list(yaml.safe_load_all(rendered.read_text()))
    violations = Checker(documents, flags).check()
    if tests_itself:
        for what, changed in faults(documents):
            if not Checker(changed, flags).check():
                violations.append(f"not found: {what}")
    if violations:
        sys.exit("\n".join(f"{rendered.name}: {each}" for each in violations))


if __name__ == "__main__":
    main()
