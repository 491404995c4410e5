// Figures of what the results took.
import * as Plot from "@observablehq/plot";
import { amountAxis, ratio, ratioAxisY, shareAxisY, style, tip } from "./axes.js";
import { dumbbells } from "./figures_outcome.js";
import { nameDots } from "./labels.js";
import { count, percent, range, seriesColour, seriesDash, short } from "./palette.js";

const widthOf = (holder) => Math.max(280, Math.floor(holder.clientWidth));
const money = (value) => `$${Number(value.toPrecision(3))}`;

// One dot a model, named beside it where there is room, those first that the line joins: no other beats them.
function pareto(holder, { points, dollars }) {
  const width = widthOf(holder);
  const show = dollars ? money : count;
  const rows = points.map((d) => ({ ...d, name: short(d.name, width < 500 ? 20 : 32), w: d.y[0], low: d.y[1], high: d.y[2] }));
  const height = width < 500 ? 320 : 380;
  const free = rows.filter((d) => !(d.x > 0)); // nothing was charged: no place on a log axis
  const placed = rows.filter((d) => d.x > 0);
  const label = `mean ${dollars ? "dollars" : "tokens"} a judged attempt (log scale)`;
  const xs = amountAxis(placed.length ? placed.map((d) => d.x) : [1], width, label, show);
  const ys = ratioAxisY(rows.flatMap((d) => [d.w, d.low ?? d.w, d.high ?? d.w]), height, "geometric mean of speedups, failures 1x");
  const front = placed.filter((d) => d.front).sort((a, b) => a.x - b.x);
  const colour = (d) => (d.front ? "var(--link)" : "var(--soft)");
  const frame = { left: 52, right: width - 20, top: 30, bottom: height - 44 };
  const along = (value, [low, high]) => Math.log(value / low) / Math.log(high / low);
  const wanted = [...front, ...placed.filter((d) => !d.front).sort((a, b) => b.w - a.w)];
  const spots = nameDots(wanted.map((d) => ({
    name: d.name,
    x: frame.left + along(d.x, xs.x.domain) * (frame.right - frame.left),
    y: frame.bottom - along(d.w, ys.y.domain) * (frame.bottom - frame.top),
  })), { ...frame, top: 16, right: width });
  const named = wanted.map((d, i) => [d, spots[i]]).filter(([, spot]) => spot);
  const svg = Plot.plot({
    style, width, height, marginLeft: frame.left, marginRight: width - frame.right, marginTop: frame.top, marginBottom: height - frame.bottom, x: xs.x, y: ys.y,
    marks: [
      ...xs.marks, ...ys.marks,
      Plot.line(front, { x: "x", y: "w", stroke: "var(--link)", strokeDasharray: "5 3", curve: "step-after" }),
      Plot.ruleX(placed.filter((d) => d.low !== null), { x: "x", y1: "low", y2: "high", stroke: colour, strokeWidth: 1.5 }),
      Plot.dot(placed, { x: "x", y: "w", fill: colour, r: 5 }),
      ...named.map(([d, { dx, dy, anchor }]) => Plot.text([d], { x: "x", y: "w", text: "name", textAnchor: anchor, dx, dy, fill: "currentColor", stroke: "var(--panel)", strokeWidth: 3 })),
      tip(placed, { x: "x", y: "w" }, (d) => `${d.name}\n${ratio(d.w)}${range(d.low, d.high, ratio)}\n${show(d.x)} an attempt, n = ${d.n}`),
    ],
  });
  const legend = free.length ? [{ label: `${free.map((d) => d.name).join(", ")}: nothing was charged, only in the table`, colour: "var(--idle)" }] : [];
  if (named.length < wanted.length) legend.push({ label: "no room for every name: point at a dot, or see the table", colour: "var(--soft)" });
  return { svg, legend };
}

