// Formats numbers, times and colours for the page.
const kColors = ["#2f7ed8", "#e07b16", "#2ca05a", "#b04fc4", "#d0473c", "#0f9da8", "#8a6d3b", "#d6478f", "#7d8f1f", "#5b6bd6"];

// Each run has a colour, each split a line: training is solid, validation dashed, test dotted.
export const colorOf = (run) => kColors[run % kColors.length];
export const dashOf = (split) => ({ train: [], valid: [7, 4], test: [2, 3] })[split];

export function withAlpha(color, alpha) {
  return color + Math.round(255 * alpha).toString(16).padStart(2, "0");
}

// Whether a metric's result is a text: known after its first result.
export const isText = (metric) => Object.keys(metric?.texts ?? {}).length > 0;

export function formatValue(metric, value) {
  if (value === null || value === undefined) return "-";
  const text = metric.scientific ? value.toExponential(metric.decimals) : value.toFixed(metric.decimals);
  return text + metric.unit;
}

// The label of an axis: 0.0003, 1250, 20k, 3.2M, 1e-7.
export function formatTick(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  const short = (number) => String(Number(number.toPrecision(4)));
  if (size === 0) return "0";
  if (size >= 1e9 || size < 1e-3) return value.toExponential(1).replace(".0e", "e");
  if (size >= 1e6) return `${short(value / 1e6)}M`;
  return size >= 1e4 ? `${short(value / 1e3)}k` : short(value);
}

export function duration(seconds) {
  const total = Math.max(0, Math.floor(seconds));
  const two = (n) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export const bar = (value, max, label) => made("progress", { max: Math.max(max, 1), value: Math.min(value, max), ariaLabel: label });

export const fact = (name, value, ...more) =>
  made("div", { className: "fact" }, made("span", { textContent: name }), made("b", { textContent: value }), ...more);
