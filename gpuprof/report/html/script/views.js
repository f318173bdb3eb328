// The views, in the order of their tabs. Each is { name, title, question, isThere(page), open(page, place) }; `open` gives
// { element, update(place), close() }.

import { view as summary } from "./summary.js";
import { view as grid } from "./grid.js";
import { view as source } from "./source.js";
import { view as timeline } from "./timeline.js";
import { view as draws } from "./draws.js";
import { view as machine } from "./machine.js";
import { view as compare } from "./compare.js";

export const VIEWS = [summary, grid, source, timeline, draws, machine, compare];
