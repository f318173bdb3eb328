// The source view: source, PTX and instructions side by side; what is selected in one is found in the others.

import { arrowsOf } from "./arrows.js";
import { legend, stackedBar, sum } from "./bars.js";
import { detail } from "./detail.js";
import { button, el, isNarrow } from "./dom.js";
import { baseName, compact } from "./figures.js";
import { findingsOf, markOf } from "./findings.js";
import { LISTINGS, listingsOf, Measured } from "./listing.js";
import { metricsOf, textOf } from "./metrics.js";
import { dataTable } from "./table.js";

const ROW_HEIGHT = 20;
const KEYS = [
  ["n, p", "next and previous in the order of the measure"],
  ["/", "search; Enter finds the next"],
  ["e", "next line with an error, a warning or a note"],
  ["f", "fold or unfold the loop of the selected row"],
  ["1, 2, 3", "show or hide source, PTX, instructions"],
  ["arrows", "move the selection"],
];
// Columns that can be chosen in addition to those that are always there.
const EXTRA = [
  { name: "sampled", title: "sampled", hint: "The exact share as the samples estimate it, and its 95 % interval.", width: 18, cell: sampledText },
  { name: "inclusive", title: "incl.", hint: "With the code that is inlined there.", width: 7, cell: (row, pane) => inclusiveText(row, pane) },
  { name: "inst", title: "executed", hint: "Instructions that warps executed.", width: 8, cell: (row) => count(row.counters.inst_executed) },
  { name: "lanes", title: "lanes", hint: "Lanes of a warp that took part, in the mean.", width: 6, cell: lanesText },
  {
    name: "excess",
    title: "excess",
    hint: "Sectors of global memory beyond those that packed accesses would ask for.",
    width: 7,
    cell: (row) => count(row.counters.l2_sectors_global - row.counters.l2_sectors_global_ideal),
  },
  {
    name: "conflicts",
    title: "conflicts",
    hint: "Passes through the banks of shared memory that only bank conflicts make.",
    width: 9,
    cell: (row) => count(row.counters.l1_wavefronts_shared - row.counters.l1_wavefronts_shared_ideal),
  },
  {
    name: "live",
    title: "live",
    hint: "Registers of a thread that hold a value which is read later: the most before one of the row's instructions.",
    width: 5,
    cell: (row) => (row.liveRegisters === null ? "" : String(row.liveRegisters)),
  },
  {
    name: "attributed",
    title: "waited for",
    hint: "Share of the cycles for which other rows wait for this one.",
    width: 10,
    cell: (row, pane) => textOf({ isShare: true }, row.attributed, sum(pane.source.whole.cycles)),
  },
];
const USUAL = [[], ["sampled", "inst", "live", "excess"], [], []]; // of these, by the number of panes
const MOST_CODE = 160; // characters of a line that a pane has room for without breaking off

export const view = {
  name: "source",
  title: "Source",
  question: "Which line costs what, why, and what does it wait for?",
  isThere: (page) => page.profile.tables.sections.n > 0,
  open: (page, place) => new Source(page, place),
};

function count(number) {
  return number > 0 ? compact(number) : "";
}

function sampledText(row) {
  const [share, low, high] = row.interval;
  return share === null ? "" : `${(100 * share).toFixed(1)}% (${(100 * low).toFixed(1)}-${(100 * high).toFixed(1)})`;
}

function inclusiveText(row, pane) {
  if (!row.inlined?.length) return "";
  const all = new Measured(row.profile, [...row.own, ...row.inlined]);
  return textOf({ isShare: true }, sum(all.mix), sum(pane.source.whole.mix));
}

function lanesText(row) {
  const { inst_executed: executed, thread_inst_executed: threads } = row.counters;
  return executed ? (threads / executed).toFixed(1) : "";
}

class Source {
  constructor(page, place) {
    this.page = page;
    this.profile = page.profile;
    this.metrics = metricsOf(this.profile);
    this.panes = [];
    this.boxes = new Map();
    this.body = el("div", { class: "panes" });
    this.below = el("div", { class: "below", role: "region", "aria-label": "Selected row", tabindex: "0" });
    this.element = el("div", { class: "source" }, this.toolbar(), this.body, this.below);
    this.keys = (event) => this.key(event);
    document.addEventListener("keydown", this.keys);
    this.printing = (event) => this.panes.forEach((pane) => pane.table.print(event.type === "beforeprint"));
    ["beforeprint", "afterprint"].forEach((name) => window.addEventListener(name, this.printing));
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    ["beforeprint", "afterprint"].forEach((name) => window.removeEventListener(name, this.printing));
    this.panes.forEach((pane) => pane.table.close());
  }

