// A figure as a file of its own: SVG with its title, legend and caption in the light colours, or its table as CSV.
const namespace = "http://www.w3.org/2000/svg";

// Works from disk too: a blob is no request, and "download" no navigation, so the page's policy has nothing to allow.
function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// The light colours, whatever the reader's scheme: data-paper turns the dark ones off while they are read.
function paperColours() {
  const root = document.documentElement;
  root.dataset.paper = "";
  const computed = getComputedStyle(root);
  const colour = (name) => computed.getPropertyValue(name).trim();
  const known = new Map();
  const resolve = (value) =>
    value.replace(/var\((--[\w-]+)(?:,[^)]*)?\)/g, (whole, name) => {
      if (!known.has(name)) known.set(name, colour(name));
      return known.get(name) || whole;
    }).replace(/currentColor/g, known.get("--ink") ?? colour("--ink"));
  for (const name of ["--ink", "--soft", "--panel"]) known.set(name, colour(name));
  return { resolve, done: () => delete root.dataset.paper };
}

const element = (name, attributes, text) => {
  const node = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
};

// Lines of at most `most` characters, broken at blanks.
function wrap(text, most) {
  const lines = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line && line.length + 1 + word.length > most) {
      lines.push(line);
      line = "";
    }
    line += (line ? " " : "") + word;
  }
  return line ? [...lines, line] : lines;
}

function legendOf(legend, width, top) {
  const group = element("g", { "font-size": 12 });
  let [x, y] = [8, top];
  for (const { label, colour, dash } of legend) {
    const room = 40 + 6.8 * label.length;
    if (x > 8 && x + room > width) [x, y] = [8, y + 18];
    group.append(element("line", { x1: x, x2: x + 20, y1: y - 4, y2: y - 4, stroke: colour, "stroke-width": dash ? 2.5 : 8, "stroke-dasharray": dash ?? "none" }));
    group.append(element("text", { x: x + 26, y, fill: "var(--ink)" }, label));
    x += room;
  }
  return { group, bottom: legend.length ? y + 10 : top - 12 };
}

export function standalone(plot, legend, data) {
  const width = Number(plot.getAttribute("width"));
  const height = Number(plot.getAttribute("height"));
  const out = element("svg", { xmlns: namespace, width, "font-family": "system-ui, sans-serif", role: "img" });
  out.append(element("title", {}, data.title), element("desc", {}, data.caption));
  const background = element("rect", { width, fill: "#fff" });
  out.append(background, element("text", { x: 8, y: 22, "font-size": 15, "font-weight": 600, fill: "var(--ink)" }, data.title));
  const key = legendOf(legend, width, 44);
  out.append(key.group);
  const copy = plot.cloneNode(true);
  copy.removeAttribute("style");
  copy.removeAttribute("class");
  copy.setAttribute("font-size", 12);
  copy.setAttribute("y", key.bottom);
  for (const node of copy.querySelectorAll("style, [aria-label=tip]")) node.remove();
  out.append(copy);
  let y = key.bottom + height + 16;
  for (const line of wrap(data.caption, Math.floor(width / 5.7))) {
    out.append(element("text", { x: 8, y, "font-size": 11, fill: "var(--soft)" }, line));
    y += 15;
  }
  for (const node of [out, background]) node.setAttribute("height", y + 4);
  out.setAttribute("viewBox", `0 0 ${width} ${y + 4}`);
  const { resolve, done } = paperColours();
  for (const node of [out, ...out.querySelectorAll("*")])
    for (const { name, value } of [...node.attributes]) if (/var\(|currentColor/.test(value)) node.setAttribute(name, resolve(value));
  done();
  return new XMLSerializer().serializeToString(out);
}

function button(words, label, act) {
  const node = document.createElement("button");
  node.type = "button";
  node.textContent = words;
  node.setAttribute("aria-label", label);
  node.addEventListener("click", act);
  return node;
}

// `drawn` gives what is on the page now: {svg, legend}.
export function downloads(name, data, drawn) {
  const bar = document.createElement("div");
  bar.className = "downloads";
  const svg = () => {
    const now = drawn();
    if (now) save(`${name}.svg`, "image/svg+xml", standalone(now.svg, now.legend, data));
  };
  bar.append(button("SVG", `Download as SVG: ${data.title}`, svg));
  bar.append(button("CSV", `Download as CSV: ${data.title}`, () => save(`${name}.csv`, "text/csv", data.csv)));
  return bar;
}
