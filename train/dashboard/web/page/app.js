// The dashboard's page: a table of runs, and a chart for each metric with all chosen runs.
import { Charts } from "./charts.js";
import { Curves } from "./curves.js";
import { bar, colorOf, duration, fact, formatValue, isText, made } from "./format.js";

const $ = (id) => document.getElementById(id);
const stored = JSON.parse(localStorage.getItem("burn-dashboard") ?? "{}");
const settings = { log: false, smoothing: 0, axis: "step", theme: "", chosen: null, ...stored };
const curves = new Curves();
const charts = new Charts($("charts"), curves, settings);
let runs = [];
let source = null;

const save = () => localStorage.setItem("burn-dashboard", JSON.stringify(settings));
const isShown = (run) => settings.chosen === null || settings.chosen.includes(run.folder);
const chosen = () => runs.filter(isShown);

// --- what the server sends -------------------------------------------------------------------------------------------

function connect() {
  source?.close();
  curves.clear();
  const wanted = chosen().map((run) => run.id);
  connect.wanted = wanted.join(",");
  source = new EventSource(`/api/events?runs=${connect.wanted}`);
  source.onopen = () => {
    curves.clear();  // the server sends everything again
    $("connection").textContent = "live";
    $("connection").className = "live";
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
    drawSoon();
  });
  source.addEventListener("curves", (event) => {
    for (const part of JSON.parse(event.data)) curves.add(part);
    drawSoon();
  });
}

// Draws once for all events that arrived together; a page in the background is drawn when it becomes visible.
function drawSoon() {
  if (drawSoon.isPlanned) return;
  drawSoon.isPlanned = true;
  requestAnimationFrame(() => {
    drawSoon.isPlanned = false;
    charts.runs = chosen();
    charts.draw();
  });
}

// --- the table of runs -----------------------------------------------------------------------------------------------

// The progress of the whole run, 0 to 1.
function shareOf(run) {
  if (run.state === "completed") return 1;
  if (run.maxSteps > 0) return Math.min(run.step / run.maxSteps, 1);
  const p = run.progress;
  if (!p) return run.epochs ? run.epoch / run.epochs : 0;
  const ofEpoch = p.split === "train" && p.total > 0 ? p.items / p.total : 1;
  return p.epochs ? (p.epoch - 1 + ofEpoch) / p.epochs : 0;
}

function choose(run, isChosen) {
  settings.chosen = runs.filter((other) => (other === run ? isChosen : isShown(other))).map((other) => other.folder);
  if (settings.chosen.length === runs.length) settings.chosen = null;
  save();
  connect();
}

// Elements of the table that are kept between events: a button that is replaced while it is pressed gets no click.
const rows = { shape: "", of: new Map() };

function addRow(body, run, names) {
  const box = made("input", { type: "checkbox", onchange: () => choose(runs.find((other) => other.id === run.id), box.checked) });
  const swatch = made("span", { className: "swatch" });
  swatch.style.background = colorOf(run.id);
  const name = made("span");
  const label = made("label", {}, box, swatch, name);
  const share = bar(0, 1, "of the whole run");
  const stop = made("button", { textContent: "stop", className: "danger", onclick: () => askToStop(runs.find((other) => other.id === run.id)) });
  box.dataset.key = `box${run.id}`;
  stop.dataset.key = `stop${run.id}`;
  const row = body.insertRow();
  const cell = (className, ...children) => {
    const td = made("td", { className }, ...children);
    row.append(td);
    return td;
  };
  cell("", label);
  const state = cell("");
  cell("", share);
  const numbers = ["epoch", "step", "time", "left", ...names].map(() => cell("number"));
  cell("", stop);
  return { row, box, label, name, state, share, stop, numbers };
}

function bestOf(run, wanted) {
  const metric = run.metrics.find((other) => other.name === wanted);
  const best = metric && (metric.splits.valid ?? metric.splits.test ?? metric.splits.train)?.best;
  return best ? [formatValue(metric, best.value), made("small", { textContent: ` epoch ${best.epoch}` })] : [];
}

