// Order of tables by a column, filters of their rows, and tables that are wider than the page. What the reader chose is kept
// for this tab, so that it is there after a reload and when the page follows a run.
const kept = (key, value) => {
  const name = `sweep ${location.pathname} ${key}`;
  try {
    if (value === undefined) return JSON.parse(sessionStorage.getItem(name));
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // A browser without storage for files: nothing is kept.
  }
  return null;
};

const sortKey = (cell) => {
  const raw = (cell?.dataset.sort ?? cell?.textContent ?? "").trim();
  const number = parseFloat(raw.replace(/[,x×%$]/g, ""));
  return Number.isNaN(number) ? raw.toLowerCase() : number;
};

// Numbers before texts, and cells without a value last, whichever way.
const rank = (key) => (key === "" || key === "—" ? 2 : typeof key === "number" ? 0 : 1);

function sortTable(table, column, descending) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, key: sortKey(row.cells[column]) }));
  rows.sort((a, b) => {
    if (rank(a.key) !== rank(b.key)) return rank(a.key) - rank(b.key);
    const order = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
    return descending ? -order : order;
  });
  body.append(...rows.map(({ row }) => row));
  const heads = table.tHead.rows[0].cells;
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", descending ? "descending" : "ascending");
}

export function makeSortable() {
  for (const table of document.querySelectorAll("table.sortable")) {
    if (!table.tHead || table.tBodies[0].rows.length < 2) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.title = "Sort by this column";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        sortTable(table, column, descending);
        kept(`sort ${table.id}`, { column, descending });
      });
    });
    const choice = kept(`sort ${table.id}`);
    if (choice && choice.column < heads.length) sortTable(table, choice.column, choice.descending);
  }
}

// What a filter looks at in a row: the text of a cell, or the part of it before the first slash.
const cellValue = (row, { column, prefix }) => {
  const text = row.cells[column].textContent.trim();
  return prefix ? text.split("/")[0] : text;
};

// The choices of a filtered column: its distinct values, most frequent first.
function valuesOf(rows, filter) {
  const counts = new Map();
  for (const row of rows) {
    const value = cellValue(row, filter);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function labelled(words, control) {
  const label = document.createElement("label");
  label.append(words, " ", control);
  return label;
}

function selectOf(rows, filter) {
  const select = document.createElement("select");
  select.append(new Option("all", ""));
  for (const [value, count] of valuesOf(rows, filter)) select.append(new Option(`${value} (${count})`, value));
  return select;
}

// Shows the rows that meet every choice, and says how many they are.
function apply(rows, controls, said, total) {
  const words = controls.text.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = controls.columns.filter(({ select }) => select.value !== "");
  let shown = 0;
  for (const row of rows) {
    const fits = chosen.every((filter) => cellValue(row, filter) === filter.select.value);
    const text = fits && words.length ? row.textContent.toLowerCase() : "";
    row.hidden = !fits || !words.every((word) => text.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  said.textContent = shown === total ? `${total} rows` : `${shown} of ${total} rows`;
}

// A holder with data-filter="KEY KEY:NAME" gives its table a choice for each of these columns (th data-key), and a field for
// words. KEY:NAME chooses by what stands before the first slash, under that name.
export function makeFilters() {
  for (const holder of document.querySelectorAll("[data-filter]")) {
    const table = holder.querySelector("table");
    const rows = [...table.tBodies[0].rows];
    const heads = [...table.tHead.rows[0].cells];
    const form = document.createElement("form");
    form.className = "filters";
    form.setAttribute("role", "search");
    form.setAttribute("aria-label", "Filter of the table below");
    const columns = holder.dataset.filter.split(" ").flatMap((spec) => {
      const [key, prefix] = spec.split(":");
      const column = heads.findIndex((head) => head.dataset.key === key);
      if (column < 0) return [];
      const filter = { key: spec, column, prefix };
      filter.select = selectOf(rows, filter);
      if (filter.select.options.length <= 2) return [];
      form.append(labelled(prefix ?? heads[column].textContent, filter.select));
      return [filter];
    });
    const text = document.createElement("input");
    text.type = "search";
    const reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = "Show all";
    const said = document.createElement("span");
    said.className = "meta";
    said.setAttribute("role", "status");
    form.append(labelled("text", text), reset, said);
    const controls = { columns, text };
    const update = () => {
      apply(rows, controls, said, rows.length);
      kept(`filter ${table.id}`, { text: text.value, ...Object.fromEntries(columns.map((c) => [c.key, c.select.value])) });
    };
    const choice = kept(`filter ${table.id}`) ?? {};
    text.value = choice.text ?? "";
    for (const { key, select } of columns) select.value = [...select.options].some((o) => o.value === choice[key]) ? choice[key] : "";
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    reset.addEventListener("click", () => {
      text.value = "";
      for (const { select } of columns) select.value = "";
      update();
    });
    holder.prepend(form);
    apply(rows, controls, said, rows.length);
  }
}

// Tables that are wider than the page say so, and take the arrow keys.
const overflowing = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const more = target.scrollWidth > target.clientWidth + 1;
    const before = target.previousElementSibling;
    const hint = before?.classList.contains("hint") ? before : null;
    if (more) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
    if (more && !hint) {
      const line = document.createElement("p");
      line.className = "hint";
      line.textContent = "Scroll sideways for the other columns \u2192";
      target.before(line);
    }
    if (!more) hint?.remove();
  }
});

export function wideTables() {
  overflowing.disconnect();
  for (const holder of document.querySelectorAll(".scroll, pre")) {
    if (holder.matches("pre")) holder.tabIndex = 0;
    else overflowing.observe(holder);
  }
}
