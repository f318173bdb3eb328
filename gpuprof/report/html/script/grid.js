// The grid: costs grouped in any order, expanded, sorted and filtered. Rows of a group always sum to the group.

import { legend, stackedBar, sum } from "./bars.js";
import { button, el, isNarrow } from "./dom.js";
import { compact, duration, percent } from "./figures.js";
import { hashOf } from "./place.js";
import { dataTable, sortedBy } from "./table.js";

const INDENT = 2; // characters a level
const NO_TASK = "(no task)";

export const view = {
  name: "grid",
  title: "Grid",
  question: "What does each kernel, function, stream or task cost, by whatever I group it?",
  isThere: (page) => page.profile.tables.cells.n > 0,
  open: (page) => new Grid(page),
};

// The keys that costs are grouped by. `ofRun`: it belongs to launches, so that launches can be counted below it.
const GROUPS = [
  { name: "device", title: "device", ofRun: true, text: ({ tables }) => tables.chip.get("name", 0) },
  { name: "stream", title: "stream", ofRun: true, text: ({ tables }, item) => `stream ${tables.runs.get("stream", item.run)}` },
  { name: "task", title: "task", ofRun: true, text: ({ tables }, item) => tables.runs.get("task", item.run) || NO_TASK },
  { name: "kernel", title: "kernel", ofRun: true, text: (profile, item) => profile.kernelKey(profile.tables.runs.column("kernel")[item.run]) },
  { name: "function", title: "function", ofRun: false, text: ({ tables }, item) => tables.paths.get("function", item.path) },
  { name: "path", title: "call path", ofRun: false, text: ({ tables }, item) => tables.paths.get("path", item.path) },
];
const USUAL_GROUPS = ["kernel", "path"];
const USUAL_COLUMNS = ["share", "cycles", "mix", "samples", "launches", "duration", "executed", "excess"];

// Rows with a cost: { run, path, cycles and samples by term, works }.
function itemsOf(profile) {
  const { cells, works } = profile.tables;
  const found = new Map();
  const at = (run, path) => {
    const key = run * profile.tables.paths.n + path;
    if (!found.has(key)) found.set(key, { run, path, cycles: profile.zeros(), samples: profile.zeros(), works: {} });
    return found.get(key);
  };
  for (let cell = 0; cell < cells.n; cell += 1) {
    const item = at(cells.column("run")[cell], cells.column("path")[cell]);
    item.cycles[cells.column("term")[cell]] += cells.column("cycles")[cell];
    item.samples[cells.column("term")[cell]] += cells.column("samples")[cell];
  }
  for (let row = 0; row < works.n; row += 1) {
    const item = at(works.column("run")[row], works.column("path")[row]);
    for (const name of works.declared.keys()) item.works[name] = works.column(name)[row];
  }
  return [...found.values()];
}

// The sums of a group.
class Group {
  constructor(profile, text, level, items, ofRun) {
    Object.assign(this, { profile, text, level, items, ofRun, isOpen: false });
  }

  get cycles() {
    return (this.keptCycles ??= this.added("cycles"));
  }

  get samples() {
    return (this.keptSamples ??= this.added("samples"));
  }

  get mix() {
    return this.profile.hasLedger ? this.cycles : this.samples;
  }

  added(name) {
    const sums = this.profile.zeros();
    for (const item of this.items) item[name].forEach((number, term) => (sums[term] += number));
    return sums;
  }

  work(name) {
    return this.items.reduce((all, item) => all + (item.works[name] ?? 0), 0);
  }

  // The sum over the launches, each counted once; null below a function, which is no launch's own.
  ofLaunches(name) {
    if (!this.ofRun) return null;
    const runs = new Set(this.items.map((item) => item.run));
    return [...runs].reduce((all, run) => all + this.profile.tables.runs.column(name)[run], 0);
  }
}

class Grid {
  constructor(page) {
    this.page = page;
    this.profile = page.profile;
    this.items = itemsOf(this.profile);
    this.measures = this.allMeasures();
    this.shownNames = new Set(USUAL_COLUMNS);
    this.groupBar = el("span", { class: "groups", role: "group", "aria-label": "Group by" });
    this.filter = el("input", { type: "search", placeholder: "filter by text", "aria-label": "Filter by text", on: { input: () => this.note() } });
    this.table = dataTable({
      caption: "Costs",
      columns: [],
      rows: [],
      role: "treegrid",
      onSelect: () => {},
      onOpen: (group) => this.toggle(group),
      onKey: (event, group) => this.key(event, group),
      onSort: () => this.draw(),
      rowClass: (group) => (group.level < 0 ? "total" : ""),
      rowAttributes: (group) => ({
        "aria-level": group.level + 2,
        "aria-expanded": group.level < 0 || this.isLeaf(group) ? null : String(group.isOpen),
      }),
    });
    this.table.sorted = { name: "cycles", down: true };
    this.element = el(
      "div",
      { class: "grid" },
      el(
        "div",
        { class: "toolbar" },
        el("span", {}, "group by "),
        this.groupBar,
        this.filter,
        button("Expand all", () => this.openAll(true)),
        button("Collapse all", () => this.openAll(false)),
        this.columnMenu(),
      ),
      this.table.element,
      legend(new Group(this.profile, "", 0, this.items, true).mix, this.profile.terms),
    );
  }

