// Details of the selected rows: reasons, lengths of stalls, what is waited for, counters.

import { ranked, stackedBar, sum } from "./bars.js";
import { el } from "./dom.js";
import { compact, grouped, percent } from "./figures.js";
import { findingList, findingsOf } from "./findings.js";
import { histogram, stallsOf } from "./histogram.js";

const MOST_CAUSES = 8;
const COUNTER_TITLES = {
  inst_executed: "instructions executed",
  thread_inst_executed: "by threads",
  divergent_branches: "divergent branches",
  l2_sectors_global: "sectors of global memory",
  l2_sectors_global_ideal: "of these needed",
  l2_sectors_local: "sectors of local memory",
  l1_wavefronts_shared: "passes of shared memory",
  l1_wavefronts_shared_ideal: "of these needed",
};

// `row`: of a Listing; `whole`: the kernel's numbers; `goTo(instruction)` selects what belongs to an instruction.
export function detail(profile, row, whole, goTo) {
  return el(
    "div",
    { class: "detail" },
    findings(profile, row),
    reasons(profile, row, whole),
    lengths(profile, row),
    causes(profile, row, whole, goTo),
    counters(profile, row),
  );
}

// Findings of checkers in these rows; nothing where there are none.
function findings(profile, row) {
  const rows = findingsOf(profile, row.instructions);
  if (!rows.length) return null;
  const kernel = profile.tables.instructions.column("kernel")[row.instructions[0]];
  return el("section", { class: "of-row" }, el("h3", {}, `Findings (${grouped(rows.length)})`), findingList(profile, rows, kernel));
}

function plainTable(caption, heads, rows) {
  return el(
    "table",
    { class: "plain" },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, ...heads.map(([text, kind]) => el("th", { scope: "col", class: kind }, text)))),
    el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((cell, at) => el("td", { class: heads[at][1] }, cell))))),
  );
}

function reasons(profile, row, whole) {
  const { terms } = profile;
  const exact = sum(row.cycles);
  const [share, low, high] = row.interval;
  const sampled =
    share === null
      ? "no samples"
      : `sampled ${(100 * share).toFixed(1)}% (${(100 * low).toFixed(1)}-${(100 * high).toFixed(1)}), ${grouped(sum(row.samples))} samples`;
  const order = ranked(row.cycles.map((cycles, term) => cycles || row.samples[term]));
  const rows = order.map(([term]) => [
    el("span", { title: terms.get("text", term) }, el("span", { class: `swatch reason-${terms.get("reason", term)}` }), terms.get("name", term)),
    grouped(row.cycles[term]),
    percent(row.cycles[term], exact),
    grouped(row.samples[term]),
  ]);
  return el(
    "section",
    {},
    el("h3", {}, `${exact ? `exact ${percent(exact, sum(whole.cycles))}, ` : ""}${sampled}`),
    stackedBar(row.mix, 1, terms, profile.unit),
    plainTable(
      "Stall reasons",
      [
        ["reason", ""],
        ["warp-cycles", "number"],
        ["of the row", "number"],
        ["samples", "number"],
      ],
      rows,
    ),
  );
}

function lengths(profile, row) {
  const { terms } = profile;
  const found = [...stallsOf(profile, row.instructions)].sort((a, b) => row.cycles[b[0]] - row.cycles[a[0]]);
  const parts = found
    .slice(0, 3)
    .map(([term, { stalls, longest, lengths: bins }]) =>
      el(
        "figure",
        {},
        el(
          "figcaption",
          {},
          `${terms.get("name", term)}: ${grouped(stalls)} stalls, ${compact(Math.round((10 * row.cycles[term]) / stalls) / 10)} cycles on average, the longest ${grouped(longest)}`,
        ),
        histogram(bins, terms.get("reason", term)),
      ),
    );
  return el(
    "section",
    {},
    el("h3", {}, "Lengths of stalls, in cycles"),
    ...(parts.length ? parts : [el("p", { class: "dim" }, "No stall was recorded.")]),
  );
}

function causes(profile, row, whole, goTo) {
  const { blames } = profile.tables;
  profile.byStalled ??= blames.rowsBy("instruction");
  profile.byCause ??= blames.rowsBy("cause");
  const own = new Set(row.instructions);
  const all = sum(whole.cycles);
  const waitsFor = grouping(
    profile,
    row.instructions.flatMap((i) => profile.byStalled.get(i) ?? []),
    "cause",
    own,
  );
  const waiting = grouping(
    profile,
    row.instructions.flatMap((i) => profile.byCause.get(i) ?? []).filter((b) => !own.has(blames.column("instruction")[b])),
    "instruction",
    own,
  );
  const line = ({ instruction, place, words, cycles }) => [
    instruction >= 0 && !own.has(instruction)
      ? el("button", { type: "button", class: "link", on: { click: () => goTo(instruction) } }, place)
      : own.has(instruction)
        ? "itself"
        : place,
    words,
    percent(cycles, all),
  ];
  const heads = [
    ["place", ""],
    ["how", ""],
    ["exact", "number"],
  ];
  return el(
    "section",
    {},
    el("h3", {}, "Waits"),
    waitsFor.length
      ? plainTable("It waits for", heads, waitsFor.map(line))
      : el("p", { class: "dim" }, "The recording does not say what it waits for."),
    waiting.length ? plainTable("Waiting for it", heads, waiting.map(line)) : null,
  );
}

// Rows of `blames`, added up by the place at their other end and by how they end.
function grouping(profile, rows, end, own) {
  const { blames } = profile.tables;
  const found = new Map();
  for (const blame of rows) {
    const instruction = blames.column(end)[blame];
    const place = end === "cause" ? blames.get("place", blame) : profile.placeOf(instruction);
    const words = `${profile.terms.get("name", blames.column("term")[blame])}: ${blames.get("ending", blame)}`;
    const key = `${own.has(instruction) ? "" : place}\n${words}`;
    const entry = found.get(key) ?? { instruction, place, words, cycles: 0 };
    entry.cycles += blames.column("cycles")[blame];
    found.set(key, entry);
  }
  return [...found.values()].sort((a, b) => b.cycles - a.cycles).slice(0, MOST_CAUSES);
}

function counters(profile, row) {
  const rows = Object.entries(COUNTER_TITLES)
    .filter(([name]) => row.counters[name])
    .map(([name, title]) => [title, grouped(row.counters[name])]);
  const { inst_executed: executed, thread_inst_executed: threads } = row.counters;
  if (executed) rows.splice(2, 0, ["lanes in the mean", (threads / executed).toFixed(1)]);
  if (row.liveRegisters !== null) rows.push(["live registers, at most", grouped(row.liveRegisters)]);
  return el(
    "section",
    {},
    el("h3", {}, "Counters"),
    plainTable(
      "Counters",
      [
        ["counter", ""],
        ["count", "number"],
      ],
      rows,
    ),
  );
}
