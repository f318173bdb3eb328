// The measures of a row of code. `value(row)` gives a number of a row of a Listing.

import { compact, percent } from "./figures.js";
import { sum } from "./bars.js";

const counter = (name, title, hint, value) => ({ name, title, hint, value, isShare: false });

// The metrics of a kernel of a profile. `isShare`: the row's number is a part of the kernel's whole.
export function metricsOf(profile) {
  const { terms } = profile;
  return [
    {
      name: "exact",
      title: "exact",
      hint: "Share of all cycles of all resident warps, from the ledger: no estimate.",
      value: (row) => sum(row.cycles),
      isShare: true,
    },
    {
      name: "sampled",
      title: "sampled",
      hint: "The exact share as the samples estimate it.",
      value: (row) => sum(row.weight) || sum(row.samples),
      isShare: true,
    },
    {
      name: "stalled",
      title: "stalled",
      hint: "Exact cycles in which the warps waited.",
      value: (row) => sum(row.cycles) - row.cycles[0],
      isShare: true,
    },
    ...terms.rows().map((term) => ({
      name: `term-${terms.get("reason", term)}`,
      title: terms.get("name", term),
      hint: terms.get("text", term),
      value: (row) => row.cycles[term] || (profile.hasLedger ? 0 : row.samples[term]),
      isShare: true,
    })),
    {
      name: "attributed",
      title: "waited for",
      hint: "Cycles for which other rows wait for this one.",
      value: (row) => row.attributed,
      isShare: true,
    },
    counter("inst", "executed", "Instructions that warps executed.", (row) => row.counters.inst_executed),
    counter("divergent", "divergent", "Branches that split a warp.", (row) => row.counters.divergent_branches),
    counter("sectors", "sectors", "Requested sectors (32 bytes) of global memory.", (row) => row.counters.l2_sectors_global),
    counter(
      "excess",
      "excess",
      "Sectors of global memory beyond those that packed accesses would ask for.",
      (row) => row.counters.l2_sectors_global - row.counters.l2_sectors_global_ideal,
    ),
    counter(
      "conflicts",
      "conflicts",
      "Passes through the banks of shared memory that only bank conflicts make.",
      (row) => row.counters.l1_wavefronts_shared - row.counters.l1_wavefronts_shared_ideal,
    ),
    counter("live", "live registers", "Registers of a thread that hold a value which is read later.", (row) => row.liveRegisters ?? 0),
    counter("local", "local", "Requested sectors of local memory.", (row) => row.counters.l2_sectors_local),
  ];
}

// A metric's number of a row as text; `whole`: the kernel's.
export function textOf(metric, value, whole) {
  if (!value) return "";
  return metric.isShare ? percent(value, whole) : compact(value);
}