  close() {
    this.table.close();
  }

  // The address says how it is grouped, sorted and filtered.
  update(place) {
    const asked = place.by?.split(",").filter((name) => GROUPS.some((group) => group.name === name)) ?? [];
    this.by = asked.length ? [...new Set(asked)] : USUAL_GROUPS;
    if (place.columns) this.shownNames = new Set(place.columns.split(","));
    this.filter.value = place.filter ?? "";
    this.drawGroupBar();
    this.regroup();
  }

  note() {
    this.page.note({ view: "grid", by: this.by.join(","), filter: this.filter.value, columns: this.columnsKey() });
    this.regroup();
  }

  // "" for the usual ones.
  columnsKey() {
    const key = [...this.shownNames].sort().join(",");
    return key === [...USUAL_COLUMNS].sort().join(",") ? "" : key;
  }

  allMeasures() {
    const { terms } = this.profile;
    const number = (name, title, hint, value, width = 10) => ({
      name,
      title,
      hint,
      width,
      value,
      cell: (group) => (value(group) === null ? "" : compact(value(group))),
    });
    const clock = this.profile.tables.chip.get("clock_mhz", 0);
    return [
      {
        name: "share",
        title: "share",
        hint: "Share of all that is shown.",
        width: 7,
        value: (group) => sum(group.mix),
        cell: (group) => percent(sum(group.mix), sum(this.total.mix)),
      },
      number("cycles", "warp-cycles", "Exact cycles of all resident warps, from the ledger.", (group) => sum(group.cycles), 11),
      {
        name: "mix",
        title: "stalls",
        hint: "A part for each stall reason.",
        width: 22,
        align: "left",
        cell: (group) => stackedBar(group.mix, 1, terms, this.profile.unit),
      },
      number("samples", "samples", "Samples that hit it.", (group) => sum(group.samples)),
      number("launches", "launches", "Launches; a function has none of its own.", (group) => group.ofLaunches("launches"), 9),
      {
        name: "duration",
        title: "duration",
        hint: "Durations of the launches, summed.",
        width: 10,
        value: (group) => group.ofLaunches("cycles") ?? -1,
        cell: (group) => (group.ofRun ? duration(group.ofLaunches("cycles"), clock) || compact(group.ofLaunches("cycles")) : ""),
      },
      number("executed", "executed", "Instructions that warps executed.", (group) => group.work("inst_executed")),
      number(
        "excess",
        "excess",
        "Sectors of global memory beyond those that packed accesses would ask for.",
        (group) => group.work("l2_sectors_global") - group.work("l2_sectors_global_ideal"),
      ),
      number(
        "conflicts",
        "conflicts",
        "Passes through the banks of shared memory that only bank conflicts make.",
        (group) => group.work("l1_wavefronts_shared") - group.work("l1_wavefronts_shared_ideal"),
      ),
      number("local", "local", "Requested sectors of local memory.", (group) => group.work("l2_sectors_local")),
      ...terms
        .rows()
        .map((term) =>
          number(
            `term-${terms.get("reason", term)}`,
            terms.get("name", term),
            terms.get("text", term),
            (group) => group.mix[term],
            terms.get("name", term).length,
          ),
        ),
    ];
  }

  columnMenu() {
    const boxes = this.measures.map(({ name, title, hint }) => {
      const box = el("input", { type: "checkbox", checked: this.shownNames.has(name), on: { change: () => this.showColumn(name, box.checked) } });
      return el("label", { title: hint }, box, ` ${title}`);
    });
    return el("details", { class: "menu" }, el("summary", {}, "Columns"), el("div", {}, ...boxes));
  }

  showColumn(name, isShown) {
    if (isShown) this.shownNames.add(name);
    else this.shownNames.delete(name);
    this.note();
  }

