// Numbers, times and colours as the page writes them.
const kColors = ["#2f7ed8", "#e07b16", "#2ca05a", "#b04fc4", "#d0473c", "#0f9da8", "#8a6d3b", "#d6478f", "#6b7a1f", "#5b6bd6"];

// Each run has a colour; its validation is lighter, its test darker.
export function colorOf(run, split) {
  const color = kColors[run % kColors.length];
  if (split === "train") return color;
  return split === "valid" ? `color-mix(in srgb, ${color} 55%, gray)` : `color-mix(in srgb, ${color} 60%, black)`;
}

export function formatValue(metric, value) {
  if (value === null || value === undefined) return "-";
  const text = metric.scientific ? value.toExponential(metric.decimals) : value.toFixed(metric.decimals);
  return text + metric.unit;
}

export function duration(seconds) {
  const total = Math.max(0, Math.floor(seconds));
  const two = (n) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export function fact(name, value, more) {
  const made = document.createElement("span");
  made.className = "fact";
  const strong = document.createElement("b");
  strong.textContent = value;
  made.append(`${name} `, strong);
  if (more) made.append(more);
  return made;
}
