// Figures of what came of the attempts.
import * as Plot from "@observablehq/plot";
import { places, shareAxisX, size, style, tip } from "./axes.js";
import { marks as colours, percent, range, seriesColour, short } from "./palette.js";

const order = ["faster", "equivalent", "slower", "inconclusive", "unstable", "failed", "rejected", "open", "share"];
const letters = { faster: "F", equivalent: "=", slower: "S", inconclusive: "?", unstable: "~", failed: "\u00d7", rejected: "R", open: "\u00b7" };
const meanings = { failed: "wrong, does not compile, faults or times out", open: "not judged" };

// Problems by models; turned where there are many problems and few models and the place is wide enough. A cell has at least the
// room of a letter; what is wider then than its place scrolls in it.
function outcomeMatrix(holder, { rows, columns, cells }) {
  const room = Math.max(280, Math.floor(holder.clientWidth));
  const problems = rows.map((name) => short(name, 28));
  const models = columns.map((name) => short(name, 28));
  const longest = (list) => Math.max(0, ...list.map((name) => name.length));
  const turned = rows.length > 12 && columns.length <= rows.length && (room - 24 - 6.8 * longest(models)) / rows.length >= 13;
  const at = turned ? { x: (c) => c[0], y: (c) => c[1] } : { x: (c) => c[1], y: (c) => c[0] };
  const [across, down] = turned ? [problems, models] : [models, problems];
  const left = Math.min(24 + 6.8 * longest(down), 0.45 * room);
  const fits = (room - left - 12) / Math.max(1, across.length);
  const steep = fits < 6.8 * longest(across) + 8;
  // Names at 60 degrees: as far up as their sine, and the last ones as far to the right as their cosine.
  const top = steep ? 18 + 6.3 * longest(across) : 28;
  const right = steep ? 3.6 * Math.max(0, ...across.map((name, i) => name.length - 5 * (across.length - 1 - i))) + 12 : 12;
  const step = Math.max(17, (room - left - right) / Math.max(1, across.length));
  const width = Math.max(room, left + right + step * across.length);
  const high = turned ? 30 : 22;
  const fill = (c) => (c[2] === "share" ? "var(--link)" : colours[c[2]]);
  const opacity = (c) => (c[2] === "share" ? 0.08 + 0.85 * c[4] : c[2] === "open" || c[2] === "inconclusive" ? 0.25 : 0.8);
  const roomy = step > 7.2 * Math.max(0, ...cells.map((c) => c[3].length)); // words in all cells or in none
  const label = (c) => (c[2] === "share" ? (step > 44 ? c[3].replace(" correct", "") : "") : roomy ? c[3] : letters[c[2]]);
  const svg = Plot.plot({
    style, width, marginLeft: left, marginTop: top, marginRight: right, marginBottom: 8, height: top + 8 + high * down.length, padding: 0.06,
    x: { ...places(across.map((name) => ({ name }))), axis: "top", label: null, tickRotate: steep ? -60 : 0, tickSize: 0 },
    y: { ...places(down.map((name) => ({ name }))), label: null, tickSize: 0 },
    marks: [
      Plot.cell(cells, { ...at, fill, fillOpacity: opacity }),
      Plot.text(cells, { ...at, text: label, fill: (c) => (opacity(c) > 0.5 ? "var(--panel)" : "var(--ink)"), fontWeight: 600, fontSize: 11 }),
      tip(cells, at, (c) => `${rows[c[0]]}\n${short(columns[c[1]], 60)}\n${c[3]}`),
    ],
  });
  const used = order.filter((mark) => cells.some((c) => c[2] === mark));
  return {
    svg,
    legend: used.map((mark) => (mark === "share" ? { label: "share of correct attempts, the stronger the more", colour: "var(--link)" } : { label: `${letters[mark]} ${meanings[mark] ?? mark}`, colour: colours[mark] })),
  };
}

