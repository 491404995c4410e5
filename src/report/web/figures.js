// Figures: drawn from the data that stands beside them in the page.
import * as Plot from "@observablehq/plot";

const data = (id) => {
  const node = document.getElementById(id);
  return node ? JSON.parse(node.textContent) : null;
};

// A figure is as wide as its place. Where labels would take over two fifths of it, each stands above its row instead.
const size = (holder, labels) => {
  const width = Math.max(280, Math.floor(holder.clientWidth));
  const room = 24 + 6.8 * Math.max(...labels.map((label) => label.length));
  const above = room > 0.4 * width;
  return { above, row: above ? 40 : 24, frame: { width, marginLeft: above ? 12 : room, marginRight: 24 } };
};

const style = { background: "transparent", color: "currentColor", fontSize: "12px" };
const axis = (above) => (above ? { label: null, axis: null } : { label: null });
const names = (above, rows, x, y) => (above ? [Plot.text(rows, { x, y, text: y, dx: 2, dy: -12, textAnchor: "start", fill: "currentColor", stroke: "var(--page)", strokeWidth: 4 })] : []);

// At most three significant digits, as few as needed.
const ratio = (value) => `${Number(value.toPrecision(3))}x`;

// A logarithmic axis over the values and 1, with 1, 2, 5 of each power of ten named where they fit, else the powers of ten.
// Marks of the axis are given apart: a log scale of Plot leaves labels out by a rule of its own.
function ratioAxis(values, width, label) {
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

const standings = ["faster", "equivalent", "slower", "inconclusive", "unstable"];
const colours = ["var(--good)", "var(--ink)", "var(--warn)", "var(--soft)", "var(--soft)"];

// rows: {label, standing, ratio, low, high}; whiskers are 95% intervals. A hollow dot is a number that claims nothing.
function speedupFigure(holder, rows) {
  const { above, row, frame } = size(holder, rows.map((r) => r.label));
  const open = (r) => r.standing === "inconclusive" || r.standing === "unstable";
  const { x, marks } = ratioAxis(rows.flatMap((r) => (r.low > 0 ? [r.low, r.ratio, r.high] : [r.ratio])), frame.width - frame.marginLeft, "speedup over the seed (log scale)");
  const used = standings.filter((word) => rows.some((r) => r.standing === word));
  return Plot.plot({
    style, ...frame, marginBottom: 44, height: 76 + row * rows.length, x, y: { ...axis(above), domain: rows.map((r) => r.label) },
    color: { type: "ordinal", domain: used, range: used.map((word) => colours[standings.indexOf(word)]), legend: true },
    marks: [
      ...marks,
      Plot.ruleX([1], { stroke: "currentColor", strokeDasharray: "4 3" }),
      ...names(above, rows, () => x.domain[0], "label"),
      Plot.ruleY(rows.filter((r) => r.low > 0), { x1: "low", x2: "high", y: "label", stroke: "standing", strokeWidth: 1.5 }),
      Plot.dot(rows.filter((r) => !open(r)), { x: "ratio", y: "label", fill: "standing", r: 4.5 }),
      Plot.dot(rows.filter(open), { x: "ratio", y: "label", stroke: "standing", fill: "var(--panel)", strokeWidth: 1.5, r: 4 }),
      Plot.tip(rows, Plot.pointer({ x: "ratio", y: "label", fill: "var(--panel)", title: (r) => `${r.label}\n${ratio(r.ratio)} [${ratio(r.low)}, ${ratio(r.high)}]\n${r.standing}` })),
    ],
  });
}

// shapes: {shape, ratio}: one dot a block of the timing, in log ratio.
function timingFigure(holder, rows) {
  const shapes = [...new Set(rows.map((r) => r.shape))];
  const { above, row, frame } = size(holder, shapes);
  const { x, marks } = ratioAxis(rows.map((r) => r.ratio), frame.width - frame.marginLeft, "seed time / kernel time, one dot a block");
  return Plot.plot({
    style, ...frame, marginBottom: 44, height: 86 + (row + 10) * shapes.length, x, y: { ...axis(above), domain: shapes },
    marks: [
      ...marks,
      Plot.ruleX([1], { strokeDasharray: "4 3" }),
      ...names(above, shapes.map((shape) => ({ shape })), () => x.domain[0], "shape"),
      Plot.dot(rows, { x: "ratio", y: "shape", r: 2.5, fillOpacity: 0.6, fill: "currentColor" }),
    ],
  });
}

const draw = { speedup: speedupFigure, timing: timingFigure };

// Drawn again whenever its place has another width.
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const width = Math.floor(target.clientWidth);
    const rows = data(target.dataset.source);
    if (width === 0 || Number(target.dataset.drawn) === width || !rows?.length) continue;
    target.dataset.drawn = width;
    target.querySelector(".plot")?.remove();
    const plot = document.createElement("div");
    plot.className = "plot";
    plot.append(draw[target.dataset.figure](target, rows));
    target.prepend(plot);
  }
});

export function figures() {
  resized.disconnect();
  for (const holder of document.querySelectorAll("figure[data-figure]")) if (draw[holder.dataset.figure]) resized.observe(holder);
}