const bands = (series) => (series.length > 3 ? 0.07 : 0.16);
const key = (series) => series.map((one) => ({ label: `${short(one.name)}, n = ${one.n}`, colour: seriesColour(one.colour), dash: seriesDash(one.colour) }));

function solveRate(holder, { tokens, series }) {
  const width = widthOf(holder);
  const rows = series.flatMap((one) => one.points.map(([share, low, high], at) => ({ i: one.colour, name: short(one.name), tokens: tokens[at], share, low, high })));
  const xs = amountAxis(tokens, width, "tokens of the whole conversation (log scale)", count);
  const svg = Plot.plot({
    style, width, height: 340, marginLeft: 46, marginRight: 24, marginTop: 30, marginBottom: 44, x: xs.x, y: shareAxisY("correct within the budget"),
    marks: [
      ...xs.marks,
      Plot.areaY(rows.filter((r) => r.low !== null), { x: "tokens", y1: "low", y2: "high", z: "i", fill: (r) => seriesColour(r.i), fillOpacity: bands(series), curve: "step-after" }),
      ...series.map((one) => Plot.line(rows.filter((r) => r.i === one.colour), { x: "tokens", y: "share", stroke: seriesColour(one.colour), strokeWidth: 2, strokeDasharray: seriesDash(one.colour), curve: "step-after" })),
      tip(rows, { x: "tokens", y: "share" }, (r) => `${r.name}\n${percent(r.share)}${range(r.low, r.high, percent)}\nwithin ${count(r.tokens)} tokens`),
    ],
  });
  return { svg, legend: key(series) };
}

function bestSoFar(holder, { series }) {
  const width = widthOf(holder);
  const rows = series.flatMap((one) => one.points.map(([best, low, high], at) => ({ i: one.colour, name: short(one.name), turn: at + 1, best, low, high })));
  const last = Math.max(...rows.map((r) => r.turn));
  const ys = ratioAxisY(rows.flatMap((r) => [r.best, r.low ?? r.best, r.high ?? r.best]), 320, "best speedup so far (log scale)");
  const dots = rows.length <= 200;
  const svg = Plot.plot({
    style, width, height: 320, marginLeft: 52, marginRight: 24, marginTop: 30, marginBottom: 44, y: ys.y,
    x: { domain: [1, Math.max(2, last)], label: "turn", labelArrow: "none", labelOffset: 36, tickFormat: (v) => (Number.isInteger(v) ? String(v) : ""), ticks: Math.min(last, Math.floor(width / 60)) },
    marks: [
      ...ys.marks,
      Plot.areaY(rows.filter((r) => r.low !== null), { x: "turn", y1: "low", y2: "high", z: "i", fill: (r) => seriesColour(r.i), fillOpacity: bands(series), curve: "step-after" }),
      ...series.map((one) => Plot.line(rows.filter((r) => r.i === one.colour), { x: "turn", y: "best", stroke: seriesColour(one.colour), strokeWidth: 2, strokeDasharray: seriesDash(one.colour), curve: "step-after" })),
      ...(dots ? [Plot.dot(rows, { x: "turn", y: "best", fill: (r) => seriesColour(r.i), r: 3 })] : []),
      tip(rows, { x: "turn", y: "best" }, (r) => `${r.name}\nturn ${r.turn}: ${ratio(r.best)}${range(r.low, r.high, ratio)}`),
    ],
  });
  return { svg, legend: series.length > 1 || series[0].n > 1 ? key(series) : [] };
}

function toolUse(holder, { tools }) {
  const rows = tools.map((t) => ({ ...t, first: t.with, second: t.without }));
  return dumbbells(holder, rows, [
    { label: "called it", colour: "var(--link)", n: (r) => r.used },
    { label: "did not call it", colour: "var(--soft)", hollow: true, n: (r) => r.unused },
  ], "correct share of judged attempts");
}

export const effortFigures = { pareto_cost: pareto, pareto_tokens: pareto, solve_rate: solveRate, best_so_far: bestSoFar, tool_use: toolUse };
