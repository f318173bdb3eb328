// Two profiles side by side: every number with its difference, and lines that got slower first.

import { legend, stackedBar, sum } from "./bars.js";
import { el } from "./dom.js";
import { baseName, grouped, percent } from "./figures.js";
import { listingsOf } from "./listing.js";
import { hashOf } from "./place.js";
import { dataTable } from "./table.js";

const ABSENT = "-";
const WORDS = ["before", "after"];
const MOST_HEAD = 12; // characters of a file's name at the head of a column

export const view = {
  name: "compare",
  title: "Compare",
  question: "What is slower and what is faster in the second profile than in the first?",
  isThere: ({ profiles }) => profiles.length > 1,
  open: (page) => new Compare(page),
};

class Compare {
  constructor(page) {
    this.page = page;
    [this.before, this.after] = page.profiles;
    const { sides } = page.comparison;
    this.files = WORDS.map((_, side) => baseName(sides.get("name", side)));
    this.heads = this.files[0] === this.files[1] || this.files.includes("") ? WORDS : this.files;
    // If one has only samples, samples of both: cycles and samples have no difference.
    [this.costs, this.unit] = page.profiles.every(({ hasLedger }) => hasLedger) ? ["cycles", "warp-cycles"] : ["samples", "samples"];
    this.tables = [];
    this.pairs = this.pairKernels();
    this.choice = el(
      "select",
      { id: "compare-kernel", on: { change: () => page.go({ view: view.name, kernel: this.pairs[this.choice.value].key }) } },
      ...this.pairs.map(({ name }, place) => el("option", { value: place }, name)),
    );
    this.body = el("div");
    this.element = el(
      "div",
      { class: "compare" },
      el("p", {}, ...this.names()),
      el("section", {}, el("h2", {}, "Kernels"), this.kernelTable()),
      el("p", { class: "tools" }, el("label", { for: "compare-kernel" }, "Kernel "), this.choice),
      this.body,
    );
    this.ofKernel = [];
  }

  // The header lines of either profile that the other does not have.
  names() {
    const facts = this.page.profiles.map(({ tables }) =>
      tables.facts.rows().map((row) => `${tables.facts.get("label", row)} ${tables.facts.get("text", row)}`),
    );
    const own = facts.map((each, place) => each.filter((text) => !facts[1 - place].includes(text)).slice(0, 3));
    return WORDS.flatMap((word, place) => [
      el("b", {}, `${this.files[place] ? `${word} ${this.files[place]}` : word}: `),
      `${own[place].join(", ") || "the same facts"}. `,
    ]);
  }

  // Kernels of both profiles, -1 where one has none. What got slower most is first.
  pairKernels() {
    const { pairs } = this.page.comparison;
    const [olds, nows] = [pairs.column("before"), pairs.column("after")];
    const cycles = (profile, kernel) => (kernel < 0 ? 0 : profile.tables.kernels.get("cycles", kernel));
    return pairs
      .rows()
      .map((pair) => ({ pair, old: olds[pair], now: nows[pair] }))
      .map(({ pair, old, now }) => ({
        pair,
        old,
        now,
        words: pairs.get("words", pair),
        key: old < 0 ? this.after.kernelKey(now) : this.before.kernelKey(old),
        cycles: [cycles(this.before, old), cycles(this.after, now)],
      }))
      .map((pair) => ({ ...pair, name: this.nameOf(pair) }))
      .sort((a, b) => b.cycles[1] - b.cycles[0] - (a.cycles[1] - a.cycles[0]) || b.cycles[1] - a.cycles[1]);
  }

  // "naive", or "naive -> padded" where two kernels of different names are compared.
  nameOf({ old, now, key }) {
    const other = old < 0 || now < 0 ? key : this.after.kernelKey(now);
    const name = (profile, kernel) => profile.tables.kernels.get("name", kernel);
    return old < 0 || now < 0 || name(this.before, old) === name(this.after, now) ? key : `${key} -> ${other}`;
  }

  update({ kernel }) {
    const place = Math.max(
      0,
      this.pairs.findIndex(({ key }) => key === kernel),
    );
    this.choice.value = String(place);
    this.ofKernel.forEach((table) => table.close());
    this.ofKernel = [];
    const pair = this.pairs[place];
    this.body.replaceChildren(...[this.words(pair), this.lines(pair), this.parts(pair), this.numbers(pair)].filter(Boolean));
  }

  close() {
    [...this.tables, ...this.ofKernel].forEach((table) => table.close());
  }

