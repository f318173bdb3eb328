// Draws the time line: rows of tasks, the graphics pipeline, engines, relations as arrows, SMs and stall mix below.

import { FAULT_COLOUR, FAULTS } from "./engines.js";
import { grouped } from "./figures.js";
import { firstAt, nextAt, VIRTUAL } from "./lanes.js";
import { drawGaps } from "./timeline_gaps.js";
import { drawPipeline, PIPE_LANE } from "./timeline_pipeline.js";

const LANE = 18;
const ROW_GAP = 8;
const AXIS = 24;
const SM_HEIGHT = 44;
const MIX_HEIGHT = 110;
const LETTER = 6.4; // pixels, of a label, at most
const LEAST_LABEL = 34;
const MOST_ARROWS = 300;
// Okabe and Ito's colours, which the colour-blind can distinguish, for kernels in their order.
const KERNELS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7a00", "#7a6fb0"];
const ON_DARK = new Set(["#0072b2", "#5d6873", "#4d6a85", "#7a6fb0"]); // others have dark text
const KINDS = { task: "#5d6873", wait: "#b9bfc7", free: "#b9bfc7", [FAULTS]: FAULT_COLOUR };
const COPY = "#4d6a85";

export class TimelineCanvas {
  // `stage`: { tasks, rows (of lanes.js), engines, activity, pipeline, ties, sms, terms, kernelOf (launch -> kernel) }
  constructor(canvas, stage) {
    this.canvas = canvas;
    Object.assign(this, stage);
    this.context = canvas.getContext("2d");
    this.begins = this.tasks.column("begin_cycle");
    this.ends = this.tasks.column("end_cycle");
    this.launches = this.tasks.column("launch");
    this.kinds = this.tasks.column("kind");
    this.ofKind = new Map(); // colours
    this.layOut();
  }

  // Tops of rows and lanes, and the lane of each task.
  layOut() {
    this.lanes = [];
    this.names = [];
    this.laneOf = new Int32Array(this.tasks.n).fill(-1);
    let top = AXIS + ROW_GAP;
    // Draws may fill many lanes of the rows: their pipeline is above these, below passes.
    const [virtual, others] = [true, false].map((is) => this.rows.filter(({ name }) => (name === VIRTUAL) === is));
    for (const { name, lanes } of virtual) top = this.layOutRow(name, lanes, top);
    this.pipelineTop = top;
    top = this.layOutPipeline(top);
    for (const { name, lanes } of others) top = this.layOutRow(name, lanes, top);
    for (const { name, short, lanes } of this.engines.rows()) top = this.layOutRow(name, lanes, top, short);
    top = this.layOutGaps(top);
    this.tasksHeight = top;
    this.height = top + (this.activity.isThere ? SM_HEIGHT + MIX_HEIGHT + 3 * ROW_GAP : 0);
  }

  // These give where the next one begins. `short`: an engine's name where there is little room; its tasks are in rows of
  // their own, too, to which arrows lead.
  layOutRow(name, lanes, top, short = "") {
    const isEngine = short !== "";
    this.names.push({ name, short, top });
    for (const lane of lanes) {
      if (!isEngine) for (const row of lane.tasks) this.laneOf[row] = this.lanes.length;
      this.lanes.push({ ...lane, top, isEngine });
      top += LANE;
    }
    return top + ROW_GAP;
  }

  layOutPipeline(top) {
    const { blocks } = this.pipeline;
    blocks.forEach(({ name, isStage }, row) => this.names.push({ name: `${name}, ${isStage ? "waves" : "busy"}`, top: top + row * PIPE_LANE }));
    return blocks.length ? top + blocks.length * PIPE_LANE + ROW_GAP : top;
  }

  layOutGaps(top) {
    this.gapsTop = top;
    if (!this.engines.gaps.n) return top;
    this.names.push({ name: "no kernel, for", short: "gaps", top });
    return top + LANE + ROW_GAP;
  }

  resize() {
    const scale = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.gutter = Math.min(120, Math.max(64, Math.floor(this.width / 7)));
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
  }

