// Colours and dashes of figures. Every colour is a variable of the style sheet, so that a figure follows light and dark.
export const marks = {
  faster: "var(--good)", equivalent: "var(--ink)", slower: "var(--warn)", inconclusive: "var(--soft)", unstable: "var(--soft)",
  failed: "var(--bad)", rejected: "var(--violet)", open: "var(--idle)", range: "var(--link)",
};

// Series differ by colour and by dash, so that they can be told apart without colour.
export const seriesColour = (i) => `var(--series-${(i % 8) + 1})`;
export const seriesDash = (i) => ["none", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "1 2", "6 2 1 2 1 2"][i % 8];

// Names may be anything: at most so many characters, the rest in the table; marks that turn the text around become U+FFFD.
export const short = (name, most = 36) => {
  const letters = [...name.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\u0000-\u001f]/g, "\ufffd")];
  return letters.length <= most ? letters.join("") : letters.slice(0, most - 1).join("") + "\u2026";
};

export const percent = (share) => `${Number((100 * share).toPrecision(3))}%`;
export const count = (value) => {
  for (const [unit, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (value >= unit) return `${Number((value / unit).toPrecision(3))}${name}`;
  return `${Number(value.toPrecision(3))}`;
};

// " [40%, 60%]", or nothing where there is no interval.
export const range = (low, high, show) => (low === null || low === undefined ? "" : ` [${show(low)}, ${show(high)}]`);
