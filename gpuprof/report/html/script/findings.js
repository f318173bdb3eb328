// Findings of checkers and other trace generators, and advice: as items of a list, and by the instructions that they are about.

import { el } from "./dom.js";
import { baseName, compact, grouped } from "./figures.js";
import { hashOf } from "./place.js";

const MARKED = ["error", "warning", "note"]; // advice is in the numbers of a line

// A list of findings; `kernel`: the one that it is shown with, which its items do not name.
export function findingList(profile, rows, kernel = -1) {
  return el("ul", { class: "findings" }, ...rows.map((row) => item(profile, row, kernel)));
}

// Rows of `findings` about some instructions, first or second.
export function findingsOf(profile, instructions) {
  profile.findingsByInstruction ??= byInstruction(profile.tables.findings);
  return [...new Set(instructions.flatMap((each) => profile.findingsByInstruction.get(each) ?? []))].sort((a, b) => a - b);
}

// The worst severity among them that a line is marked for; "" none.
export function markOf(profile, rows) {
  const found = rows.map((row) => profile.tables.findings.get("severity", row));
  return MARKED.find((severity) => found.includes(severity)) ?? "";
}

export function lineLink(profile, kernel, path, line) {
  if (!line || kernel < 0) return null;
  const place = `${baseName(path)}:${line}`;
  return el("a", { href: hashOf({ view: "source", kernel: profile.kernelKey(kernel), line: place }) }, place);
}

// The place of a row of what was measured: a link where it is one line, else its text, such as "dram unit".
export function placeOfRow(profile, table, row) {
  const place = table.get("place", row);
  const link = lineLink(profile, table.get("kernel", row), table.get("path", row), table.get("line", row));
  return link?.textContent === place ? link : el("span", {}, place);
}

function item(profile, row, shownKernel) {
  const { findings, kernels } = profile.tables;
  const get = (name) => findings.get(name, row);
  const severity = get("severity");
  const other = lineLink(profile, get("other_kernel"), get("other_path"), get("other_line"));
  const isAdvice = severity === "advice";
  const facts = [
    isAdvice || get("count") < 2 ? "" : `${grouped(get("count"))} times`,
    get("cost_cycles") ? `${compact(get("cost_cycles"))} warp-cycles` : "",
    isAdvice || profile.tables.launches.n < 2 ? "" : `launch ${get("launch")}`,
  ];
  return el(
    "li",
    {},
    el("span", { class: `badge ${severity}` }, severity),
    " ",
    el("strong", {}, get("kind")),
    get("kernel") === shownKernel ? " " : ` in ${kernels.get("name", get("kernel"))} `,
    lineLink(profile, get("kernel"), get("path"), get("line")),
    ` ${get("text")}`,
    other ? el("span", {}, " (the other access: ", other, ")") : null,
    el(
      "span",
      { class: "dim" },
      facts
        .filter(Boolean)
        .map((fact) => ` · ${fact}`)
        .join(""),
    ),
  );
}

function byInstruction(findings) {
  const found = new Map();
  for (const name of ["instruction", "other"]) {
    findings.column(name).forEach((instruction, row) => {
      if (instruction < 0) return;
      if (!found.has(instruction)) found.set(instruction, []);
      found.get(instruction).push(row);
    });
  }
  return found;
}
