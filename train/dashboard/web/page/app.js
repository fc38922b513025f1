// The dashboard's page: a table of runs, and a chart for each metric with all chosen runs.
import { Charts } from "./charts.js";
import { Curves } from "./curves.js";
import { colorOf, fact, formatValue, duration } from "./format.js";

const $ = (id) => document.getElementById(id);
const stored = JSON.parse(localStorage.getItem("burn-dashboard") ?? "{}");
const settings = { log: false, smoothing: 0, axis: "step", theme: "", chosen: null, ...stored };
const curves = new Curves();
const charts = new Charts($("charts"), curves, settings);
let runs = [];
let source = null;

const save = () => localStorage.setItem("burn-dashboard", JSON.stringify(settings));
const chosen = () => runs.filter((run) => settings.chosen === null || settings.chosen.includes(run.folder));

// --- what the server sends -------------------------------------------------------------------------------------------

function connect() {
  source?.close();
  curves.clear();
  const wanted = chosen().map((run) => run.id);
  connect.wanted = wanted.join(",");
  source = new EventSource(`/api/events?runs=${connect.wanted}`);
  source.onopen = () => {
    curves.clear();  // the server begins again
    $("connection").textContent = "live";
    $("connection").className = "";
  };
  source.onerror = () => {
    $("connection").textContent = "no connection; trying again";
    $("connection").className = "lost";
  };
  source.addEventListener("runs", (event) => {
    runs = JSON.parse(event.data);
    if (chosen().map((run) => run.id).join(",") !== connect.wanted) return connect();
    showRuns();
    showStatus();
    charts.runs = chosen();
  });
  source.addEventListener("curves", (event) => {
    for (const part of JSON.parse(event.data)) curves.add(part);
    charts.runs = chosen();
    charts.draw();
  });
}

// --- the table of runs -----------------------------------------------------------------------------------------------

function cell(row, text, className = "") {
  const made = row.insertCell();
  made.textContent = text;
  made.className = className;
  return made;
}

function showRuns() {
  const names = [...new Set(runs.flatMap((run) => run.metrics.map((metric) => metric.name)))];
  const head = $("runs").tHead;
  const headText = ["", "run", "state", "epoch", "step", ...names.map((name) => `best ${name}`), "left", ""];
  head.replaceChildren();
  const headRow = head.insertRow();
  for (const text of headText) {
    const th = document.createElement("th");
    th.textContent = text;
    th.scope = "col";
    headRow.append(th);
  }
  const body = $("runs").tBodies[0];
  const focused = document.activeElement?.dataset?.key;
  body.replaceChildren();
  for (const run of runs) {
    const row = body.insertRow();
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = settings.chosen === null || settings.chosen.includes(run.folder);
    box.ariaLabel = `show ${run.name}`;
    box.dataset.key = `box${run.id}`;
    box.onchange = () => {
      settings.chosen = runs.filter((other) => (other === run ? box.checked : chosen().includes(other))).map((r) => r.folder);
      if (settings.chosen.length === runs.length) settings.chosen = null;
      save();
      connect();
    };
    row.insertCell().append(box);
    const name = cell(row, "");
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = colorOf(run.id, "train");
    name.append(swatch, run.name);
    name.title = run.problem || run.folder;
    cell(row, run.problem ? "unreadable" : run.state, `state-${run.state.split(" ")[0]}`);
    cell(row, run.epochs ? `${run.epoch}/${run.epochs}` : `${run.epoch}`);
    cell(row, String(run.step));
    for (const wanted of names) {
      const metric = run.metrics.find((other) => other.name === wanted);
      const best = metric && (metric.splits.valid ?? metric.splits.test ?? metric.splits.train)?.best;
      cell(row, best ? `${formatValue(metric, best.value)} (epoch ${best.epoch})` : "");
    }
    cell(row, run.secondsLeft !== null && run.state === "running" ? duration(run.secondsLeft) : "");
    const last = row.insertCell();
    if (run.canStop) {
      const button = document.createElement("button");
      button.textContent = "stop";
      button.dataset.key = `stop${run.id}`;
      button.onclick = () => askToStop(run);
      last.append(button);
    }
  }
  if (focused) body.querySelector(`[data-key="${focused}"]`)?.focus();
}

