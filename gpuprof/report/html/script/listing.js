// A kernel's code as rows: its source, its PTX or its instructions, with what each row costs.

export const LISTINGS = [
  { name: "source", title: "Source" },
  { name: "ptx", title: "PTX" },
  { name: "isa", title: "Instructions" },
];
const COUNTERS = [
  "inst_executed",
  "thread_inst_executed",
  "divergent_branches",
  "l2_sectors_global",
  "l2_sectors_global_ideal",
  "l2_sectors_local",
  "l1_wavefronts_shared",
  "l1_wavefronts_shared_ideal",
];

// The listings of a kernel by name, those without a row left out.
export function listingsOf(profile, kernel) {
  const { sections } = profile.tables;
  const starts = sections.starts("rows");
  const found = new Map();
  for (const { name, title } of LISTINGS) {
    const own = sections.rows().filter((s) => sections.column("kernel")[s] === kernel && sections.get("listing", s) === name);
    if (own.length) found.set(name, new Listing(profile, name, title, own, starts));
  }
  return found;
}

// `items`: headings of sections ({ isHeading, text }) and rows ({ row, number, text, own, inlined, cycles, samples, weight,
// counters, attributed, ... }), in their order. `own` and `inlined` are instructions.
class Listing {
  constructor(profile, name, title, sections, starts) {
    Object.assign(this, { profile, name, title });
    const tables = profile.tables;
    profile.rowStarts ??= ownStarts(tables.rows);
    this.items = [];
    for (const section of sections) {
      const first = starts[section];
      const path = tables.sections.get("path", section);
      const functionName = tables.sections.get("function", section);
      const rows = [];
      for (let row = first; row < starts[section + 1]; row += 1) rows.push(this.rowOf(row, path, functionName));
      const numbers = rows.map((row) => row.number).filter((number) => number);
      const span = name === "source" && numbers.length ? `:${numbers[0]}-${numbers[numbers.length - 1]}` : "";
      this.items.push({ isHeading: true, text: functionName, where: `${path}${span}`, rows }, ...rows);
    }
    this.rows = this.items.filter((item) => !item.isHeading);
    this.byInstruction = new Map();
    for (const row of this.rows) for (const instruction of row.own) add(this.byInstruction, instruction, row);
    this.callers = new Map();
    for (const row of this.rows) for (const instruction of row.inlined) add(this.callers, instruction, row);
    this.nestLoops();
  }

  rowOf(row, path, functionName) {
    const { rows, row_instructions: all } = this.profile.tables;
    const start = this.profile.rowStarts[row];
    const middle = start + rows.column("own")[row];
    const instructions = all.column("instruction");
    const own = Array.from(instructions.subarray(start, middle));
    const inlined = Array.from(instructions.subarray(middle, middle + rows.column("inlined")[row]));
    return Object.assign(new Measured(this.profile, own), {
      row,
      number: rows.column("number")[row],
      place: this.name === "isa" ? `0x${rows.column("number")[row].toString(16)}` : String(rows.column("number")[row]),
      text: rows.get("text", row),
      interval: [rows.get("share", row), rows.get("low", row), rows.get("high", row)],
      path,
      functionName,
      own,
      inlined,
    });
  }

  // Loops as spans of rows of one section: from the first row with code of the loop to the last one, of those that
  // belong to the same function as the branch back.
  nestLoops() {
    const { loops } = this.profile.tables;
    this.loops = [];
    const [firsts, lasts] = [loops.column("first"), loops.column("last")];
    for (let loop = 0; loop < loops.n; loop += 1) {
      const [home] = this.byInstruction.get(lasts[loop]) ?? [];
      if (!home) continue;
      const inside = new Set();
      for (let each = firsts[loop]; each <= lasts[loop]; each += 1) {
        for (const map of [this.byInstruction, this.callers]) (map.get(each) ?? []).forEach((row) => inside.add(row));
      }
      const places = this.items
        .map((item, at) => (inside.has(item) && item.path === home.path && item.functionName === home.functionName ? at : -1))
        .filter((at) => at >= 0);
      const [from, to] = [places[0], places[places.length - 1]];
      const isKnown = this.loops.some((other) => other.from === from && other.to === to);
      if (to > from && !isKnown && !this.items.slice(from, to).some((item) => item.isHeading)) this.loops.push({ from, to });
    }
    this.loops.sort((a, b) => a.from - b.from || b.to - a.to);
    for (const loop of this.loops) this.items[loop.from].loop ??= loop;
    for (const item of this.items) item.depth = 0;
    for (const loop of this.loops) for (let at = loop.from; at <= loop.to; at += 1) this.items[at].depth += 1;
  }