  toolbar() {
    const { kernels } = this.profile.tables;
    this.kernelChoice = el(
      "select",
      { on: { change: (event) => this.page.go({ view: "source", kernel: this.profile.kernelKey(Number(event.target.value)) }) } },
      ...kernels.rows().map((kernel) => el("option", { value: kernel }, kernels.get("name", kernel))),
    );
    this.metricChoice = el(
      "select",
      { on: { change: (event) => this.measureBy(event.target.value) } },
      ...this.metrics.map((metric) => el("option", { value: metric.name, title: metric.hint }, metric.title)),
    );
    this.paneChoice = el("span", { class: "group", role: "group", "aria-label": "Panes" });
    this.findingButton = button("Next finding", () => this.nextFinding(), { title: "e" });
    this.search = el("input", {
      type: "search",
      placeholder: "search (/)",
      "aria-label": "Search the code",
      on: { input: () => this.find(), keydown: (event) => event.key === "Enter" && this.findNext(event.shiftKey ? -1 : 1) },
    });
    this.found = el("output", { class: "dim" });
    return el(
      "div",
      { class: "toolbar" },
      el("label", {}, "kernel ", this.kernelChoice),
      this.paneChoice,
      el("label", {}, "measure ", this.metricChoice),
      button("Next hottest", () => this.hottest(1), { title: "n" }),
      this.findingButton,
      this.search,
      this.found,
      el("details", { class: "menu" }, el("summary", {}, "Columns"), el("div", {}, ...EXTRA.map((column) => this.columnBox(column)))),
      el(
        "details",
        { class: "menu" },
        el("summary", {}, "Keys"),
        el("dl", {}, ...KEYS.flatMap(([key, text]) => [el("dt", {}, key), el("dd", {}, text)])),
      ),
    );
  }

  columnBox({ name, title, hint }) {
    const box = el("input", { type: "checkbox", on: { change: () => this.showColumn(name, box.checked) } });
    this.boxes.set(name, box);
    return el("label", { title: hint }, box, ` ${title}`);
  }

  // The columns that the user has chosen, or the default ones.
  get columns() {
    return this.chosenColumns ?? new Set(isNarrow() ? [] : USUAL[this.panes.length]);
  }

  showColumn(name, isShown) {
    this.chosenColumns = new Set(this.columns);
    if (isShown) this.chosenColumns.add(name);
    else this.chosenColumns.delete(name);
    this.panes.forEach((pane) => pane.drawColumns());
  }

  get metric() {
    return this.metrics.find((metric) => metric.name === this.metricName) ?? this.metrics[this.profile.hasLedger ? 0 : 1];
  }

  measureBy(name) {
    this.metricName = name;
    this.page.note({ ...this.page.place, measure: name });
    this.panes.forEach((pane) => pane.measure());
  }

  update(place) {
    const asked = place.kernel ? this.profile.kernelOf(place.kernel) : 0;
    if (asked < 0) this.page.say(`There is no kernel ${place.kernel}.`);
    const kernel = Math.max(0, asked);
    this.metricName = place.measure ?? this.metricName;
    this.metricChoice.value = this.metric.name;
    if (kernel !== this.kernel || (place.panes ?? this.paneNames) !== this.paneNames) this.openKernel(kernel, place.panes);
    this.selectPlace(place);
  }

  openKernel(kernel, panes) {
    this.selection = null;
    if (kernel !== this.kernel) {
      this.kernel = kernel;
      this.kernelChoice.value = String(kernel);
      this.listings = listingsOf(this.profile, kernel);
      this.whole = new Measured(this.profile, this.profile.instructionsOf(kernel));
    }
    const there = [...this.listings.keys()];
    const usual = isNarrow() ? there.slice(0, 1) : [there[0], there[there.length - 1]];
    const asked = (panes ?? this.paneNames)?.split(",").filter((name) => this.listings.has(name)) ?? [];
    this.showPanes(asked.length ? asked : [...new Set(usual)]);
  }