// Bars of shares with whiskers; several models stand under each other in each group.
function bars(holder, { bars: list, models }) {
  const groups = [...new Set(list.map((b) => b.group))];
  const shown = list.filter((b) => b.share);
  const { frame, above } = size(holder, groups.map((name) => short(name, 40)));
  const colour = (b) => seriesColour(models.indexOf(b.model));
  const facet = { fy: (b) => groups.indexOf(b.group), y: "model" };
  const lines = groups.map((name, i) => ({ i, name: short(name, 40) }));
  const height = groups.length * ((above ? 18 : 0) + 8 + 16 * models.length) + 54;
  const svg = Plot.plot({
    style, ...frame, marginTop: above ? 18 : 8, marginBottom: 44, height: height + (above ? 10 : 0),
    x: shareAxisX("correct share"), y: { domain: models, axis: null, padding: 0.15 },
    fy: { ...places(lines), label: null, axis: above ? null : "left", padding: above ? 0.4 : 0.15, tickSize: 0 },
    marks: [
      Plot.ruleX([0]),
      Plot.barX(shown, { ...facet, x1: 0, x2: (b) => b.share[0], fill: colour, fillOpacity: 0.45 }),
      Plot.ruleY(shown, { ...facet, x1: (b) => b.share[1], x2: (b) => b.share[2], stroke: "currentColor", strokeWidth: 1.5 }),
      Plot.dot(shown, { ...facet, x: (b) => b.share[0], fill: colour, stroke: "var(--panel)", r: 3.5 }),
      ...(above ? [Plot.text(lines, { fy: "i", text: "name", frameAnchor: "top-left", dy: -14, dx: 2 })] : []),
      tip(shown, { ...facet, x: (b) => b.share[0] }, (b) => `${b.group}, ${short(b.model, 60)}\n${percent(b.share[0])}${range(b.share[1], b.share[2], percent)}\nn = ${b.n}`),
    ],
  });
  return { svg, legend: models.length > 1 || models[0] !== "all" ? models.map((name, i) => ({ label: short(name), colour: seriesColour(i) })) : [] };
}

// Two shares of one row: before and after, with and without.
export function dumbbells(holder, rows, [first, second], label) {
  const list = rows.map((r, i) => ({ ...r, i, name: short(r.name, 40) }));
  const dots = list.flatMap((r) => [{ ...first, r, v: r.first }, { ...second, r, v: r.second }].filter((d) => d.v));
  const { frame, above } = size(holder, list.map((r) => r.name));
  const where = { x: (d) => d.v[0], fy: (d) => d.r.i, y: "label" };
  const svg = Plot.plot({
    style, ...frame, marginTop: above ? 18 : 8, marginBottom: 44, height: (above ? 64 : 54) + list.length * (above ? 58 : 42),
    x: shareAxisX(label), y: { domain: [first.label, second.label], axis: null, padding: 0.4 },
    fy: { ...places(list), label: null, axis: above ? null : "left", padding: above ? 0.45 : 0.2, tickSize: 0 },
    marks: [
      Plot.ruleX([0]),
      Plot.ruleY(dots, { x1: (d) => d.v[1], x2: (d) => d.v[2], fy: where.fy, y: "label", stroke: "colour", strokeWidth: 2 }),
      Plot.dot(dots.filter((d) => !d.hollow), { ...where, fill: "colour", r: 4.5 }),
      Plot.dot(dots.filter((d) => d.hollow), { ...where, stroke: "colour", fill: "var(--panel)", strokeWidth: 2, r: 4 }),
      ...(above ? [Plot.text(list, { fy: "i", text: "name", frameAnchor: "top-left", dy: -12, dx: 2 })] : []),
      tip(dots, where, (d) => `${d.r.name}\n${d.label}: ${percent(d.v[0])}${range(d.v[1], d.v[2], percent)}\nn = ${d.n(d.r)}`),
    ],
  });
  return { svg, legend: [first, second].map(({ label: words, colour, hollow: open }) => ({ label: `${words}${open ? " (hollow)" : ""}`, colour, dash: "none" })) };
}

function rewardHacking(holder, { models }) {
  const rows = models.filter((m) => m.before).map((m) => ({ ...m, first: m.before, second: m.after }));
  return dumbbells(holder, rows, [
    { label: "accepted before stress", colour: "var(--bad)", hollow: true, n: (r) => r.published },
    { label: "accepted after stress", colour: "var(--violet)", n: (r) => r.stressed },
  ], "share of accepted kernels that are wrong or rejected later");
}

export const outcomeFigures = { outcome_matrix: outcomeMatrix, domain: bars, level: bars, reward_hacking: rewardHacking };
