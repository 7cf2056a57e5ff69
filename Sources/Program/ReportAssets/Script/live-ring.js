/** What the page knows of a ring. All of it is bounded: a phone shows it for a day. */

import {LiveSeries} from './live-series.js';
import {finite, moment, plain} from './live-words.js';

/** The most that are kept: a minute of beats at 240 a minute, two minutes of seconds, and marks. */
const MOST = {beats: 256, seconds: 128, marks: 200, cuts: 64};
/** Series with fewer samples a second than 1 / this are slow: they are shown for a minute. */
const SLOW = .2;
const KINDS = {ppg: 1, spo2: 1, accel: 3};
/** Marks at which the curves are interrupted. */
export const isInterruption = ({kind}) => kind === 'gap' || kind === 'pause';

/** Adds to a list, in the order of time, and removes the oldest beyond a number. */
function insert(list, item, most) {
  const index = list.findLastIndex(({t}) => t <= item.t) + 1;
  list.splice(index, 0, item);
  if (list.length > most) list.shift();
}

/** The most rings that are shown. */
export const MOST_RINGS = 8;

export class LiveRing {
  constructor(index) {
    this.index = index;
    this.name = `ring ${index + 1}`;
    this.firmware = null;
    this.kinds = [];
    this.state = null;
    /** The time of the last state. */
    this.news = NaN;
    /** The time of the last change of the connection, and how long it was lost before; null if it never was. */
    this.link = {since: NaN, lost: null};
    this.forget();
  }

  /** Forgets all that was before. */
  forget() {
    this.series = Object.fromEntries(Object.entries(KINDS).map(([kind, width]) => [kind, new LiveSeries(width)]));
    this.beats = [];
    this.seconds = [];
    this.marks = [];
    this.cuts = [];
    this.second = null;
  }

  introduce({name, address, kinds, firmware}) {
    this.name = plain(name, 40) || plain(address, 40) || this.name;
    this.firmware = plain(firmware, 40) || null;
    this.kinds = Object.keys(KINDS).filter((kind) => Array.isArray(kinds) && kinds.includes(kind));
  }

  /** The kinds that there are, also those that come without having been announced. */
  get lanes() {
    return Object.keys(KINDS).filter((kind) => this.kinds.includes(kind) || this.series[kind].total > 0);
  }

  get hasLight() { return this.lanes.includes('ppg'); }

  /** The series that the pulse is in; the first one, if there is no light. */
  get main() { return this.series[this.lanes[0] ?? 'ppg']; }

  /** The time of the first sample that is there; before it, nothing is drawn. */
  get first() { return this.main.total > 0 ? this.main.timeAt(0) : Infinity; }

  get isSlow() { return this.main.usual > SLOW; }

  /** Adds samples; those before `began` may be sent again. Returns the time of the last one; NaN if there is none. */
  addSamples(message, began) {
    let last = NaN;
    for (const [kind, series] of Object.entries(this.series)) {
      if (!Array.isArray(message[kind])) continue;
      series.addAll(message[kind], began);
      last = Number.isNaN(last) ? series.last : Math.max(last, series.last);
    }
    return last;
  }

  addBeat({t, bpm, quality, reason}) {
    if (moment(t) === null || this.beats.some((beat) => beat.t === t)) return;
    insert(this.beats, {t, bpm: finite(bpm), quality: finite(quality) ?? 0, reason: plain(reason, 40)}, MOST.beats);
  }

  addSecond({t, quality, reason}) {
    if (moment(t) === null || this.seconds.some((second) => second.t === t)) return;
    const second = {t, quality: Math.min(1, Math.max(0, finite(quality) ?? 0)), reason: plain(reason, 40)};
    insert(this.seconds, second, MOST.seconds);
    this.second = this.seconds.at(-1);
  }

  /** Adds a mark; after a new connection, those that are known come again. */
  addMark(message) {
    const mark = readMark(message);
    if (!mark || this.marks.some(({t, kind, note}) => t === mark.t && kind === mark.kind && note === mark.note)) return;
    insert(this.marks, mark, MOST.marks);
    if (!isInterruption(mark)) return;
    this.cuts = [...this.cuts, mark.t].toSorted((one, other) => one - other).slice(-MOST.cuts);
  }

  /** Interrupts all curves. */
  interrupt() {
    for (const series of Object.values(this.series)) series.interrupt();
  }

  setState(state, now) {
    const wasConnected = this.state?.connected ?? null;
    this.state = state;
    this.news = now;
    if (wasConnected === state.connected) return;
    const lost = state.connected && wasConnected === false ? now - this.link.since : null;
    this.link = {since: now, lost};
  }
}

/** A mark as the page keeps it; null if it has no time. */
export function readMark({t, kind, note}) {
  return moment(t) === null ? null : {t, kind: plain(kind, 20), note: plain(note, 200)};
}
