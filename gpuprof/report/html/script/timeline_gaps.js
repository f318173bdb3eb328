// Draws the times in which no kernel ran into the time line, each with what the GPU waited for.

import { firstAt, nextAt } from "./lanes.js";

const HEIGHT = 15;
const LEAST_LABEL = 34; // pixels

// `frame`: { context, colours, gutter, width, from, to } of the canvas; `label(text, x, y, room)` writes into it.
export function drawGaps({ context, colours, gutter, width, from, to }, engines, top, label) {
  const { gapBegins: begins, gapEnds: ends } = engines;
  const scale = (width - gutter) / (to - from);
  const x = (cycle) => gutter + (cycle - from) * scale;
  context.save();
  let at = firstAt(ends, from);
  while (at < begins.length && begins[at] <= to) {
    const left = Math.max(gutter - 2, x(begins[at]));
    const right = Math.min(width + 2, x(ends[at]));
    context.fillStyle = colours.line;
    context.fillRect(left, top + 1, Math.max(1, right - left - 1), HEIGHT);
    if (right - left > LEAST_LABEL) {
      context.fillStyle = colours.text;
      label(engines.cause(at), left + 4, top + 1 + HEIGHT / 2, right - left - 6);
    }
    // Those that begin in the same pixel are hidden by this one.
    at = right - left > 1 ? at + 1 : nextAt(begins, at + 1, from + (Math.floor(left) + 1 - gutter) / scale);
  }
  context.restore();
}
