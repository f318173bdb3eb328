// Tasks in rows, each row in lanes: what overlaps lies in lanes below each other, so that tasks of a lane follow one
// another. Each lane is sorted, so that a frame looks at as many tasks as it has pixels.

const MOST_LANES = 60; // of a row: what overlaps further lies in the last
export const VIRTUAL = "virtual tasks";

// Rows of tasks that took place at a known time, virtual ones first: [{ name, lanes }]. A lane is { tasks, begins, ends },
// arrays of one length: rows of tasks, and their cycles in parallel arrays, as a frame walks through them.
export function rowsOfTasks(tasks) {
  const [begins, ends, rows, isVirtual] = ["begin_cycle", "end_cycle", "row", "is_virtual"].map((name) => tasks.column(name));
  const byRow = new Map();
  for (const row of inOrder(tasks)) {
    if (begins[row] < 0) continue;
    const key = isVirtual[row] ? -1 : rows[row];
    if (!byRow.has(key)) byRow.set(key, { name: key < 0 ? VIRTUAL : tasks.texts[key], isVirtual: key < 0, reached: [], lanes: [] });
    place(byRow.get(key), row, begins[row], ends[row]);
  }
  const found = [...byRow.values()].sort((a, b) => Number(b.isVirtual) - Number(a.isVirtual));
  const lane = (tasks) => ({
    tasks: Int32Array.from(tasks),
    begins: Float64Array.from(tasks, (row) => begins[row]),
    ends: Float64Array.from(tasks, (row) => ends[row]),
  });
  return found.map(({ name, lanes }) => ({ name, lanes: lanes.map(lane) }));
}

// The lanes of [row of tasks, begin, end] in the order of their begins.
export function inLanes(entries) {
  const group = { reached: [], lanes: [] };
  entries.forEach(([, begin, end], at) => place(group, at, begin, end));
  return group.lanes.map((lane) => ({
    tasks: Int32Array.from(lane, (at) => entries[at][0]),
    begins: Float64Array.from(lane, (at) => entries[at][1]),
    ends: Float64Array.from(lane, (at) => entries[at][2]),
  }));
}

// Rows by begin, the longer one first.
function inOrder(tasks) {
  const [begins, ends] = [tasks.column("begin_cycle"), tasks.column("end_cycle")];
  const rows = new Uint32Array(tasks.n);
  let isSorted = true;
  for (let row = 0; row < rows.length; row += 1) {
    rows[row] = row;
    const isNext = row === 0 || begins[row - 1] < begins[row] || (begins[row - 1] === begins[row] && ends[row - 1] >= ends[row]);
    isSorted &&= isNext;
  }
  return isSorted ? rows : rows.sort((a, b) => begins[a] - begins[b] || ends[b] - ends[a] || a - b);
}

function place(group, row, begin, end) {
  let lane = group.reached.findIndex((reached) => reached <= begin);
  if (lane < 0) lane = Math.min(group.reached.length, MOST_LANES - 1);
  group.reached[lane] = Math.max(end, group.reached[lane] ?? 0);
  (group.lanes[lane] ??= []).push(row);
}

// The first place of ascending `values` with `least` or more.
export function firstAt(values, least) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] >= least) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The same, from `at` on, where it is near.
export function nextAt(values, at, least) {
  let step = 1;
  while (at + step < values.length && values[at + step] < least) {
    at += step;
    step *= 2;
  }
  while (step >= 1) {
    if (at + step <= values.length && values[at + step - 1] < least) at += step;
    else step >>= 1;
  }
  return at;
}
