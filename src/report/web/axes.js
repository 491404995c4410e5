// What all figures share: their size, their axes and the names of their rows.
import * as Plot from "@observablehq/plot";

// A figure is as wide as its place. Where labels would take over two fifths of it, each stands above its row instead.
export const size = (holder, labels) => {
  const width = Math.max(280, Math.floor(holder.clientWidth));
  const room = 24 + 6.8 * Math.max(0, ...labels.map((label) => label.length));
  const above = room > 0.4 * width;
  return { above, row: above ? 40 : 24, frame: { width, marginLeft: above ? 12 : room, marginRight: 24 } };
};

export const style = { background: "transparent", color: "currentColor", fontSize: "12px" };
export const axis = (above) => (above ? { label: null, axis: null } : { label: null });
// Rows stand by their number, not their name: two rows may have one name.
export const places = (rows) => ({ domain: rows.map((_, i) => i), tickFormat: (i) => rows[i].name });
export const names = (above, rows, x, y = "i", text = y === "i" ? "name" : y) => (above ? [Plot.text(rows, { x, y, text, dx: 2, dy: -12, textAnchor: "start", fill: "currentColor", stroke: "var(--panel)", strokeWidth: 4 })] : []);

// At most three significant digits, as few as needed.
export const ratio = (value) => `${Number(value.toPrecision(3))}x`;

// Round steps of one size, at most `most`: for an axis so short that powers of ten say little.
function evenTicks(low, high, most) {
  for (let power = Math.floor(Math.log10((high - low) / most)); ; ++power) {
    for (const part of [1, 2, 5]) {
      const first = Math.ceil(low / (part * 10 ** power));
      const last = Math.floor(high / (part * 10 ** power));
      // Multiplied or divided by a whole number, so that 0.3 does not become 0.30000000000000004.
      if (last - first < most) return Array.from({ length: last - first + 1 }, (_, i) => (power < 0 ? ((first + i) * part) / 10 ** -power : (first + i) * part * 10 ** power));
    }
  }
}

// 1, 2, 5 of each power of ten in [low, high], or as many of them as fit `most`.
export function logTicks(low, high, most) {
  if (high / low < 3) return evenTicks(low, high, most);
  const steps = [[1, 1.5, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]];
  const span = (parts, every) => {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
      if (power % every === 0) for (const part of parts) ticks.push(part * 10 ** power);
    return ticks.filter((tick) => tick >= low && tick <= high);
  };
  let ticks = steps.map((parts) => span(parts, 1)).find((list) => list.length <= most);
  for (let every = 2; !ticks; ++every) {
    const list = span([1], every);
    if (list.length <= most) ticks = list;
  }
  return ticks;
}

// A logarithmic axis of ratios over the values and 1. Marks of the axis are given apart: a log scale of Plot leaves labels out
// by a rule of its own.
export function ratioAxis(values, width, label) {
  const low = Math.min(1, ...values) / 1.12;
  const high = Math.max(1, ...values) * 1.12;
  const ticks = logTicks(low, high, Math.max(3, Math.floor(width / 70)));
  return {
    x: { type: "log", domain: [low, high] },
    marks: [Plot.gridX(ticks), Plot.axisX(ticks, { text: ratio, label, labelOffset: 36 })],
  };
}

// The same upwards.
export function ratioAxisY(values, height, label) {
  const low = Math.min(1, ...values) / 1.08;
  const high = Math.max(1, ...values) * 1.08;
  const ticks = logTicks(low, high, Math.max(3, Math.floor(height / 45)));
  return {
    y: { type: "log", domain: [low, high] },
    marks: [Plot.gridY(ticks), Plot.axisY(ticks, { text: ratio, label, labelArrow: "none" }), Plot.ruleY([1], { strokeDasharray: "4 3" })],
  };
}

// A logarithmic axis of amounts that are > 0.
export function amountAxis(values, width, label, show) {
  const low = Math.min(...values) / 1.15;
  const high = Math.max(...values) * 1.15;
  const ticks = logTicks(low, high, Math.max(2, Math.floor(width / 70)));
  return {
    x: { type: "log", domain: [low, high] },
    marks: [Plot.gridX(ticks), Plot.axisX(ticks, { text: show, label, labelArrow: "none", labelOffset: 36 })],
  };
}

// Shares from 0 to 1, upwards.
export const shareAxisY = (label) => ({ domain: [0, 1], label, labelArrow: "none", tickFormat: (v) => `${Math.round(100 * v)}%`, ticks: 5, grid: true });
export const shareAxisX = (label) => ({ domain: [0, 1], label, labelArrow: "none", labelOffset: 36, tickFormat: (v) => `${Math.round(100 * v)}%`, ticks: 5, grid: true });

export const tip = (rows, options, title, pointer = Plot.pointer) => Plot.tip(rows, pointer({ ...options, fill: "var(--panel)", stroke: "var(--line)", title }));
