/** What the page says, and how it reads what others say: texts of rings and people, and numbers that may be absent. */

import {shortNumber} from './plotting.js';

/** A number; null if it is none. */
export const finite = (value) => Number.isFinite(value) ? value : null;

/** The farthest time from the beginning of the program, in seconds: 30 years. Beyond it, times are too coarse to count with. */
const FARTHEST = 1e9;

/** A time on the clock of the program; null if it is none. */
export const moment = (value) => Number.isFinite(value) && Math.abs(value) < FARTHEST ? value : null;

/** A text in one line, cut after so many characters, without characters that hide or turn what is around them. */
export function plain(text, most) {
  if (typeof text !== 'string') return '';
  const visible = text.slice(0, 4 * most + 64)
    .replaceAll(/[\p{Cc}\p{Cs}\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu, ' ').trim();
  const characters = [...visible];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : visible;
}

/** A value with its unit; in words, if it is not known. */
export const valued = (value, unit = '') => value === null ? 'not known' : `${shortNumber(value)}${unit && ` ${unit}`}`;

export const percent = (part) => `${Math.round(part * 100)} %`;

/** A duration: `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function lasting(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ''}`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole % 3600 / 60)} min`;
}

/** A second or a beat whose quality is at least this counts. */
export const ACCEPTED = .5;

/** Why a second or a beat counts for nothing. */
const REASONS = {
  'saturation': 'the light is beyond what the sensor can tell',
  'no contact': 'no contact with the skin', 'no wave': 'no wave in the light',
  'gap': 'samples are missing',
  'settling': 'the wave is settling', 'weak': 'the wave is weak', 'shape': 'the wave has another form',
  'size': 'the wave has another size', 'rise': 'the wave does not rise as a beat does',
  'interval': 'no heart beats at this interval', 'disturbed': 'the next beat is disturbed',
};

const reasonOf = (reason) => Object.hasOwn(REASONS, reason) ? REASONS[reason] : reason;

/** The reason in few words, for a narrow place. */
export const shortReason = (reason) => ({saturation: 'saturated', 'rate too low': 'too slow'})[reason] ?? reason;

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A stream with so few samples a second that they show no beats. */
function tooSlow({rate, hasOwnRate}) {
  const few = rate === null || rate < 1.5 ? 'One sample a second shows' : `${shortNumber(rate)} samples a second show`;
  return hasOwnRate ? `${few} no beats; the ring measures its heart rate from time to time.`
    : `${few} no beats. halo-raw stream --measure heart-rate adds the ring’s own heart rate.`;
}

/** No rate, and why. */
const none = (words) => ({number: null, words, told: words, isPast: false});

/**
 * The rate of a ring, or why there is none: its number, what is written below it, what a screen reader is told of it, and whether
 * it is of the past.
 *
 * - second: the last one whose quality is known, or null if that is too long ago
 */
export function rateOf({state, hasLight}, second) {
  if (!state) return none('Nothing is known yet.');
  if (state.connected === false) return none('The connection to the ring is lost.');
  if (state.bpm === null) {
    if (!hasLight) return none('No light is streamed; add --ppg.');
    if (state.fault === 'rate too low') return none(tooSlow(state));
    return none(state.fault ? `No pulse: ${reasonOf(state.fault)}` : 'No pulse is known yet.');
  }
  const number = Math.round(state.bpm);
  if (state.bpmSource === 'ring') return {number, words: 'Measured by the ring', told: 'Measured by the ring', isPast: false};
  const isBad = second !== null && second.quality < ACCEPTED;
  const fault = state.fault ?? (isBad ? second.reason : null);
  if (fault) {
    const words = `of the last 10 s; now: ${reasonOf(fault)}`;
    return {number, words, told: capital(words), isPast: true};
  }
  return {number, words: `From the light${second ? `, quality ${percent(second.quality)}` : ''}`, told: 'From the light', isPast: false};
}

/** Why the program refuses what the page asks for. */
export const refusalOf = async (answer) => {
  if (answer.status === 404) return 'This link is no longer valid. halo-raw status shows the new one.';
  return plain(await answer.text(), 200) || `The program refuses this (${answer.status}).`;
};

/** The end of a stream, from the program's reason. */
export function endWords(reason) {
  const end = 'the stream has ended';
  const why = plain(reason, 200).replace(/\.$/u, '') || end;
  return `${capital(why.startsWith(end) ? why : `${end}: ${why}`)}. This page connects again when it starts.`;
}

/** How long a connection that is there again is said to be so, in seconds. */
const LINK_NEWS = 60;

/** The state of the connection to a ring. */
export function linkWords({state, link}, now) {
  if (!state) return 'no news yet';
  if (state.connected === false) return state.text.startsWith('connection lost') ? state.text : `connection lost: ${state.text}`;
  return link.lost !== null && now - link.since < LINK_NEWS ? `connected again after ${lasting(link.lost)}` : state.text;
}

/** The numbers of a ring: name, text, and whether it is an estimate. */
export function numbersOf(state) {
  const {battery, charging, rate, interval, lost, gaps, records, variability} = state;
  const power = charging ? ', charging' : '';
  return [
    ['Battery', battery === null ? 'not known' : `${battery} %${power}`],
    ['Samples a second', valued(rate)],
    ['Link interval', valued(interval, 'ms')],
    ['Packets lost', lost === null ? 'not counted' : valued(lost)],
    ['Gaps', valued(gaps)],
    ['Records', valued(records)],
    ['Variability', variability === null ? 'not known'
      : `RMSSD ${valued(variability.rmssd, 'ms')}, SDNN ${valued(variability.sdnn, 'ms')}, ${valued(variability.window, 's')}`,
      variability !== null && variability.isEstimate],
  ];
}

/** What a mark is called. */
const MARK_NAMES = {
  gap: 'gap', pause: 'pause', rejected: 'rejected', lost: 'packets lost', clock: 'clock set', dropped: 'dropped',
  measured: 'measured', event: 'event',
};

/** A mark in words: that of a person is its text. */
export function markText({kind, note}) {
  if (kind === 'mark') return note;
  const name = Object.hasOwn(MARK_NAMES, kind) ? MARK_NAMES[kind] : kind;
  return note ? `${name}: ${note}` : name;
}
