// Two versions of a text, line beside line: what they share stays together, wherever it has moved to by lines put in.

// Pairs of places [old, new], -1 where the other has no such line, in the order of both.
export function aligned(before, after) {
  const pairs = [];
  match(before, after, 0, before.length, 0, after.length, pairs);
  return pairs;
}

function match(before, after, from, to, start, end, pairs) {
  while (from < to && start < end && before[from] === after[start]) pairs.push([from++, start++]);
  const tail = [];
  while (from < to && start < end && before[to - 1] === after[end - 1]) tail.push([--to, --end]);
  const anchors = from < to && start < end ? anchorsOf(before, after, from, to, start, end) : [];
  if (anchors.length) {
    for (const [old, now] of [...anchors, [to, end]]) {
      if (old > from || now > start) match(before, after, from, old, start, now, pairs);
      if (old < to) pairs.push([old, now]);
      [from, start] = [old + 1, now + 1];
    }
  } else {
    for (let old = from; old < to; old += 1) pairs.push([old, -1]);
    for (let now = start; now < end; now += 1) pairs.push([-1, now]);
  }
  pairs.push(...tail.reverse());
}

// Lines that are there once on either side, as many as keep their order.
function anchorsOf(before, after, from, to, start, end) {
  const places = new Map();
  const note = (text, side, place) => {
    const found = places.get(text) ?? [[], []];
    found[side].push(place);
    places.set(text, found);
  };
  for (let old = from; old < to; old += 1) note(before[old], 0, old);
  for (let now = start; now < end; now += 1) note(after[now], 1, now);
  const unique = [...places.values()].filter(([olds, nows]) => olds.length === 1 && nows.length === 1).map(([[old], [now]]) => [old, now]);
  return ascending(unique.sort((a, b) => a[0] - b[0]));
}

// The longest run of pairs whose second numbers ascend.
function ascending(pairs) {
  const ends = []; // of runs of each length, the pair with the smallest end
  const above = new Map();
  for (const pair of pairs) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle][1] < pair[1]) low = middle + 1;
      else high = middle;
    }
    above.set(pair, ends[low - 1]);
    ends[low] = pair;
  }
  const found = [];
  for (let pair = ends[ends.length - 1]; pair; pair = above.get(pair)) found.push(pair);
  return found.reverse();
}
