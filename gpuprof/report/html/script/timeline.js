// The time line: what ran when, what each task waited for, and what the machine did meanwhile.

import { Activity } from "./activity.js";
import { legend, ranked, stackedBar, sum } from "./bars.js";
import { button, el, isNarrow } from "./dom.js";
import { Engines, FAULT_COLOUR, FAULTS } from "./engines.js";
import { compact, duration, grouped, nbytes, percent } from "./figures.js";
import { rowsOfTasks } from "./lanes.js";
import { amountText, inParts, Pipeline } from "./pipeline.js";
import { hashOf } from "./place.js";
import { dataTable } from "./table.js";
import { Ties } from "./ties.js";
import { TimelineCanvas } from "./timeline_canvas.js";

const LEAST_CYCLES = 8; // of a window
const MOST_TIES = 500; // in the list
const MOST_DRAWS = 4; // that are named
const KEYS =
  "Arrow keys move, plus and minus zoom, 0 shows everything, n and p select the next and the previous task, s zooms to the selection, Escape ends it.";

export const view = {
  name: "timeline",
  title: "Timeline",
  question: "What ran when, what did it wait for, and what did the machine do meanwhile?",
  isThere: ({ profile }) => profile.tables.tasks.n > 0 || profile.tables.launches.n > 0,
  open: (page) => new Timeline(page),
};