  // Colours of the page's present theme, and the pattern of each stall reason.
  readColours() {
    const style = getComputedStyle(this.canvas);
    this.colours = Object.fromEntries(
      ["text", "dim", "line", "paper", "panel", "accent", "chosen", "stripe", "warm"].map((name) => [
        name,
        style.getPropertyValue(`--${name}`).trim(),
      ]),
    );
    const probe = document.createElement("span");
    this.canvas.parentElement.append(probe);
    this.paints = this.terms.rows().map((term) => {
      probe.className = `reason-${this.terms.get("reason", term)}`;
      const { backgroundColor, backgroundImage } = getComputedStyle(probe);
      return backgroundImage === "none" ? backgroundColor : this.striped(backgroundColor, /(-?\d+)deg/.exec(backgroundImage)?.[1]);
    });
    probe.remove();
  }

  striped(colour, degrees) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const paint = tile.getContext("2d");
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 6, 6);
    paint.strokeStyle = this.colours.stripe;
    paint.lineWidth = 1.5;
    paint.beginPath();
    const ends = { 45: [0, 6, 6, 0], "-45": [0, 0, 6, 6], 90: [3, 0, 3, 6], 0: [0, 3, 6, 3] }[degrees] ?? [0, 0, 6, 6];
    paint.moveTo(ends[0], ends[1]);
    paint.lineTo(ends[2], ends[3]);
    paint.stroke();
    return this.context.createPattern(tile, "repeat");
  }

  x(cycle) {
    return this.gutter + ((cycle - this.from) / (this.to - this.from)) * (this.width - this.gutter);
  }

  cycle(x) {
    return this.from + ((x - this.gutter) / (this.width - this.gutter)) * (this.to - this.from);
  }

  // `state`: { from, to, selected (row of tasks, -1 none), range ([from, to] or null) }
  draw(state) {
    Object.assign(this, state);
    if (!this.colours) this.readColours();
    const { context, colours } = this;
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.drawAxis();
    context.save();
    context.beginPath();
    context.rect(this.gutter, AXIS, this.width - this.gutter, this.height);
    context.clip();
    if (this.range) this.drawRange(this.range);
    drawPipeline({ ...this, x: (cycle) => this.x(cycle) }, this.pipeline, this.pipelineTop, this.chosenDraw());
    this.filled = "";
    for (const lane of this.lanes) this.drawLane(lane);
    if (this.engines.gaps.n) drawGaps(this, this.engines, this.gapsTop, (...place) => this.label(...place));
    if (this.activity.isThere) this.drawActivity();
    if (this.selected >= 0) this.drawTies(this.selected);
    context.restore();
    context.fillStyle = colours.dim;
    for (const { name, short, top } of this.names) {
      const isTight = short && name.length * LETTER > this.gutter - 8;
      this.label(isTight ? short : name, 4, top + LANE / 2, this.gutter - 8);
    }
  }

  label(text, x, y, room) {
    const most = Math.floor(room / LETTER);
    this.context.fillText(text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text, x, y);
  }

  drawAxis() {
    const { context, colours } = this;
    const step = tickStep((this.to - this.from) / Math.max(1, Math.floor((this.width - this.gutter) / 110)));
    context.fillStyle = colours.dim;
    context.strokeStyle = colours.line;
    context.beginPath();
    for (let cycle = Math.ceil(this.from / step) * step; cycle <= this.to; cycle += step) {
      const x = Math.round(this.x(cycle)) + 0.5;
      context.moveTo(x, AXIS - 6);
      context.lineTo(x, this.height);
      if (x + 20 < this.width) context.fillText(grouped(Math.round(cycle)), x + 3, AXIS / 2);
    }
    context.stroke();
    context.fillText("cycles", 4, AXIS / 2);
  }

  drawRange([from, to]) {
    const [left, right] = [this.x(from), this.x(to)];
    this.context.fillStyle = this.colours.chosen;
    this.context.fillRect(left, AXIS, Math.max(1, right - left), this.height);
  }

  drawLane({ tasks, begins, ends, top, isEngine }) {
    const { from, to } = this;
    const scale = (this.width - this.gutter) / (to - from);
    const right = this.width + 2;
    // Neighbours of one colour are one rectangle.
    let [start, end, colour] = [0, 0, ""];
    const flush = () => {
      if (end > start) this.fill(colour, start, top + 1, end - start);
    };
    let at = firstAt(ends, from);
    while (at < tasks.length && begins[at] <= to) {
      const row = tasks[at];
      const left = Math.max(this.gutter - 2, this.gutter + (begins[at] - from) * scale);
      const width = Math.max(1, Math.min(right, this.gutter + (ends[at] - from) * scale) - left);
      const own = this.colourOf(row);
      if (width > 2 || own !== colour || left > end + 0.5) {
        flush();
        [start, colour] = [left, own];
      }
      end = left + width;
      if (row === this.selected || width > LEAST_LABEL) {
        flush();
        start = end;
        if (row === this.selected) this.frame(left, top, width);
        if (width > LEAST_LABEL) this.nameTask(row, left, top, width, isEngine);
      }
      // Tasks that begin in the same pixel are hidden by this one.
      at = width > 1 ? at + 1 : nextAt(begins, at + 1, from + (Math.floor(left) + 1 - this.gutter) / scale);
    }
    flush();
  }

  fill(colour, left, top, width) {
    if (this.filled !== colour) {
      this.filled = colour;
      this.context.fillStyle = colour;
    }
    this.context.fillRect(left, top, width, LANE - 3);
  }

  frame(left, top, width) {
    this.context.strokeStyle = this.colours.text;
    this.context.lineWidth = 2;
    this.context.strokeRect(left, top + 1, width, LANE - 3);
    this.context.lineWidth = 1;
  }

  nameTask(row, left, top, width, isEngine) {
    this.filled = "";
    this.context.fillStyle = ON_DARK.has(this.colourOf(row)) ? "#ffffff" : "#111111";
    const name = this.tasks.get("name", row);
    const text = isEngine ? this.engines.label(row, this.tasks.get("kind", row), name) : name;
    this.label(text, left + 4, top + LANE / 2, width - 6);
  }

  colourOf(row) {
    const launch = this.launches[row];
    const kernel = launch < 0 ? undefined : this.kernelOf.get(launch);
    if (kernel !== undefined) return KERNELS[kernel % KERNELS.length];
    let colour = this.ofKind.get(this.kinds[row]);
    if (!colour) this.ofKind.set(this.kinds[row], (colour = KINDS[this.tasks.get("kind", row)] ?? COPY));
    return colour;
  }

  drawTies(row) {
    const { context, ties } = this;
    const [from, to] = ties.of(this.tasks.column("task")[row]);
    const pairs = [
      ...Array.from(from.slice(0, MOST_ARROWS), (tie) => [row, ties.rowOf(ties.relations.column("target")[tie])]),
      ...Array.from(to.slice(0, MOST_ARROWS), (tie) => [ties.rowOf(ties.relations.column("source")[tie]), row]),
    ];
    context.strokeStyle = context.fillStyle = this.colours.text;
    for (const [source, target] of pairs) {
      if (source >= 0 && target >= 0 && this.laneOf[source] >= 0 && this.laneOf[target] >= 0) this.arrow(source, target);
    }
  }

  arrow(source, target) {
    const { context } = this;
    // From the end, or, if it still runs then, from the other's begin.
    const leaves = Math.max(this.begins[source], Math.min(this.ends[source], this.begins[target]));
    const [x0, x1] = [this.x(leaves), this.x(this.begins[target])];
    const [y0, y1] = [source, target].map((row) => this.lanes[this.laneOf[row]].top + LANE / 2);
    const bend = Math.min(60, Math.max(10, Math.abs(x1 - x0) / 3));
    const lift = y0 === y1 ? LANE : 0; // over what lies between
    context.beginPath();
    context.moveTo(x0, y0 - lift / 3);
    context.bezierCurveTo(x0 + bend, y0 - lift, x1 - bend, y1 - lift, x1, y1 - lift / 4);
    context.stroke();
    context.beginPath();
    context.moveTo(x1 + 1, y1 - lift / 4 + 1);
    context.lineTo(x1 - 7, y1 - lift / 2 - 4);
    context.lineTo(x1 - 7, y1 - lift / 2 + 4);
    context.fill();
  }

  drawActivity() {
    const { context, activity, colours } = this;
    const n = Math.max(1, Math.floor(this.width - this.gutter));
    const cycles = (this.to - this.from) / n;
    const parts = activity.parts(this.from, this.to, n);
    const smBottom = this.tasksHeight + SM_HEIGHT;
    const mixBottom = smBottom + ROW_GAP + MIX_HEIGHT;
    context.fillStyle = colours.accent;
    // launches that share an SM count it each
    this.drawPart(n, (part) => [0, Math.min(1, parts[part * activity.channels + activity.sms] / cycles / this.sms)], smBottom, SM_HEIGHT);
    const reached = new Float64Array(n);
    this.termsBySize.forEach((term) => {
      context.fillStyle = this.paints[term];
      this.drawPart(
        n,
        (part) => {
          const low = reached[part];
          reached[part] += parts[part * activity.channels + term] / cycles / activity.most;
          return [low, reached[part]];
        },
        mixBottom,
        MIX_HEIGHT,
      );
    });
    context.restore();
    context.save();
    context.fillStyle = colours.dim;
    this.label("active SMs", 4, this.tasksHeight + SM_HEIGHT / 2 - 7, this.gutter - 8);
    this.label(`${activity.isShared ? "at most, " : ""}of ${this.sms}`, 4, this.tasksHeight + SM_HEIGHT / 2 + 7, this.gutter - 8);
    this.label("warps, by state", 4, smBottom + ROW_GAP + 10, this.gutter - 8);
    this.label(`to ${grouped(Math.ceil(activity.most))}`, 4, smBottom + ROW_GAP + 24, this.gutter - 8);
    context.beginPath();
    context.rect(this.gutter, AXIS, this.width - this.gutter, this.height);
    context.clip();
  }

  // An area of one path: what equal neighbours have in common is drawn once.
  drawPart(n, bounds, bottom, height) {
    const { context } = this;
    context.beginPath();
    let [start, low, high] = [0, 0, 0];
    for (let part = 0; part <= n; part += 1) {
      const [a, b] = part < n ? bounds(part) : [0, -1];
      if (part && a === low && b === high) continue;
      if (high > low) context.rect(this.gutter + start, bottom - high * height, part - start, (high - low) * height);
      [start, low, high] = [part, a, b];
    }
    context.fill();
  }

  // The draw that is selected, or whose shader is: a row of `draws`; -1 none.
  chosenDraw() {
    if (this.selected < 0) return -1;
    const own = this.pipeline.drawOf(this.tasks.column("task")[this.selected]);
    return own >= 0 ? own : this.pipeline.drawOf(this.tasks.column("parent")[this.selected]);
  }

  // The block of the pipeline in whose lane a place of the canvas is.
  blockAt(x, y) {
    return x < this.gutter ? undefined : this.pipeline.blocks[Math.floor((y - this.pipelineTop) / PIPE_LANE)];
  }

  // Rows of the draws that are there.
  drawsAt(x, y) {
    const block = this.blockAt(x, y);
    const [from, to] = this.pixelAt(x);
    return block ? this.pipeline.drawsAt(block, (from + to) / 2, (to - from) / 2) : [];
  }

  // The cycles that a pixel stands for.
  pixelAt(x) {
    return [this.cycle(Math.floor(x)), this.cycle(Math.floor(x) + 1)];
  }

  // The cycles of three pixels: what is so near to the pointer is meant.
  get reach() {
    return (3 * (this.to - this.from)) / (this.width - this.gutter);
  }

  // A row of `gaps`, at a place of the canvas, or near to it; -1 none.
  gapAt(x, y) {
    const isThere = x >= this.gutter && y >= this.gapsTop && y < this.gapsTop + LANE;
    return isThere ? this.engines.gapAt(this.cycle(x), this.reach) : -1;
  }

  // The row of the task at a place of the canvas, or near to it; -1 none.
  taskAt(x, y) {
    const lane = this.lanes.find(({ top }) => y >= top && y < top + LANE);
    if (!lane || x < this.gutter) return -1;
    const { reach } = this;
    const at = firstAt(lane.ends, this.cycle(x) - reach);
    return at < lane.tasks.length && lane.begins[at] <= this.cycle(x) + reach ? lane.tasks[at] : -1;
  }
}

function tickStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return Math.max(1, [1, 2, 5, 10].find((factor) => factor * power >= least) * power);
}