  showPanes(names) {
    const order = LISTINGS.map(({ name }) => name).filter((name) => names.includes(name));
    this.paneNames = order.join(",");
    this.panes.forEach((pane) => pane.table.close());
    this.panes = order;
    for (const [name, box] of this.boxes) box.checked = this.columns.has(name);
    this.panes = order.map((name) => new Pane(this, this.listings.get(name)));
    this.body.replaceChildren(...this.panes.map((pane) => pane.element));
    this.body.style.setProperty("--panes", String(order.length));
    this.paneChoice.replaceChildren(
      ...LISTINGS.filter(({ name }) => this.listings.has(name)).map(({ name, title }) =>
        button(title, () => this.togglePane(name), { "aria-pressed": String(order.includes(name)) }),
      ),
    );
    this.panes.forEach((pane) => pane.measure());
    this.findingButton.hidden = !this.panes.some((pane) => pane.hasMarks);
    this.drawBelow();
  }

  togglePane(name) {
    const names = this.panes.map((pane) => pane.listing.name);
    const next = names.includes(name) ? names.filter((other) => other !== name) : [...names, name];
    if (!next.length || !this.listings.has(name)) return;
    this.showPanes(next);
    this.page.note({ ...this.page.place, panes: this.paneNames });
    if (this.selection) this.select(this.selection.pane.listing.name, this.selection.row, true);
  }

  // Selects what an address names: a line of the source or of the PTX, or an instruction's address.
  selectPlace({ line, ptx, at }) {
    const [name, wanted] = line ? ["source", line] : ptx ? ["ptx", ptx] : at ? ["isa", at] : [];
    if (!name) {
      this.hottest(1);
      return;
    }
    const [path, number] = wanted.includes(":")
      ? [wanted.slice(0, wanted.lastIndexOf(":")), wanted.slice(wanted.lastIndexOf(":") + 1)]
      : ["", wanted];
    const row = this.listings
      .get(name)
      ?.rows.find((each) => each.number === Number(number) && (!path || each.path === path || baseName(each.path) === baseName(path)));
    if (row) this.select(name, row, true);
    else this.page.say(`${wanted} is not in the code of this kernel.`);
  }

  // Selects a row of a listing; the panes that it was not chosen in follow.
  select(name, row, isFollowed = false) {
    const pane = this.panes.find((each) => each.listing.name === name);
    this.selection = { name, row, pane: pane ?? this.panes[0], instructions: row.inlined?.length ? [...row.own, ...row.inlined] : row.instructions };
    this.drawSelection(isFollowed ? null : pane);
    const { view: _, line, ptx, at, ...rest } = this.page.place;
    const names = { source: "line", ptx: "ptx", isa: "at" };
    const value = name === "source" ? `${baseName(row.path)}:${row.place}` : row.place;
    this.page.note({ view: "source", ...rest, kernel: this.profile.kernelKey(this.kernel), [names[name]]: value });
  }

  drawSelection(origin = null) {
    for (const pane of this.panes) pane.showSelection(this.selection, pane === origin);
    this.drawBelow();
  }

  drawBelow() {
    const goTo = (instruction) => this.goToInstruction(instruction);
    const { row } = this.selection ?? {};
    this.below.replaceChildren(
      row
        ? detail(this.profile, row, this.whole, goTo)
        : el("p", { class: "dim" }, "Select a row to see why it stalls, how long, and what it waits for."),
      legend(this.whole.mix, this.profile.terms),
    );
  }

  goToInstruction(instruction) {
    for (const pane of this.panes) {
      const [row] = pane.listing.byInstruction.get(instruction) ?? [];
      if (row) {
        this.select(pane.listing.name, row, true);
        return;
      }
    }
  }

  // The next row in the order of the measure, or the one before.
  hottest(step) {
    const pane = this.selection?.pane ?? this.panes[0];
    const order = pane.listing.rows.filter((row) => pane.valueOf(row) > 0).sort((a, b) => pane.valueOf(b) - pane.valueOf(a));
    if (!order.length) return;
    const at = order.indexOf(this.selection?.row);
    const next = at < 0 ? 0 : (at + step + order.length) % order.length;
    this.select(pane.listing.name, order[next], true);
    this.page.say(`${next + 1} of ${order.length}: ${order[next].text.trim()}`);
  }

  // The next row that is marked, from the selected one on.
  nextFinding() {
    const pane = [this.selection?.pane, ...this.panes].find((each) => each?.hasMarks);
    if (!pane) return;
    const rows = pane.listing.rows.filter((row) => pane.markOf(row));
    const at = rows.indexOf(this.selection?.row);
    const row = at >= 0 ? rows[(at + 1) % rows.length] : rows[0];
    this.select(pane.listing.name, row, true);
    this.page.say(`${rows.indexOf(row) + 1} of ${rows.length}: ${row.text.trim()}`);
  }

