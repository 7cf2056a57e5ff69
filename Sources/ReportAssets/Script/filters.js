/** Which packets are shown, and the fragment of the page's address that says the same. */

import {DIRECTIONS, LAYERS, microseconds, seconds} from './format.js';
import {searchable} from './packets.js';

/** Filters that let every packet through. */
export const noFilters = () => ({query: '', layers: new Set(), directions: new Set(), range: null});

/** The terms of a query, in lower case: words, and phrases in quotes. */
export function termsOf(query) {
  return Array.from(query.toLowerCase().matchAll(/"([^"]+)"?|\S+/gu), ([word, quoted]) => quoted ?? word);
}

/**
 * The packets that all filters let through; the same array if there is no filter.
 *
 * - query: a packet has to contain each of its terms
 * - layers, directions: a packet has to have one of them; empty lets all through
 * - range: of times, in microseconds, both ends included; null lets all through
 */
export function filtered(packets, {query, layers, directions, range}) {
  const terms = termsOf(query);
  if (terms.length + layers.size + directions.size === 0 && !range) return packets;
  return packets.filter((packet) => {
    if (layers.size > 0 && !packet.layers.some((layer) => layers.has(layer.name))) return false;
    if (directions.size > 0 && !directions.has(DIRECTIONS[packet.direction])) return false;
    if (range && (packet.time === null || packet.time < range.from || packet.time > range.to)) return false;
    return terms.every((term) => searchable(packet).includes(term));
  });
}

/**
 * Reads a fragment. Unknown names and invalid numbers are ignored.
 *
 * - whole: the time span of the session; null if it has no times
 *
 * Returns the filters, `packet` (the number of the selected one, or null), and `open` (the layers that are
 * unfolded, or null).
 */
export function parseFragment(fragment, whole) {
  const values = new URLSearchParams(fragment);
  const list = (key, known) => new Set((values.get(key) ?? '').split(',').filter((name) => known.includes(name)));
  const from = microseconds(values.get('from') ?? '');
  const to = microseconds(values.get('to') ?? '');
  return {
    query: values.get('q') ?? '',
    layers: list('layer', LAYERS),
    directions: list('direction', DIRECTIONS),
    range: whole && (from !== null || to !== null) ? {from: from ?? whole.from, to: to ?? whole.to} : null,
    packet: values.has('packet') ? Number(values.get('packet')) : null,
    open: values.has('open') ? list('open', LAYERS) : null,
  };
}

/** Writes a fragment; the reverse of parseFragment(). */
export function formatFragment({query, layers, directions, range, packet, open}) {
  const values = new URLSearchParams();
  if (query) values.set('q', query);
  if (layers.size > 0) values.set('layer', [...layers].join());
  if (directions.size > 0) values.set('direction', [...directions].join());
  if (range) {
    values.set('from', seconds(range.from));
    values.set('to', seconds(range.to));
  }
  if (packet !== null) values.set('packet', packet);
  if (open) values.set('open', [...open].join());
  return values.toString().replaceAll('%2C', ',');
}
