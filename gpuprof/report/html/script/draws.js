// Draws: blocks of the pipeline over time, what became of each draw's primitives, and which block held it up.

import { el, isNarrow } from "./dom.js";
import { compact, duration, grouped, nbytes } from "./figures.js";
import { Pipeline } from "./pipeline.js";
import { pipelineLanes } from "./pipeline_lanes.js";
import { hashOf } from "./place.js";
import { dataTable } from "./table.js";

// Counts of primitives and pixels, in the order of the pipeline: columns of `draws` with their words.
const FATES = [
  ["indices", "indices fetched"],
  ["vertices", "vertices shaded"],
  ["primitives", "primitives assembled"],
  ["culled_patches", "patches culled"],
  ["domain_vertices", "vertices of patches"],
  ["tessellated", "primitives tessellated"],
  ["emitted", "primitives emitted"],
  ["rejected", "rejected"],
  ["clipped", "clipped"],
  ["culled", "culled"],
  ["without_area", "without area"],
  ["scanned", "scanned"],
  ["tiles", "tiles"],
  ["hidden_tiles", "tiles hidden"],
  ["covered", "samples covered"],
  ["tested", "samples tested"],
  ["passed", "samples passed"],
  ["quads", "quads shaded"],
  ["hidden_quads", "quads hidden"],
  ["helpers", "helper lanes"],
  ["discarded", "pixels discarded"],
  ["written", "samples written"],
];

// Memory that units and shaders share: columns of `draws` with what they are called.
const MEMORIES = [
  ["l2", "L2"],
  ["dram", "DRAM"],
];
const PIPELINE = "Of a unit, how much of the time it was at work; of a shader stage, how many waves were in flight. At the right the most.";

export const view = {
  name: "draws",
  title: "Draws",
  question: "What became of each draw, and which block of the pipeline held it up?",
  isThere: ({ profile }) => profile.tables.draws.n > 0,
  open: (page) => new Draws(page),
};

class Draws {
  constructor(page) {
    this.page = page;
    this.profile = page.profile;
    this.draws = this.profile.tables.draws;
    this.clock = this.profile.tables.chip.get("clock_mhz", 0);
    this.byDraw = Object.fromEntries(["draw_blocks", "draw_shaders"].map((name) => [name, this.profile.tables[name].rowsBy("draw")]));
    this.pipeline = new Pipeline(this.profile.tables);
    this.tables = [];
    this.lanes = el("div");
    this.about = el("div", { "aria-live": "polite" });
    this.list = this.table("Draws", this.columns(), this.draws.rows(), { onSelect: (row) => this.choose(row) });
    this.element = el(
      "div",
      { class: "draws" },
      el("h2", {}, "Pipeline"),
      el("p", { class: "dim" }, PIPELINE),
      this.lanes,
      el("h2", {}, `Draws (${grouped(this.draws.n)})`),
      this.list.element,
      this.about,
      ...["pass", "command buffer"].map((kind) => this.groups(kind)).filter(Boolean),
    );
  }

  update({ draw }) {
    const row = this.draws.rows().find((each) => String(this.draws.get("draw", each)) === draw) ?? -1;
    this.row = row;
    if (this.list.rows[this.list.selected] !== row) this.list.select(this.list.rows.indexOf(row));
    const isTimed = row >= 0 && this.draws.get("start_cycle", row) >= 0;
    const span = isTimed ? ["start_cycle", "end_cycle"].map((name) => this.draws.get(name, row)) : null;
    this.lanes.replaceChildren(this.pipeline.isThere ? pipelineLanes(this.pipeline, span) : el("p", { class: "dim" }, "Nobody timed these draws."));
    this.detail?.close();
    this.about.replaceChildren(...(row >= 0 ? this.ofDraw(row) : []));
  }

  close() {
    this.tables.forEach((table) => table.close());
    this.detail?.close();
  }

  choose(row) {
    const place = { view: view.name, draw: this.draws.get("draw", row) };
    this.page.note({ ...place, draw: String(place.draw) });
    this.update({ draw: String(place.draw) });
  }

  table(caption, columns, rows, more = {}) {
    const made = dataTable({ caption, columns, rows, ...more });
    this.tables.push(made);
    return made;
  }

