// How long the stalls of a line are: a bar for each doubling of the length.

import { el } from "./dom.js";
import { grouped } from "./figures.js";

const HEIGHT = 56;

// The stalls of instructions by term: { stalls, longest, lengths: Map from the least cycles of a bin to stalls }.
export function stallsOf(profile, instructions) {
  const { stalls, lengths } = profile.tables;
  profile.stallRows ??= stalls.rowsBy("instruction");
  profile.lengthRows ??= lengths.rowsBy("instruction");
  const found = new Map();
  const at = (term) => {
    if (!found.has(term)) found.set(term, { stalls: 0, longest: 0, lengths: new Map() });
    return found.get(term);
  };
  for (const instruction of instructions) {
    for (const row of profile.stallRows.get(instruction) ?? []) {
      const entry = at(stalls.column("term")[row]);
      entry.stalls += stalls.column("stalls")[row];
      entry.longest = Math.max(entry.longest, stalls.column("longest_cycles")[row]);
    }
    for (const row of profile.lengthRows.get(instruction) ?? []) {
      const bins = at(lengths.column("term")[row]).lengths;
      const least = lengths.column("least_cycles")[row];
      bins.set(least, (bins.get(least) ?? 0) + lengths.column("stalls")[row]);
    }
  }
  return found;
}

export function rangeOf(least) {
  return least === 1 ? "1" : `${grouped(least)}-${grouped(2 * least - 1)}`;
}

// `reason`: Nsight Compute's name of the reason whose colour the bars have.
export function histogram(lengths, reason) {
  const bins = [...lengths.keys()].sort((a, b) => a - b);
  if (!bins.length) return el("p", { class: "dim" }, "The recording does not say how long they are.");
  const most = Math.max(...lengths.values());
  const bars = [];
  for (let least = Math.min(1, bins[0]) || 1; least <= bins[bins.length - 1]; least *= 2) {
    const stalls = lengths.get(least) ?? 0;
    const text = `${grouped(stalls)} stalls of ${rangeOf(least)} cycles`;
    const height = stalls ? Math.max(2, (HEIGHT * stalls) / most) : 0;
    bars.push(
      el(
        "span",
        { class: "bin", title: text },
        el("span", { class: `column reason-${reason}`, style: { height: `${height}px` } }),
        el("span", { class: "least" }, least < 1024 ? String(least) : `${least / 1024}K`),
      ),
    );
  }
  const words = bins.map((least) => `${grouped(lengths.get(least))} of ${rangeOf(least)} cycles`);
  return el("div", { class: "histogram", role: "img", "aria-label": `Stalls by length: ${words.join(", ")}` }, ...bars);
}
