// Draws the lanes of the graphics pipeline into the time line: each block's amount over time, and where one draw was in it.

import { fullOf, inParts } from "./pipeline.js";

export const PIPE_LANE = 22;
const PIPE_HEIGHT = 18;
const MARK = 3; // pixels, of the line under a draw

// `frame`: { context, colours, gutter, width, from, to, x (cycle -> pixel) } of the canvas; `top`: of the first lane.
export function drawPipeline(frame, pipeline, top, chosen) {
  pipeline.blocks.forEach((block, row) => drawBlock(frame, block, top + row * PIPE_LANE + PIPE_HEIGHT));
  if (chosen >= 0) drawSpans(frame, pipeline, top, chosen);
}

// Neighbours of one height are one rectangle of the path.
function drawBlock({ context, colours, gutter, width, from, to }, block, floor) {
  const n = Math.max(1, Math.floor(width - gutter));
  const full = fullOf(block);
  const amounts = inParts(block, from, to, n);
  context.fillStyle = block.isStage ? colours.accent : colours.warm;
  context.beginPath();
  let [start, height] = [0, 0];
  for (let part = 0; part <= n; part += 1) {
    const own = part < n ? PIPE_HEIGHT * Math.min(1, amounts[part] / full) : -1;
    if (own === height) continue;
    if (height > 0) context.rect(gutter + start, floor - height, part - start, height);
    [start, height] = [part, own];
  }
  context.fill();
  context.fillStyle = colours.line;
  context.fillRect(gutter, floor, width - gutter, 1);
}

function drawSpans({ context, colours, x }, pipeline, top, draw) {
  const { spans, blocks } = pipeline;
  const rowOf = new Map(blocks.map(({ name }, row) => [name, row]));
  context.fillStyle = colours.text;
  for (const span of pipeline.spansOf(draw)) {
    const row = rowOf.get(spans.get("block", span));
    const [left, right] = ["first_cycle", "last_cycle"].map((name) => x(spans.get(name, span)));
    if (row !== undefined) context.fillRect(left, top + row * PIPE_LANE + PIPE_HEIGHT, Math.max(2, right - left), MARK);
  }
}
