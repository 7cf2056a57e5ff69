/** Which packets are shown, and the fragment of the page's address that says the same. */

import {matches, parseFilter} from './field-filter.js';
import {DIRECTIONS, LAYERS, microseconds, seconds} from './format.js';
import {searchable} from './packets.js';

/** Filters that let every packet through. */
export const noFilters = () => ({
  query: '', filter: '', layers: new Set(), directions: new Set(), problems: false, range: null,
});

/** The terms of a query, in lower case: words, and phrases in quotes. */
export function termsOf(query) {
  return Array.from(query.toLowerCase().matchAll(/"([^"]+)"?|\S+/gu), ([word, quoted]) => quoted ?? word);
}

/**
 * The packets that all filters let through; the same array if there is no filter.
 *
 * - query: a packet has to contain each of its terms
 * - filter: terms about fields, all of which must hold; a filter with a mistake lets all through
 * - layers, directions: a packet has to have one of them; empty lets all through
 * - problems: whether a packet has to have a mark
 * - range: of times, in microseconds, both ends included; null lets all through
 * - numberedKeys: the names of the numbers of packets
 */
export function filtered(packets, {query, filter, layers, directions, problems, range}, numberedKeys) {
  const words = termsOf(query);
  const {terms} = parseFilter(filter, numberedKeys);
  if (words.length + terms.length + layers.size + directions.size === 0 && !problems && !range) return packets;
  return packets.filter((packet) => {
    if (problems && !packet.mark) return false;
    if (layers.size > 0 && !packet.layers.some((layer) => layers.has(layer.name))) return false;
    if (directions.size > 0 && !directions.has(DIRECTIONS[packet.direction])) return false;
    if (range && (packet.time === null || packet.time < range.from || packet.time > range.to)) return false;
    return matches(packet, terms) && words.every((word) => searchable(packet).includes(word));
  });
}

/**
 * Reads a fragment. Unknown names and invalid numbers are ignored.
 *
 * - whole: the time span of the session; null if it has no times
 *
 * Returns the filters, `packet` (the number of the selected one, or null), `open` (the layers that are unfolded, or
 * null), and `charts` (whether they are open, or null).
 */
export function parseFragment(fragment, whole) {
  const values = new URLSearchParams(fragment);
  const list = (key, known) => new Set((values.get(key) ?? '').split(',').filter((name) => known.includes(name)));
  const from = microseconds(values.get('from') ?? '');
  const to = microseconds(values.get('to') ?? '');
  return {
    query: values.get('q') ?? '',
    filter: values.get('filter') ?? '',
    layers: list('layer', LAYERS),
    directions: list('direction', DIRECTIONS),
    problems: values.has('problems'),
    range: whole && (from !== null || to !== null) ? {from: from ?? whole.from, to: to ?? whole.to} : null,
    packet: values.has('packet') ? Number(values.get('packet')) : null,
    open: values.has('open') ? list('open', LAYERS) : null,
    charts: {open: true, closed: false}[values.get('charts')] ?? null,
  };
}

/** Writes a fragment; the reverse of parseFragment(). */
export function formatFragment({query, filter, layers, directions, problems, range, packet, open, charts}) {
  const values = new URLSearchParams();
  if (query) values.set('q', query);
  if (filter) values.set('filter', filter);
  if (layers.size > 0) values.set('layer', [...layers].join());
  if (directions.size > 0) values.set('direction', [...directions].join());
  if (problems) values.set('problems', '');
  if (range) {
    values.set('from', seconds(range.from));
    values.set('to', seconds(range.to));
  }
  if (packet !== null) values.set('packet', packet);
  if (open) values.set('open', [...open].join());
  if (charts !== null) values.set('charts', charts ? 'open' : 'closed');
  return values.toString().replaceAll('%2C', ',');
}
