// Nodes of the page. Whatever comes from a profile becomes text.

// `options`: attributes; `on`: listeners by event; `style`: properties. Without a value an attribute is left out.
export function el(tag, options = {}, ...children) {
  return furnish(document.createElement(tag), options, children);
}

// Less has room only for the main columns of a table, and for one pane at a time.
const NARROW_PIXELS = 760;

export function isNarrow() {
  return window.innerWidth < NARROW_PIXELS;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, options = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), options, children);
}

function furnish(node, { on = {}, style = {}, ...attributes }, children) {
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  for (const [property, value] of Object.entries(style)) node.style.setProperty(property, value);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Labels, each with its values below each other.
export function factList(facts) {
  const parts = facts.flatMap(([label, values]) => [el("dt", {}, label), el("dd", {}, ...values)]);
  return el("dl", { class: "facts" }, ...parts);
}

export function button(text, press, options = {}) {
  return el("button", { type: "button", on: { click: press }, ...options }, text);
}
