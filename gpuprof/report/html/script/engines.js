// The engines of a program: copies, fills and functions of the host in lanes, and the times in which no kernel ran.

import { firstAt, inLanes } from "./lanes.js";
import { duration, grouped, nbytes, percent, rate } from "./figures.js";

export const FAULTS = "page faults"; // a kind of task
export const FAULT_COLOUR = "#f0e442"; // the last of Okabe and Ito's, which no kernel has
const SHORT = { "copy engine in": "copy in", "copy engine out": "copy out", host: "host fn" };

export class Engines {
  // `tables`: of the profile; `rowOf`: task -> row of the tasks
  constructor({ engines, operations, waits, gaps, chip }, rowOf) {
    Object.assign(this, { engines, operations, waits, gaps });
    this.clock = chip.get("clock_mhz", 0);
    this.taskRows = Int32Array.from(operations.column("task"), rowOf);
    this.byTask = new Map(Array.from(this.taskRows, (row, operation) => [row, operation]));
    this.gapBegins = Float64Array.from(gaps.column("start_cycle"));
    this.gapEnds = Float64Array.from(gaps.column("end_cycle"));
  }

  get isThere() {
    return this.gaps.n > 0 || this.operations.n > 0;
  }

  // Rows as rowsOfTasks has them, one for each engine.
  rows() {
    const [engine, begins, ends] = ["engine", "start_cycle", "end_cycle"].map((name) => this.operations.column(name));
    const names = this.engines.rows().map((row) => this.engines.get("name", row));
    const found = names.map((name) => ({ name: nameOf(name), short: SHORT[name] ?? name, entries: [] }));
    this.taskRows.forEach((row, at) => row >= 0 && found[engine[at]].entries.push([row, begins[at], ends[at]]));
    return found.map(({ entries, ...names }) => ({ ...names, lanes: inLanes(entries) })).filter(({ lanes }) => lanes.length);
  }

  // What there is to say of a task that an engine carried out; "" of others.
  told(row) {
    const operation = this.byTask.get(row);
    if (operation === undefined) return "";
    const get = (name) => this.operations.get(name, operation);
    const moved = get("nbytes") ? `${nbytes(get("nbytes"))}${rate(get("gbytes_per_s"), " at ")}` : "";
    const parts = [`by ${nameOf(this.engines.get("name", get("engine")))}`, moved, get("memory"), `stream ${get("stream")}`];
    return [...parts, get("is_node") ? "a node of a graph" : ""].filter(Boolean).join(", ");
  }

  // The text in the rectangle of a task, in an engine's lane.
  label(row, kind, name) {
    const operation = this.byTask.get(row);
    const get = (column) => this.operations.get(column, operation);
    const words = kind === FAULTS && !name.includes(FAULTS) ? `${FAULTS}: ${name}` : name;
    return [words, get("nbytes") ? nbytes(get("nbytes")) : "", rate(get("gbytes_per_s"))].filter(Boolean).join(", ");
  }

  // The gap at a cycle, or near to it; -1 none.
  gapAt(cycle, reach) {
    const at = firstAt(this.gapEnds, cycle - reach);
    return at < this.gaps.n && this.gapBegins[at] <= cycle + reach ? at : -1;
  }

  cause(gap) {
    return this.waits.get("cause", this.gaps.column("wait")[gap]);
  }

  gapText(gap) {
    const [begin, end] = [this.gapBegins[gap], this.gapEnds[gap]];
    const next = this.gaps.get("next", gap);
    const time = duration(end - begin, this.clock);
    return `no kernel, for ${this.cause(gap)}: cycles ${grouped(begin)} to ${grouped(end)}${time ? `, ${time}` : ""}${next ? `, before ${next}` : ""}`;
  }

  // Of the time from one cycle to another: how busy each engine was, and what the GPU waited for, most first.
  shares(from, to) {
    const inside = (begin, end) => Math.max(0, Math.min(end, to) - Math.max(begin, from));
    const [busy, idle] = [this.engines, this.waits].map((table) => new Float64Array(table.n));
    const { operations, gaps } = this;
    const [engine, begins, ends, wait] = [...["engine", "start_cycle", "end_cycle"].map((name) => operations.column(name)), gaps.column("wait")];
    for (let row = 0; row < operations.n; row += 1) busy[engine[row]] += inside(begins[row], ends[row]);
    for (let row = 0; row < gaps.n; row += 1) idle[wait[row]] += inside(this.gapBegins[row], this.gapEnds[row]);
    const ranked = (table, name, values) =>
      table
        .rows()
        .filter((row) => values[row] > 0)
        .sort((a, b) => values[b] - values[a])
        .map((row) => [table.get(name, row), percent(values[row], to - from)]);
    return { busy: ranked(this.engines, "name", busy).map(([name, share]) => [nameOf(name), share]), idle: ranked(this.waits, "cause", idle) };
  }
}

// "host" and "memory" are the names of other rows, too.
function nameOf(engine) {
  return engine.includes("engine") ? engine : `${engine} engine`;
}
