// Everything a page shows is in its HTML; these modules add colour, order, diffs and figures.
import { copyButtons, highlight, showDiffs } from "./code.js";
import { figures } from "./figures.js";
import { turnKeys } from "./keys.js";
import { followLive, sources } from "./live.js";
import { makeFilters, makeSortable, wideTables } from "./tables.js";

function enhance() {
  showDiffs();
  highlight();
  copyButtons();
  makeFilters();
  makeSortable();
  figures();
  wideTables();
}

const served = sources(document);
enhance();
turnKeys();
followLive(served, enhance);
