// What all figures share: their size, their axes and the names of their rows.
import * as Plot from "@observablehq/plot";

// A figure is as wide as its place. Where labels would take over two fifths of it, each stands above its row instead.
export const size = (holder, labels) => {
  const width = Math.max(280, Math.floor(holder.clientWidth));
  const room = 24 + 6.8 * Math.max(...labels.map((label) => label.length));
  const above = room > 0.4 * width;
  return { above, row: above ? 40 : 24, frame: { width, marginLeft: above ? 12 : room, marginRight: 24 } };
};

export const style = { background: "transparent", color: "currentColor", fontSize: "12px" };
export const axis = (above) => (above ? { label: null, axis: null } : { label: null });
export const names = (above, rows, x, y) => (above ? [Plot.text(rows, { x, y, text: y, dx: 2, dy: -12, textAnchor: "start", fill: "currentColor", stroke: "var(--page)", strokeWidth: 4 })] : []);

// At most three significant digits, as few as needed.
export const ratio = (value) => `${Number(value.toPrecision(3))}x`;

// A logarithmic axis over the values and 1, with 1, 2, 5 of each power of ten named where they fit, else the powers of ten.
// Marks of the axis are given apart: a log scale of Plot leaves labels out by a rule of its own.
export function ratioAxis(values, width, label) {
  const low = Math.min(1, ...values) / 1.12;
  const high = Math.max(1, ...values) * 1.12;
  const most = Math.max(3, Math.floor(width / 70));
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
  return {
    x: { type: "log", domain: [low, high] },
    marks: [Plot.gridX(ticks), Plot.axisX(ticks, { text: ratio, label, labelOffset: 36 })],
  };
}