function updateRow(shown, run, names) {
  const state = run.problem ? "unreadable" : run.state;
  shown.row.className = isShown(run) ? "" : "hidden";
  shown.box.checked = isShown(run);
  shown.box.ariaLabel = `show ${run.name}`;
  shown.label.title = run.problem || run.folder;
  shown.name.textContent = run.name;
  shown.state.textContent = state;
  shown.state.className = `state-${state.split(" ")[0]}`;
  shown.share.value = shareOf(run);
  shown.share.className = state === "running" ? "" : "done";
  shown.stop.hidden = !run.canStop;
  const isTimed = run.secondsLeft !== null && state === "running";
  const texts = [run.epochs ? `${run.epoch}/${run.epochs}` : `${run.epoch}`, run.step.toLocaleString(), duration((run.last - run.first) / 1000), isTimed ? duration(run.secondsLeft) : ""];
  shown.numbers.forEach((cell, i) => (i < texts.length ? (cell.textContent = texts[i]) : cell.replaceChildren(...bestOf(run, names[i - texts.length]))));
}

function showRuns() {
  const names = [...new Set(runs.flatMap((run) => run.metrics.filter((metric) => !isText(metric)).map((metric) => metric.name)))];
  const shape = JSON.stringify([names, runs.map((run) => run.id)]);
  if (shape !== rows.shape) {
    const texts = ["run", "state", "", "epoch", "step", "time", "left", ...names.map((name) => `best ${name}`), ""];
    const heads = texts.map((text, i) => made("th", { textContent: text, scope: "col", className: i > 2 ? "number" : "" }));
    $("runs").tHead.replaceChildren(made("tr", {}, ...heads));
    const body = $("runs").tBodies[0];
    body.replaceChildren();
    rows.of = new Map(runs.map((run) => [run.id, addRow(body, run, names)]));
    rows.shape = shape;
  }
  for (const run of runs) updateRow(rows.of.get(run.id), run, names);
  $("notice").hidden = runs.length > 0 && chosen().length > 0;
  $("notice").textContent = runs.length === 0 ? "There are no runs yet: they are shown as soon as they begin." : "No run is chosen: tick one above.";
}

function showStatus() {
  const run = chosen().find((other) => other.state === "running") ?? chosen()[0];
  document.title = run ? `${run.name} ${Math.floor(100 * shareOf(run))} % - Burn` : "Burn dashboard";
  const parts = [];
  if (run) parts.push(fact("run", run.name));
  if (run?.progress) {
    const p = run.progress;
    parts.push(fact(p.split, `${p.items.toLocaleString()}/${p.total.toLocaleString()}`, bar(p.items, p.total, `${p.split} pass`)));
    parts.push(fact("epoch", `${p.epoch}/${p.epochs}`), fact("learning rate", p.rate === null ? "-" : String(Number(p.rate.toPrecision(3)))));
    parts.push(fact("items/s", p.itemsPerSecond?.toFixed(0) ?? "-"));
    if (p.skipped) parts.push(fact("skipped", String(p.skipped)));
  }
  if (run?.device) parts.push(fact("device", run.deviceUse ? `${run.device}, ${run.deviceUse}` : run.device));
  if (run?.checkpoint) {
    const age = run.state === "running" ? `, ${duration((Date.now() - run.checkpoint.time) / 1000)} ago` : "";
    parts.push(fact("checkpoint", `step ${run.checkpoint.step}${age}`));
  }
  if (run?.phases?.advice) parts.push(fact("where the time goes", run.phases.advice));
  $("status").replaceChildren(...parts);
  const list = $("messages");
  const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
  const messages = run?.messages ?? [];
  $("log-panel").hidden = messages.length === 0;
  const shape = JSON.stringify([run?.id, messages.length, messages.at(-1)]);
  if (shape === showStatus.messages) return;  // keeps the selection
  showStatus.messages = shape;
  list.replaceChildren(
    ...messages.map(({ time, level, text }) =>
      made("li", { className: `level-${level}` }, made("time", { textContent: new Date(time).toLocaleTimeString() }), text)),
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
