// Figures of how fast the kernels are.
import * as Plot from "@observablehq/plot";
import { axis, logTicks, names, places, ratio, ratioAxis, shareAxisY, size, style, tip } from "./axes.js";
import { count, marks as colours, percent, range, seriesColour, seriesDash, short } from "./palette.js";

const words = ["faster", "equivalent", "slower", "inconclusive", "unstable", "range"];
const meaning = { range: "geometric mean and range" };
const hollow = (row) => row.standing === "inconclusive" || row.standing === "unstable";

// rows: {label, standing, ratio, low, high}. A hollow dot is a number that claims nothing.
function speedup(holder, data) {
  const rows = (Array.isArray(data) ? data : data.rows).map((row, i) => ({ ...row, i, name: short(row.label, 44) }));
  const { above, row, frame } = size(holder, rows.map((r) => r.name));
  const known = rows.filter((r) => r.low > 0);
  const { x, marks } = ratioAxis(rows.flatMap((r) => (r.low > 0 ? [r.low, r.ratio, r.high] : [r.ratio])), frame.width - frame.marginLeft, "speedup over the seed (log scale)");
  const used = words.filter((word) => rows.some((r) => r.standing === word));
  const stroke = (r) => colours[r.standing] ?? "var(--soft)";
  const svg = Plot.plot({
    style, ...frame, marginBottom: 44, height: 60 + row * rows.length, x, y: { ...axis(above), ...places(rows) },
    marks: [
      ...marks,
      Plot.ruleX([1], { stroke: "currentColor", strokeDasharray: "4 3" }),
      ...names(above, rows, () => x.domain[0]),
      Plot.ruleY(known, { x1: "low", x2: "high", y: "i", stroke, strokeWidth: 1.5 }),
      Plot.dot(rows.filter((r) => !hollow(r)), { x: "ratio", y: "i", fill: stroke, r: 4.5 }),
      Plot.dot(rows.filter(hollow), { x: "ratio", y: "i", stroke, fill: "var(--panel)", strokeWidth: 1.5, r: 4 }),
      tip(rows, { x: "ratio", y: "i" }, (r) => `${short(r.label, 80)}\n${ratio(r.ratio)}${range(r.low > 0 ? r.low : null, r.high, ratio)}\n${meaning[r.standing] ?? r.standing}${r.n > 1 ? `, ${r.n} kernels` : ""}`),
    ],
  });
  return { svg, legend: used.map((word) => ({ label: meaning[word] ?? word, colour: colours[word] })) };
}

// shapes: {shape, ratio}: one dot a block of the timing, in log ratio.
function timing(holder, rows) {
  const shapes = [...new Set(rows.map((r) => r.shape))];
  const { above, row, frame } = size(holder, shapes);
  const { x, marks } = ratioAxis(rows.map((r) => r.ratio), frame.width - frame.marginLeft, "seed time / kernel time, one dot a block");
  return Plot.plot({
    style, ...frame, marginBottom: 44, height: 86 + (row + 10) * shapes.length, x, y: { ...axis(above), domain: shapes },
    marks: [
      ...marks,
      Plot.ruleX([1], { strokeDasharray: "4 3" }),
      ...names(above, shapes.map((shape) => ({ i: shape, name: shape })), () => x.domain[0]),
      Plot.dot(rows, { x: "ratio", y: "shape", r: 2.5, fillOpacity: 0.6, fill: "currentColor" }),
    ],
  });
}

const kinds = { point: "by the measured speedup", sure: "by the lower bound of its interval" };

// Two panels, beside each other where there is room.
function fastP(holder, { p, series }) {
  const width = Math.max(280, Math.floor(holder.clientWidth));
  const beside = width >= 720;
  const rows = series.flatMap((one) => Object.keys(kinds).flatMap((kind) =>
    one[kind].map(([share, low, high], at) => ({ p: p[at], share, low, high, kind: kinds[kind], name: short(one.name), i: one.colour }))));
  const facet = beside ? { fx: "kind" } : { fy: "kind" };
  const scale = { domain: Object.values(kinds), label: null };
  const common = { x: "p", z: "i", ...facet };
  const svg = Plot.plot({
    style, width, height: beside ? 340 : 600, marginLeft: 46, marginRight: beside ? 20 : 26, marginTop: beside ? 34 : 46, marginBottom: 42,
    fx: beside ? scale : undefined, fy: beside ? undefined : { ...scale, axis: null },
    x: { label: "p: speedup over the seed", labelArrow: "none", labelOffset: 36, tickFormat: ratio, ticks: width < 500 ? 5 : 6 },
    y: shareAxisY("share of judged attempts above p"),
    marks: [
      Plot.ruleX([1], { strokeDasharray: "4 3", strokeOpacity: 0.6 }),
      Plot.areaY(rows.filter((r) => r.low !== null), { ...common, y1: "low", y2: "high", fill: (r) => seriesColour(r.i), fillOpacity: series.length > 3 ? 0.07 : 0.16, curve: "step-after" }),
      ...series.map((one) => Plot.line(rows.filter((r) => r.i === one.colour), { ...common, y: "share", stroke: seriesColour(one.colour), strokeWidth: 2, strokeDasharray: seriesDash(one.colour), curve: "step-after" })),
      ...(beside ? [] : [Plot.text(Object.values(kinds), { fy: (kind) => kind, text: (kind) => kind, frameAnchor: "top", dy: -12 })]),
      tip(rows, { x: "p", y: "share", ...facet }, (r) => `${r.name}\np = ${ratio(r.p)}: ${percent(r.share)}${range(r.low, r.high, percent)}\n${r.kind}`),
    ],
  });
  return { svg, legend: series.map((one) => ({ label: `${short(one.name)}, n = ${one.n}`, colour: seriesColour(one.colour), dash: seriesDash(one.colour) })) };
}