  // The items in sight when the loops of `folded` show only their first row.
  shown(folded) {
    const seen = [];
    for (let at = 0; at < this.items.length; at += 1) {
      seen.push(this.items[at]);
      const { loop } = this.items[at];
      if (loop && folded.has(loop)) at = loop.to;
    }
    return seen;
  }

  // A row together with the rows that are folded into it.
  foldedRow(item) {
    const rows = this.items.slice(item.loop.from, item.loop.to + 1).filter((each) => !each.isHeading);
    item.whole ??= Object.assign(
      new Measured(
        this.profile,
        rows.flatMap((row) => row.own),
      ),
      {
        number: item.number,
        place: item.place,
        text: item.text,
        interval: [null, null, null],
      },
    );
    return item.whole;
  }

  rowsOf(instructions) {
    return new Set(instructions.flatMap((instruction) => this.byInstruction.get(instruction) ?? []));
  }

  callersOf(instructions) {
    return new Set(instructions.flatMap((instruction) => this.callers.get(instruction) ?? []));
  }
}

function add(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(value);
}

// The index in `row_instructions` at which the instructions of each row begin.
function ownStarts(rows) {
  const [own, inlined] = [rows.column("own"), rows.column("inlined")];
  const starts = new Float64Array(rows.n + 1);
  for (let row = 0; row < rows.n; row += 1) starts[row + 1] = starts[row] + own[row] + inlined[row];
  return starts;
}

// The sum of the instructions' costs, computed when it is first needed.
export class Measured {
  constructor(profile, instructions) {
    this.profile = profile;
    this.instructions = instructions;
  }

  get cycles() {
    return (this.keptCycles ??= this.profile.costOf(this.instructions, "cycles"));
  }

  get samples() {
    return (this.keptSamples ??= this.profile.costOf(this.instructions, "samples"));
  }

  get weight() {
    return (this.keptWeight ??= this.profile.costOf(this.instructions, "weight"));
  }

  // The numbers that bars show: exact cycles, or samples where there is no ledger.
  get mix() {
    return this.profile.hasLedger ? this.cycles : this.samples;
  }

  get counters() {
    return (this.keptCounters ??= countersOf(this.profile, this.instructions));
  }

  // The most registers that are live before one of them; null where it is not known.
  get liveRegisters() {
    const { instructions } = this.profile.tables;
    const known = this.instructions.map((each) => instructions.get("live_registers", each)).filter((live) => live !== null);
    return known.length ? known.reduce((most, live) => Math.max(most, live)) : null;
  }

  get attributed() {
    return (this.keptAttributed ??= attributedOf(this.profile, this.instructions));
  }
}

function countersOf(profile, instructions) {
  const table = profile.tables.instructions;
  const sums = {};
  for (const name of COUNTERS) {
    const values = table.column(name);
    sums[name] = instructions.reduce((all, instruction) => all + values[instruction], 0);
  }
  return sums;
}

// Cycles for which instructions outside wait for these.
function attributedOf(profile, instructions) {
  const { blames } = profile.tables;
  profile.byCause ??= blames.rowsBy("cause");
  const [waiting, cycles] = [blames.column("instruction"), blames.column("cycles")];
  const own = new Set(instructions);
  let all = 0;
  for (const instruction of own) {
    for (const blame of profile.byCause.get(instruction) ?? []) if (!own.has(waiting[blame])) all += cycles[blame];
  }
  return all;
}
