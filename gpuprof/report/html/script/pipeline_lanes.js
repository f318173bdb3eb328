// Lanes of the graphics pipeline over time, one for each block: how busy a unit was, how many waves of a stage there were.

import { el, svg } from "./dom.js";
import { grouped } from "./figures.js";

const WIDTH = 1000;
const LEFT = 96;
const RIGHT = 90;
const LANE = 26;
const GAP = 6;
const BOTTOM = 26;

// `lanes`: the table draw_lanes; `span`: [begin, end] of what is marked, in cycles, or null.
export function pipelineLanes(lanes, span) {
  const blocks = blocksOf(lanes);
  const [begins, ends] = [lanes.column("begin_cycle"), lanes.column("end_cycle")];
  const [first, last] = [begins.reduce((a, b) => Math.min(a, b)), ends.reduce((a, b) => Math.max(a, b))];
  const x = (cycle) => LEFT + ((cycle - first) / (last - first)) * (WIDTH - LEFT - RIGHT);
  const height = blocks.length * (LANE + GAP);
  const mark = span ? svg("rect", { class: "span", x: x(span[0]), y: 0, width: Math.max(1, x(span[1]) - x(span[0])), height }) : null;
  const words = blocks.map(({ name, most, isStage }) => `${name}: ${mostText(most, isStage)}`).join("; ");
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height + BOTTOM}`, role: "img", "aria-label": `Pipeline over time. ${words}`, class: "lanes" },
    mark,
    ...blocks.flatMap((block, row) => lane(block, row * (LANE + GAP), { begins, ends, amounts: lanes.column("amount") }, x)),
    svg("text", { x: LEFT, y: height + 16 }, `cycle ${grouped(first)}`),
    svg("text", { x: WIDTH - RIGHT, y: height + 16, "text-anchor": "end" }, grouped(last)),
  );
  return el("div", { class: "chart", tabindex: "0", role: "group", "aria-label": "Pipeline over time" }, drawing);
}

// Blocks in the order of the rows: { name, isStage, rows, most }.
function blocksOf(lanes) {
  const found = new Map();
  for (let row = 0; row < lanes.n; row += 1) {
    const name = lanes.get("block", row);
    if (!found.has(name)) found.set(name, { name, isStage: lanes.get("is_stage", row) === 1, rows: [], most: 0 });
    const block = found.get(name);
    block.rows.push(row);
    block.most = Math.max(block.most, lanes.get("amount", row));
  }
  return [...found.values()];
}

function mostText(most, isStage) {
  return isStage ? `${grouped(Math.round(most))} waves` : `${Math.round(100 * most)}%`;
}

// A unit's lane is full at 100%, a stage's at the most waves that there were.
function lane({ name, isStage, rows, most }, top, { begins, ends, amounts }, x) {
  const full = isStage ? most : Math.max(1, most);
  const floor = top + LANE;
  const steps = rows.map((row) => {
    const height = (LANE * amounts[row]) / full;
    return `M${x(begins[row]).toFixed(2)} ${floor}V${(floor - height).toFixed(2)}H${x(ends[row]).toFixed(2)}V${floor}Z`;
  });
  return [
    svg("line", { class: "floor", x1: LEFT, x2: WIDTH - RIGHT, y1: floor, y2: floor }),
    svg("path", { class: isStage ? "stage" : "unit", d: steps.join("") }, svg("title", {}, `${name}: at most ${mostText(most, isStage)}`)),
    svg("text", { class: "name", x: LEFT - 8, y: floor - 8, "text-anchor": "end" }, name),
    svg("text", { x: WIDTH - RIGHT + 8, y: floor - 8 }, mostText(most, isStage)),
  ];
}
