// Figures: drawn from the data that stands beside them in the page.
import * as Plot from "@observablehq/plot";
import { axis, names, ratio, ratioAxis, size, style } from "./axes.js";

const data = (id) => {
  const node = document.getElementById(id);
  return node ? JSON.parse(node.textContent) : null;
};

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
