// Colour in code and the difference between two versions of it.
import hljs from "highlight.js/lib/core";
import cpp from "highlight.js/lib/languages/cpp";
import { structuredPatch } from "diff";

hljs.registerLanguage("cpp", cpp);

export function highlight() {
  for (const code of document.querySelectorAll("code.language-cpp")) hljs.highlightElement(code);
}

export function showDiffs() {
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