  kernelTable() {
    const mixOf = (profile, kernel) => (kernel < 0 ? null : profile.costOf(profile.instructionsOf(kernel), this.costs));
    const mixes = new Map(this.pairs.map((pair) => [pair, [mixOf(this.before, pair.old), mixOf(this.after, pair.now)]]));
    const bars = (pair) =>
      el(
        "span",
        { class: "pair" },
        ...mixes.get(pair).map((mix, side) => (mix ? stackedBar(mix, 1, this.page.profiles[side].terms, this.unit) : null)),
      );
    const columns = [
      {
        name: "kernel",
        title: "kernel",
        width: 24,
        align: "left",
        value: ({ name }) => name,
        cell: ({ key, name }) => el("a", { href: hashOf({ view: view.name, kernel: key }), title: name }, name),
      },
      ...this.differences(
        ({ cycles }) => cycles,
        "cycles",
        ({ old, now }) => [old >= 0, now >= 0],
      ),
      { name: "mix", title: "stalls, before above after", width: 0, least: 28, align: "left", cell: bars },
    ];
    const table = dataTable({ caption: "Kernels, those that got slower first", columns, rows: this.pairs, rowHeight: 34 });
    this.tables.push(table);
    const first = [...mixes.values()].flat().filter(Boolean);
    const all = this.before.zeros().map((_, term) => sum(first.map((mix) => mix[term] ?? 0)));
    return el("div", {}, legend(all, this.before.terms), table.element);
  }

  table(caption, columns, rows) {
    const made = dataTable({ caption, columns, rows });
    this.ofKernel.push(made);
    return made.element;
  }

  numbers({ old, now }) {
    const read = ({ tables: { numbers } }, kernel) =>
      new Map(
        numbers
          .rows()
          .filter((row) => numbers.column("kernel")[row] === kernel)
          .map((row) => [
            numbers.get("name", row),
            { value: numbers.get("value", row), unit: numbers.get("unit", row), text: numbers.get("text", row) },
          ]),
      );
    const [first, second] = [read(this.before, old), read(this.after, now)];
    const rows = [...new Set([...first.keys(), ...second.keys()])]
      .map((name) => ({ name, values: [first.get(name)?.value, second.get(name)?.value], ...(second.get(name) ?? first.get(name)) }))
      .filter(({ values }) => values[0] || values[1]);
    const columns = [
      {
        name: "name",
        title: "number",
        width: 30,
        align: "left",
        cell: ({ name, text }) => el("span", { title: text }, name),
        value: ({ name }) => name,
      },
      ...this.differences(
        ({ values }) => values.map((value) => value ?? 0),
        "numbers",
        ({ values }) => values.map((value) => value !== undefined),
      ),
      { name: "unit", title: "unit", width: 14, align: "left", cell: ({ unit }) => unit },
      { name: "text", title: "what it is", width: 0, align: "left", cell: ({ text }) => text },
    ];
    return el("section", {}, el("h2", {}, "Every number"), this.table("Every number, before and after", columns, rows));
  }

  lines(pair) {
    const rows = this.alignedLines(pair);
    const columns = [
      { name: "place", title: "line", width: 24, align: "left", cell: (row) => this.placeOf(row, pair) },
      ...this.differences(
        ({ cycles }) => cycles,
        this.unit,
        ({ old, now }) => [old !== undefined, now !== undefined],
      ),
      { name: "text", title: "source", width: 0, align: "left", class: "code", cell: ({ old, now }) => (now ?? old).text },
    ];
    return el(
      "section",
      {},
      el("h2", {}, "Lines"),
      el("p", { class: "dim" }, "Lines are paired by their text, also where they have moved to another place or file."),
      this.table("Lines, those that got slower first", columns, rows),
    );
  }

  words({ words }) {
    return words ? el("p", { class: "words" }, words) : null;
  }

  // The difference by line, stall reason and how the stalls ended, as `gpuprof diff` has it.
  parts(pair) {
    const { parts, lines } = this.page.comparison;
    const [line, term, before, after] = ["line", "term", "before", "after"].map((name) => parts.column(name));
    const pairOf = lines.column("pair");
    const [befores, afters] = [lines.column("before"), lines.column("after")];
    const [first, second] = [rowsOf(this.before, pair.old), rowsOf(this.after, pair.now)];
    const rows = parts
      .rows()
      .filter((part) => pairOf[line[part]] === pair.pair)
      .map((part) => ({
        old: first.get(befores[line[part]]),
        now: second.get(afters[line[part]]),
        kind: lines.get("kind", line[part]),
        why: this.after.terms.get("name", term[part]),
        ending: parts.get("ending", part),
        values: [before[part], after[part]].map((value) => (Number.isNaN(value) ? undefined : value)),
      }));
    if (!rows.length) return null;
    const columns = [
      { name: "place", title: "line", width: 24, align: "left", cell: (row) => this.placeOf(row, pair) },
      { name: "why", title: "why", width: 18, align: "left", cell: ({ why }) => why, value: ({ why }) => why },
      { name: "ending", title: "ended by", width: 20, align: "left", cell: ({ ending }) => ending, value: ({ ending }) => ending },
      ...this.differences(
        ({ values }) => values.map((value) => value ?? 0),
        this.unit,
        ({ values }) => values.map((value) => value !== undefined),
      ),
      { name: "text", title: "source", width: 0, align: "left", class: "code", cell: ({ old, now }) => (now ?? old).text },
    ];
    return el("section", {}, el("h2", {}, "Why"), this.table("Reasons and causes, the largest difference first", columns, rows));
  }

