// The roofline: rates of arithmetic over operations a byte, both in powers of ten.

import { el, svg } from "./dom.js";
import { grouped } from "./figures.js";

const WIDTH = 860;
const HEIGHT = 380;
const LEFT = 78;
const BOTTOM = 44;
const TOP = 14;
const RIGHT = 150;
const MOST_NAMES = 8; // of points that are all labelled with their name
const LEVELS = ["dram", "l2", "l1"];

// `level`: row of `ceilings` whose bytes count; `kernel`: the one that is highlighted.
export function roofline({ roofs, ceilings, kernels }, level, kernel) {
  const rows = roofs.rows().filter((row) => roofs.column("level")[row] === level);
  const precisions = [...new Set(roofs.column("ceiling"))];
  const points = rows
    .map((row) => ({
      kernel: roofs.column("kernel")[row],
      label: `${kernels.get("name", roofs.column("kernel")[row])}, ${ceilings.get("label", roofs.column("ceiling")[row])}`,
      x: roofs.get("operations_per_byte", row),
      y: roofs.get("achieved", row),
    }))
    .filter(({ x, y }) => x > 0 && y > 0);
  const slopes = ceilings
    .rows()
    .filter((row) => LEVELS.includes(ceilings.get("name", row)))
    .map((row) => ({ row, rate: ceilings.get("rate", row), label: ceilings.get("label", row), isShown: row === level }));
  const roof = Math.max(...precisions.map((row) => ceilings.get("rate", row)));
  const ridge = roof / slopes.find(({ isShown }) => isShown).rate;
  const xs = axis([...points.map(({ x }) => x), ridge * 8, 0.05]);
  const ys = axis([...points.map(({ y }) => y), roof * 1.5]);
  const at = {
    x: (value) => LEFT + ((Math.log10(value) - xs.from) / (xs.to - xs.from)) * (WIDTH - LEFT - RIGHT),
    y: (value) => HEIGHT - BOTTOM - ((Math.log10(value) - ys.from) / (ys.to - ys.from)) * (HEIGHT - BOTTOM - TOP),
  };
  const box = { left: LEFT, right: WIDTH - RIGHT, top: TOP, bottom: HEIGHT - BOTTOM };
  const clip = svg(
    "clipPath",
    { id: "roof-box" },
    svg("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }),
  );
  const words = points.map(({ label, x, y }) => `${label}: ${Number(x.toPrecision(3))} operations a byte, ${Number(y.toPrecision(3))}`).join("; ");
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Roofline. ${words}`, class: "roofline" },
    svg("defs", {}, clip),
    ...grid(xs, ys, at, box),
    svg("g", { "clip-path": "url(#roof-box)" }, ...slopes.map((slope) => slopeLine(slope, roof, xs, at))),
    ...precisions.map((row) => flat(ceilings, row, slopes, at, box)),
    ...slopes.map((slope) => slopeLabel(slope, roof, at, box)),
    ...points.filter((point) => point.kernel !== kernel).map((point) => dot(point, at, "dot", box, points.length <= MOST_NAMES)),
    ...points.filter((point) => point.kernel === kernel).map((point) => dot(point, at, "dot chosen", box, true)),
    svg("text", { x: (box.left + box.right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, `operations a byte of ${ceilings.get("label", level)}`),
    svg("text", { x: -(box.top + box.bottom) / 2, y: 14, transform: "rotate(-90)", "text-anchor": "middle" }, "10⁹ operations a second"),
  );
  return el("div", { class: "chart", tabindex: "0", role: "group", "aria-label": "Roofline" }, drawing);
}

// Whole powers of ten around values.
function axis(values) {
  const powers = values.map(Math.log10);
  return { from: Math.floor(Math.min(...powers)), to: Math.ceil(Math.max(...powers)) };
}

function* powers({ from, to }) {
  for (let power = from; power <= to; power += 1) yield power;
}

function grid(xs, ys, at, box) {
  const name = (power) => (power >= 0 ? grouped(10 ** power) : String(10 ** power));
  const vertical = [...powers(xs)].flatMap((power) => {
    const x = at.x(10 ** power);
    return [
      svg("line", { x1: x, x2: x, y1: box.top, y2: box.bottom, class: "grid" }),
      svg("text", { x, y: box.bottom + 16, "text-anchor": "middle" }, name(power)),
    ];
  });
  const horizontal = [...powers(ys)].flatMap((power) => {
    const y = at.y(10 ** power);
    return [
      svg("line", { x1: box.left, x2: box.right, y1: y, y2: y, class: "grid" }),
      svg("text", { x: box.left - 6, y: y + 4, "text-anchor": "end" }, name(power)),
    ];
  });
  return [...vertical, ...horizontal];
}

function slopeLine({ rate, label, isShown }, roof, xs, at) {
  const left = 10 ** xs.from;
  const line = { x1: at.x(left), y1: at.y(left * rate), x2: at.x(roof / rate), y2: at.y(roof), class: isShown ? "roof" : "roof other" };
  return svg("line", line, svg("title", {}, `${label}, ${grouped(Math.round(rate))} GB/s`));
}

// Above the line's upper end: there the distance between the lines is largest.
function slopeLabel({ rate, label }, roof, at, box) {
  const x = Math.max(box.left + 12, at.x(roof / rate));
  return svg("text", { x, y: at.y(roof) - 6, class: "name", "text-anchor": "middle" }, label);
}

function flat(ceilings, row, slopes, at, box) {
  const rate = ceilings.get("rate", row);
  const start = Math.max(box.left, at.x(rate / slopes.find(({ isShown }) => isShown).rate));
  const y = at.y(rate);
  return svg(
    "g",
    {},
    svg("line", { x1: start, x2: box.right, y1: y, y2: y, class: "roof" }),
    svg("text", { x: box.right + 6, y: y + 4, class: "name" }, `${ceilings.get("label", row)} ${grouped(Math.round(rate))}`),
  );
}

function dot({ x, y, label }, at, kind, box, isNamed) {
  const right = at.x(x) < (box.left + box.right) / 2;
  const place = { x: at.x(x) + (right ? 10 : -10), y: at.y(y) + 4, class: "name", "text-anchor": right ? "start" : "end" };
  return svg(
    "g",
    {},
    svg("circle", { cx: at.x(x), cy: at.y(y), r: 6, class: kind }, svg("title", {}, label)),
    isNamed ? svg("text", place, label) : null,
  );
}
