// Numbers as text, as the terminal's pages write them.

export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function percent(part, whole) {
  return whole ? `${((100 * part) / whole).toFixed(1)}%` : "-";
}

// A count in at most five characters: "1.25M".
export function compact(number) {
  if (Math.abs(number) < 10000) return String(number);
  let power = 1;
  while (power < 6 && Math.abs(number) / 1000 ** power >= 999.5) power += 1;
  return `${Number((number / 1000 ** power).toPrecision(3))}${" KMGTPE"[power]}`;
}

export function nbytes(number) {
  const units = ["B", "KB", "MB", "GB"];
  let place = 0;
  while (place < 3 && number >= 1000) {
    number /= 1000;
    place += 1;
  }
  return `${place ? Number(number.toPrecision(3)) : Math.round(number)} ${units[place]}`;
}

// GB/s in three digits, with words in front; "" where the rate is not known.
export function rate(gbytesPerS, before = "") {
  return gbytesPerS === null || Number.isNaN(gbytesPerS) ? "" : `${before}${Number(gbytesPerS.toPrecision(3))} GB/s`;
}

// Cycles as time at a clock; "" where the clock is not known.
export function duration(cycles, clockMhz) {
  if (!clockMhz) return "";
  const microseconds = cycles / clockMhz;
  const [unit, factor] = microseconds < 1000 ? ["us", 1] : microseconds < 1e6 ? ["ms", 1e3] : ["s", 1e6];
  return `${Number((microseconds / factor).toPrecision(3))} ${unit}`;
}

export function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}