  placeOf({ old, now, kind }, { key }) {
    const row = now ?? old;
    const words = row.number ? `${baseName(row.path)}:${row.number}` : baseName(row.path);
    const was = old && now && old.number !== now.number ? `was ${old.number}` : "";
    const notes = [["changed", "moved", "gone"].includes(kind) ? kind : "", was].filter(Boolean).join(", ");
    const moved = notes ? ` (${notes})` : "";
    // The other views show the first profile.
    return old
      ? el("span", {}, el("a", { href: hashOf({ view: "source", kernel: key, line: `${baseName(old.path)}:${old.number}` }) }, words), moved)
      : `${words} (new)`;
  }

  // Lines of the kernel that cost something: the rows of either profile, undefined where it has none.
  alignedLines({ pair, old, now }) {
    const costOf = (profile, row) => (row ? sum(profile.costOf(row.own, this.costs)) : 0);
    const [first, second] = [rowsOf(this.before, old), rowsOf(this.after, now)];
    const { lines } = this.page.comparison;
    const [befores, afters] = [lines.column("before"), lines.column("after")];
    const found = [];
    for (const line of lines.rowsBy("pair").get(pair) ?? []) {
      const [before, after] = [first.get(befores[line]), second.get(afters[line])];
      const cycles = [costOf(this.before, before), costOf(this.after, after)];
      if (cycles[0] || cycles[1]) found.push({ old: before, now: after, kind: lines.get("kind", line), cycles });
    }
    return found.sort((a, b) => b.cycles[1] - b.cycles[0] - (a.cycles[1] - a.cycles[0]));
  }

  // The head of a column of one side's numbers: the file's name, its end where it is long.
  headOf(side) {
    const head = this.heads[side];
    return head.length > MOST_HEAD ? `…${head.slice(1 - MOST_HEAD)}` : head;
  }

  hintOf(side, unit) {
    return this.files[side] ? `${unit}, ${WORDS[side]}: ${this.files[side]}` : unit;
  }

  // Columns of two numbers, their difference and how much that is of the first. `areThere`: whether either side has one.
  differences(numbers, unit, areThere) {
    const has = (row) => areThere(row);
    const by = (row) => numbers(row)[1] - numbers(row)[0];
    const signed = (number) => (number > 0 ? `+${grouped(number)}` : grouped(number));
    const kind = (number) => (number > 0 ? "slower" : number < 0 ? "faster" : "dim");
    const relative = (row) => {
      const [old] = numbers(row);
      if (!has(row)[0] || !has(row)[1] || !old) return ABSENT;
      return by(row) > 0 ? `+${percent(by(row), old)}` : percent(by(row), old);
    };
    return [
      {
        name: "before",
        title: this.headOf(0),
        hint: this.hintOf(0, unit),
        width: 13,
        cell: (row) => (has(row)[0] ? grouped(numbers(row)[0]) : ABSENT),
        value: (row) => numbers(row)[0],
      },
      {
        name: "after",
        title: this.headOf(1),
        hint: this.hintOf(1, unit),
        width: 13,
        cell: (row) => (has(row)[1] ? grouped(numbers(row)[1]) : ABSENT),
        value: (row) => numbers(row)[1],
      },
      {
        name: "difference",
        title: "difference",
        hint: unit,
        width: 13,
        cell: (row) => el("span", { class: kind(by(row)) }, signed(by(row))),
        value: by,
      },
      { name: "relative", title: "of before", width: 10, cell: relative },
    ];
  }
}

// Rows of a kernel's source by their number in the table `rows`.
function rowsOf(profile, kernel) {
  const listing = kernel < 0 ? undefined : listingsOf(profile, kernel).get("source");
  return new Map((listing?.rows ?? []).map((row) => [row.row, row]));
}
