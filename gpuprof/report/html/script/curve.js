// A causal curve: the cycles of a launch against how much sooner a line's results come.

import { svg } from "./dom.js";
import { compact, grouped } from "./figures.js";

const WIDTH = 440;
const HEIGHT = 230;
const BOX = { left: 74, right: WIDTH - 30, top: 14, bottom: HEIGHT - 46 };
const MOST_GROUPED = 1e9; // larger numbers have no room beside the axis
const STEPS = 4; // of the vertical axis, about

// `points`: [{ sooner, cycles }] in any order, sooner 0 where results come at once; `before`: cycles of the launch as it
// is; `words`: whose curve it is.
export function curveChart(points, before, words) {
  const steps = points.filter(({ sooner }) => sooner > 0).sort((a, b) => a.sooner - b.sooner);
  const last = points.find(({ sooner }) => sooner === 0);
  const known = [{ sooner: 0, cycles: before, label: "0" }, ...steps.map((step) => ({ ...step, label: axisText(step.sooner) }))];
  // "at once" is no number of cycles: it stands behind the last one, at the end of a dashed line
  const most = known[known.length - 1].sooner;
  const end = last ? most * (1 + 1 / steps.length) : most;
  const all = last ? [...known, { sooner: end, cycles: last.cycles, label: "at once" }] : known;
  const ys = axis(all.map(({ cycles }) => cycles));
  const at = {
    x: (sooner) => BOX.left + (sooner / end) * (BOX.right - BOX.left),
    y: (cycles) => BOX.bottom - ((cycles - ys.from) / (ys.to - ys.from)) * (BOX.bottom - BOX.top),
  };
  const line = (some, kind) => svg("polyline", { points: some.map((p) => `${at.x(p.sooner)},${at.y(p.cycles)}`).join(" "), class: kind });
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": spoken(words, before, steps, last) },
    ...levels(ys, at),
    ...marks(all, at),
    svg("text", { transform: `translate(12 ${(BOX.top + BOX.bottom) / 2}) rotate(-90)`, class: "name", "text-anchor": "middle" }, "launch, cycles"),
    svg("text", { x: (BOX.left + BOX.right) / 2, y: HEIGHT - 6, class: "name", "text-anchor": "middle" }, "results sooner, cycles"),
    line(known, "way"),
    last ? line(all.slice(-2), "way leap") : null,
    ...all.map((point) => dot(point, at)),
  );
}

function spoken(words, before, steps, last) {
  const parts = steps.map(({ sooner, cycles }) => `${grouped(cycles)} with results ${grouped(sooner)} cycles sooner`);
  if (last) parts.push(`${grouped(last.cycles)} with results at once`);
  return `Causal curve of ${words}: the launch takes ${grouped(before)} cycles as it is; ${parts.join("; ")}`;
}

// Round numbers around values, in steps of 1, 2 or 5 times a power of ten.
function axis(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const rough = Math.max(most - least, most / 1000, 1) / STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * [1, 2, 5, 10].find((factor) => factor * power >= rough));
  return { from: Math.floor(least / step) * step, to: (Math.floor(most / step) + 1) * step, step };
}

function levels({ from, to, step }, at) {
  const count = Math.round((to - from) / step);
  return Array.from({ length: count + 1 }, (_, n) => from + n * step).flatMap((cycles) => [
    svg("line", { x1: BOX.left, x2: BOX.right, y1: at.y(cycles), y2: at.y(cycles), class: "level" }),
    svg("text", { x: BOX.left - 6, y: at.y(cycles) + 4, "text-anchor": "end" }, axisText(cycles)),
  ]);
}

function marks(points, at) {
  return points.map(({ sooner, label }) => svg("text", { x: at.x(sooner), y: BOX.bottom + 17, "text-anchor": "middle" }, label));
}

function axisText(cycles) {
  return cycles < MOST_GROUPED ? grouped(cycles) : compact(cycles);
}

function dot({ sooner, cycles, label }, at) {
  const when = label === "at once" ? "at once" : `${label} cycles sooner`;
  return svg("circle", { cx: at.x(sooner), cy: at.y(cycles), r: 4, class: "dot" }, svg("title", {}, `${when}: ${grouped(cycles)} cycles`));
}
