// Checks rendered manifests and Grafana's board against published types: fields that do not exist (by TypeScript's
// `satisfies`, as the schemas allow any) and values of the wrong kind (by the schemas of the Kubernetes API, too). Then
// puts faults into them, one at a time, and fails unless each is found.
//
// usage: node check.mjs BOARD.json RENDERED.yaml...
// In a folder with this file's packages (npm install). Exit code 1: the violations are on standard error.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { spawnSync } from "node:child_process";
import yaml from "js-yaml";

// Kinds of other projects, for which kubernetes-models has no types.
const FOREIGN = new Set(["PodMonitor", "JobSet"]);

const clone = (value) => JSON.parse(JSON.stringify(value));

// The module that has the types of an apiVersion: "v1", "apps/v1", "networking.k8s.io/v1".
const moduleOf = (document) => `kubernetes-models/${document.apiVersion}`;

// A line of TypeScript for each thing that is checked; `things`: {name, type, module, value}.
function typesOf(things) {
  return things
    .map(({ type, module, value }, k) =>
      `import type { ${type} as T${k} } from ${JSON.stringify(module)};\n` +
      `export const v${k} = ${JSON.stringify(value)} satisfies T${k};`)
    .join("\n");
}

// What TypeScript says of the things, by their position.
function complaintsOfTypes(things) {
  const folder = fs.mkdtempSync(path.join(process.cwd(), "types-"));
  try {
    const files = things.map((thing, k) => {
      const file = path.join(folder, `thing${k}.ts`);
      fs.writeFileSync(file, typesOf([thing]));
      return file;
    });
    const tsc = spawnSync("node", ["node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext",
      "--moduleResolution", "nodenext", "--pretty", "false", ...files], { encoding: "utf8" });
    const found = new Map();
    for (const line of tsc.stdout.split("\n")) {
      const at = line.match(/thing(\d+)\.ts\(\d+,\d+\): error (.*)/);
      if (at && !found.has(Number(at[1]))) found.set(Number(at[1]), at[2]);
    }
    if (tsc.status !== 0 && found.size === 0) throw new Error(`tsc: ${tsc.stdout}${tsc.stderr}`);
    return found;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function complaintOfSchema(document) {
  try {
    const models = await import(moduleOf(document));
    new models[document.kind](document).validate();
    return undefined;
  } catch (error) {
    return String(error.message);
  }
}

const thingOf = (file, document) =>
  ({ name: `${path.basename(file)}: ${document.kind} ${document.metadata.name}`, type: `I${document.kind}`, module: moduleOf(document),
     value: document });

async function check(things) {
  const types = complaintsOfTypes(things);
  const complaints = [];
  for (const [k, thing] of things.entries()) {
    const schema = thing.module === "@grafana/schema" ? undefined : await complaintOfSchema(thing.value);
    const what = types.get(k) ?? schema;
    if (what) complaints.push({ k, text: `${thing.name}: ${what}` });
  }
  return complaints;
}

// Copies with a fault each.
function faultsOf(things) {
  const board = things.find((thing) => thing.module === "@grafana/schema");
  const worker = things.find((thing) => thing.type === "IStatefulSet");
  const service = things.find((thing) => thing.type === "IService");
  const faults = [];
  const add = (what, thing, change) => {
    const value = clone(thing.value);
    change(value);
    faults.push({ ...thing, name: what, value });
  };
  const pod = (value) => value.spec.template.spec;
  add("an unknown field of a pod", worker, (value) => { pod(value).enableServiceLink = false; });
  add("an unknown field of a container", worker, (value) => { pod(value).containers[0].argv = ["--help"]; });
  add("an unknown field of a probe", worker, (value) => { pod(value).containers[0].livenessProbe.period = 3; });
  add("a text for a number", worker, (value) => { value.spec.replicas = "2"; });
  add("a number for a text", worker, (value) => { pod(value).containers[0].args = [3000]; });
  add("a container without a name", worker, (value) => { delete pod(value).containers[0].name; });
  add("a list for an object", worker, (value) => { pod(value).securityContext = []; });
  add("an unknown field of a Service", service, (value) => { value.spec.sessionAffinty = "None"; });
  add("a port without a number", service, (value) => { delete value.spec.ports[0].port; });
  add("a board without its version", board, (value) => { delete value.schemaVersion; });
  add("a text for the board's version", board, (value) => { value.schemaVersion = "39"; });
  add("an unknown field of the board", board, (value) => { value.refreshes = "10s"; });
  add("a board's time that is none", board, (value) => { value.time = { from: 3, to: "now" }; });
  return faults;
}

const [boardFile, ...files] = process.argv.slice(2);
if (!boardFile) {
  console.error("usage: node check.mjs BOARD.json RENDERED.yaml...");
  process.exit(2);
}
const things = [{ name: path.basename(boardFile), type: "Dashboard", module: "@grafana/schema",
                  value: JSON.parse(fs.readFileSync(boardFile, "utf8")) }];
for (const file of files) {
  for (const document of yaml.loadAll(fs.readFileSync(file, "utf8"))) {
    if (!FOREIGN.has(document.kind)) things.push(thingOf(file, document));
  }
}
const complaints = await check(things);
const faults = faultsOf(things);
const found = new Set((await check(faults)).map(({ k }) => k));
for (const [k, fault] of faults.entries()) {
  if (!found.has(k)) complaints.push({ text: `not found: ${fault.name}` });
}
for (const { text } of complaints) console.error(text);
console.log(`${things.length} things typed, ${found.size} of ${faults.length} faults found`);
process.exit(complaints.length === 0 ? 0 : 1);
