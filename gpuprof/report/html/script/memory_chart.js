// The memory chart: units of the memory, and what went from one to the other.

import { el } from "./dom.js";
import { compact, grouped, nbytes, percent } from "./figures.js";

const SECTOR_NBYTES = 32;
const PASS_NBYTES = 128;
const OF_GLOBAL = ["global", "local", "generic", "texture", "surface"];

// `values`: numbers of the table `traffic` by name; null or none where they are not known.
export function memoryChart(values) {
  const has = (name) => values[name] !== null && values[name] !== undefined;
  const requests = Object.entries(values).filter(([name]) => name.includes(" "));
  const isShared = ([name]) => name.startsWith("shared ");
  const toL1 = requests.filter(([name]) => OF_GLOBAL.some((space) => name.startsWith(`${space} `)));
  const sectors = (name) => (has(name) ? `${compact(values[name])} sectors, ${nbytes(values[name] * SECTOR_NBYTES)}` : "not known");
  const hits = (part, whole) => (has(part) && has(whole) ? `${percent(values[part], values[whole])} hits` : null);
  const excess =
    has("l2_sectors_global_ideal") && values.l2_sectors_global_ideal
      ? `${(values.l2_sectors_global / values.l2_sectors_global_ideal).toFixed(2)}x the sectors that packed lanes would ask for`
      : null;
  const conflicts = values.l1_wavefronts_shared
    ? `${percent(values.l1_wavefronts_shared - values.l1_wavefronts_shared_ideal, values.l1_wavefronts_shared)} of them bank conflicts`
    : null;
  return el(
    "div",
    { class: "memory", role: "group", "aria-label": "Memory chart" },
    unit(
      "Kernel",
      requests.map(([name, n]) => `${grouped(n)} ${name}`),
    ),
    link("kernel-l1", [total(toL1)]),
    unit("L1", [sectors("l1_sectors"), hits("l1_hits", "l1_sectors")]),
    link("l1-l2", [has("l2_sectors") ? nbytes(values.l2_sectors * SECTOR_NBYTES) : null]),
    unit("L2", [sectors("l2_sectors"), hits("l2_hits", "l2_sectors"), excess]),
    link("l2-dram", [
      has("dram_read_nbytes") ? `${nbytes(values.dram_read_nbytes)} read` : null,
      has("dram_write_nbytes") ? `${nbytes(values.dram_write_nbytes)} written` : null,
    ]),
    unit("DRAM", [
      has("dram_read_nbytes") && has("dram_write_nbytes") ? `${nbytes(values.dram_read_nbytes + values.dram_write_nbytes)}` : "not known",
    ]),
    link("kernel-shared", [total(requests.filter(isShared))]),
    unit("Shared memory", [
      has("shared_wavefronts") ? `${compact(values.shared_wavefronts)} wavefronts, ${nbytes(values.shared_wavefronts * PASS_NBYTES)}` : "not known",
      conflicts,
    ]),
    values.l2_atomic_cycles
      ? unit("Atomics in the L2", [
          `${compact(values.l2_atomic_cycles)} cycles of the slice with the most, ${percent(values.l2_atomic_cycles, values.cycles)} of the time`,
        ])
      : null,
  );
}

function total(requests) {
  const n = requests.reduce((all, [, count]) => all + count, 0);
  return n ? `${compact(n)} requests of warps` : "no requests";
}

function unit(name, lines) {
  const kind = name.toLowerCase().replaceAll(" ", "-");
  return el("div", { class: `unit at-${kind}` }, el("h3", {}, name), ...lines.filter(Boolean).map((line) => el("p", {}, line)));
}

function link(kind, lines) {
  return el(
    "div",
    { class: `link at-${kind}` },
    el("span", { class: "arrow", "aria-hidden": "true" }),
    ...lines.filter(Boolean).map((line) => el("span", {}, line)),
  );
}
