// The summary: the hottest kernels and tasks, how far to trust the numbers, and what to look at first.

import { legend, ranked, stackedBar, sum } from "./bars.js";
import { el, factList, isNarrow } from "./dom.js";
import { compact, duration, grouped, percent } from "./figures.js";
import { findingList, lineLink } from "./findings.js";
import { adviceList, changeTable, costNote, curves } from "./measured.js";
import { hashOf } from "./place.js";
import { programSection } from "./program.js";
import { dataTable } from "./table.js";

const MOST_TASKS = 20;
const MOST_DRAWS = 10;
const MOST_FINDINGS = 100;
const DRAWN = ["stalls"]; // facts that the page shows as bars
const MEASURED = "measured"; // the rule whose findings are the advice that is shown with what was counted

export const view = {
  name: "summary",
  title: "Summary",
  question: "Where does the time go, how far can I trust it, and what do I look at first?",
  isThere: () => true,
  open: (page) => new Summary(page),
};

class Summary {
  constructor(page) {
    this.page = page;
    this.profile = page.profile;
    this.tables = [];
    const { kernels } = this.profile.tables;
    this.costs = kernels.rows().map((kernel) => this.costOf(this.profile.instructionsOf(kernel)));
    const program = programSection(this.profile, (title, options) => this.table(title, options));
    const parts = [this.kernels(), this.draws(), program, this.tasks(), this.trust()].filter(Boolean);
    parts.splice(this.hasErrors ? 0 : parts.length, 0, this.findings()); // what computes wrongly goes before what is slow
    this.element = el("div", { class: "summary" }, ...parts, ...kernels.rows().map((kernel) => this.kernel(kernel)));
  }

  update() {}

  close() {
    this.tables.forEach((table) => table.close());
  }

  costOf(instructions) {
    return { cycles: this.profile.costOf(instructions, "cycles"), samples: this.profile.costOf(instructions, "samples") };
  }

  get isSampled() {
    return this.profile.tables.kernels.column("samples").some((samples) => samples > 0);
  }

  // Columns with the stall mix of a row: exact, sampled, or both. `of(row)` gives its costs.
  mixes(of) {
    const { profile } = this;
    const exact = {
      name: "exact",
      title: "stalls, exact",
      hint: "Exact warp-cycles by reason.",
      width: 26,
      align: "left",
      cell: (row) => stackedBar(of(row).cycles, 1, profile.terms, "warp-cycles"),
    };
    const sampled = {
      name: "sampled",
      title: "sampled",
      hint: "Samples by reason.",
      width: 26,
      align: "left",
      cell: (row) => stackedBar(of(row).samples, 1, profile.terms, "samples"),
    };
    return [...(profile.hasLedger ? [exact] : []), ...(this.isSampled ? [sampled] : [])];
  }

  topStall(costs) {
    const mix = this.profile.hasLedger ? costs.cycles : costs.samples;
    const [top] = ranked(mix).filter(([term]) => term > 0);
    return top ? `${this.profile.terms.get("name", top[0])} ${percent(top[1], sum(mix))}` : "-";
  }

  table(title, options) {
    const table = dataTable({ caption: title, ...options });
    this.tables.push(table);
    return table.element;
  }

  kernels() {
    const { kernels, chip } = this.profile.tables;
    const cycles = kernels.column("cycles");
    const whole = cycles.reduce((all, each) => all + each, 0);
    const clock = chip.get("clock_mhz", 0);
    const kernel = {
      name: "kernel",
      title: "kernel",
      width: 0,
      least: isNarrow() ? 14 : 30,
      align: "left",
      cell: (k) => this.kernelLink(k),
      value: (k) => kernels.get("name", k),
    };
    const columns = [
      { name: "share", title: "share", width: 7, cell: (k) => percent(cycles[k], whole), value: (k) => cycles[k] },
      { name: "time", title: "time", width: 8, cell: (k) => duration(cycles[k], clock) || "-", value: (k) => cycles[k] },
      { name: "cycles", title: "cycles", width: 8, cell: (k) => compact(cycles[k]), value: (k) => cycles[k] },
      { name: "launches", title: "launches", width: 9, cell: (k) => grouped(kernels.get("launches", k)), value: (k) => kernels.get("launches", k) },
      ...this.mixes((k) => this.costs[k]),
      {
        name: "top",
        title: "top stall",
        width: 24,
        align: "left",
        cell: (k) => this.topStall(this.costs[k]),
        value: (k) => this.topStall(this.costs[k]),
      },
    ];
    columns.splice(isNarrow() ? 1 : columns.length, 0, kernel);
    const all = this.profile.mixOf(this.profile.tables.instructions.rows());
    return el("section", {}, el("h2", {}, "Kernels"), this.table("Kernels", { columns, rows: kernels.rows() }), legend(all, this.profile.terms));
  }

