/** The day so far: which part of it is shown, and what the program knows of it. No drawing. */

import {MOST_RINGS, readMark} from './live-ring.js';
import {finite, moment, refusalOf} from './live-words.js';

/** The shortest range to zoom to, in seconds, and the least that the whole day is drawn as. */
const SHORTEST_DAY = 10;
const LEAST = 60;
/** The program is asked for at most so many columns; more in an answer are left out. */
const MOST_COLUMNS = 1440;
const MOST_MARKS = 200;
/** After a change, the program is asked so much later, in milliseconds; and again as long as "now" is shown. */
const ASK_PAUSE = 150;
const ASK_AGAIN = 10_000;
const ROWS = ['bpm', 'quality', 'low', 'high', 'motion'];

/** The rows of a ring: NaN is no value. */
function readRows(ring) {
  const rows = {index: ring.ring};
  for (const name of ROWS) {
    const row = Array.isArray(ring[name]) ? ring[name] : [];
    rows[name] = Float64Array.from(row.slice(0, MOST_COLUMNS), (value) => finite(value) ?? NaN);
  }
  return rows;
}

/** An answer as the page keeps it; null if it cannot be read. */
function readDay(answer) {
  const {now, from, to, step, rings, marks} = answer ?? {};
  if ([now, from, to, step].some((one) => moment(one) === null) || !(step > 0) || !Array.isArray(rings)) return null;
  return {
    now, from, to, step,
    rings: rings.slice(0, MOST_RINGS).map(readRows),
    marks: (Array.isArray(marks) ? marks : []).slice(-MOST_MARKS)
      .flatMap((mark) => readMark(mark) ? [Object.assign(readMark(mark), {index: mark.ring})] : []),
  };
}

export class LiveDay {
  /**
   * - columnsOf: returns how many columns there is room for
   * - nowOf: returns the time that it is
   * - draw: called after each change
   */
  constructor(columnsOf, nowOf, draw) {
    Object.assign(this, {columnsOf, nowOf, draw});
    /** Whether the program can be asked. */
    this.isHeard = false;
    /** The range that is shown; null: all. */
    this.range = null;
    /** Whether the range ends now, and goes on with it. */
    this.follows = true;
    /** All there is, in seconds; null before the program has answered. */
    this.whole = null;
    this.data = null;
    this.mistake = '';
    this.timer = 0;
    this.asked = 0;
  }

  forget() {
    Object.assign(this, {range: null, follows: true, whole: null, data: null, mistake: ''});
    this.askSoon();
  }

  /** The range that is shown. */
  span() {
    if (this.range) return this.range;
    const {from, to} = this.whole ?? {from: 0, to: LEAST};
    return {from: Math.min(from, to - LEAST), to};
  }

  /** The earliest time that is shown. */
  get least() { return Math.min(this.whole.from, this.whole.to - LEAST); }

  /** What can change: `earlier`, `later`, `out`, `in`, `all` and `now`. */
  get possible() {
    const {from, to} = this.span();
    const isPart = this.range !== null;
    return {
      earlier: isPart && from > this.least, later: isPart && !this.follows, out: isPart,
      in: this.whole !== null && to - from > SHORTEST_DAY, all: isPart, now: isPart && !this.follows,
    };
  }

  show(from, to) {
    if (!this.whole) return;
    const {least} = this;
    const length = Math.max(SHORTEST_DAY, to - from);
    const isWhole = length >= this.whole.to - least;
    const end = Math.min(this.whole.to, Math.max(least + length, from + length));
    // Sums of times are not exact.
    this.follows = end > this.whole.to - .001;
    this.range = isWhole ? null : {from: end - length, to: end};
    this.draw();
    this.askSoon();
  }

  /** Goes on to the time that it is, if the range follows. */
  renew() {
    if (!this.whole || !this.isHeard) return;
    this.whole.to = Math.max(this.whole.to, moment(this.nowOf()) ?? this.whole.to);
    this.follow();
  }

  /** Moves the range to the end of the day, if it follows. */
  follow() {
    if (!this.range || !this.follows) return;
    const length = this.range.to - this.range.from;
    this.range = {from: this.whole.to - length, to: this.whole.to};
  }

  zoom(factor, time) {
    this.renew();
    const {from, to} = this.span();
    // What follows now stays there.
    const middle = time ?? (this.follows ? to : (from + to) / 2);
    this.show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  /** Moves the range by a part of its length. */
  pan(part) {
    this.renew();
    const {from, to} = this.span();
    this.show(from + (to - from) * part, to + (to - from) * part);
  }

  showAll() {
    this.renew();
    if (this.whole) this.show(this.least, this.whole.to);
  }

  showNow() {
    const {from, to} = this.span();
    this.renew();
    if (this.whole) this.show(this.whole.to - (to - from), this.whole.to);
  }

  askSoon(pause = ASK_PAUSE) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { if (!document.hidden && this.isHeard) this.ask(); }, pause);
  }

  /** Asks the program for what is shown. An answer that comes after the next question is left out. */
  async ask() {
    this.asked += 1;
    const number = this.asked;
    const columns = `columns=${Math.max(1, Math.min(MOST_COLUMNS, Math.round(this.columnsOf())))}`;
    const range = this.range ? `from=${this.range.from.toFixed(3)}&to=${this.range.to.toFixed(3)}&` : '';
    const {data, mistake} = await fetchDay(`day?${range}${columns}`);
    if (number !== this.asked) return;
    this.mistake = mistake;
    if (data) this.take(data, range === '');
    this.draw();
    if (this.follows) this.askSoon(ASK_AGAIN);
  }

  take(data, isWhole) {
    this.data = data;
    const from = isWhole ? data.from : Math.min(this.whole?.from ?? data.from, data.from);
    this.whole = {from, to: Math.max(data.now, isWhole ? data.to : data.now)};
    this.follow();
  }
}

async function fetchDay(address) {
  try {
    const answer = await fetch(address, {cache: 'no-store'});
    if (!answer.ok) return {data: null, mistake: await refusalOf(answer)};
    const data = readDay(await answer.json());
    return {data, mistake: data ? '' : 'The program’s answer cannot be read.'};
  } catch {
    return {data: null, mistake: 'The program does not answer.'};
  }
}