  find() {
    const wanted = this.search.value.toLowerCase();
    this.matches = wanted
      ? this.panes.flatMap((pane) => pane.listing.rows.filter((row) => row.text.toLowerCase().includes(wanted)).map((row) => ({ pane, row })))
      : [];
    this.match = -1;
    this.found.textContent = wanted ? `${this.matches.length} found` : "";
    this.panes.forEach((pane) => pane.markFound(new Set(this.matches.map(({ row }) => row))));
  }

  findNext(step) {
    if (!this.matches?.length) return;
    this.match = (this.match + step + this.matches.length) % this.matches.length;
    const { pane, row } = this.matches[this.match];
    this.found.textContent = `${this.match + 1} of ${this.matches.length}`;
    this.select(pane.listing.name, row, true);
  }

  key(event) {
    const isTyping = event.target.closest?.("input, select, textarea");
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
    const panes = { 1: "source", 2: "ptx", 3: "isa" };
    const actions = {
      n: () => this.hottest(1),
      p: () => this.hottest(-1),
      e: () => this.nextFinding(),
      f: () => this.selection?.pane.fold(this.selection.row),
      "/": () => this.search.focus(),
    };
    const action = panes[event.key] ? () => this.togglePane(panes[event.key]) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

class Pane {
  constructor(source, listing) {
    this.source = source;
    this.listing = listing;
    this.folded = new Set();
    this.marked = new Set();
    this.callers = new Set();
    this.found = new Set();
    this.items = listing.shown(this.folded);
    this.hasMarks = listing.rows.some((row) => this.markOf(row));
    this.codeWidth = Math.min(
      MOST_CODE,
      listing.rows.reduce((most, row) => Math.max(most, row.text.length + 4), 30),
    );
    this.table = dataTable({
      caption: `${listing.title} of ${source.profile.tables.kernels.get("name", source.kernel)}`,
      columns: this.columns(),
      rows: this.items,
      rowHeight: ROW_HEIGHT,
      onSelect: (item) => this.chosen(item),
      rowClass: (item) => this.classOf(item),
    });
    this.element = el("section", { class: "pane", "aria-label": listing.title }, el("h2", {}, listing.title), this.table.element);
  }

  columns() {
    const { source, listing } = this;
    const { metric, profile } = source;
    const ofRow = (cell) => (item) => (item.isHeading ? "" : cell(this.measuredOf(item)));
    const all = [
      { name: "arrows", title: "", width: 4, align: "left", class: "gutter", cell: () => "" },
      {
        name: "line",
        title: listing.name === "isa" ? "address" : "line",
        width: (listing.name === "isa" ? 8 : 4) + (this.hasMarks ? 4 : 0),
        class: "dim",
        cell: (item) => (item.isHeading ? "" : this.place(item)),
      },
      {
        name: "metric",
        title: metric.title,
        hint: metric.hint,
        width: Math.max(6, metric.title.length),
        class: "heat",
        style: (item) => ({ "--part": String(this.partOf(item)) }),
        cell: (item) => textOf(metric, this.valueOf(item), this.wholeValue),
      },
      {
        name: "stalls",
        title: "stalls",
        hint: "As long as the row is costly, with a part for each stall reason.",
        width: 10,
        align: "left",
        cell: ofRow((row) => stackedBar(row.mix, this.barMost ? sum(row.mix) / this.barMost : 0, profile.terms, profile.unit)),
      },
      ...EXTRA.filter(({ name }) => source.columns.has(name)).map((column) => ({ ...column, cell: ofRow((row) => column.cell(row, this)) })),
      {
        name: "code",
        title: listing.name === "source" ? "source" : "instruction",
        width: 0,
        least: this.codeWidth,
        align: "left",
        class: "code",
        cell: (item) => this.code(item),
      },
    ];
    return isNarrow() ? all.filter(({ name }) => !["arrows", "stalls"].includes(name)) : all;
  }

  // The mark of a row: its most severe finding; "" nothing.
  markOf(row) {
    return (row.mark ??= markOf(this.source.profile, findingsOf(this.source.profile, row.instructions)));
  }

  place(item) {
    const mark = this.markOf(this.measuredOf(item));
    const place = item.number ? item.place : "";
    return mark
      ? el(
          "span",
          {},
          el("span", { class: `mark ${mark}`, role: "img", "aria-label": mark, title: `${mark}: select the line to read it` }, "!"),
          ` ${place}`,
        )
      : place;
  }

  drawColumns() {
    this.table.setColumns(this.columns());
    this.drawArrows();
  }

  // A row, or what a folded loop costs as a whole.
  measuredOf(item) {
    return item.loop && this.folded.has(item.loop) ? this.listing.foldedRow(item) : item;
  }

  valueOf(item) {
    if (item.isHeading) return item.rows.reduce((all, row) => all + this.valueOf(row), 0);
    const row = this.measuredOf(item);
    row.values ??= new Map();
    const { metric } = this.source;
    if (!row.values.has(metric.name)) row.values.set(metric.name, metric.value(row));
    return row.values.get(metric.name);
  }

  partOf(item) {
    return item.isHeading || !this.most ? 0 : Math.max(0, this.valueOf(item) / this.most);
  }

  measure() {
    this.most = this.listing.rows.reduce((most, row) => Math.max(most, this.valueOf(row)), 0);
    this.wholeValue = this.source.metric.value(this.source.whole);
    if (this.source.metric.name === "attributed") this.wholeValue = sum(this.source.whole.cycles);
    else if (this.source.metric.isShare && this.source.metric.name !== "sampled") this.wholeValue = sum(this.source.whole.mix);
    this.barMost = this.listing.rows.reduce((most, row) => Math.max(most, sum(row.mix)), 0);
    this.drawColumns();
  }

  classOf(item) {
    if (item.isHeading) return "heading";
    return [this.marked.has(item) ? "match" : "", this.callers.has(item) ? "caller" : "", this.found.has(item) ? "found" : ""].join(" ").trim();
  }

  code(item) {
    if (item.isHeading) return el("span", {}, item.text, el("span", { class: "dim" }, `  ${item.where}`));
    if (!item.loop) return item.text;
    const isFolded = this.folded.has(item.loop);
    const fold = button(isFolded ? "▸" : "▾", () => this.fold(item), {
      class: "fold",
      "aria-expanded": String(!isFolded),
      "aria-label": "Loop",
      tabindex: "-1",
    });
    const more = isFolded ? el("span", { class: "dim" }, `  … ${item.loop.to - item.loop.from} more lines`) : null;
    return el("span", {}, fold, item.text, more);
  }

  // Folds the innermost loop that has the row, or unfolds it.
  fold(row) {
    const at = this.listing.items.indexOf(row);
    const loop = row.loop ?? this.listing.loops.filter(({ from, to }) => from <= at && at <= to).pop();
    if (!loop) return;
    if (!this.folded.delete(loop)) this.folded.add(loop);
    this.items = this.listing.shown(this.folded);
    this.table.setRows(this.items, this.items.indexOf(row));
    this.drawArrows();
  }

  chosen(item) {
    if (!item.isHeading) this.source.select(this.listing.name, item);
  }

  // The line that a row is shown in: the one of its folded loop, where it is hidden.
  lineOf(row) {
    const seen = this.items.indexOf(row);
    if (seen >= 0) return seen;
    const at = this.listing.items.indexOf(row);
    const loop = [...this.folded].filter(({ from, to }) => from <= at && at <= to).sort((a, b) => a.from - b.from)[0];
    return loop ? this.items.indexOf(this.listing.items[loop.from]) : -1;
  }

  showSelection(selection, isOrigin) {
    const instructions = selection?.instructions ?? [];
    this.marked = this.listing.rowsOf(instructions);
    this.callers = this.listing.callersOf(instructions);
    const row = selection?.name === this.listing.name ? selection.row : [...this.marked].sort((a, b) => sum(b.mix) - sum(a.mix))[0];
    this.selectedRow = selection ? row : undefined;
    this.table.redraw();
    if (!isOrigin) this.table.select(row && selection ? this.lineOf(row) : -1);
    this.drawArrows();
  }

  markFound(rows) {
    this.found = rows;
    this.table.redraw();
  }

  drawArrows() {
    this.picture?.remove();
    if (isNarrow()) return;
    this.picture = arrowsOf(this.listing, this.selectedRow, (row) => this.lineOf(row), this.items.length, ROW_HEIGHT);
    this.table.element.append(this.picture);
    this.picture.style.setProperty("top", `${this.table.head.offsetHeight}px`);
  }
}
