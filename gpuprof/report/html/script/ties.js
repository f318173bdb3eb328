// Ties of tasks: the relations of one task, of a million.

const NONE = [];

export class Ties {
  constructor({ tasks, relations }) {
    this.relations = relations;
    this.numbers = tasks.column("task");
  }

  // The row of a task by its number, -1 where there is none.
  rowOf(task) {
    let [low, high] = [0, this.numbers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.numbers[middle] < task) low = middle + 1;
      else high = middle;
    }
    return this.numbers[low] === task ? low : -1;
  }

  // Rows of relations from a task, and those to it, in their order.
  of(task) {
    this.bySource ??= byNumber(this.relations.column("source"));
    this.byTarget ??= byNumber(this.relations.column("target"));
    return [rowsAt(this.bySource, task), rowsAt(this.byTarget, task)];
  }
}

// Rows sorted by a number that each has: where each number begins among them.
function byNumber(values) {
  let most = -1;
  for (const value of values) if (value > most) most = value;
  const starts = new Uint32Array(most + 2);
  for (const value of values) if (value >= 0) starts[value + 1] += 1;
  for (let number = 0; number <= most; number += 1) starts[number + 1] += starts[number];
  const rows = new Uint32Array(starts[most + 1]);
  const next = starts.slice();
  values.forEach((value, row) => {
    if (value >= 0) {
      rows[next[value]] = row;
      next[value] += 1;
    }
  });
  return { starts, rows };
}

function rowsAt({ starts, rows }, number) {
  return number + 1 < starts.length ? rows.subarray(starts[number], starts[number + 1]) : NONE;
}
