// Reads the page's data: docs/page.md says how it is laid out.

const VERSION = 1;
const ARRAYS = {
  u1: Uint8Array,
  i1: Int8Array,
  u2: Uint16Array,
  i2: Int16Array,
  i4: Int32Array,
  f8: Float64Array,
};

const VALUES = {
  int: (value) => value,
  real: (value) => (Number.isNaN(value) ? null : value),
  share: (value) => (value < 0 ? null : value / 1e6),
  text: (value, texts) => texts[value],
};

// A table by columns. `get` gives numbers, texts, and null for what is not known.
export class Table {
  constructor({ name, rows, columns }, buffer, start, texts) {
    this.name = name;
    this.n = rows;
    this.texts = texts;
    this.cached = new Map();
    this.declared = new Map(columns.map((column) => [column.name, column]));
    this.read = ({ coding, at }) => {
      const values = new ARRAYS[coding.slice(0, 2)](buffer, start + at, rows);
      return coding.endsWith("+") ? summed(values) : values;
    };
  }

  // The values of a column, as numbers: of texts their numbers in `texts`.
  column(name) {
    if (!this.cached.has(name)) {
      const declared = this.declared.get(name);
      if (!declared) throw new Error(`the table ${this.name} has no column ${name}`);
      this.cached.set(name, this.read(declared));
    }
    return this.cached.get(name);
  }

  get(name, row) {
    return VALUES[this.declared.get(name).type](this.column(name)[row], this.texts);
  }

  rows() {
    return Array.from({ length: this.n }, (_, row) => row);
  }

  // The rows that have a value in a column of numbers, by value, in their order.
  rowsBy(name) {
    const found = new Map();
    this.column(name).forEach((value, row) => {
      if (!found.has(value)) found.set(value, []);
      found.get(value).push(row);
    });
    return found;
  }

  // For a column with the number of rows of another table that belong to each row: the index of the first of them, and the end.
  starts(name) {
    const starts = new Float64Array(this.n + 1);
    this.column(name).forEach((count, row) => {
      starts[row + 1] = starts[row] + count;
    });
    return starts;
  }
}

function summed(steps) {
  const values = new Float64Array(steps.length);
  let value = 0;
  steps.forEach((step, row) => {
    value += step;
    values[row] = value;
  });
  return values;
}

function bytesOf(text) {
  const decoded = atob(text);
  const bytes = new Uint8Array(decoded.length);
  for (let at = 0; at < decoded.length; at += 1) bytes[at] = decoded.charCodeAt(at);
  return bytes;
}

// Tables by name.
export async function readBlock(text) {
  const unpacked = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(unpacked).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const { version, texts, tables } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  if (version !== VERSION) throw new Error(`the data has version ${version}, and this page reads ${VERSION}`);
  return Object.fromEntries(tables.map((table) => [table.name, new Table(table, buffer, 4 + length, texts)]));
}
