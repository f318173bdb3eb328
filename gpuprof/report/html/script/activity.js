// The activity of SMs and warps over time: rates by term, and of SMs, that change where a launch's bin begins or ends.

export class Activity {
  constructor({ bins, bin_stalls: stalls, terms }) {
    this.sms = terms.n; // the channel after the terms
    this.channels = terms.n + 1;
    const amounts = this.amounts(bins, stalls);
    const [begins, ends] = [bins.column("begin_cycle"), bins.column("end_cycle")];
    const edges = [];
    for (let bin = 0; bin < bins.n; bin += 1) {
      const end = Math.max(ends[bin], begins[bin] + 1);
      edges.push([begins[bin], bin, 1 / (end - begins[bin])], [end, bin, -1 / (end - begins[bin])]);
    }
    edges.sort((a, b) => a[0] - b[0]);
    this.isShared = overlap(bins.column("launch"), begins, ends);
    this.addUp(edges, amounts);
  }

  get isThere() {
    return this.times.length > 0;
  }

  amounts(bins, stalls) {
    const found = new Float64Array(bins.n * this.channels);
    const [bin, term, cycles] = ["bin", "term", "cycles"].map((name) => stalls.column(name));
    for (let row = 0; row < stalls.n; row += 1) found[bin[row] * this.channels + term[row]] += cycles[row];
    bins.column("sm_active_cycles").forEach((amount, row) => {
      found[row * this.channels + this.sms] = amount;
    });
    return found;
  }

  // From each time on the rates, and what was until then.
  addUp(edges, amounts) {
    const { channels } = this;
    const times = [...new Set(edges.map(([time]) => time))];
    this.times = Float64Array.from(times);
    this.rates = new Float64Array(times.length * channels);
    this.before = new Float64Array(times.length * channels);
    this.most = 0;
    let place = 0;
    times.forEach((time, at) => {
      const here = at * channels;
      for (let channel = 0; at && channel < channels; channel += 1) {
        this.rates[here + channel] = this.rates[here - channels + channel];
        this.before[here + channel] = this.before[here - channels + channel] + this.rates[here + channel] * (time - times[at - 1]);
      }
      for (; place < edges.length && edges[place][0] === time; place += 1) {
        const [, bin, factor] = edges[place];
        for (let channel = 0; channel < channels; channel += 1) this.rates[here + channel] += factor * amounts[bin * channels + channel];
      }
      let warps = 0;
      for (let channel = 0; channel < this.sms; channel += 1) warps += this.rates[here + channel];
      this.most = Math.max(this.most, warps);
    });
  }

  // The place of the last time that is not after `cycle`, from `place` on; -1 before all.
  placeOf(cycle, place = -1) {
    if (place >= 0 && place + 8 < this.times.length && this.times[place + 8] > cycle) {
      while (this.times[place + 1] <= cycle) place += 1;
      return place;
    }
    let [low, high] = [Math.max(0, place), this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= cycle) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  // Adds `sign` times what was until `cycle`, at place `place`, to `into`, by channel.
  addUntil(cycle, place, sign, into) {
    if (place < 0) return;
    const here = place * this.channels;
    const since = cycle - this.times[place];
    for (let channel = 0; channel < this.channels; channel += 1) {
      into[channel] += sign * (this.before[here + channel] + this.rates[here + channel] * since);
    }
  }

  // Warp-cycles by term from one cycle to another, followed by SM-cycles.
  sum(from, to) {
    const found = new Float64Array(this.channels);
    this.addUntil(to, this.placeOf(to), 1, found);
    this.addUntil(from, this.placeOf(from), -1, found);
    return found;
  }

  // The same for each of `n` equal parts of the time: Float64Array (n * channels).
  parts(from, to, n) {
    const found = new Float64Array(n * this.channels);
    const step = (to - from) / n;
    let place = this.placeOf(from);
    for (let part = 0; part < n; part += 1) {
      const into = found.subarray(part * this.channels, (part + 1) * this.channels);
      this.addUntil(from + part * step, place, -1, into);
      place = this.placeOf(from + (part + 1) * step, place);
      this.addUntil(from + (part + 1) * step, place, 1, into);
    }
    return found;
  }
}

// True if launches overlap: then an SM that two of them share counts twice.
function overlap(launches, begins, ends) {
  const spans = new Map(); // [begin, end] by launch
  launches.forEach((launch, bin) => {
    const [begin, end] = spans.get(launch) ?? [Infinity, 0];
    spans.set(launch, [Math.min(begin, begins[bin]), Math.max(end, ends[bin])]);
  });
  let reached = -1;
  return [...spans.values()]
    .sort((a, b) => a[0] - b[0])
    .some(([begin, end]) => {
      const isInside = begin < reached;
      reached = Math.max(reached, end);
      return isInside;
    });
}
