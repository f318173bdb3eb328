// The machine: how near each unit came to its peak, what went through the caches, and how many warps there were.

import { button, el } from "./dom.js";
import { compact, grouped, percent } from "./figures.js";
import { memoryChart } from "./memory_chart.js";
import { hashOf } from "./place.js";
import { roofline } from "./roofline.js";
import { dataTable } from "./table.js";

const BOUND = 0.8; // shares of a peak from which on it limits, and is high: docs/peak.md
const HIGH = 0.6;

export const view = {
  name: "machine",
  title: "Machine",
  question: "Which unit limits each kernel, and would more warps or fuller waves help?",
  isThere: ({ profile }) => profile.tables.kernels.n > 0 && profile.tables.ceilings.n > 0,
  open: (page) => new Machine(page),
};

class Machine {
  constructor(page) {
    this.page = page;
    this.profile = page.profile;
    this.tables = [];
    this.body = el("div");
    const { kernels } = this.profile.tables;
    this.choice = el(
      "select",
      {
        id: "machine-kernel",
        on: { change: () => page.go({ view: view.name, kernel: this.profile.kernelKey(Number(this.choice.value)), level: this.level }) },
      },
      ...kernels.rows().map((kernel) => el("option", { value: kernel }, kernels.get("name", kernel))),
    );
    this.element = el(
      "div",
      { class: "machine" },
      el("p", { class: "tools" }, el("label", { for: "machine-kernel" }, "Kernel "), this.choice),
      this.body,
    );
  }

  update({ kernel, level }) {
    this.kernel = Math.max(0, kernel === undefined ? 0 : this.profile.kernelOf(kernel));
    this.level = level ?? "";
    this.choice.value = String(this.kernel);
    this.close();
    this.body.replaceChildren(...[this.speed(), this.roof(), this.memory(), this.residency(), this.waves(), this.work()].filter(Boolean));
  }

  close() {
    this.tables.forEach((table) => table.close());
    this.tables = [];
  }

  rowsOf(name, kernel = this.kernel) {
    const table = this.profile.tables[name];
    return table.rows().filter((row) => table.column("kernel")[row] === kernel);
  }

  table(caption, columns, rows) {
    const made = dataTable({ caption, columns, rows });
    this.tables.push(made);
    return made.element;
  }

  speed() {
    const { uses, ceilings, limits } = this.profile.tables;
    const of = (use, name) => ceilings.get(name, uses.column("ceiling")[use]);
    const [limit] = this.rowsOf("limits");
    const limiter = limit === undefined ? -1 : limits.column("ceiling")[limit];
    const columns = [
      { name: "unit", title: "unit", width: 14, align: "left", cell: (use) => el("span", { title: of(use, "text") }, of(use, "label")) },
      { name: "share", title: "of peak", width: 8, cell: (use) => percent(uses.get("share", use), 1) },
      {
        name: "bar",
        title: "",
        width: 0,
        least: 16,
        align: "left",
        cell: (use) => meter(uses.get("share", use), uses.column("ceiling")[use] === limiter),
      },
      { name: "rate", title: "rate", width: 9, cell: (use) => rate(uses.get("achieved", use)) },
      { name: "peak", title: "peak", width: 9, cell: (use) => rate(of(use, "rate")) },
      { name: "of", title: "in", width: 8, align: "left", cell: (use) => of(use, "unit") },
    ];
    const rows = this.rowsOf("uses").sort((a, b) => uses.get("share", b) - uses.get("share", a));
    const words = limit === undefined ? "What limits it is not known." : `Limits: ${limits.get("text", limit)}`;
    return el(
      "section",
      { class: "speed" },
      el("h2", {}, "Speed of light"),
      el("p", {}, words),
      this.table("Shares of the peaks, most used first", columns, rows),
    );
  }

