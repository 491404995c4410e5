// Order of tables by a column, and tables that are wider than the page.
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

export function makeSortable() {
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

export function wideTables() {
  overflowing.disconnect();
  for (const holder of document.querySelectorAll(".scroll")) overflowing.observe(holder);
}