  kernelLink(kernel) {
    return el("a", { href: hashOf({ view: "source", kernel: this.profile.kernelKey(kernel) }) }, this.profile.tables.kernels.get("name", kernel));
  }

  // Tasks whose launches cost something, the costliest first.
  tasks() {
    const { runs, cells } = this.profile.tables;
    const found = new Map();
    for (let cell = 0; cell < cells.n; cell += 1) {
      const name = runs.get("task", cells.column("run")[cell]);
      if (!name) continue;
      if (!found.has(name)) found.set(name, { name, cycles: this.profile.zeros(), samples: this.profile.zeros() });
      found.get(name).cycles[cells.column("term")[cell]] += cells.column("cycles")[cell];
      found.get(name).samples[cells.column("term")[cell]] += cells.column("samples")[cell];
    }
    if (!found.size) return null;
    const unit = this.profile.hasLedger ? "cycles" : "samples";
    const whole = sum(cells.column(unit));
    const rows = [...found.values()].sort((a, b) => sum(b[unit]) - sum(a[unit]));
    const columns = [
      { name: "share", title: "share", hint: `Of all ${this.profile.unit}.`, width: 7, cell: (task) => percent(sum(task[unit]), whole) },
      { name: "cost", title: this.profile.unit, width: 12, cell: (task) => compact(sum(task[unit])) },
      ...this.mixes((task) => task),
      { name: "top", title: "top stall", width: 24, align: "left", cell: (task) => this.topStall(task) },
    ];
    const link = (task) => el("a", { href: hashOf({ view: "grid", by: "task,kernel", filter: task.name }) }, task.name);
    columns.splice(isNarrow() ? 1 : columns.length, 0, {
      name: "task",
      title: "task",
      width: 0,
      least: isNarrow() ? 14 : 30,
      align: "left",
      cell: link,
    });
    const more =
      rows.length > MOST_TASKS
        ? el("p", {}, el("a", { href: hashOf({ view: "grid", by: "task,kernel" }) }, `All ${grouped(rows.length)} tasks`))
        : null;
    return el("section", {}, el("h2", {}, "Tasks"), this.table("Tasks", { columns, rows: rows.slice(0, MOST_TASKS) }), more);
  }

  // The longest draws.
  draws() {
    const { draws, chip } = this.profile.tables;
    if (!draws.n) return null;
    const get = (name) => (row) => draws.get(name, row);
    const cycles = (row) => (draws.get("start_cycle", row) < 0 ? -1 : draws.get("end_cycle", row) - draws.get("start_cycle", row));
    const clock = chip.get("clock_mhz", 0);
    const link = (row) =>
      el("a", { href: hashOf({ view: "draws", draw: draws.get("draw", row) }) }, draws.get("name", row) || `draw ${draws.get("draw", row)}`);
    const columns = [
      { name: "number", title: "draw", width: 6, cell: get("draw") },
      { name: "time", title: "time", width: 8, cell: (row) => (cycles(row) < 0 ? "-" : duration(cycles(row), clock) || "-") },
      { name: "cycles", title: "cycles", width: 8, cell: (row) => (cycles(row) < 0 ? "-" : compact(cycles(row))) },
      {
        name: "bottleneck",
        title: "bottleneck",
        hint: "The block of the pipeline, or the memory, with the largest share of the time.",
        width: 11,
        align: "left",
        cell: (row) => draws.get("bottleneck", row) || "-",
      },
      { name: "pass", title: "pass", width: 5, cell: get("pass") },
    ];
    const name = { name: "name", title: "name", width: 0, least: isNarrow() ? 14 : 30, align: "left", cell: link };
    columns.splice(isNarrow() ? 1 : columns.length, 0, name);
    const rows = draws.rows().sort((a, b) => cycles(b) - cycles(a) || a - b);
    const title = draws.n > MOST_DRAWS ? `Draws: the longest of ${grouped(draws.n)}` : "Draws";
    const more = draws.n > MOST_DRAWS ? el("p", {}, el("a", { href: hashOf({ view: "draws" }) }, `All ${grouped(draws.n)} draws`)) : null;
    return el("section", {}, el("h2", {}, title), this.table("Draws", { columns, rows: rows.slice(0, MOST_DRAWS) }), more);
  }

