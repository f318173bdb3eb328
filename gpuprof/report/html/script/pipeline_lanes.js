// Lanes of the graphics pipeline over time, one for each block: how busy a unit was, how many waves of a stage there were.

import { el, svg } from "./dom.js";
import { grouped } from "./figures.js";
import { amountText, fullOf, inParts } from "./pipeline.js";

const WIDTH = 1000;
const LEFT = 96;
const RIGHT = 116; // for "to 12,345 waves"
const LANE = 26;
const GAP = 6;
const BOTTOM = 26;
const PARTS = 512;

// `pipeline`: of pipeline.js; `span`: [begin, end] of what is marked, in cycles, or null.
export function pipelineLanes(pipeline, span) {
  const { blocks, first, last } = pipeline;
  const x = (cycle) => LEFT + ((cycle - first) / (last - first)) * (WIDTH - LEFT - RIGHT);
  const height = blocks.length * (LANE + GAP);
  const mark = span ? svg("rect", { class: "span", x: x(span[0]), y: 0, width: Math.max(1, x(span[1]) - x(span[0])), height }) : null;
  const lanes = blocks.map((block) => ({ block, amounts: inParts(block, first, last, PARTS) }));
  const words = lanes.map(({ block, amounts }) => `${block.name}: ${mostText(block, amounts)}`).join("; ");
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height + BOTTOM}`, role: "img", "aria-label": `Pipeline over time. ${words}`, class: "lanes" },
    mark,
    ...lanes.flatMap(({ block, amounts }, row) => lane(block, row * (LANE + GAP), amounts, x, (last - first) / PARTS, first)),
    svg("text", { x: LEFT, y: height + 16 }, `cycle ${grouped(first)}`),
    svg("text", { x: WIDTH - RIGHT, y: height + 16, "text-anchor": "end" }, grouped(last)),
  );
  return el("div", { class: "chart", tabindex: "0", role: "group", "aria-label": "Pipeline over time" }, drawing);
}

// The rate of a unit as it is drawn: in a single cycle it may be wholly busy.
function mostText(block, amounts) {
  return `to ${amountText(block, block.isStage ? block.most : amounts.reduce((a, b) => Math.max(a, b), 0))}`;
}

function lane(block, top, amounts, x, step, first) {
  const floor = top + LANE;
  const paths = [];
  amounts.forEach((amount, part) => {
    const height = LANE * Math.min(1, amount / fullOf(block));
    if (height < 0.005) return;
    paths.push(`M${x(first + part * step).toFixed(2)} ${floor}V${(floor - height).toFixed(2)}H${x(first + (part + 1) * step).toFixed(2)}V${floor}Z`);
  });
  return [
    svg("line", { class: "floor", x1: LEFT, x2: WIDTH - RIGHT, y1: floor, y2: floor }),
    svg("path", { class: block.isStage ? "stage" : "unit", d: paths.join("") }, svg("title", {}, `${block.name}: ${mostText(block, amounts)}`)),
    svg("text", { class: "name", x: LEFT - 8, y: floor - 8, "text-anchor": "end" }, block.name),
    svg("text", { x: WIDTH - RIGHT + 8, y: floor - 8 }, mostText(block, amounts)),
  ];
}
