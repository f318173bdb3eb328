// Stall mixes as bars: a part for each reason, in proportion.

import { el } from "./dom.js";
import { grouped, percent } from "./figures.js";

// Numbers of `numbers` (by term) that are not zero, largest first: [term, number].
export function ranked(numbers) {
  return [...numbers.entries()].filter(([, number]) => number > 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

export function sum(numbers) {
  return numbers.reduce((all, number) => all + number, 0);
}

// A bar as wide as `fraction` of its cell. `terms`: the table of that name; `unit`: of the numbers.
export function stackedBar(numbers, fraction, terms, unit) {
  const whole = sum(numbers);
  if (!whole) return el("span", { class: "bar" });
  const parts = ranked(numbers).map(([term, number]) =>
    el("span", {
      class: `part reason-${terms.get("reason", term)}`,
      style: { "flex-grow": String(number) },
      title: `${terms.get("name", term)} ${percent(number, whole)}, ${grouped(number)} ${unit}`,
    }),
  );
  const words = ranked(numbers)
    .slice(0, 3)
    .map(([term, number]) => `${terms.get("name", term)} ${percent(number, whole)}`);
  const filled = el("span", { class: "filled", style: { width: `${100 * Math.min(1, fraction)}%` } }, ...parts);
  return el("span", { class: "bar", role: "img", "aria-label": words.join(", ") }, filled);
}

// The terms of `numbers` and how bars show them, largest first.
export function legend(numbers, terms) {
  const entries = ranked(numbers).map(([term]) =>
    el(
      "li",
      { title: `${terms.get("text", term)} ${terms.get("advice", term)}` },
      el("span", { class: `swatch reason-${terms.get("reason", term)}` }),
      terms.get("name", term),
    ),
  );
  return el("ul", { class: "legend", "aria-label": "Stall reasons" }, ...entries);
}