  drawGroupBar() {
    const chosen = this.by.map((name, at) => {
      const { title } = GROUPS.find((group) => group.name === name);
      return el(
        "span",
        { class: "chip" },
        at ? button("◂", () => this.move(at, -1), { "aria-label": `Group by ${title} earlier` }) : null,
        el("span", {}, title),
        this.by.length > 1
          ? button("×", () => this.regroupBy(this.by.filter((other) => other !== name)), { "aria-label": `Do not group by ${title}` })
          : null,
      );
    });
    const left = GROUPS.filter(({ name }) => !this.by.includes(name));
    const more = el(
      "select",
      { "aria-label": "Group by more", on: { change: (event) => event.target.value && this.regroupBy([...this.by, event.target.value]) } },
      el("option", { value: "" }, "add"),
      ...left.map(({ name, title }) => el("option", { value: name }, title)),
    );
    this.groupBar.replaceChildren(...chosen, ...(left.length ? [more] : []));
  }

  move(at, step) {
    const by = [...this.by];
    [by[at], by[at + step]] = [by[at + step], by[at]];
    this.regroupBy(by);
  }

  regroupBy(by) {
    this.by = by;
    this.drawGroupBar();
    this.note();
  }

  regroup() {
    this.groups = this.by.map((name) => GROUPS.find((group) => group.name === name));
    const wanted = this.filter.value.toLowerCase();
    const items = wanted
      ? this.items.filter((item) => this.groups.some(({ text }) => text(this.profile, item).toLowerCase().includes(wanted)))
      : this.items;
    this.total = new Group(this.profile, "Total", -1, items, !wanted);
    this.roots = this.divided(this.total);
    this.roots.forEach((group) => (group.isOpen = this.roots.length < 4));
    this.table.columns = this.columns();
    this.table.drawHead();
    this.draw();
  }

  // The groups inside of a group; they are the same ones each time.
  divided(group) {
    const level = group.level + 1;
    if (level >= this.groups.length) return [];
    if (!group.parts) {
      const { text } = this.groups[level];
      const ofRun = this.groups.slice(0, level + 1).every((each) => each.ofRun) && !this.filter.value;
      const parts = new Map();
      for (const item of group.items) {
        const name = text(this.profile, item);
        if (!parts.has(name)) parts.set(name, new Group(this.profile, name, level, [], ofRun));
        parts.get(name).items.push(item);
      }
      group.parts = [...parts.values()];
    }
    return group.parts;
  }

  isLeaf(group) {
    return group.level + 1 >= this.groups.length;
  }

  columns() {
    const name = {
      name: "name",
      title: this.groups.map(({ title }) => title).join(" / "),
      width: 0,
      least: isNarrow() ? 16 : 40,
      align: "left",
      value: (group) => group.text,
      cell: (group) => this.nameOf(group),
    };
    return [name, ...this.measures.filter((measure) => this.shownNames.has(measure.name))];
  }

  nameOf(group) {
    if (group.level < 0) return group.text;
    const isKernel = this.groups[group.level].name === "kernel";
    const text = isKernel ? el("a", { href: hashOf({ view: "source", kernel: group.text }) }, group.text) : group.text;
    const turn = this.isLeaf(group)
      ? null
      : button(group.isOpen ? "▾" : "▸", () => this.toggle(group), {
          class: "turn",
          tabindex: "-1",
          "aria-label": group.isOpen ? "Collapse" : "Expand",
        });
    return el("span", { class: "node", style: { "padding-left": `${group.level * INDENT + 2}ch` } }, turn, text);
  }

  draw() {
    const { name, down } = this.table.sorted;
    const { value } = this.table.columns.find((column) => column.name === name) ?? this.measures[1];
    const rows = [this.total];
    const add = (groups) => {
      for (const group of sortedBy(groups, value, down)) {
        rows.push(group);
        if (group.isOpen) add(this.divided(group));
      }
    };
    add(this.roots);
    const selected = rows.indexOf(this.table.rows[this.table.selected]);
    this.table.setRows(rows, selected);
  }

  toggle(group, isOpen = !group.isOpen) {
    if (group.level < 0 || this.isLeaf(group)) return;
    group.isOpen = isOpen;
    this.draw();
  }

  openAll(isOpen) {
    const open = (groups) => {
      for (const group of groups) {
        group.isOpen = isOpen && !this.isLeaf(group);
        if (isOpen) open(this.divided(group));
      }
    };
    open(this.roots);
    this.draw();
  }

  key(event, group) {
    if (event.key === "ArrowRight") this.toggle(group, true);
    else if (event.key === "ArrowLeft") this.toggle(group, false);
    else return;
    event.preventDefault();
  }
}
