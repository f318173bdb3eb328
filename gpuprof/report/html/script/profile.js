// One profile's tables, with what several views work out from them.

import { baseName } from "./figures.js";

export class Profile {
  constructor(tables) {
    this.tables = tables;
    this.terms = tables.terms;
    this.nTerms = tables.terms.n;
  }

  // The name of a kernel in addresses: its own name, or its symbol where others have the name, too.
  kernelKey(kernel) {
    const { kernels } = this.tables;
    const names = kernels.column("name");
    const isShared = names.some((name, other) => name === names[kernel] && other !== kernel);
    return kernels.get(isShared ? "symbol" : "name", kernel);
  }

  // The row of a kernel by its key, name or symbol; -1 where there is none. One may have another's symbol for its name.
  kernelOf(key) {
    const { kernels } = this.tables;
    const by = (column) => kernels.rows().find((kernel) => kernels.get(column, kernel) === key);
    return by("symbol") ?? by("name") ?? -1;
  }

  get unit() {
    return this.hasLedger ? "warp-cycles" : "samples";
  }

  get hasLedger() {
    return this.tables.kernels.column("warp_cycles").some((cycles) => cycles > 0);
  }

  // Costs of an instruction: {cycles, samples, weight}, each by term.
  get costs() {
    this.costRows ??= this.tables.costs.rowsBy("instruction");
    return this.costRows;
  }

  zeros() {
    return new Array(this.nTerms).fill(0);
  }

  // Adds the costs of instructions up, by term. `name`: cycles, samples or weight.
  costOf(instructions, name) {
    const { costs } = this.tables;
    const [terms, values] = [costs.column("term"), costs.column(name)];
    const sums = this.zeros();
    for (const instruction of instructions) {
      for (const row of this.costs.get(instruction) ?? []) sums[terms[row]] += values[row];
    }
    return sums;
  }

  // Exact cycles by term, or samples where there is no ledger.
  mixOf(instructions) {
    return this.costOf(instructions, this.hasLedger ? "cycles" : "samples");
  }

  instructionsOf(kernel) {
    this.byKernel ??= this.tables.instructions.rowsBy("kernel");
    return this.byKernel.get(kernel) ?? [];
  }

  // The line of an instruction, "saxpy.cu:4", or its address.
  placeOf(instruction) {
    this.lines ??= this.linesByInstruction();
    return this.lines.get(instruction) ?? `0x${this.tables.instructions.column("address")[instruction].toString(16)}`;
  }

  linesByInstruction() {
    const { sections, rows, row_instructions: all } = this.tables;
    const found = new Map();
    const starts = sections.starts("rows");
    let at = 0;
    for (let section = 0; section < sections.n; section += 1) {
      const name = sections.get("listing", section) === "source" ? baseName(sections.get("path", section)) : "";
      for (let row = starts[section]; row < starts[section + 1]; row += 1) {
        const number = rows.column("number")[row];
        const own = all.column("instruction").subarray(at, at + rows.column("own")[row]);
        if (name && number) for (const instruction of own) found.set(instruction, `${name}:${number}`);
        at += rows.column("own")[row] + rows.column("inlined")[row];
      }
    }
    return found;
  }
}
