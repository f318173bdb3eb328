// Blocks of the graphics pipeline over time: how much of a unit was at work, how many waves of a stage were in flight.

import { grouped } from "./figures.js";
import { firstAt } from "./lanes.js";

export class Pipeline {
  constructor({ draw_lanes: lanes, draw_blocks: spans, draws }) {
    this.spans = spans;
    this.draws = draws;
    this.blocks = blocksOf(lanes);
    this.first = this.blocks.reduce((least, { begins }) => Math.min(least, begins[0]), Infinity);
    // a draw ends when memory has answered its last block
    const ends = [...this.blocks.map((block) => block.ends.at(-1)), ...draws.column("end_cycle")];
    this.last = ends.reduce((most, end) => Math.max(most, end), 0);
  }

  get isThere() {
    return this.blocks.length > 0;
  }

  // Rows of `draws` that are in a block at a cycle, or up to `reach` cycles before or after it.
  drawsAt({ name }, cycle, reach = 0) {
    this.byBlock ??= byText(this.spans, "block");
    const [firsts, lasts, draws] = ["first_cycle", "last_cycle", "draw"].map((column) => this.spans.column(column));
    const rows = this.byBlock.get(name) ?? [];
    return rows.filter((row) => firsts[row] <= cycle + reach && lasts[row] >= cycle - reach).map((row) => draws[row]);
  }

  // The row of `draws` whose task this is; -1 none.
  drawOf(task) {
    return task < 0 ? -1 : this.draws.column("task").indexOf(task);
  }

  // Rows of `draw_blocks` of a row of `draws`.
  spansOf(draw) {
    this.byDraw ??= this.spans.rowsBy("draw");
    return this.byDraw.get(draw) ?? [];
  }
}

// In the order of the rows: { name, isStage, begins, ends, amounts, before, most }; `before`: what was done until a begin.
function blocksOf(lanes) {
  return [...byText(lanes, "block")].map(([name, rows]) => {
    const [begins, ends, amounts] = ["begin_cycle", "end_cycle", "amount"].map((column) => {
      const values = lanes.column(column);
      return Float64Array.from(rows, (row) => values[row]);
    });
    const before = new Float64Array(rows.length);
    for (let at = 1; at < rows.length; at += 1) before[at] = before[at - 1] + amounts[at - 1] * (ends[at - 1] - begins[at - 1]);
    return { name, isStage: lanes.get("is_stage", rows[0]) === 1, begins, ends, amounts, before, most: amounts.reduce((a, b) => Math.max(a, b), 0) };
  });
}

function byText(table, column) {
  const found = new Map();
  for (const [text, rows] of table.rowsBy(column)) found.set(table.texts[text], rows);
  return found;
}

// The mean amount in each of `n` equal parts of the time.
export function inParts({ begins, ends, amounts, before }, from, to, n) {
  const found = new Float64Array(n);
  const step = (to - from) / n;
  let at = firstAt(ends, from);
  const until = (cycle) => {
    while (at < ends.length && ends[at] < cycle) at += 1;
    if (at === ends.length) return at ? before[at - 1] + amounts[at - 1] * (ends[at - 1] - begins[at - 1]) : 0;
    return before[at] + amounts[at] * Math.max(0, cycle - begins[at]);
  };
  let reached = until(from);
  for (let part = 0; part < n; part += 1) {
    const next = until(from + (part + 1) * step);
    found[part] = (next - reached) / step;
    reached = next;
  }
  return found;
}

// A unit's lane is full at 100%, a stage's at the most waves that there were.
export function fullOf({ isStage, most }) {
  return isStage ? most : 1;
}

export function amountText({ isStage }, amount) {
  if (!isStage) return `${Math.round(100 * amount)}% busy`;
  const waves = amount < 10 ? Number(amount.toFixed(1)) : grouped(Math.round(amount));
  return `${waves} ${waves === 1 ? "wave" : "waves"}`;
}