class Timeline {
  constructor(page) {
    this.page = page;
    this.profile = page.profile;
    const { tables } = this.profile;
    this.tasks = tables.tasks.n ? tables.tasks : launchesAsTasks(tables.launches, tables.kernels);
    this.clock = tables.chip.get("clock_mhz", 0);
    this.ties = new Ties({ tasks: this.tasks, relations: tables.relations });
    this.engines = new Engines(tables, (task) => this.ties.rowOf(task));
    this.activity = new Activity(tables);
    this.pipeline = new Pipeline(tables);
    this.whole = this.extent();
    this.state = { from: this.whole[0], to: this.whole[1], selected: -1, range: null };
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "time line",
      "aria-label": `${grouped(this.tasks.n)} tasks from cycle ${grouped(this.whole[0])} to ${grouped(this.whole[1])}. ${KEYS}`,
    });
    this.painter = new TimelineCanvas(this.canvas, this.stage());
    this.canvas.style.setProperty("height", `${this.painter.height}px`);
    this.about = el("div", { class: "about" });
    this.element = el(
      "div",
      { class: "timeline" },
      this.toolbar(),
      el("div", { class: "stage" }, this.canvas),
      this.mixLegend(),
      this.faultLegend(),
      this.about,
    );
    this.listen();
  }

  stage() {
    const { tables } = this.profile;
    const totals = this.activity.sum(...this.whole).slice(0, tables.terms.n);
    this.totals = [...totals];
    const launches = tables.launches;
    const kernels = launches.column("kernel");
    return {
      tasks: this.tasks,
      rows: rowsOfTasks(this.tasks),
      engines: this.engines,
      activity: this.activity,
      pipeline: this.pipeline,
      ties: this.ties,
      sms: tables.chip.get("sms", 0) || 1,
      terms: tables.terms,
      // Useful work first, at the bottom.
      termsBySize: [
        0,
        ...ranked(this.totals)
          .map(([term]) => term)
          .filter((term) => term > 0),
      ],
      kernelOf: new Map(Array.from(launches.column("launch"), (launch, row) => [launch, kernels[row]])),
    };
  }

  extent() {
    const [begins, ends] = [this.tasks.column("begin_cycle"), this.tasks.column("end_cycle")];
    let [from, to] = [Infinity, -Infinity];
    for (let row = 0; row < this.tasks.n; row += 1) {
      if (begins[row] >= 0) {
        from = Math.min(from, begins[row]);
        to = Math.max(to, ends[row]);
      }
    }
    return from > to ? [0, LEAST_CYCLES] : [from, Math.max(to, from + LEAST_CYCLES)];
  }

  toolbar() {
    const press = (text, title, act) => button(text, act, { title, "aria-label": title });
    return el(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "Time line" },
      press("Whole", "Show the whole", () => this.show(...this.whole)),
      press("+", "Zoom in", () => this.zoom(0.5)),
      press("−", "Zoom out", () => this.zoom(2)),
      press("←", "Earlier", () => this.pan(-0.25)),
      press("→", "Later", () => this.pan(0.25)),
      press("Selection", "Zoom to the selection", () => this.zoomToSelection()),
      el("span", { class: "dim" }, "Wheel zooms, Shift+drag moves, drag selects, click chooses a task."),
    );
  }

  mixLegend() {
    return this.activity.isThere ? legend(this.totals, this.profile.terms) : null;
  }

  faultLegend() {
    const isThere = this.engines.taskRows.some((row) => row >= 0 && this.tasks.get("kind", row) === FAULTS);
    const mark = el("span", { class: "swatch", style: { background: FAULT_COLOUR } });
    return isThere ? el("ul", { class: "legend", "aria-label": "Marks" }, el("li", {}, mark, FAULTS)) : null;
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    this.watch = new ResizeObserver(() => {
      this.painter.resize();
      this.later();
    });
    this.watch.observe(canvas);
    this.theme = new MutationObserver(() => this.repaint());
    this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.onScheme = () => this.repaint();
    this.scheme.addEventListener("change", this.onScheme);
  }

  close() {
    this.watch.disconnect();
    this.theme.disconnect();
    this.scheme.removeEventListener("change", this.onScheme);
    this.table?.close();
  }

  repaint() {
    this.painter.colours = null;
    this.later();
  }

  // The address says the window, the selected task and the selected range.
  update({ from, to, task, range }) {
    const numbers = [from, to].map(Number);
    const isWindow = from && to && numbers.every(Number.isFinite) && numbers[1] > numbers[0];
    [this.state.from, this.state.to] = isWindow ? this.fitted(...numbers) : this.whole;
    this.state.selected = task === undefined ? -1 : this.ties.rowOf(Number(task));
    const ends = range?.split("-").map(Number);
    this.state.range = ends?.length === 2 && ends.every(Number.isFinite) && ends[1] > ends[0] ? ends : null;
    this.describe();
    this.later();
  }

  note() {
    const { from, to, selected, range } = this.state;
    const isWhole = from === this.whole[0] && to === this.whole[1];
    this.page.note({
      view: view.name,
      from: isWhole ? "" : Math.round(from),
      to: isWhole ? "" : Math.round(to),
      task: selected < 0 ? "" : this.tasks.column("task")[selected],
      range: range ? range.map(Math.round).join("-") : "",
    });
  }

  later() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.painter.width) this.painter.draw(this.state);
    });
  }

  // A window that lies within the whole, and has enough cycles to distinguish.
  fitted(from, to) {
    const [first, last] = this.whole;
    const length = Math.min(last - first, Math.max(LEAST_CYCLES, to - from));
    const start = Math.min(Math.max(first, from), last - length);
    return [start, start + length];
  }

  show(from, to) {
    [this.state.from, this.state.to] = this.fitted(from, to);
    this.later();
    clearTimeout(this.noting);
    this.noting = setTimeout(() => this.element.isConnected && this.note(), 200);
  }

  zoom(factor, at = (this.state.from + this.state.to) / 2) {
    const { from, to } = this.state;
    const length = Math.min(this.whole[1] - this.whole[0], Math.max(LEAST_CYCLES, (to - from) * factor));
    const start = at - ((at - from) / (to - from)) * length;
    this.show(start, start + length);
  }

  pan(share) {
    const by = share * (this.state.to - this.state.from);
    this.show(this.state.from + by, this.state.to + by);
  }

  zoomToSelection() {
    const { selected, range } = this.state;
    if (range) this.show(...range);
    else if (selected >= 0) {
      const [begin, end] = [this.painter.begins[selected], this.painter.ends[selected]];
      const margin = Math.max(LEAST_CYCLES / 2, (end - begin) * 0.1);
      this.show(begin - margin, end + margin);
    }
  }

  wheel(event) {
    const isWhole = this.state.to - this.state.from >= this.whole[1] - this.whole[0];
    if (event.deltaY > 0 && isWhole && !event.shiftKey) return; // the page scrolls on
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / 1000);
    else this.zoom(2 ** (Math.max(-200, Math.min(200, event.deltaY)) / 200), this.painter.cycle(event.offsetX));
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const acts = {
      ArrowLeft: () => this.pan(event.shiftKey ? -0.5 : -0.1),
      ArrowRight: () => this.pan(event.shiftKey ? 0.5 : 0.1),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      0: () => this.show(...this.whole),
      Home: () => this.show(...this.whole),
      n: () => this.step(1),
      p: () => this.step(-1),
      s: () => this.zoomToSelection(),
      Escape: () => this.choose(-1, null),
    };
    if (!(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  }

  // The next task in the order of their numbers.
  step(by) {
    let row = this.state.selected + by;
    if (this.state.selected < 0) row = by > 0 ? 0 : this.tasks.n - 1;
    while (row >= 0 && row < this.tasks.n && this.painter.laneOf[row] < 0) row += by;
    if (row >= 0 && row < this.tasks.n) this.choose(row, null, true);
  }

  press(event) {
    if (event.button !== 0) return;
    const { from, to } = this.state;
    const isPan = event.shiftKey || event.pointerType === "touch";
    this.drag = { x: event.offsetX, y: event.offsetY, from, to, isPan, hasMoved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const { drag, painter } = this;
    if (!drag) {
      const row = painter.taskAt(event.offsetX, event.offsetY);
      this.canvas.title = row < 0 ? this.gapOrBlock(event.offsetX, event.offsetY) : this.sentence(row);
      return;
    }
    drag.hasMoved ||= Math.abs(event.offsetX - drag.x) > 3;
    if (!drag.hasMoved) return;
    if (drag.isPan) {
      const by = ((drag.x - event.offsetX) / (painter.width - painter.gutter)) * (drag.to - drag.from);
      this.show(drag.from + by, drag.to + by);
      return;
    }
    const ends = [drag.x, event.offsetX].map((x) => painter.cycle(Math.max(painter.gutter, x)));
    const begin = Math.floor(Math.min(...ends));
    this.state.range = [begin, Math.max(begin + 1, Math.ceil(Math.max(...ends)))]; // over the names there are no cycles
    this.later();
  }

  release(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    if (!drag.hasMoved) this.choose(this.rowAt(event.offsetX, event.offsetY), null);
    else if (!drag.isPan) this.choose(-1, this.state.range);
  }

  // The row of the task at a place of the canvas; in a lane of the pipeline, of the first draw that is there. -1 none.
  rowAt(x, y) {
    const task = this.painter.taskAt(x, y);
    if (task >= 0) return task;
    const [draw] = this.painter.drawsAt(x, y);
    return draw === undefined ? -1 : this.ties.rowOf(this.pipeline.draws.column("task")[draw]);
  }

  gapOrBlock(x, y) {
    const gap = this.painter.gapAt(x, y);
    return gap < 0 ? this.blockText(x, y) : this.engines.gapText(gap);
  }

  // The text of a lane of the pipeline at a position of the canvas; "" where there is none.
  blockText(x, y) {
    const block = this.painter.blockAt(x, y);
    if (!block) return "";
    const [from, to] = this.painter.pixelAt(x);
    const [amount] = inParts(block, from, to, 1);
    const draws = this.painter.drawsAt(x, y);
    const names = draws.slice(0, MOST_DRAWS).map((draw) => this.drawName(draw));
    const more = draws.length > MOST_DRAWS ? ` and ${grouped(draws.length - MOST_DRAWS)} more` : "";
    return `${block.name}: ${amountText(block, amount)}${names.length ? `; ${names.join(", ")}${more}` : ""}`;
  }

  drawName(draw) {
    const { draws } = this.pipeline;
    return `draw ${draws.get("draw", draw)} (${draws.get("name", draw)})`;
  }

  choose(row, range, isToBeSeen = false) {
    Object.assign(this.state, { selected: row, range });
    if (row >= 0 && isToBeSeen) this.reveal(row);
    this.note();
    this.describe();
    if (row >= 0) this.page.say(this.sentence(row));
    this.later();
  }

  reveal(row) {
    const { from, to } = this.state;
    const [begin, end] = [this.painter.begins[row], this.painter.ends[row]];
    if (end < from || begin > to) this.show(begin - (to - from) / 2, begin + (to - from) / 2);
  }

  sentence(row) {
    const { tasks } = this;
    const [begin, end] = [this.painter.begins[row], this.painter.ends[row]];
    const time = duration(end - begin, this.clock);
    const engine = this.engines.told(row);
    return `${tasks.get("name", row)}: ${tasks.get("kind", row)} on ${tasks.get("row", row)}, cycles ${grouped(begin)} to ${grouped(end)} (${grouped(end - begin)}${time ? `, ${time}` : ""})${engine ? `; ${engine}` : ""}`;
  }

  describe() {
    this.table?.close();
    this.table = null;
    const { selected, range } = this.state;
    if (selected >= 0) this.about.replaceChildren(...this.ofTask(selected));
    else this.about.replaceChildren(...this.ofRange(range ?? this.whole, !range));
  }

  ofTask(row) {
    const { tables } = this.profile;
    const number = this.tasks.column("task")[row];
    const kernel = this.painter.kernelOf.get(this.tasks.column("launch")[row]);
    const link = kernel === undefined ? null : el("a", { href: hashOf({ view: "source", kernel: this.profile.kernelKey(kernel) }) }, "Source");
    const parent = this.tasks.column("parent")[row];
    const above = parent < 0 ? null : el("p", {}, "Part of ", this.linkTo(parent));
    const [from, to] = this.ties.of(number);
    const ties = [...Array.from(from, (tie) => [tie, "target"]), ...Array.from(to, (tie) => [tie, "source"])];
    const items = ties.slice(0, MOST_TIES).map(([tie, end]) => el("li", {}, ...this.tie(tables.relations, tie, end)));
    const draw = this.pipeline.drawOf(number);
    const toDraw = draw < 0 ? null : el("a", { href: hashOf({ view: "draws", draw: this.pipeline.draws.get("draw", draw) }) }, "Draw");
    return [
      el("h2", {}, this.tasks.get("name", row)),
      el("p", {}, `${this.sentence(row)}. `, link, toDraw),
      above,
      el("h2", {}, `Relations (${grouped(ties.length)})`),
      items.length ? el("ul", { class: "ties" }, ...items) : el("p", { class: "dim" }, "None was stated or observed."),
      ties.length > MOST_TIES ? el("p", { class: "dim" }, `${grouped(ties.length - MOST_TIES)} more.`) : null,
    ].filter(Boolean);
  }

  tie(relations, tie, end) {
    const other = relations.column(end)[tie];
    const [kind, via, bytes] = [relations.get("kind", tie), relations.get("via", tie), relations.get("nbytes", tie)];
    const what = [via, bytes ? nbytes(bytes) : "", relations.get("origin", tie)].filter(Boolean).join(", ");
    const here = "this task";
    return end === "target"
      ? [`${here} ${kind} `, other < 0 ? via : this.linkTo(other), el("span", { class: "dim" }, ` (${what})`)]
      : [this.linkTo(other), ` ${kind} ${here}`, el("span", { class: "dim" }, ` (${what})`)];
  }

  linkTo(number) {
    const row = this.ties.rowOf(number);
    const text = row < 0 ? `task ${number}` : `${this.tasks.get("name", row)} (task ${number})`;
    const { from, to } = this.state;
    return el("a", { href: hashOf({ view: view.name, task: number, from: Math.round(from), to: Math.round(to) }) }, text);
  }

  ofRange([from, to], isWhole) {
    const groups = this.groups(from, to);
    const time = duration(to - from, this.clock);
    const title = `${isWhole ? "All" : "Selection"}: cycles ${grouped(Math.round(from))} to ${grouped(Math.round(to))}, ${grouped(Math.round(to - from))} cycles${time ? `, ${time}` : ""}`;
    const columns = [
      { name: "tasks", title: "tasks", width: 9, cell: ({ n }) => grouped(n), value: ({ n }) => n },
      {
        name: "cycles",
        title: "cycles",
        hint: "Inside the selection, summed.",
        width: 10,
        cell: ({ cycles }) => compact(Math.round(cycles)),
        value: ({ cycles }) => cycles,
      },
      {
        name: "share",
        title: "share",
        hint: "Share of the selection's time; more than 100% where tasks overlap.",
        width: 8,
        cell: ({ cycles }) => percent(cycles, to - from),
      },
      { name: "kind", title: "kind", width: 16, align: "left", cell: ({ kind }) => kind, value: ({ kind }) => kind },
    ];
    const name = {
      name: "name",
      title: "name",
      width: 0,
      least: isNarrow() ? 18 : 24,
      align: "left",
      cell: ({ name }) => name,
      value: ({ name }) => name,
    };
    columns.splice(isNarrow() ? 1 : columns.length, 0, name);
    this.table = dataTable({ caption: "Tasks by name", columns, rows: groups });
    return [el("h2", {}, title), ...this.machineSums(from, to), ...this.pipelineMeans(from, to), ...this.engineShares(from, to), this.table.element];
  }

  machineSums(from, to) {
    if (!this.activity.isThere) return [];
    const { terms } = this.profile;
    const found = this.activity.sum(from, to);
    const mix = [...found.slice(0, terms.n)].map(Math.round);
    const { sms } = this.painter;
    const active = Math.min(sms, found[this.activity.sms] / (to - from));
    const most = this.activity.isShared ? "at most " : ""; // launches that share an SM count it each
    const words = `${most}${active.toFixed(1)} of ${sms} SMs active in the mean, ${grouped(sum(mix))} warp-cycles`;
    return [el("p", { class: "sums" }, words), stackedBar(mix, 1, terms, "warp-cycles")];
  }

  pipelineMeans(from, to) {
    if (!this.pipeline.isThere) return [];
    const means = this.pipeline.blocks.map((block) => [block, inParts(block, from, to, 1)[0]]).filter(([, mean]) => mean > 0);
    const items = means.map(([block, mean]) => el("li", {}, `${block.name} `, el("b", {}, amountText(block, mean))));
    return [el("p", { class: "sums" }, "Graphics pipeline, in the mean:"), el("ul", { class: "fates" }, ...items)];
  }

  engineShares(from, to) {
    if (!this.engines.isThere) return [];
    const { busy, idle } = this.engines.shares(from, to);
    const list = (title, shares) =>
      shares.length
        ? [
            el("p", { class: "sums" }, title),
            el("ul", { class: "fates" }, ...shares.map(([name, share]) => el("li", {}, `${name} `, el("b", {}, share)))),
          ]
        : [];
    return [...list("Engines, busy:", busy), ...list("No kernel ran, for:", idle)];
  }

  // Tasks by kind and name: how many touch the range, and their cycles in it; most cycles first.
  groups(from, to) {
    const { tasks, painter } = this;
    const [kinds, names] = [tasks.column("kind"), tasks.column("name")];
    const found = new Map();
    for (let row = 0; row < tasks.n; row += 1) {
      const [begin, end] = [painter.begins[row], painter.ends[row]];
      if (begin < 0 || end < from || begin > to) continue;
      const key = kinds[row] * 4294967296 + names[row];
      let group = found.get(key);
      if (!group) found.set(key, (group = { kind: tasks.get("kind", row), name: tasks.get("name", row), n: 0, cycles: 0 }));
      group.n += 1;
      group.cycles += Math.min(end, to) - Math.max(begin, from);
    }
    return [...found.values()].sort((a, b) => b.cycles - a.cycles || b.n - a.n);
  }
}

// Launches of a profile that knows no tasks, as one of a card: each on the row of its stream.
function launchesAsTasks(launches, kernels) {
  const columns = {
    task: launches.column("launch"),
    launch: launches.column("launch"),
    begin_cycle: Float64Array.from(launches.column("start_cycle"), (cycle, row) => (launches.column("complete")[row] ? cycle : -1)),
    end_cycle: launches.column("end_cycle"),
    parent: new Int8Array(launches.n).fill(-1),
    is_virtual: new Uint8Array(launches.n),
    row: launches.column("stream"),
    kind: new Uint8Array(launches.n),
    name: launches.column("kernel"),
  };
  const texts = {
    kind: () => "launch",
    name: (row) => kernels.get("name", columns.name[row]),
    row: (row) => `stream ${columns.row[row]}`,
  };
  const rowNames = {};
  columns.row.forEach((stream) => (rowNames[stream] = `stream ${stream}`));
  return {
    n: launches.n,
    texts: rowNames,
    column: (name) => columns[name],
    get: (name, row) => (name in texts ? texts[name](row) : columns[name][row]),
  };
}