  columns() {
    const { draws } = this;
    const number = { name: "draw", title: "draw", width: 6, cell: (row) => draws.get("draw", row), value: (row) => draws.get("draw", row) };
    const name = {
      name: "name",
      title: "name",
      width: 0,
      least: isNarrow() ? 14 : 24,
      align: "left",
      cell: (row) => draws.get("name", row),
      value: (row) => draws.get("name", row),
    };
    const places = [
      {
        name: "buffer",
        title: "command buffer",
        width: 18,
        align: "left",
        cell: (row) => draws.get("command_buffer", row) || "-",
        value: (row) => draws.get("command_buffer", row),
      },
      { name: "pass", title: "pass", width: 5, cell: (row) => draws.get("pass", row), value: (row) => draws.get("pass", row) },
    ];
    return [number, name, ...workColumns(draws), ...places];
  }

  groups(kind) {
    const { draw_groups: groups } = this.profile.tables;
    const rows = groups.rows().filter((row) => groups.get("kind", row) === kind);
    if (!rows.length) return null;
    const name = { name: "name", title: kind, width: kind === "pass" ? 8 : 0, least: 14, align: "left", cell: (row) => groups.get("name", row) };
    const columns = [
      name,
      { name: "draws", title: "draws", width: 7, cell: (row) => grouped(groups.get("draws", row)), value: (row) => groups.get("draws", row) },
      ...workColumns(groups),
    ];
    const title = kind === "pass" ? "Passes" : "Command buffers";
    return el("section", {}, el("h2", {}, title), this.table(title, columns, rows).element);
  }

  ofDraw(row) {
    const { draws } = this;
    const [start, end] = ["start_cycle", "end_cycle"].map((name) => draws.get(name, row));
    const time =
      start < 0 ? "not timed" : `cycles ${grouped(start)} to ${grouped(end)}, ${grouped(end - start)} cycles, ${duration(end - start, this.clock)}`;
    const samples = draws.get("samples", row);
    const target = `${grouped(draws.get("width", row))} x ${grouped(draws.get("height", row))} pixels${samples > 1 ? `, ${samples} samples each` : ""}`;
    const fates = FATES.filter(([name]) => draws.get(name, row)).map(([name, words]) =>
      el("li", {}, `${words} `, el("b", {}, grouped(draws.get(name, row)))),
    );
    const task = draws.get("task", row);
    const inTime = task < 0 || start < 0 ? null : el("a", { href: hashOf({ view: "timeline", task, from: start, to: end }) }, "In the timeline");
    return [
      el("h2", {}, `Draw ${draws.get("draw", row)}: ${draws.get("name", row)}`),
      el("p", {}, `${time}; ${target}; changes of state: ${grouped(draws.get("state_changes", row))}. `, ...this.shaders(row), " ", inTime ?? ""),
      el("ul", { class: "fates" }, ...fates),
      this.blocks(row),
    ].filter(Boolean);
  }

  shaders(row) {
    const { draw_shaders: shaders, kernels } = this.profile.tables;
    const links = (this.byDraw.draw_shaders.get(row) ?? []).flatMap((shader) => {
      const kernel = shaders.get("kernel", shader);
      const link = el("a", { href: hashOf({ view: "source", kernel: this.profile.kernelKey(kernel) }) }, kernels.get("name", kernel));
      return [`${shaders.get("stage", shader)} `, link, ", "];
    });
    return links.length ? ["Shaders: ", ...links.slice(0, -1), "."] : [];
  }

  blocks(row) {
    const rows = [...this.blocksOf(row), ...this.memoriesOf(row)];
    if (!rows.length) return null;
    const bottleneck = this.draws.get("bottleneck", row);
    const share = (value) => (value === null ? "-" : `${(100 * value).toFixed(1)}%`);
    const number = (value) => (value === null ? "-" : grouped(value));
    const columns = [
      { name: "block", title: "block", width: 12, align: "left", cell: ({ name }) => name },
      {
        name: "share",
        title: "busy",
        hint: "A unit: share of the draw's time. A stage: mean waves in flight, as a share of the most. A memory: share of the bytes that it could transfer.",
        width: 7,
        cell: (block) => share(block.share),
      },
      { name: "bar", title: "", width: 0, least: 16, align: "left", cell: (block) => busyBar(block, block.name === bottleneck) },
      { name: "blocked", title: "blocked", hint: "Waiting for a full successor.", width: 8, cell: (block) => share(block.blocked) },
      { name: "waves", title: "waves", width: 8, cell: (block) => number(block.waves) },
      { name: "most", title: "in flight", hint: "The most at a time.", width: 9, cell: (block) => number(block.most) },
      { name: "bytes", title: "bytes", hint: "Read and written.", width: 9, cell: (block) => (block.nbytes === null ? "-" : nbytes(block.nbytes)) },
      { name: "first", title: "from cycle", width: 12, cell: (block) => number(block.first) },
      { name: "last", title: "to cycle", width: 12, cell: (block) => number(block.last) },
    ];
    this.detail = dataTable({ caption: "Blocks of the draw", columns, rows });
    return this.detail.element;
  }

