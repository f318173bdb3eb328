// Arrows next to a listing: from a row that stalls to the row that it waits for.

import { svg } from "./dom.js";
import { grouped } from "./figures.js";

const MOST = 8;
const WIDTH = 44; // of the column that they are drawn in
const LANES = 5;

// The blames between rows of a listing that concern `row` (or any, without one): { from, to, cycles, words }, the
// costliest first. Stalls that end in their own row are left out.
export function blamesOf(listing, row) {
  const { profile } = listing;
  const { blames } = profile.tables;
  const terms = profile.terms;
  const [stalled, cause, cycles] = [blames.column("instruction"), blames.column("cause"), blames.column("cycles")];
  const found = new Map();
  for (let blame = 0; blame < blames.n; blame += 1) {
    const [from] = listing.byInstruction.get(stalled[blame]) ?? [];
    const [to] = listing.byInstruction.get(cause[blame]) ?? [];
    if (!from || !to || from === to || (row && from !== row && to !== row)) continue;
    if (!found.has(from)) found.set(from, new Map());
    const entry = found.get(from).get(to) ?? { from, to, cycles: 0, words: new Map() };
    entry.cycles += cycles[blame];
    const word = `${terms.get("name", blames.column("term")[blame])}: ${blames.get("ending", blame)}`;
    entry.words.set(word, (entry.words.get(word) ?? 0) + cycles[blame]);
    found.get(from).set(to, entry);
  }
  const all = [...found.values()].flatMap((others) => [...others.values()]);
  return all.sort((a, b) => b.cycles - a.cycles);
}

// A picture next to the rows, as high as all of them. `placeOf(row)`: the number of the line that it is shown in.
export function arrowsOf(listing, row, placeOf, nLines, rowHeight) {
  const blames = blamesOf(listing, row).slice(0, MOST);
  const most = Math.max(1, ...blames.map((blame) => blame.cycles));
  const middle = (each) => (placeOf(each) + 0.5) * rowHeight;
  const paths = blames
    .filter((blame) => placeOf(blame.from) !== placeOf(blame.to))
    .map(({ from, to, cycles, words }, number) => {
      const [y, end] = [middle(from), middle(to)];
      const bend = WIDTH - 10 - (number % LANES) * ((WIDTH - 14) / LANES);
      const x = WIDTH - 4;
      const how = [...words].sort((a, b) => b[1] - a[1]).map(([word]) => word);
      return svg(
        "g",
        { class: row && to === row ? "arrow cause" : "arrow" },
        svg("title", {}, `${from.place} waits for ${to.place}: ${grouped(cycles)} warp-cycles (${how.slice(0, 2).join("; ")})`),
        svg("path", { d: `M ${x} ${y} C ${x - bend} ${y}, ${x - bend} ${end}, ${x - 5} ${end}`, "stroke-width": 1 + (3 * cycles) / most }),
        svg("path", { class: "tip", d: `M ${x} ${end} l -8 -4 l 0 8 z` }),
      );
    });
  const height = nLines * rowHeight;
  return svg("svg", { class: "arrows", width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}`, "aria-hidden": "true" }, ...paths);
}
