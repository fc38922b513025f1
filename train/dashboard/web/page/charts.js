// One chart for each metric, with all chosen runs in it.
import uPlot from "uplot";
import { smooth } from "./curves.js";
import { colorOf, formatValue } from "./format.js";

const kHeight = 260;

export class Charts {
  #cards = new Map(); // by metric
  #range = null; // of x, common to all charts; null: everything
  runs = [];

  constructor(root, curves, settings) {
    this.root = root;
    this.curves = curves;
    this.settings = settings;
    new ResizeObserver(() => this.#resize()).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rebuild());
  }

  draw() {
    const metrics = new Map();
    for (const run of this.runs) for (const metric of run.metrics) metrics.set(metric.name, metric);
    for (const [name, card] of this.#cards) {
      if (metrics.has(name)) continue;
      card.plot?.destroy();
      card.element.remove();
      this.#cards.delete(name);
    }
    for (const [name, metric] of metrics) this.#drawMetric(name, metric);
  }

  rebuild() {
    for (const card of this.#cards.values()) card.shape = "";
    this.draw();
  }

  showAll() {
    this.#range = null;
    this.rebuild();
  }

  #card(name) {
    let card = this.#cards.get(name);
    if (!card) {
      const element = document.createElement("article");
      element.className = "card";
      const title = document.createElement("h2");
      title.textContent = name;
      const area = document.createElement("div");
      const legend = document.createElement("div");
      legend.className = "legend";
      element.append(title, area, legend);
      this.root.append(element);
      card = { element, area, legend, shape: "", plot: null };
      this.#cards.set(name, card);
    }
    return card;
  }

  #x(curve) {
    if (this.settings.axis !== "relative") return curve.step;
    const run = this.runs.find((other) => other.id === curve.run);
    const last = Math.max(run?.step ?? 1, 1);
    return curve.step.map((step) => (100 * step) / last);
  }

  #drawMetric(name, metric) {
    const shownRuns = new Set(this.runs.map((run) => run.id));
    const curves = this.curves.of(name).filter((curve) => shownRuns.has(curve.run));
    const card = this.#card(name);
    if (curves.length === 0) return;
    const positive = (values) => (this.settings.log ? values.map((value) => (value > 0 ? value : null)) : values);
    const tables = curves.map((curve) => {
      const isByStep = curve.kind === "steps";
      const mean = isByStep ? smooth(curve.mean, this.settings.smoothing) : curve.mean;
      const columns = [this.#x(curve), positive(mean)];
      if (isByStep) columns.push(positive(curve.min), positive(curve.max));
      return columns;
    });
    const data = tables.length === 1 ? tables[0] : uPlot.join(tables);
    const shape = JSON.stringify([curves.map((c) => [c.run, c.split, c.kind]), this.settings.log, this.settings.axis, this.settings.theme, this.#range]);
    if (card.plot && card.shape === shape) {
      card.plot.setData(data, this.#range === null);
    } else {
      card.plot?.destroy();
      card.area.replaceChildren();
      card.plot = new uPlot(this.#options(card, curves, metric), data, card.area);
      if (this.#range) card.plot.setScale("x", this.#range);
      card.shape = shape;
    }
    this.#showLegend(card, metric, null);
  }

  #options(card, curves, metric) {
    const style = getComputedStyle(document.documentElement);
    const faint = style.getPropertyValue("--faint");
    const grid = { stroke: style.getPropertyValue("--line"), width: 1 };
    const canvasColor = (run, split) => {
      const probe = document.createElement("span"); // a canvas does not know color-mix()
      probe.style.color = colorOf(run, split);
      document.body.append(probe);
      const color = getComputedStyle(probe).color;
      probe.remove();
      return color;
    };
    const series = [{ label: this.settings.axis }];
    const bands = [];
    const nameOf = (curve) => `${this.runs.find((run) => run.id === curve.run)?.name ?? curve.run} ${curve.split}`;
    for (const curve of curves) {
      const color = canvasColor(curve.run, curve.split);
      const at = series.length;
      const isByStep = curve.kind === "steps";
      series.push({ label: nameOf(curve), stroke: color, width: 1.6, spanGaps: true, points: { show: !isByStep, size: 6, fill: color } });
      if (!isByStep) continue;
      const edge = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true, isEdge: true };
      series.push({ ...edge, label: "min" }, { ...edge, label: "max" });
      const faintColor = color.startsWith("rgb(") ? color.replace("rgb(", "rgba(").replace(")", ", 0.16)") : color;
      bands.push({ series: [at + 2, at + 1], fill: faintColor });
    }
    card.names = curves;
    return {
      width: Math.max(card.area.clientWidth, 240),
      height: kHeight,
      series,
      bands,
      legend: { show: false },
      cursor: { drag: { x: true, y: false }, sync: { key: "burn" }, focus: { prox: 30 } },
      scales: { x: { time: false }, y: { distr: this.settings.log ? 3 : 1 } },
      axes: [
        { stroke: faint, grid, ticks: grid },
        { stroke: faint, grid, ticks: grid, size: 60, values: (_, ticks) => ticks.map((v) => (v === null ? "" : Math.abs(v) >= 1e-3 || v === 0 ? String(Number(v.toPrecision(6))) : v.toExponential(1))) },
      ],
      hooks: {
        setCursor: [(plot) => this.#showLegend(card, metric, plot.cursor.idx)],
        setSelect: [
          (plot) => {
            if (plot.select.width < 4) return;
            const range = { min: plot.posToVal(plot.select.left, "x"), max: plot.posToVal(plot.select.left + plot.select.width, "x") };
            this.#range = range;
            queueMicrotask(() => this.rebuild());
          },
        ],
        init: [(plot) => plot.over.addEventListener("dblclick", () => this.showAll())],
      },
    };
  }

  // The values under the cursor, or the last ones.
  #showLegend(card, metric, index) {
    const plot = card.plot;
    if (!plot) return;
    const parts = [];
    if (index !== null && index !== undefined) parts.push(`${this.settings.axis} ${Number(plot.data[0][index].toPrecision(8))}`);
    plot.series.forEach((series, i) => {
      if (i === 0 || series.isEdge) return;
      let at = index ?? plot.data[i].length - 1;
      while (at > 0 && (plot.data[i][at] === null || plot.data[i][at] === undefined)) at--;
      const item = document.createElement("span");
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = typeof series.stroke === "function" ? series.stroke(plot, i) : series.stroke;
      const value = document.createElement("b");
      value.textContent = formatValue(metric, plot.data[i][at]);
      item.append(swatch, `${series.label} `, value);
      parts.push(item);
    });
    card.legend.replaceChildren(...parts);
  }

  #resize() {
    for (const card of this.#cards.values()) {
      const width = Math.max(card.area.clientWidth, 240);
      if (card.plot && Math.abs(card.plot.width - width) > 2) card.plot.setSize({ width, height: kHeight });
    }
  }
}
