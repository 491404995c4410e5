// Everything a page shows is in its HTML; this script adds colour, order, diffs and figures.
import hljs from "highlight.js/lib/core";
import cpp from "highlight.js/lib/languages/cpp";
import { structuredPatch } from "diff";
import * as Plot from "@observablehq/plot";

hljs.registerLanguage("cpp", cpp);

const data = (id) => {
  const node = document.getElementById(id);
  return node ? JSON.parse(node.textContent) : null;
};

function highlight() {
  for (const code of document.querySelectorAll("code.language-cpp")) hljs.highlightElement(code);
}

const sortKey = (cell) => {
  const raw = (cell.dataset.sort ?? cell.textContent).trim();
  const number = parseFloat(raw.replace(/[,x×%]/g, ""));
  return Number.isNaN(number) ? raw.toLowerCase() : number;
};

function sortTable(table, column, descending) {
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const [x, y] = [sortKey(a.cells[column]), sortKey(b.cells[column])];
    const order = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
    return descending ? -order : order;
  });
  table.tBodies[0].append(...rows);
}

function makeSortable() {
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      button.title = "Sort by this column";
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const descending = cell.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sortTable(table, column, descending);
      });
    });
  }
}

function showDiffs() {
  for (const holder of document.querySelectorAll("[data-diff-from]")) {
    const before = document.getElementById(holder.dataset.diffFrom);
    const after = document.getElementById(holder.dataset.diffTo);
    if (!before || !after) continue;
    const patch = structuredPatch("", "", before.textContent, after.textContent, "", "", { context: 3 });
    const pre = document.createElement("pre");
    pre.className = "diff";
    for (const hunk of patch.hunks) {
      for (const line of hunk.lines) {
        const span = document.createElement("span");
        span.className = line[0] === "+" ? "add" : line[0] === "-" ? "del" : "ctx";
        span.textContent = line;
        pre.append(span);
      }
    }
    if (patch.hunks.length === 0) pre.textContent = "no change";
    holder.replaceChildren(pre);
  }
}

// A figure is as wide as its place, at least 560: below that it scrolls. Labels get the room that the longest needs.
const size = (holder, labels) => {
  const width = Math.max(560, Math.min(860, holder.clientWidth));
  const longest = Math.max(...labels.map((label) => label.length));
  return { width, marginLeft: Math.min(24 + 6.8 * longest, 0.5 * width) };
};

const style = { background: "transparent", color: "currentColor", fontSize: "12px" };

// rows: {label, model, ratio, low, high}; whiskers are 95% intervals, the axis is logarithmic.
function speedupFigure(holder, rows) {
  if (rows.length === 0) return;
  holder.prepend(Plot.plot({
    style, ...size(holder, rows.map((r) => r.label)), marginBottom: 44, height: 76 + 24 * rows.length, x: { type: "log", labelOffset: 36, label: "speedup over the seed (log scale)", grid: true, ticks: 5, tickFormat: (v) => `${v}x` },
    y: { label: null }, color: { legend: true },
    marks: [
      Plot.ruleX([1], { stroke: "currentColor", strokeDasharray: "4 3" }),
      Plot.ruleY(rows.filter((r) => r.low > 0), { x1: "low", x2: "high", y: "label", stroke: "model", strokeWidth: 1.5 }),
      Plot.dot(rows, { x: "ratio", y: "label", fill: "model", r: 4, tip: true }),
    ],
  }));
}

// shapes: {shape, ratio}: one dot a block of the timing, in log ratio.
function timingFigure(holder, rows) {
  if (rows.length === 0) return;
  holder.prepend(Plot.plot({
    style, ...size(holder, rows.map((r) => r.shape)), marginBottom: 44, height: 86 + 34 * new Set(rows.map((r) => r.shape)).size,
    x: { type: "log", labelOffset: 36, label: "seed time / kernel time, one dot a block", grid: true, tickFormat: (v) => `${v}x` }, y: { label: null },
    marks: [Plot.ruleX([1], { strokeDasharray: "4 3" }), Plot.dot(rows, { x: "ratio", y: "shape", r: 2.5, fillOpacity: 0.6, fill: "currentColor" })],
  }));
}

function figures() {
  for (const holder of document.querySelectorAll("figure[data-figure]")) {
    const rows = data(holder.dataset.source);
    if (!rows) continue;
    if (holder.dataset.figure === "speedup") speedupFigure(holder, rows);
    if (holder.dataset.figure === "timing") timingFigure(holder, rows);
  }
}

// j / k walk through the turns of a trajectory.
function turnKeys() {
  const turns = [...document.querySelectorAll("section.turn")];
  if (turns.length === 0) return;
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
    if (step === 0) return;
    const at = turns.findIndex((turn) => turn.getBoundingClientRect().top > 8);
    const current = at < 0 ? turns.length : at;
    const next = Math.min(Math.max(step > 0 ? current : current - 2, 0), turns.length - 1);
    turns[next].scrollIntoView({ block: "start" });
  });
}

// Served live, a page fetches itself when it changed and swaps <main> in place, so the reader's place stays.
function followLive() {
  const seconds = Number(document.body.dataset.refresh ?? 0);
  if (!(seconds > 0) || !location.protocol.startsWith("http")) return;
  let tag = null;
  setInterval(async () => {
    try {
      const reply = await fetch(location.href, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-cache" });
      const fresh = reply.headers.get("ETag");
      if (!reply.ok || fresh === tag) return;
      const first = tag === null;
      tag = fresh;
      if (first) return;
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const open = new Set([...document.querySelectorAll("details[open]")].map((node) => node.id));
      document.querySelector("main").replaceWith(page.querySelector("main"));
      for (const node of document.querySelectorAll("details")) if (node.id && open.has(node.id)) node.open = true;
      enhance();
    } catch {
      // The server went away with the end of the sweep; the page stays as it is.
    }
  }, seconds * 1000);
}

function enhance() {
  showDiffs();
  highlight();
  makeSortable();
  figures();
}

enhance();
turnKeys();
followLive();
