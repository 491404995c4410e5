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

function figures() {
  resized.disconnect();
  for (const holder of document.querySelectorAll("figure[data-figure]")) if (draw[holder.dataset.figure]) resized.observe(holder);
}

// Tables that are wider than the page say so, and take the arrow keys.
const overflowing = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const more = target.scrollWidth > target.clientWidth + 1;
    const before = target.previousElementSibling;
    const hint = before?.classList.contains("hint") ? before : null;
    if (more) target.tabIndex = 0;
    if (more && !hint) {
      const line = document.createElement("p");
      line.className = "hint";
      line.textContent = "Scroll sideways for the other columns \u2192";
      target.before(line);
    }
    if (!more) hint?.remove();
  }
});

function wideTables() {
  overflowing.disconnect();
  for (const holder of document.querySelectorAll(".scroll")) overflowing.observe(holder);
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

// The parts of a page that follow the run, as they came from the server.
const parts = ["header.site", "main", "footer"];
const sources = (page) => parts.map((part) => page.querySelector(part).outerHTML);

function swap(page, before) {
  const fresh = sources(page);
  const open = new Set([...document.querySelectorAll("details[open]")].map((node) => node.id));
  parts.forEach((part, i) => {
    if (fresh[i] !== before[i]) document.querySelector(part).replaceWith(page.querySelector(part));
  });
  if (fresh[1] !== before[1]) {
    for (const node of document.querySelectorAll("details")) if (node.id && open.has(node.id)) node.open = true;
    enhance();
  }
  return fresh;
}

const clock = () => new Date().toLocaleTimeString();

// Served live, a page fetches itself and swaps what changed in place, so the reader's place stays. What it cannot fetch it says.
function followLive(before) {
  const notice = document.getElementById("live");
  let seconds = Number(document.body.dataset.refresh ?? 0);
  if (!(seconds > 0) || !location.protocol.startsWith("http")) return;
  let tag = null;
  let good = clock();
  const say = (text) => {
    if (notice && notice.textContent !== text) notice.textContent = text;
    if (notice) notice.hidden = text === "";
  };
  const look = async () => {
    try {
      const reply = await fetch(location.href, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store", signal: AbortSignal.timeout(10000) });
      if (reply.status !== 304 && !reply.ok) throw new Error(`it answered ${reply.status}`);
      if (reply.status !== 304) {
        tag = reply.headers.get("ETag");
        const page = new DOMParser().parseFromString(await reply.text(), "text/html");
        before = swap(page, before);
        seconds = Number(page.body.dataset.refresh) || seconds;
      }
      good = clock();
      say("");
    } catch (error) {
      say(`No new state from the server of this page (${error.message}). The run has ended or was stopped, or the connection is cut: ` +
        `this is the state of ${good}. The last state is in the run's folder, report/index.html.`);
    }
    setTimeout(look, seconds * 1000);
  };
  setTimeout(look, seconds * 1000);
}

function enhance() {
  showDiffs();
  highlight();
  makeSortable();
  figures();
  wideTables();
}

const served = sources(document);
enhance();
turnKeys();
followLive(served);
