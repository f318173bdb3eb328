// What was measured by timing a kernel's launches again: pieces of advice, a table of changes, and curves.

import { curveChart } from "./curve.js";
import { el, factList, isNarrow } from "./dom.js";
import { grouped, percent } from "./figures.js";
import { placeOfRow } from "./findings.js";

const COST = "Shows what the place costs. It is no change that can be had.";

// Rows of `measured_advice` as an ordered list; null where there are none.
export function adviceList(profile, rows) {
  if (!rows.length) return null;
  return el("ol", { class: "measured" }, ...rows.map((row) => piece(profile, row)));
}

function piece(profile, row) {
  const { measured_advice: advice } = profile.tables;
  const get = (name) => advice.get(name, row);
  const cycles = `${grouped(get("cycles_after"))} of ${grouped(get("cycles_before"))} cycles`;
  const facts = [
    ["evidence", get("evidence")],
    ["change", get("change")],
    ["sketch", get("sketch") && el("code", {}, get("sketch"))],
    ["measured with", get("intervention")],
    ["wrong if", get("refuted_by")],
  ];
  return el(
    "li",
    {},
    el("b", {}, times(get("speedup"))),
    " ",
    el("strong", {}, get("topic")),
    " at ",
    placeOfRow(profile, advice, row),
    el("span", { class: "dim" }, ` · ${[cycles, ...ofLaunch(profile, get("launch"))].join(" · ")}`),
    factList(facts.filter(([, value]) => value).map(([label, value]) => [label, [value]])),
  );
}

// Options of the table of rows of `changes`.
export function changeTable(profile, rows) {
  const { changes } = profile.tables;
  const get = (name) => (row) => changes.get(name, row);
  const columns = [
    { name: "speedup", title: "speed-up", width: 8, cell: (row) => times(get("speedup")(row)), value: get("speedup") },
    { name: "bar", title: "", hint: "The share of the cycles that goes.", width: 10, align: "left", cell: (row) => savedBar(changes, row) },
    { name: "kind", title: "what if", width: 20, align: "left", cell: (row) => kindCell(changes, row), value: get("kind") },
    { name: "where", title: "where", width: 20, align: "left", cell: (row) => placeOfRow(profile, changes, row), value: get("place") },
    { name: "cycles", title: "cycles", width: 10, cell: (row) => grouped(get("cycles_after")(row)), value: get("cycles_after") },
    {
      name: "bound",
      title: "bound",
      hint: "The speed-up if all cycles went that the ledger charges to what was changed.",
      width: 8,
      cell: (row) => times(get("bound")(row)),
      value: get("bound"),
    },
    {
      name: "then",
      title: "then",
      hint: "The largest stall reasons with the change.",
      width: 0,
      least: 48,
      align: "left",
      cell: reasonsCell(profile),
    },
  ];
  if (new Set(rows.map(get("launch"))).size > 1) {
    columns.splice(isNarrow() ? 4 : 0, 0, { name: "launch", title: "launch", width: 7, cell: get("launch"), value: get("launch") });
  }
  return { columns, rows };
}

// What the table's mark says; null where no row has it.
export function costNote({ changes }, rows) {
  if (!rows.some((row) => changes.get("is_cost", row))) return null;
  return el("p", { class: "dim" }, costBadge(), " shows what the place costs. It is no change that can be had.");
}

// A chart for each place that has a curve.
export function curves(profile, rows) {
  const { changes } = profile.tables;
  const found = new Map();
  for (const row of rows) {
    const number = changes.get("curve", row);
    if (number < 0) continue;
    if (!found.has(number)) found.set(number, []);
    found.get(number).push(row);
  }
  return [...found.values()].map((points) => curve(profile, points));
}

function curve(profile, rows) {
  const { changes } = profile.tables;
  const [first] = rows;
  const launch = ofLaunch(profile, changes.get("launch", first));
  const points = rows.map((row) => ({ sooner: changes.get("sooner_cycles", row), cycles: changes.get("cycles_after", row) }));
  const words = [changes.get("place", first), ...launch].join(", ");
  return el(
    "figure",
    { class: "curve" },
    el("figcaption", {}, placeOfRow(profile, changes, first), el("span", { class: "dim" }, launch.map((text) => ` · ${text}`).join(""))),
    curveChart(points, changes.get("cycles_before", first), words),
  );
}

function kindCell(changes, row) {
  const kind = changes.get("kind", row);
  return changes.get("is_cost", row) ? el("span", { title: COST }, kind, " ", costBadge()) : kind;
}

function costBadge() {
  return el("span", { class: "badge dim" }, "cost");
}

function savedBar(changes, row) {
  const [before, after] = ["cycles_before", "cycles_after"].map((name) => changes.get(name, row));
  const saved = Math.max(0, before - after);
  return el(
    "span",
    { class: "meter", title: `${percent(saved, before)} of the cycles go` },
    el("span", { class: "fill", style: { width: percent(saved, before || 1) } }),
  );
}

function reasonsCell(profile) {
  const { change_reasons: reasons, terms } = profile.tables;
  const byChange = reasons.rowsBy("change");
  return (row) =>
    (byChange.get(row) ?? []).map((each) => `${terms.get("name", reasons.get("term", each))} ${percent(reasons.get("share", each), 1)}`).join(", ");
}

function times(speedup) {
  return `${speedup.toFixed(2)}x`;
}

// Says the launch where there are several.
function ofLaunch(profile, launch) {
  return profile.tables.launches.n > 1 ? [`launch ${launch}`] : [];
}
