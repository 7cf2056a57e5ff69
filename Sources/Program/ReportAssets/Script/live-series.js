/** The last samples of a kind. They take the same memory after a minute and after a day. */

import {moment} from './live-words.js';

/** Samples that are kept: 80 seconds at 100 a second. */
const CAPACITY = 8192;
/** A line leads across this time, in seconds, and across so many usual intervals: what the radio sends again comes late. */
const LATE = 1;
const LATE_INTERVALS = 3;
/** The same before the usual interval is known. */
const FIRST_STEP = 2;
/** The usual interval is the median of so many. */
const KNOWN_STEPS = 9;
/** A time that is so much before the last one, in seconds, is of a clock that was set. */
const BACKWARDS = 5;

/** Whether one of the times is in a range. */
const isCut = (cuts, from, to) => cuts.some((cut) => cut >= from && cut <= to);

/** A number of a sample; NaN if it is none, or too large. */
function sampleNumber(value) {
  const rounded = Number.isFinite(value) ? Math.fround(value) : NaN;
  return Number.isFinite(rounded) ? rounded : NaN;
}

export class LiveSeries {
  /** - width: numbers of a sample */
  constructor(width) {
    this.times = new Float64Array(CAPACITY);
    this.values = Array.from({length: width}, () => new Float32Array(CAPACITY));
    this.steps = new Float64Array(KNOWN_STEPS);
    this.clear();
  }

  clear() {
    /** How many were added; the last CAPACITY are there. */
    this.total = 0;
    this.stepCount = 0;
    /** The usual interval in seconds; NaN before there are two samples. */
    this.usual = NaN;
    this.last = NaN;
  }

  get size() { return Math.min(this.total, CAPACITY); }

  /** The time of a sample; 0 is the oldest. */
  timeAt(index) { return this.times[(this.total - this.size + index) % CAPACITY]; }

  /** The number of a sample; NaN where a line is interrupted. */
  valueAt(index, channel = 0) { return this.values[channel][(this.total - this.size + index) % CAPACITY]; }

  /** The longest time that a line leads across. */
  get longest() { return this.stepCount < 3 ? FIRST_STEP : Math.max(LATE, LATE_INTERVALS * this.usual); }

  /**
   * Adds samples from a list of a time and its numbers, a time and its numbers. null is no value.
   *
   * - began: what is before it may be sent again
   */
  addAll(list, began) {
    const stride = this.values.length + 1;
    for (let start = 0; start + stride <= list.length; start += stride) {
      const time = list[start];
      if (moment(time) === null) continue;
      if (time <= this.last - BACKWARDS && time >= began) this.clear();
      if (time <= this.last) continue;
      const step = time - this.last;
      if (step > this.longest) this.interrupt();
      if (!Number.isNaN(step)) this.learn(step);
      this.push(time, (channel) => sampleNumber(list[start + 1 + channel]));
      this.last = time;
    }
  }

  /** Ends the line at the last sample. */
  interrupt() {
    if (this.total > 0) this.push(this.last, () => NaN);
  }

  push(time, valueOf) {
    const place = this.total % CAPACITY;
    this.times[place] = time;
    this.values.forEach((values, channel) => { values[place] = valueOf(channel); });
    this.total += 1;
  }

  learn(step) {
    this.steps[this.stepCount % KNOWN_STEPS] = step;
    this.stepCount += 1;
    const known = Math.min(this.stepCount, KNOWN_STEPS);
    this.usual = this.steps.slice(0, known).toSorted()[known >> 1];
  }

  /** The smallest and the greatest number in runs of a line; from Infinity to -Infinity if there is none. */
  extremes(runs, channel) {
    let [low, high] = [Infinity, -Infinity];
    for (const [first, last] of runs) {
      for (let index = first; index <= last; index += 1) {
        const value = this.valueAt(index, channel);
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
    return [low, high];
  }

  /** The index of the first sample at or after a time. */
  indexAt(time) {
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = low + high >> 1;
      if (this.timeAt(middle) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * The value of the line at a time, between two samples; NaN where it is interrupted.
   *
   * - cuts: times at which it is interrupted, too
   */
  lineAt(time, cuts, channel = 0) {
    const index = this.indexAt(time);
    if (index >= this.size) return NaN;
    const [next, value] = [this.timeAt(index), this.valueAt(index, channel)];
    if (next === time || index === 0) return next === time ? value : NaN;
    const [before, old] = [this.timeAt(index - 1), this.valueAt(index - 1, channel)];
    if (isCut(cuts, before, next)) return NaN;
    return old + (value - old) * (time - before) / (next - before);
  }

  /** The runs of the line in a range, and one sample before and after it: the indexes of the first and the last of each. */
  runs({from, to}, cuts, channel = 0) {
    const runs = [];
    let [first, previous] = [-1, -1];
    for (let index = Math.max(0, this.indexAt(from) - 1); index < this.size; index += 1) {
      const isMissing = Number.isNaN(this.valueAt(index, channel));
      const time = this.timeAt(index);
      const isEnd = isMissing || previous >= 0 && isCut(cuts, this.timeAt(previous), time);
      if (isEnd && first >= 0) {
        runs.push([first, previous]);
        first = -1;
      }
      if (!isMissing && first < 0) first = index;
      previous = isMissing ? -1 : index;
      if (time > to) break;
    }
    if (first >= 0) runs.push([first, previous]);
    return runs;
  }
}
