// The time of a program: shares of its work, its engines, and what the GPU waited for while no kernel ran.

import { el, factList, isNarrow } from "./dom.js";
import { duration, grouped, nbytes, percent, rate } from "./figures.js";
import { hashOf } from "./place.js";

// A part of the summary; null where the profile is of no program. `table(title, options)` makes a table.
export function programSection({ tables }, table) {
  const { program, engines, waits, operations } = tables;
  if (!program.n) return null;
  const facts = new Map();
  for (const row of program.rows()) {
    const label = program.get("label", row);
    facts.set(label, [...(facts.get(label) ?? []), el("span", {}, program.get("text", row))]);
  }
  const clock = tables.chip.get("clock_mhz", 0);
  return el(
    "section",
    { class: "program" },
    el("h2", {}, "The program"),
    factList([...facts]),
    operations.n ? table("Engines", { columns: engineColumns(engines, clock), rows: engines.rows() }) : null,
    waits.n ? table("While no kernel ran", { columns: waitColumns(waits, clock), rows: waits.rows() }) : null,
    el("p", {}, el("a", { href: hashOf({ view: "timeline" }) }, "Timeline")),
  );
}

function engineColumns(engines, clock) {
  const get = (name) => (row) => engines.get(name, row);
  const number = (name, title, width, text) => ({ name, title, width, cell: (row) => text(get(name)(row)), value: get(name) });
  const columns = [
    number("busy_cycles", "busy", 9, (cycles) => duration(cycles, clock)),
    share(get),
    number("nbytes", "bytes", 9, nbytes),
    number("gbytes_per_s", "rate", 11, (speed) => rate(speed) || "-"),
    {
      name: "pinned",
      title: "pinned",
      hint: "Bytes of page-locked memory of the host.",
      width: 8,
      cell: (row) => percent(get("pinned_nbytes")(row), get("nbytes")(row)),
    },
    number("operations", "operations", 11, grouped),
  ];
  return named(columns, { name: "name", title: "engine", least: 16, cell: get("name"), value: get("name") });
}

function waitColumns(waits, clock) {
  const get = (name) => (row) => waits.get(name, row);
  const time = (name, title) => ({ name, title, width: 9, cell: (row) => duration(get(name)(row), clock), value: get(name) });
  const columns = [
    time("cycles", "time"),
    share(get),
    { name: "gaps", title: "gaps", width: 7, cell: (row) => grouped(get("gaps")(row)), value: get("gaps") },
    time("longest_cycles", "longest"),
    { name: "before", title: "before", hint: "What started after the longest.", width: 26, align: "left", cell: (row) => get("before")(row) || "-" },
  ];
  return named(columns, { name: "cause", title: "no kernel ran, for", least: 24, cell: get("cause"), value: get("cause") });
}

function share(get) {
  return { name: "share", title: "of program", width: 10, cell: (row) => percent(get("share")(row), 1) };
}

// The name last, where it has what is left of the room; on a narrow screen second, so that it is seen.
function named(columns, name) {
  columns.splice(isNarrow() ? 1 : columns.length, 0, { width: 0, align: "left", ...name });
  return columns;
}