  trust() {
    const { facts } = this.profile.tables;
    const byLabel = new Map();
    for (const fact of facts.rows()) {
      const label = facts.get("label", fact);
      if (!byLabel.has(label)) byLabel.set(label, []);
      byLabel.get(label).push(el("span", { class: facts.get("is_warning", fact) ? "warn" : null }, facts.get("text", fact)));
    }
    return el("section", {}, el("h2", {}, "What this is, and how far to trust it"), factList([...byLabel]));
  }

  get hasErrors() {
    const { findings } = this.profile.tables;
    return findings.rows().some((row) => findings.get("severity", row) === "error");
  }

  findings() {
    const { findings } = this.profile.tables;
    if (!findings.n) return null;
    const rows = findings.rows().slice(0, MOST_FINDINGS);
    const more =
      findings.n > rows.length
        ? el("p", { class: "dim" }, `and ${grouped(findings.n - rows.length)} more: gpuprof report FILE --page findings`)
        : null;
    return el("section", {}, el("h2", {}, "Findings"), findingList(this.profile, rows), more);
  }

  // Rows of a table about a kernel.
  rowsOf(name, kernel) {
    this.byKernel ??= new Map();
    if (!this.byKernel.has(name)) this.byKernel.set(name, this.profile.tables[name].rowsBy("kernel"));
    return this.byKernel.get(name).get(kernel) ?? [];
  }

  kernel(kernel) {
    const { kernels, summary } = this.profile.tables;
    const facts = new Map();
    for (const row of this.rowsOf("summary", kernel)) {
      const label = summary.get("label", row);
      if (DRAWN.includes(label)) continue;
      if (!facts.has(label)) facts.set(label, []);
      facts.get(label).push(el("span", {}, summary.get("text", row)));
    }
    return el(
      "section",
      { class: "kernel", "aria-label": kernels.get("name", kernel) },
      el("h2", {}, this.kernelLink(kernel)),
      el(
        "div",
        { class: "mix" },
        stackedBar(this.profile.hasLedger ? this.costs[kernel].cycles : this.costs[kernel].samples, 1, this.profile.terms, this.profile.unit),
      ),
      el("div", { class: "split" }, factList([...facts]), el("div", {}, ...this.advice(kernel))),
      ...this.changes(kernel),
    );
  }

  // Advice with measured gains, and what else to look at.
  advice(kernel) {
    const { advice } = this.profile.tables;
    const measured = adviceList(this.profile, this.rowsOf("measured_advice", kernel));
    const items = this.rowsOf("advice", kernel)
      .filter((row) => advice.get("rule", row) !== MEASURED)
      .map((row) => el("li", {}, lineLink(this.profile, kernel, advice.get("path", row), advice.get("line", row)), ` ${advice.get("text", row)}`));
    const others = items.length ? el("ol", {}, ...items) : el("p", { class: "dim" }, "Nothing stands out.");
    if (!measured) return [el("h3", {}, "What to look at first"), others];
    return [el("h3", {}, "Advice, measured"), measured, ...(items.length ? [el("h3", {}, "What else to look at"), others] : [])];
  }

  // What `gpuprof whatif` timed: a table, and curves.
  changes(kernel) {
    const rows = this.rowsOf("changes", kernel);
    if (!rows.length) return [];
    const charts = curves(this.profile, rows);
    const name = this.profile.tables.kernels.get("name", kernel);
    return [
      el(
        "div",
        { class: "changes" },
        el("h3", {}, "What if"),
        this.table(`What if: changes of ${name}, each timed`, changeTable(this.profile, rows)),
        costNote(this.profile.tables, rows),
      ),
      charts.length ? el("div", { class: "curves" }, el("h3", {}, "Causal curves"), el("div", { class: "charts" }, ...charts)) : null,
    ];
  }
}
