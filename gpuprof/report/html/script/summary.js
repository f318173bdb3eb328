// The summary: the hottest kernels, how far to trust the numbers, and what to look at first.

import { stackedBar } from "./bars.js";
import { el } from "./dom.js";
import { compact, duration, percent } from "./figures.js";
import { hashOf } from "./place.js";
import { dataTable } from "./table.js";

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
    this.element = el("div", { class: "summary" }, this.kernels());
  }

  update() {}

  close() {
    this.tables.forEach((table) => table.close());
  }

  kernels() {
    const { kernels, chip } = this.profile.tables;
    const whole = kernels.column("cycles").reduce((all, cycles) => all + cycles, 0);
    const mix = kernels.rows().map((kernel) => this.profile.mixOf(this.profile.instructionsOf(kernel)));
    const clock = chip.get("clock_mhz", 0);
    const columns = [
      { name: "share", title: "share", width: 7, cell: (k) => percent(kernels.get("cycles", k), whole), value: (k) => kernels.get("cycles", k) },
      { name: "time", title: "time", width: 9, cell: (k) => duration(kernels.get("cycles", k), clock) },
      { name: "cycles", title: "cycles", width: 8, cell: (k) => compact(kernels.get("cycles", k)), value: (k) => kernels.get("cycles", k) },
      { name: "mix", title: "stalls", width: 24, align: "left", cell: (k) => stackedBar(mix[k], 1, this.profile.terms, this.profile.unit) },
      {
        name: "kernel", title: "kernel", width: 0, align: "left",
        cell: (k) => el("a", { href: hashOf({ view: "source", kernel: this.profile.kernelKey(k) }) }, kernels.get("name", k)),
        value: (k) => kernels.get("name", k),
      },
    ];
    const table = dataTable({ caption: "Kernels", columns, rows: kernels.rows() });
    this.tables.push(table);
    return el("section", {}, el("h2", {}, "Kernels"), table.element);
  }
}
