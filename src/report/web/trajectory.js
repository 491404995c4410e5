// Figures of one trajectory's page. Each takes its place in the page and the data beside it, and gives a picture.
import * as Plot from "@observablehq/plot";
import { axis, names, ratio, ratioAxis, size, style } from "./axes.js";

const colours = (entries) => ({ type: "ordinal", domain: entries.map(([word]) => word), range: entries.map(([, colour]) => colour) });
const legend = (entries) => entries.map(([label, colour]) => ({ label, colour }));

// {dots: [{shape, ratio}], intervals: [{shape, point, low, high}]}: one dot a block, in log ratio; the bar is the interval.
export function blocksFigure(holder, { dots, intervals }) {
  const shapes = [...new Set(dots.map((r) => r.shape))];
  const bars = intervals.filter((r) => shapes.includes(r.shape) && r.low > 0);
  const { above, row, frame } = size(holder, shapes);
  const { x, marks } = ratioAxis([...dots.map((r) => r.ratio), ...bars.flatMap((r) => [r.low, r.high])], frame.width - frame.marginLeft, "seed time / kernel time, one dot a block");
  return Plot.plot({
    style, ...frame, marginBottom: 44, height: 86 + (row + 10) * shapes.length, x, y: { ...axis(above), domain: shapes },
    marks: [
      ...marks,
      Plot.ruleX([1], { strokeDasharray: "4 3" }),
      ...names(above, shapes.map((shape) => ({ shape })), () => x.domain[0], "shape"),
      Plot.ruleY(bars, { x1: "low", x2: "high", y: "shape", stroke: "var(--link)", strokeWidth: 7, strokeOpacity: 0.45 }),
      Plot.dot(dots, { x: "ratio", y: "shape", r: 2.2, fillOpacity: 0.55, fill: "currentColor" }),
      Plot.tickX(bars, { x: "point", y: "shape", stroke: "var(--link)", strokeWidth: 2, inset: 6 }),
    ],
  });
}

const spanColours = [["waiting", "var(--idle)"], ["model", "var(--link)"], ["tool", "var(--violet)"], ["failed tool", "var(--bad)"]];

// turns: {turn, start, wait, model, tools: [{tool, start, seconds, ok}]}: what was at work when.
export function timelineFigure(holder, { turns }) {
  const spans = turns.flatMap(({ turn, start, wait, model, tools }) => [
    { turn, kind: "waiting", from: start, to: start + wait },
    { turn, kind: "model", from: start + wait, to: start + wait + model },
    ...tools.map((t) => ({ turn, kind: t.ok ? "tool" : "failed tool", name: t.tool, from: t.start, to: t.start + t.seconds })),
  ]).filter((span) => span.to > span.from);
  const { frame } = size(holder, ["turn 100"]);
  const used = spanColours.filter(([word]) => spans.some((span) => span.kind === word));
  const svg = Plot.plot({
    style, ...frame, marginLeft: 56, marginBottom: 44, height: 80 + Math.min(26, Math.max(9, 900 / turns.length)) * turns.length,
    x: { label: "seconds since the session began", labelAnchor: "center", labelArrow: "none", grid: true },
    y: { label: "turn", type: "band", domain: turns.map((t) => t.turn), tickFormat: (n) => (turns.length > 40 && n % 10 ? "" : n), padding: 0.25 },
    color: colours(used),
    marks: [
      // A span too short to be seen still has an edge.
      Plot.barX(spans, { x1: "from", x2: "to", y: "turn", fill: "kind", stroke: "kind", strokeWidth: 1, title: (s) => `turn ${s.turn}: ${s.name ?? s.kind} ${(s.to - s.from).toPrecision(3)} s${s.kind === "failed tool" ? ", failed" : ""}` }),
    ],
  });
  return { svg, legend: legend(used) };
}

const tokenColours = [["prompt", "var(--idle)"], ["answer", "var(--link)"], ["reasoning", "var(--violet)"]];

// turns: {turn, in, out, reasoning}: tokens of each turn.
export function turnTokensFigure(holder, { turns }) {
  const parts = turns.flatMap((t) => [["prompt", t.in], ["answer", t.out], ["reasoning", t.reasoning]].map(([kind, tokens]) => ({ turn: t.turn, kind, tokens: Math.max(0, tokens) })));
  const { frame } = size(holder, [""]);
  const used = tokenColours.filter(([word]) => parts.some((p) => p.kind === word && p.tokens > 0));
  const svg = Plot.plot({
    style, ...frame, marginLeft: 56, marginBottom: 40, height: 230,
    x: { label: "turn", type: "band", domain: turns.map((t) => t.turn), tickFormat: (n) => (turns.length > 24 && n % 10 ? "" : n), padding: 0.2 },
    y: { label: "tokens", grid: true, tickFormat: "~s" },
    color: colours(used),
    marks: [Plot.barY(parts, { x: "turn", y: "tokens", fill: "kind", order: tokenColours.map(([word]) => word), title: (p) => `turn ${p.turn}: ${p.tokens} tokens, ${p.kind}` }), Plot.ruleY([0])],
  });
  return { svg, legend: legend(used) };
}

export const trajectoryFigures = { blocks: blocksFigure, timeline: timelineFigure, "turn-tokens": turnTokensFigure };