function showStatus() {
  const run = chosen().find((other) => other.state === "running") ?? chosen()[0];
  const parts = [];
  if (run?.progress) {
    const p = run.progress;
    const bar = document.createElement("progress");
    bar.max = Math.max(p.total, 1);
    bar.value = p.items;
    bar.ariaLabel = `${p.split} pass`;
    parts.push(fact(`${run.name} ${p.split}`, `${p.items}/${p.total} `, bar));
    parts.push(fact("epoch", `${p.epoch}/${p.epochs}`), fact("rate", p.rate?.toPrecision(3) ?? "-"));
    parts.push(fact("items/s", p.itemsPerSecond?.toFixed(0) ?? "-"));
    if (p.skipped) parts.push(fact("skipped", String(p.skipped)));
  }
  if (run) parts.push(fact("device", run.device));
  if (run?.checkpoint) parts.push(fact("checkpoint", `step ${run.checkpoint.step}, ${duration((Date.now() - run.checkpoint.time) / 1000)} ago`));
  if (run?.phases?.advice) parts.push(fact("time", run.phases.advice));
  $("status").replaceChildren(...parts);
  const list = $("messages");
  const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
  list.replaceChildren(
    ...(run?.messages ?? []).map((message) => {
      const item = document.createElement("li");
      const time = document.createElement("time");
      time.textContent = new Date(message.time).toLocaleTimeString();
      item.className = `level-${message.level}`;
      item.append(time, message.text);
      return item;
    }),
  );
  if (isAtEnd) list.scrollTop = list.scrollHeight;
}

// --- stopping --------------------------------------------------------------------------------------------------------

function askToStop(run) {
  const dialog = $("ask");
  $("ask-text").textContent = `Stop ${run.name} after this step?`;
  dialog.returnValue = "";
  dialog.onclose = async () => {
    if (dialog.returnValue === "") return;
    const answer = await fetch(`/api/stop?run=${run.id}&checkpoint=${dialog.returnValue}`, { method: "POST" });
    if (!answer.ok) alert(await answer.text());
  };
  dialog.showModal();
}

// --- controls --------------------------------------------------------------------------------------------------------

function apply() {
  $("log").checked = settings.log;
  $("smoothing").value = settings.smoothing;
  $("smoothing-value").textContent = Number(settings.smoothing).toFixed(2);
  $("x-axis").value = settings.axis;
  if (settings.theme) document.documentElement.dataset.theme = settings.theme;
  else delete document.documentElement.dataset.theme;
  save();
  charts.rebuild();
}

const isDark = () => settings.theme === "dark" || (!settings.theme && matchMedia("(prefers-color-scheme: dark)").matches);
const toggleTheme = () => ((settings.theme = isDark() ? "light" : "dark"), apply());
$("log").onchange = (event) => ((settings.log = event.target.checked), apply());
$("smoothing").oninput = (event) => ((settings.smoothing = Number(event.target.value)), apply());
$("x-axis").onchange = (event) => ((settings.axis = event.target.value), apply());
$("reset").onclick = () => charts.showAll();
$("theme").onclick = toggleTheme;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("ask").open || event.target.tagName === "SELECT") return;
  if (event.key === "l") (settings.log = !settings.log), apply();
  else if (event.key === "s") (settings.smoothing = settings.smoothing > 0 ? 0 : 0.9), apply();
  else if (event.key === "+") (settings.smoothing = Math.min(0.99, Number(settings.smoothing) + 0.05)), apply();
  else if (event.key === "-") (settings.smoothing = Math.max(0, Number(settings.smoothing) - 0.05)), apply();
  else if (event.key === "0") charts.showAll();
  else if (event.key === "t") toggleTheme();
  else if (event.key === "q") {
    const run = chosen().find((other) => other.canStop);
    if (run) askToStop(run);
  } else return;
  event.preventDefault();
});

apply();
const first = await fetch("/api/runs");
if (first.ok) runs = await first.json();
connect();
