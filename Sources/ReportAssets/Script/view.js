/** What is shown: the state of the page, and the functions that change it. */

import {filtered, formatFragment, noFilters, parseFragment} from './filters.js';
import {byNumber, packets, whole} from './session.js';

export const view = {
  ...noFilters(),
  /** The selected packet, or null. */
  selected: null,
  /** The layers that are unfolded; null: the highest one, and GATT. */
  open: null,
  /** The packets that the filters let through. */
  shown: packets,
};

const observers = {selection: [], filters: []};

/** Calls `draw` after each change of 'selection' or 'filters', in the order of the calls to this function. */
export function observe(change, draw) {
  observers[change].push(draw);
}

let fragmentTimer = 0;

/** Browsers limit how often an address may change: it follows 300 ms after the last change. */
export function writeFragment() {
  clearTimeout(fragmentTimer);
  fragmentTimer = setTimeout(() => {
    const fragment = formatFragment({...view, packet: view.selected?.number ?? null});
    history.replaceState(null, '', `#${fragment}`);
  }, 300);
}

export function select(packet) {
  view.selected = packet;
  for (const draw of observers.selection) draw();
  writeFragment();
}

/** Applies the filters of the view. */
export function filter() {
  view.shown = filtered(packets, view);
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

/** Shows what the address says. */
export function readFragment() {
  const {packet, ...state} = parseFragment(location.hash.slice(1), whole);
  Object.assign(view, state, {selected: byNumber.get(packet) ?? null});
  filter();
  select(view.selected);
}