// Points under the lines that the device's memory and units allow.
function roofline(holder, { points, roofs, grid }) {
  const width = Math.max(280, Math.floor(holder.clientWidth));
  const xs = [...points.map((d) => d.x), ...roofs.map((d) => d.compute / d.memory)];
  const ys = [...points.map((d) => d.y), ...roofs.map((d) => d.compute)];
  const [left, right] = [Math.min(...xs) / 2, Math.max(...xs) * 4];
  const [low, high] = [Math.min(...ys) / 2, Math.max(...ys) * 1.6];
  const lines = roofs.flatMap((roof, i) => {
    const ridge = roof.compute / roof.memory;
    return [left, ridge, right].map((x) => ({ i, x, y: Math.min(roof.compute, roof.memory * x) }));
  });
  const xTicks = logTicks(left, right, Math.max(3, Math.floor(width / 80)));
  const yTicks = logTicks(low, high, 8);
  const fill = (d) => colours[d.mark] ?? "var(--link)";
  const svg = Plot.plot({
    style, width, height: width < 500 ? 320 : 420, marginLeft: 56, marginRight: 20, marginTop: 26, marginBottom: 44,
    x: { type: "log", domain: [left, right] }, y: { type: "log", domain: [low, high], clamp: false }, r: { type: "sqrt", range: [0, 14] },
    marks: [
      Plot.gridX(xTicks), Plot.axisX(xTicks, { text: count, label: "intensity, flop a byte (log scale)", labelArrow: "none", labelOffset: 36 }),
      Plot.gridY(yTicks), Plot.axisY(yTicks, { text: count, label: "achieved, flop/s (log scale)", labelArrow: "none" }),
      Plot.line(lines, { x: "x", y: "y", z: "i", stroke: "currentColor", strokeWidth: 1.5, clip: true }),
      Plot.text(roofs, { x: right, y: "compute", text: (d) => `${d.name || "compute"} ${count(d.compute)}flop/s`, textAnchor: "end", dy: -8, dx: -4, fill: "currentColor", stroke: "var(--panel)", strokeWidth: 3 }),
      grid ? Plot.dot(points, { x: "x", y: "y", r: "n", fill: "var(--link)", fillOpacity: 0.5 }) : Plot.dot(points, { x: "x", y: "y", r: 4, fill, fillOpacity: 0.75 }),
      tip(points, { x: "x", y: "y" }, (d) => `${grid ? `${d.n} kernels near here` : short(d.label, 90)}\n${count(d.y)}flop/s at ${count(d.x)} flop a byte`),
    ],
  });
  const used = words.filter((word) => points.some((d) => d.mark === word));
  return { svg, legend: used.map((word) => ({ label: word, colour: colours[word] })) };
}

// Second over first, problem by problem; many as a distribution of dots.
function comparison(holder, { rows, mean, first, second, distribution }) {
  const width = Math.max(280, Math.floor(holder.clientWidth));
  const label = width < 620 ? "second over first (log scale)" : `${short(second, 24)} over ${short(first, 24)} (log scale)`;
  const list = [...rows].sort((a, b) => b.ratio - a.ratio).map((r, i) => ({ ...r, i, name: short(r.label, 44) }));
  const fill = (r) => (r.ratio > 1 ? "var(--good)" : "var(--warn)");
  const title = (r) => `${short(r.label, 80)}\n${ratio(r.ratio)}: ${ratio(r.first)} and ${ratio(r.second)}`;
  const values = [...rows.map((r) => r.ratio), ...(mean ? [mean[0], mean[1] ?? mean[0], mean[2] ?? mean[0]] : [])];
  const shared = (x) => [
    Plot.ruleX([1], { strokeDasharray: "4 3" }),
    ...(mean && mean[1] !== null ? [Plot.rectX([mean], { x1: (d) => d[1], x2: (d) => d[2], fill: "var(--link)", fillOpacity: 0.12 })] : []),
    ...(mean ? [Plot.ruleX([mean], { x: (d) => d[0], stroke: "var(--link)", strokeWidth: 1.5 })] : []),
  ];
  const legend = mean ? [{ label: `geometric mean ${ratio(mean[0])}${range(mean[1], mean[2], ratio)}`, colour: "var(--link)", dash: "none" }] : [];
  if (distribution) {
    const { x, marks } = ratioAxis(values, width, label);
    const svg = Plot.plot({
      style, width, height: 240, marginBottom: 44, marginLeft: 24, marginRight: 24, x,
      marks: [...marks, ...shared(x), Plot.dot(list, Plot.dodgeY("middle", { x: "ratio", r: list.length > 400 ? 1.5 : 3, fill, fillOpacity: 0.7, title }))],
    });
    return { svg, legend };
  }
  const { above, row, frame } = size(holder, list.map((r) => r.name));
  const { x, marks } = ratioAxis(values, frame.width - frame.marginLeft, label);
  const svg = Plot.plot({
    style, ...frame, marginBottom: 44, height: 60 + row * list.length, x, y: { ...axis(above), ...places(list) },
    marks: [
      ...marks, ...shared(x), ...names(above, list, () => x.domain[0]),
      Plot.ruleY(list, { x1: 1, x2: "ratio", y: "i", stroke: fill, strokeWidth: 1.5 }),
      Plot.dot(list, { x: "ratio", y: "i", fill, r: 4.5 }),
      tip(list, { x: "ratio", y: "i" }, title),
    ],
  });
  return { svg, legend };
}

export const speedFigures = { speedup, timing, fast_p: fastP, roofline, comparison };