  roof() {
    const { roofs, ceilings, kernels } = this.profile.tables;
    if (!roofs.n) return null;
    const place = this.roofLevel();
    const points = roofs.rows().filter((row) => roofs.column("level")[row] === place);
    const levels = [...new Set(roofs.column("level"))].map((row) =>
      button(
        ceilings.get("label", row),
        () => this.page.go({ view: view.name, kernel: this.profile.kernelKey(this.kernel), level: ceilings.get("name", row) }),
        { "aria-pressed": String(row === place) },
      ),
    );
    const columns = [
      { name: "kernel", title: "kernel", width: 0, align: "left", cell: (row) => kernels.get("name", roofs.column("kernel")[row]) },
      { name: "precision", title: "precision", width: 14, align: "left", cell: (row) => ceilings.get("label", roofs.column("ceiling")[row]) },
      { name: "intensity", title: "ops/byte", width: 10, cell: (row) => rate(roofs.get("operations_per_byte", row)) },
      { name: "achieved", title: "achieved", width: 10, cell: (row) => rate(roofs.get("achieved", row)) },
      {
        name: "attainable",
        title: "attainable",
        hint: "The lower of the two roofs there.",
        width: 11,
        cell: (row) => rate(attainable(roofs, ceilings, row)),
      },
      { name: "unit", title: "in", width: 8, align: "left", cell: (row) => ceilings.get("unit", roofs.column("ceiling")[row]) },
    ];
    return el(
      "section",
      {},
      el("h2", {}, "Roofline"),
      el("p", { class: "tools" }, "Bytes of ", ...levels, " Each other bandwidth is a dashed roof."),
      roofline(this.profile.tables, place, this.kernel),
      this.table("Points of the roofline", columns, points),
    );
  }

  // The level that the address asks for; else the first that the kernel moved bytes at.
  roofLevel() {
    const { roofs, ceilings } = this.profile.tables;
    const asked = ceilings.rows().find((row) => ceilings.get("name", row) === this.level);
    const own = this.rowsOf("roofs").map((row) => roofs.column("level")[row]);
    return asked ?? Math.min(...(own.length ? own : roofs.column("level")));
  }

  memory() {
    const { traffic } = this.profile.tables;
    const rows = this.rowsOf("traffic");
    const values = Object.fromEntries(rows.map((row) => [traffic.get("name", row), traffic.get("value", row)]));
    return el("section", {}, el("h2", {}, "Memory"), memoryChart(values));
  }

  residency() {
    const { residencies, steps } = this.profile.tables;
    const rows = this.rowsOf("residencies");
    if (!rows.length) return null;
    const limit = (row, name) => {
      const n = residencies.get(`by_${name}`, row);
      return el("span", { class: n === residencies.get("blocks_per_sm", row) ? "limiter" : null }, grouped(n));
    };
    const columns = [
      {
        name: "shape",
        title: "grid, block",
        width: 0,
        least: 18,
        align: "left",
        cell: (row) => `${residencies.get("grid", row)}, ${residencies.get("block", row)}`,
      },
      { name: "blocks", title: "blocks/SM", width: 10, cell: (row) => grouped(residencies.get("blocks_per_sm", row)) },
      ...["warps", "blocks", "registers", "shared"].map((name) => ({
        name: `by_${name}`,
        title: `by ${name}`,
        hint: `Blocks that fit by ${name} only.`,
        width: 13,
        cell: (row) => limit(row, name),
      })),
      { name: "theoretical", title: "theoretical", width: 12, cell: (row) => percent(residencies.get("theoretical", row), 1) },
      {
        name: "achieved",
        title: "achieved",
        width: 9,
        cell: (row) => (residencies.get("achieved", row) === null ? "-" : percent(residencies.get("achieved", row), 1)),
      },
    ];
    const isOf = new Set(rows);
    const advice = steps
      .rows()
      .filter((step) => isOf.has(steps.column("residency")[step]))
      .map((step) => {
        const also = steps.get("also", step);
        const shape = rows.length > 1 ? ` of ${residencies.get("block", steps.column("residency")[step])}` : "";
        return el(
          "li",
          {},
          `${steps.get("what", step)}${shape}: ${grouped(steps.get("needed", step))}, now ${grouped(steps.get("now", step))}${also ? `, and ${also}` : ""}: `,
          el("b", {}, `${grouped(steps.get("blocks_per_sm", step))} blocks an SM, ${percent(steps.get("theoretical", step), 1)} of the warp slots`),
        );
      });
    return el(
      "section",
      {},
      el("h2", {}, "Occupancy"),
      this.table("Blocks that fit an SM, by each resource", columns, rows),
      advice.length ? el("p", {}, "For the next step:") : el("p", {}, "All warp slots can be filled, or nothing of these changes it."),
      el("ul", {}, ...advice),
    );
  }

