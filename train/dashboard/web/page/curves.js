// The curves that the server has sent, by metric, run, split and kind.
export class Curves {
  #parts = new Map();

  clear() {
    this.#parts.clear();
  }

  add(part) {
    if (part.clear) {
      for (const [key, curve] of this.#parts) if (curve.run === part.run) this.#parts.delete(key);
      return;
    }
    const key = [part.metric, part.run, part.split, part.kind].join("\n");
    let curve = this.#parts.get(key);
    if (!curve) {
      curve = { metric: part.metric, run: part.run, split: part.split, kind: part.kind, step: [], mean: [], min: [], max: [], bad: [] };
      this.#parts.set(key, curve);
    }
    for (const field of ["step", "mean", "min", "max"]) {
      curve[field].length = Math.min(curve[field].length, part.from);
      if (part[field]) curve[field].push(...part[field]);
    }
    curve.bad.length = part.from;  // sent only from the first such value on
    if (part.bad) curve.bad.push(...part.bad);
  }

  // The curves of a metric: for each run and split the curve by step if there is one, else the curve by epoch.
  of(metric) {
    const all = [...this.#parts.values()].filter((curve) => curve.metric === metric && curve.step.length > 0);
    return all.filter((curve) => curve.kind === "steps" || !all.some((other) => other.run === curve.run && other.split === curve.split && other.kind === "steps"));
  }
}

// Smooths as the terminal dashboard does: a mean whose weights fall by `factor` per step, bias-corrected.
export function smooth(values, factor) {
  if (factor <= 0) return values;
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = factor * sum + (1 - factor) * value;
    weight = factor * weight + (1 - factor);
    return sum / weight;
  });
}
