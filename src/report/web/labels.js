// Names beside dots, where they cover neither a dot nor each other.

const sides = [[9, -9, "start"], [-9, -9, "end"], [9, 10, "start"], [-9, 10, "end"], [0, -13, "middle"], [0, 14, "middle"]];
const starts = { start: 0, end: -1, middle: -0.5 };
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// dots: {x, y, name}, in pixels, those first that need their name most. Gives a place each, {dx, dy, anchor}, or null where there is none left.
export function nameDots(dots, { left, right, top, bottom }) {
  const taken = dots.map(({ x, y }) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
  return dots.map(({ x, y, name }) => {
    const wide = 6.8 * name.length;
    for (const [dx, dy, anchor] of sides) {
      const from = x + dx + starts[anchor] * wide;
      const box = { left: from, right: from + wide, top: y + dy - 7, bottom: y + dy + 7 };
      if (box.left < left || box.right > right || box.top < top || box.bottom > bottom || taken.some((other) => meet(box, other))) continue;
      taken.push(box);
      return { dx, dy, anchor };
    }
    return null;
  });
}
