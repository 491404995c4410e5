// Figures: drawn from the data that stands beside them in the page, again whenever their place has another width.
import { downloads } from "./download.js";
import { effortFigures } from "./figures_effort.js";
import { outcomeFigures } from "./figures_outcome.js";
import { speedFigures } from "./figures_speed.js";
import { trajectoryFigures } from "./trajectory.js";

const draw = { ...outcomeFigures, ...speedFigures, ...effortFigures, ...trajectoryFigures };
const drawn = new WeakMap(); // figure -> {svg, legend}

const dataOf = (figure) => {
  const node = document.getElementById(figure.dataset.source ?? `${figure.id}-data`);
  return node ? JSON.parse(node.textContent) : null;
};

// What the colours and dashes mean. Swatches are presentation: the words say it.
function legendList(legend) {
  const list = document.createElement("ul");
  list.className = "legend";
  for (const { label, colour, dash } of legend) {
    const item = document.createElement("li");
    const swatch = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    swatch.setAttribute("viewBox", "0 0 22 10");
    swatch.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [key, value] of Object.entries({ x1: 1, x2: 21, y1: 5, y2: 5, stroke: colour, "stroke-width": dash ? 2.5 : 8, "stroke-dasharray": dash ?? "none" }))
      line.setAttribute(key, value);
    swatch.append(line);
    item.append(swatch, label);
    list.append(item);
  }
  return list;
}

function show(figure, data) {
  const made = draw[figure.dataset.figure](figure, data);
  const { svg, legend } = made.svg ? made : { svg: made, legend: [] };
  // Plot brings a style element; the page's policy forbids inline styles and chart.css says the same.
  for (const node of [svg, ...svg.querySelectorAll("svg")]) for (const sheet of node.querySelectorAll("style")) sheet.remove();
  // The picture has one name; Plot's names of its marks would be read inside it.
  for (const mark of svg.querySelectorAll("[aria-label]")) mark.removeAttribute("aria-label");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", data.title ? `${data.title} The numbers are in the table below.` : "Figure");
  const plot = document.createElement("div");
  plot.className = "plot";
  if (legend.length > 0) plot.append(legendList(legend));
  plot.append(svg);
  figure.querySelector(":scope > .plot")?.remove();
  const caption = figure.querySelector(":scope > figcaption");
  if (figure.classList.contains("chart")) caption.after(plot);
  else figure.prepend(plot);
  // What scrolls must be reached by the keyboard too.
  if (plot.scrollWidth > plot.clientWidth) {
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", "Figure, wider than its place: scrolls sideways");
  }
  drawn.set(figure, { svg, legend });
  if (data.csv !== undefined && !figure.querySelector(":scope > .downloads")) plot.after(downloads(figure.dataset.figure, data, () => drawn.get(figure)));
}

const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const width = Math.floor(target.clientWidth);
    const data = dataOf(target);
    if (width === 0 || Number(target.dataset.drawn) === width || !data || data.length === 0) continue;
    target.dataset.drawn = width;
    show(target, data);
  }
});

export function figures() {
  resized.disconnect();
  for (const figure of document.querySelectorAll("figure[data-figure]")) if (draw[figure.dataset.figure]) resized.observe(figure);
}
