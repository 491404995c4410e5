// Where the reader is in a page: what is open, sorted, typed, focused and in view, so that it can be put back after new content.
const all = (selector) => [...document.querySelectorAll(selector)];

// Names an element by its id, or by its place in the nearest element with one.
function pathOf(node) {
  const steps = [];
  for (let at = node; at && at !== document.body; at = at.parentElement) {
    if (at.id) return `#${CSS.escape(at.id)}${steps.map((n) => `>:nth-child(${n})`).join("")}`;
    steps.unshift([...at.parentElement.children].indexOf(at) + 1);
  }
  return `body${steps.map((n) => `>:nth-child(${n})`).join("")}`;
}

// The first element with an id that is in view, and how far from the top.
function anchor() {
  for (const node of all("main [id]")) {
    const { top, bottom } = node.getBoundingClientRect();
    if (bottom > 0 && top < innerHeight && bottom > top) return { id: node.id, top };
  }
  return null;
}

const controls = "main input, main select, main textarea";
const valueOf = (node) => (node.type === "checkbox" || node.type === "radio" ? node.checked : node.value);

function sorted(table) {
  const column = [...(table.tHead?.rows[0]?.cells ?? [])].findIndex((cell) => cell.hasAttribute("aria-sort"));
  return column < 0 ? null : { table: pathOf(table), column, order: table.tHead.rows[0].cells[column].getAttribute("aria-sort") };
}

function focused() {
  const node = document.activeElement;
  if (!node || node === document.body || !node.closest("main")) return null;
  const selection = typeof node.selectionStart === "number" ? [node.selectionStart, node.selectionEnd] : null;
  return { path: pathOf(node), selection };
}

export function rememberPlace() {
  return {
    folds: new Map(all("details[id]").map((node) => [node.id, node.open])),
    sorts: all("main table").map(sorted).filter((sort) => sort !== null),
    values: all(controls).filter((node) => node.id || node.name).map((node) => [pathOf(node), valueOf(node)]),
    scrolls: all("main *").filter((node) => node.scrollLeft > 0 || node.scrollTop > 0)
      .map((node) => [pathOf(node), node.scrollLeft, node.scrollTop]),
    focus: focused(),
    anchor: anchor(),
    page: [scrollX, scrollY],
  };
}

export function restorePlace(place) {
  for (const node of all("details[id]")) if (place.folds.has(node.id)) node.open = place.folds.get(node.id);
  for (const { table, column, order } of place.sorts) {
    const cell = document.querySelector(table)?.tHead?.rows[0]?.cells[column];
    for (let i = 0; cell && i < 2 && cell.getAttribute("aria-sort") !== order; i += 1) (cell.querySelector("button") ?? cell).click();
  }
  for (const [path, value] of place.values) {
    const node = document.querySelector(path);
    if (!node || valueOf(node) === value) continue;
    if (typeof value === "boolean") node.checked = value;
    else node.value = value;
    for (const type of ["input", "change"]) node.dispatchEvent(new Event(type, { bubbles: true }));
  }
  for (const [path, left, top] of place.scrolls) document.querySelector(path)?.scrollTo({ left, top, behavior: "instant" });
  const now = place.anchor && document.getElementById(place.anchor.id);
  if (now) scrollBy({ left: place.page[0] - scrollX, top: now.getBoundingClientRect().top - place.anchor.top, behavior: "instant" });
  else scrollTo({ left: place.page[0], top: place.page[1], behavior: "instant" });
  const node = place.focus && document.querySelector(place.focus.path);
  if (!node) return;
  node.focus({ preventScroll: true });
  if (place.focus.selection && typeof node.setSelectionRange === "function") node.setSelectionRange(...place.focus.selection);
}
