/** The arithmetic of a chart: what it shows of its series in a time range. No drawing. */

/** Rates are counted in columns of at least this many pixels and microseconds: shorter ones show the single packets. */
const RATE_PIXELS = 6;
const RATE_TIME = 250_000;

/** The runs of a series in a range: arrays of [time, value], with one point before and after it. */
export function runsOf({times, values}, {from, to}) {
  const runs = [];
  let run = [];
  const isInside = (index) => times[index] >= from && times[index] <= to;
  for (let index = 0; index < times.length; index += 1) {
    if (Number.isNaN(values[index])) {
      if (run.length > 0) runs.push(run);
      run = [];
    } else if (isInside(index) || isInside(index + 1) || isInside(index - 1)) {
      run.push([times[index], values[index]]);
    }
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

/** The steps of a series in a range: a value holds until the next, or until the end of the session. */
export function stepsOf({times, values}, {from, to}, end) {
  const runs = [];
  let run = [];
  times.forEach((time, index) => {
    const last = times[index + 1] ?? end;
    if (Number.isNaN(values[index])) {
      if (run.length > 0) runs.push(run);
      run = [];
    } else if (last >= from && time <= to) {
      run.push([time, values[index]], [last, values[index]]);
    }
  });
  if (run.length > 0) runs.push(run);
  return runs;
}

/** How many values there are in a second, in columns of the range; from the column of the first value on. */
export function ratesOf({times}, {from, to}, width) {
  const count = Math.max(1, Math.floor(Math.min(width / RATE_PIXELS, (to - from) / RATE_TIME)));
  const counts = new Float64Array(count);
  for (const time of times) {
    if (time >= from && time <= to) counts[Math.min(count - 1, Math.floor((time - from) / (to - from) * count))] += 1;
  }
  const length = (to - from) / count;
  const begin = Math.max(0, Math.floor((times[0] - from) / length));
  if (!(begin < count)) return [];
  return [Array.from(counts).slice(begin).flatMap((number, index) => {
    const rate = number / length * 1e6;
    const start = from + (begin + index) * length;
    return [[start, rate], [start + length, rate]];
  })];
}

/** What is drawn of each series of a chart: runs of points. */
export function shownOf({kind, series}, span, end, width) {
  return series.map((one) => {
    if (kind === 'rate') return ratesOf(one, span, width);
    return kind === 'steps' ? stepsOf(one, span, end) : runsOf(one, span);
  });
}

/** The smallest and the greatest value, apart from each other; null if there is none. */
export function limitsOf(shown, kind) {
  let limits = null;
  for (const runs of shown) {
    for (const run of runs) {
      for (const [, value] of run) {
        limits ??= {low: value, high: value};
        limits.low = Math.min(limits.low, value);
        limits.high = Math.max(limits.high, value);
      }
    }
  }
  if (!limits) return null;
  if (kind === 'rate' || kind === 'steps') limits.low = 0;
  return limits.high > limits.low ? limits : {low: limits.low - 1, high: limits.high + 1};
}

/** The last value up to a time; undefined if there is none. */
export function valueAt({times, values}, time) {
  const index = times.findLastIndex((other) => other <= time);
  return index < 0 || Number.isNaN(values[index]) ? undefined : values[index];
}

/** A value in a few digits. */
export function shortNumber(value) {
  return value.toLocaleString('en', {maximumFractionDigits: Math.abs(value) < 10 ? 2 : 1});
}