  waves() {
    const { residencies } = this.profile.tables;
    const rows = this.rowsOf("residencies").filter((row) => residencies.get("blocks_per_wave", row));
    if (!rows.length) return null;
    const columns = [
      {
        name: "shape",
        title: "grid, block",
        width: 0,
        least: 18,
        align: "left",
        cell: (row) => `${residencies.get("grid", row)}, ${residencies.get("block", row)}`,
      },
      { name: "launches", title: "launches", width: 9, cell: (row) => grouped(residencies.get("launches", row)) },
      { name: "blocks", title: "blocks", width: 10, cell: (row) => grouped(residencies.get("blocks", row)) },
      {
        name: "wave",
        title: "a wave",
        hint: "Blocks that run at a time.",
        width: 9,
        cell: (row) => grouped(residencies.get("blocks_per_wave", row)),
      },
      { name: "waves", title: "waves", width: 8, cell: (row) => residencies.get("waves", row).toFixed(2) },
      {
        name: "filled",
        title: "filled",
        hint: "Share of the block slots of all waves, the last included.",
        width: 8,
        cell: (row) => percent(residencies.get("wave_share", row), 1),
      },
      { name: "bar", title: "", width: 20, align: "left", cell: (row) => waveBar(residencies.get("waves", row)) },
    ];
    return el("section", {}, el("h2", {}, "Waves"), this.table("Waves of blocks", columns, rows));
  }

  work() {
    const { sms, chip } = this.profile.tables;
    const rows = this.rowsOf("sms");
    if (!rows.length) return null;
    const cycles = new Map(rows.map((row) => [sms.get("sm", row), sms.get("active_cycles", row)]));
    const all = Math.max(chip.get("sms", 0) ?? 0, ...[...cycles.keys()].map((sm) => sm + 1));
    const each = Array.from({ length: all }, (_, sm) => cycles.get(sm) ?? 0);
    const most = Math.max(...each);
    const least = Math.min(...each);
    const mean = each.reduce((a, b) => a + b, 0) / all;
    const columns = each.map((n, sm) =>
      el("span", { class: "sm", title: `SM ${sm}: ${grouped(n)} cycles`, style: { height: `${(100 * n) / most}%` } }),
    );
    const words = `${grouped(cycles.size)} of ${grouped(all)} SMs had warps, for ${compact(Math.round(mean))} cycles in the mean, ${grouped(least)} to ${grouped(most)}. The busiest had ${percent(most - mean, mean)} more than the mean.`;
    return el(
      "section",
      {},
      el("h2", {}, "Work by SM"),
      el("p", {}, words),
      el("div", { class: "sms", role: "img", "aria-label": words }, ...columns),
    );
  }
}

function attainable(roofs, ceilings, row) {
  const bandwidth = ceilings.get("rate", roofs.column("level")[row]);
  return Math.min(ceilings.get("rate", roofs.column("ceiling")[row]), roofs.get("operations_per_byte", row) * bandwidth);
}

function rate(number) {
  return number >= 100 ? grouped(Math.round(number)) : String(Number(number.toPrecision(number >= 0.1 ? 3 : 2)));
}

function meter(share, isLimiter) {
  const kind = share >= BOUND ? "bound" : share >= HIGH ? "high" : "low";
  return el(
    "span",
    { class: `meter ${kind}` },
    el("span", { class: "fill", style: { width: `${100 * Math.min(1, share)}%` } }),
    isLimiter ? el("span", { class: "mark" }, "nearest to its peak") : null,
  );
}

// A box for each wave, the last as full as it is; of many the last ones.
function waveBar(waves) {
  const whole = Math.ceil(waves);
  const boxes = Array.from({ length: Math.min(whole, 8) }, (_, at) => {
    const number = whole - Math.min(whole, 8) + at;
    return el("span", { class: "wave" }, el("span", { style: { width: `${100 * Math.min(1, waves - number)}%` } }));
  });
  return el("span", { class: "waves", "aria-hidden": "true" }, ...(whole > 8 ? ["…"] : []), ...boxes);
}
