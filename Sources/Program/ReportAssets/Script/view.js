/** What is shown: the state of the page, and the functions that change it. */

import {filtered, formatFragment, noFilters, parseFragment, termsOf} from './filters.js';
import {byNumber, numberedKeys, packets, whole} from './session.js';

export const view = {
  ...noFilters(),
  /** The selected packet, or null. */
  selected: null,
  /** The layers that are unfolded; null: the highest one, and GATT. */
  open: null,
  /** Whether the charts are open; null: where there is room for them. */
  charts: null,
  /** The packets that the filters let through. */
  shown: packets,
  /** The terms that are searched for, in lower case. */
  terms: [],
};

const observers = {selection: [], filters: [], charts: []};

/** Calls `draw` after each change of 'selection', 'filters' or 'charts', in the order of the calls to this function. */
export function observe(change, draw) {
  observers[change].push(draw);
}

let fragmentTimer = 0;

/** Writes the state into the address now. */
export function writeFragmentNow() {
  clearTimeout(fragmentTimer);
  const fragment = formatFragment({...view, packet: view.selected?.number ?? null});
  history.replaceState(history.state, '', `#${fragment}`);
}

/** Browsers limit how often an address may change: it follows 300 ms after the last change. */
export function writeFragment() {
  clearTimeout(fragmentTimer);
  fragmentTimer = setTimeout(writeFragmentNow, 300);
}

export function select(packet) {
  view.selected = packet;
  for (const draw of observers.selection) draw();
  writeFragment();
}

/** Applies the filters of the view. */
export function filter() {
  view.terms = termsOf(view.query);
  view.shown = filtered(packets, view, numberedKeys);
  for (const draw of observers.filters) draw();
  writeFragment();
}

/** A time in whole microseconds, limited to the session. */
const limited = (time) => Math.max(whole.from, Math.min(whole.to, Math.round(time)));

/** Shows a time range; the whole session has no range. */
export function showRange(from, to) {
  const isWhole = from <= whole.from && to >= whole.to;
  view.range = isWhole ? null : {from: limited(from), to: limited(to)};
  filter();
}

export function clearFilters() {
  Object.assign(view, noFilters());
  filter();
}

export function showCharts(isOpen) {
  view.charts = isOpen;
  for (const draw of observers.charts) draw();
  writeFragment();
}

/** Shows what the address says; the first packet, if it says none. */
export function readFragment() {
  const {packet, ...state} = parseFragment(location.hash.slice(1), whole);
  Object.assign(view, state, {selected: byNumber.get(packet) ?? null});
  showCharts(view.charts);
  filter();
  select(view.selected ?? view.shown[0] ?? null);
  // This is what the address says already.
  clearTimeout(fragmentTimer);
}
