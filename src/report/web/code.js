// Colour in code, the difference between two versions of it, and a button that copies it.
import hljs from "highlight.js/lib/core";
import cpp from "highlight.js/lib/languages/cpp";
import { structuredPatch } from "diff";

hljs.registerLanguage("cpp", cpp);

// Longer texts stay without colour, and versions that differ in more lines than this are not compared.
const mostColoured = 200000;
const mostEdits = 4000;

export function highlight() {
  for (const code of document.querySelectorAll("code.language-cpp:not([data-highlighted])"))
    if (code.textContent.length <= mostColoured) hljs.highlightElement(code);
}

function diffOf(before, after) {
  const pre = document.createElement("pre");
  pre.className = "diff";
  const patch = structuredPatch("", "", before, after, "", "", { context: 3, maxEditLength: mostEdits, timeout: 500 });
  if (!patch) pre.textContent = "The versions have too little in common to be compared here.";
  else if (patch.hunks.length === 0) pre.textContent = "no change";
  for (const [i, hunk] of (patch?.hunks ?? []).entries()) {
    const lines = i > 0 ? ["…", ...hunk.lines] : hunk.lines;
    for (const line of lines) {
      const span = document.createElement("span");
      span.className = line[0] === "+" ? "add" : line[0] === "-" ? "del" : "ctx";
      span.textContent = line;
      pre.append(span);
    }
  }
  return pre;
}

export function showDiffs() {
  for (const holder of document.querySelectorAll("[data-diff-from]")) {
    const before = document.getElementById(holder.dataset.diffFrom);
    const after = document.getElementById(holder.dataset.diffTo);
    if (before && after) holder.replaceChildren(diffOf(before.textContent, after.textContent));
  }
}

function copyButton(source) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy-button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return button;
}

// A button beside each code block and command.
export function copyButtons() {
  for (const code of document.querySelectorAll("pre > code[id], code.copy")) {
    const place = code.classList.contains("copy") ? code : code.parentElement;
    if (!place.nextElementSibling?.classList.contains("copy-button")) place.after(copyButton(code));
  }
}
