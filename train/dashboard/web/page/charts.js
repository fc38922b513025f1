// One chart for each metric, with all chosen runs in it.
import uPlot from "uplot";
import { smooth } from "./curves.js";
import { colorOf, dashOf, formatTick, formatValue, isText, made, withAlpha } from "./format.js";

const kHeight = 270;
const kSvg = "http://www.w3.org/2000/svg";

// A sample of a curve's line for the legend.
function sample(color, dash) {
  const svg = document.createElementNS(kSvg, "svg");
  for (const [name, value] of [["width", 26], ["height", 10]]) svg.setAttribute(name, value);
  const line = document.createElementNS(kSvg, "line");
  const attributes = { x1: 0, y1: 5, x2: 26, y2: 5, stroke: color, "stroke-width": 2, "stroke-dasharray": dash.join(" ") };
  for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value);
  svg.append(line);
  return svg;
}

export class Charts {
  #cards = new Map(); // by metric
  #range = null; // of x, shared by all charts; null: everything
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
      const best = made("span");
      const area = made("div", {}, made("div", { className: "empty", textContent: "no values yet" }));
      const legend = made("div", { className: "legend" });
      const element = made("article", { className: "card" }, made("header", {}, made("h2", { textContent: name }), best), area, legend);
      this.root.append(element);
      card = { element, area, legend, best, shape: "", plot: null };
      this.#cards.set(name, card);
    }
    return card;
  }

  #xOf(run, step) {
    const last = Math.max(this.#run(run)?.step ?? 1, 1);
    return this.settings.axis === "relative" ? (100 * step) / last : step;
  }

  #run(id) {
    return this.runs.find((run) => run.id === id);
  }

  // The results of a metric whose result is a text, for each run and split.
  #drawTexts(name, card) {
    const texts = this.runs.flatMap((run) => {
      const found = run.metrics.find((metric) => metric.name === name);
      return Object.entries(found?.texts ?? {}).map(([split, text]) => [`${run.name} ${split}`, text]);
    });
    const shape = JSON.stringify(texts);
    if (card.shape === shape) return; // keeps the selection
    card.shape = shape;
    card.plot?.destroy();
    card.plot = null;
    card.best.textContent = "";
    card.legend.replaceChildren();
    card.area.className = "texts";
    card.area.replaceChildren(...texts.map(([head, text]) => made("figure", {}, made("figcaption", { textContent: head }), made("pre", { textContent: text }))));
  }

  #drawMetric(name, metric) {
    const curves = this.curves.of(name).filter((curve) => this.#run(curve.run));
    const card = this.#card(name);
    if (this.runs.some((run) => isText(run.metrics.find((other) => other.name === name)))) return this.#drawTexts(name, card);
    card.area.className = "";
    card.best.textContent = this.#bestText(metric);
    if (curves.length === 0) {
      card.plot?.destroy();
      card.plot = null;
      card.shape = "";
      card.area.replaceChildren(made("div", { className: "empty", textContent: "no values yet" }));
      card.legend.replaceChildren();
      return;
    }
    const positive = (values) => (this.settings.log ? values.map((value) => (value > 0 ? value : null)) : values);
    const tables = curves.map((curve) => {
      const isByStep = curve.kind === "steps";
      const mean = isByStep ? smooth(curve.mean, this.settings.smoothing) : curve.mean;
      const columns = [curve.step.map((step) => this.#xOf(curve.run, step)), positive(mean)];
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

  // "best 98.5 %, lr-1, epoch 4": the best of all shown runs, by validation if there is one.
  #bestText(metric) {
    let found = null;
    for (const { run, best } of this.#bests(metric.name)) {
      const isBetter = !found || (metric.higher ? best.value > found.best.value : best.value < found.best.value);
      if (isBetter) found = { run, best };
    }
    if (!found) return "";
    const name = this.runs.length > 1 ? `${found.run.name}, ` : "";
    return `◆ best ${formatValue(metric, found.best.value)}, ${name}epoch ${found.best.epoch}`;
  }

  #bests(name) {
    return this.runs.flatMap((run) => {
      const best = run.metrics.find((metric) => metric.name === name)?.splits.valid?.best;
      return best ? [{ run, best }] : [];
    });
  }

  // Marks over the curves: a diamond at the best epoch of each run, a cross at the top where values were not finite.
  #mark(plot, name, curves) {
    const { ctx, bbox } = plot;
    const size = 5 * devicePixelRatio;
    ctx.save();
    for (const { run, best } of this.#bests(name)) {
      const x = plot.valToPos(this.#xOf(run.id, best.step), "x", true);
      const y = plot.valToPos(best.value, "y", true);
      if (!(x >= bbox.left && x <= bbox.left + bbox.width && y >= bbox.top && y <= bbox.top + bbox.height)) continue;
      ctx.beginPath();
      for (const [dx, dy] of [[0, -size], [size, 0], [0, size], [-size, 0]]) ctx.lineTo(x + dx, y + dy);
      ctx.closePath();
      ctx.fillStyle = colorOf(run.id);
      ctx.fill();
      ctx.strokeStyle = getComputedStyle(this.root).getPropertyValue("--card");
      ctx.lineWidth = 1.5 * devicePixelRatio;
      ctx.stroke();
    }
    ctx.strokeStyle = getComputedStyle(this.root).getPropertyValue("--bad");
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.beginPath();
    for (const curve of curves) {
      curve.bad.forEach((count, i) => {
        const x = plot.valToPos(this.#xOf(curve.run, curve.step[i]), "x", true);
        if (!count || x < bbox.left || x > bbox.left + bbox.width) return;
        const [half, y] = [3.5 * devicePixelRatio, bbox.top + 6 * devicePixelRatio];
        ctx.moveTo(x - half, y - half), ctx.lineTo(x + half, y + half), ctx.moveTo(x - half, y + half), ctx.lineTo(x + half, y - half);
      });
    }
    ctx.stroke();
    ctx.restore();
  }

  #options(card, curves, metric) {
    const style = getComputedStyle(document.documentElement);
    const faint = style.getPropertyValue("--faint");
    const grid = { stroke: style.getPropertyValue("--line"), width: 1 };
    const series = [{ label: this.settings.axis }];
    const bands = [];
    for (const curve of curves) {
      const color = colorOf(curve.run);
      const dash = dashOf(curve.split);
      const at = series.length;
      const isByStep = curve.kind === "steps";
      const points = { show: !isByStep && curve.step.length < 60, size: 5, fill: color, width: 0 };
      series.push({ label: `${this.#run(curve.run)?.name ?? curve.run} ${curve.split}`, stroke: color, width: isByStep ? 1.4 : 1.8, dash, spanGaps: true, points });
      if (!isByStep) continue;
      const edge = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true, isEdge: true };
      series.push({ ...edge, label: "min" }, { ...edge, label: "max" });
      bands.push({ series: [at + 2, at + 1], fill: withAlpha(color, 0.15) });
    }
    const font = "12px system-ui, sans-serif";
    const values = (unit) => (_, ticks) => ticks.map((tick) => formatTick(tick) + (tick === null ? "" : unit));
    const axis = { stroke: faint, grid, ticks: { ...grid, size: 4 }, gap: 4, font };
    return {
      width: Math.max(card.area.clientWidth, 240),
      height: kHeight,
      padding: [10, 14, 0, 0],
      series,
      bands,
      legend: { show: false },
      cursor: { drag: { x: true, y: false }, sync: { key: "burn" }, focus: { prox: 30 }, points: { size: 6 } },
      focus: { alpha: 0.4 },
      scales: { x: { time: false }, y: { distr: this.settings.log ? 3 : 1 } },
      axes: [
        { ...axis, size: 30, space: 60, values: values(this.settings.axis === "relative" ? " %" : "") },
        { ...axis, size: 58, space: 34, values: values(metric.unit) },
      ],
      hooks: {
        draw: [(plot) => this.#mark(plot, metric.name, curves)],
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
    const isUnderCursor = index !== null && index !== undefined;
    if (isUnderCursor) parts.push(made("span", {}, `${this.settings.axis === "step" ? "step" : "%"} `, made("b", { textContent: String(Number(plot.data[0][index].toPrecision(8))) })));
    plot.series.forEach((series, i) => {
      if (i === 0 || series.isEdge) return;
      const last = plot.data[i].length - 1;
      let at = isUnderCursor ? index : last;
      while (at > 0 && (plot.data[i][at] === null || plot.data[i][at] === undefined)) at--;
      const color = typeof series.stroke === "function" ? series.stroke(plot, i) : series.stroke;
      parts.push(made("span", {}, sample(color, series.dash ?? []), `${series.label} `, made("b", { textContent: formatValue(metric, plot.data[i][at]) })));
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