  // { name, share, blocked, waves, most, nbytes, first, last }; null is what a block has not.
  blocksOf(row) {
    const { draw_blocks: blocks } = this.profile.tables;
    return (this.byDraw.draw_blocks.get(row) ?? []).map((block) => {
      const get = (name) => blocks.get(name, block);
      const stage = get("waves") ? { waves: get("waves"), most: get("most") } : { waves: null, most: null };
      return {
        name: get("block"),
        share: get("share"),
        blocked: get("blocked"),
        ...stage,
        nbytes: null,
        first: get("first_cycle"),
        last: get("last_cycle"),
      };
    });
  }

  memoriesOf(row) {
    const none = { blocked: null, waves: null, most: null, first: null, last: null };
    return MEMORIES.filter(([column]) => this.draws.get(`${column}_nbytes`, row) >= 0).map(([column, name]) => ({
      ...none,
      name,
      share: this.draws.get(`${column}_share`, row),
      nbytes: this.draws.get(`${column}_nbytes`, row),
    }));
  }
}

// Columns that tables of draws and of groups of draws share.
function workColumns(work) {
  const count = (name) => (row) => compact(work.get(name, row));
  const value = (name) => (row) => work.get(name, row);
  const cycles = (row) => (work.get("start_cycle", row) < 0 ? -1 : work.get("end_cycle", row) - work.get("start_cycle", row));
  const percent = (name, title, column, hint) => ({
    name,
    title,
    hint,
    width: 7,
    cell: (row) => shareText(work.get(column, row)),
    value: (row) => work.get(column, row) ?? -1,
  });
  const counted = (name, title, hint) => ({ name, title, hint, width: Math.max(8, title.length), cell: count(name), value: value(name) });
  return [
    { name: "cycles", title: "cycles", width: 8, cell: (row) => (cycles(row) < 0 ? "-" : compact(cycles(row))), value: cycles },
    {
      name: "bottleneck",
      title: "bottleneck",
      hint: "The block or memory with the largest share of the time.",
      width: 11,
      align: "left",
      cell: (row) => work.get("bottleneck", row) || "-",
      value: value("bottleneck"),
    },
    counted("primitives", "primitives", "Assembled."),
    counted("culled", "culled", "By side."),
    counted("clipped", "clipped", "By the near or far plane, or the guard band."),
    counted("rejected", "rejected", "Outside of the view."),
    counted("fragments", "fragments", "Pixels shaded, without helper lanes."),
    {
      name: "overdraw",
      title: "overdraw",
      hint: "Samples that passed, for each sample of the target.",
      width: 9,
      cell: (row) => work.get("overdraw", row).toFixed(2),
      value: value("overdraw"),
    },
    percent("quads", "quads", "quad_efficiency", "Lanes of the pixel shader that a sample is covered for."),
    ...MEMORIES.filter(([column]) => work.column(`${column}_nbytes`).some((bytes) => bytes >= 0)).map(([column, title]) =>
      percent(column, title, `${column}_share`, `Bytes read and written, of what the ${title} could have transferred.`),
    ),
  ];
}

function shareText(share) {
  return share === null ? "-" : `${Math.round(100 * share)}%`;
}

function busyBar(block, isBottleneck) {
  const [share, blocked] = [block.share, block.blocked].map((part) => Math.min(1, part ?? 0));
  const parts = [
    ["fill", share],
    ["blocked", Math.min(blocked, 1 - share)],
  ];
  return el(
    "span",
    { class: isBottleneck ? "busy bottleneck" : "busy" },
    ...parts.map(([kind, part]) => el("span", { class: kind, style: { width: `${100 * part}%` } })),
    isBottleneck ? el("span", { class: "mark" }, "bottleneck") : null,
  );
}
