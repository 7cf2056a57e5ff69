/** Packets: how the page stores them, and what it shows of them. */

import {LABELS, spaced} from './format.js';

/** The range of a number, `18`, or of two, `1-5`. */
function rangeOfText(text) {
  const [first, last = first] = text.split('-').map(Number);
  return [first, last];
}

/**
 * Reads packets, one JSON array per line, as PagePacket.swift writes them.
 *
 * Texts and shapes that repeat are numbers: indexes into tables that both sides fill in the same order, up to
 * `capacity` entries. Only texts of `shortest` to `longest` UTF-16 units are entered (PageTable in PagePacket.swift).
 *
 * - keys: the names of the numbers that filters test
 */
export function readPackets(lines, {capacity, shortest, longest, keys}) {
  const texts = [];
  const shapes = [];
  const numbers = new Map();

  function readText(item) {
    if (typeof item === 'number') return texts[item];
    if (texts.length < capacity && item.length >= shortest && item.length <= longest) texts.push(item);
    return item;
  }

  function readShape(item) {
    if (typeof item === 'number') return shapes[item];
    const [name, ...fields] = item;
    const shape = {name, fields: fields.map(([field, reference, depth, first, end]) =>
      ({name: readText(field), reference: readText(reference), depth, first, end}))};
    if (shapes.length < capacity) shapes.push(shape);
    return shape;
  }

  function readLayer([shape, summary, ...values]) {
    const {name, fields} = readShape(shape);
    return {name, fields, summary, values: values.map(readText)};
  }

  /** Arrays of ranges, each a first and a last number, by key; packets with the same text share them. */
  function readKeys(item) {
    const text = readText(item);
    if (!numbers.has(text)) {
      const parts = text.split(';').map((part) => part === '' ? [] : part.split(',').map(rangeOfText));
      numbers.set(text, Object.fromEntries(keys.map((key, index) => [key, parts[index]])));
    }
    return numbers.get(text);
  }

  function readPeer(item) {
    if (item === null) return {peer: null, peerName: null};
    const text = readText(item);
    const [peer] = text.split(' ', 1);
    return {peer, peerName: peer === text ? null : text.slice(peer.length + 1)};
  }

  const packets = [];
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const [number, time, direction, adapter, bytes, frame, note, numeric, peer, mark, ...layers] = JSON.parse(line);
    // Texts are entered into the table in the order in which they are written.
    const packet = {
      number, time, direction, adapter, bytes, frame, note, keys: readKeys(numeric),
      ...readPeer(peer), mark: mark === null ? null : readText(mark),
      layers: layers.map(readLayer),
    };
    packet.top = packet.layers.findLast((layer) => layer.name !== 'gatt');
    packet.lane = packet.top ? packet.top.name : 'note';
    packets.push(packet);
  }
  return packets;
}

/** The first and the last time of packets, in microseconds; null if none has a time. */
export function timeSpan(packets) {
  let span = null;
  for (const {time} of packets) {
    if (time === null) continue;
    span ??= {from: time, to: time};
    span.from = Math.min(span.from, time);
    span.to = Math.max(span.to, time);
  }
  return span;
}

/** A packet in one line. */
export function summaryOf(packet) {
  if (!packet.top) return packet.note || '';
  const gatt = packet.lane === 'att' && packet.layers.find((layer) => layer.name === 'gatt');
  const summary = gatt ? `${packet.top.summary} · ${gatt.summary}` : packet.top.summary;
  return packet.note ? `${summary}; ${packet.note}` : summary;
}

/** Whether the fields of a layer refer to the reassembled frame, not to the bytes of the packet. */
export const isInFrame = (packet, layer) => layer.name !== 'hci' && layer.name !== 'll' && Boolean(packet.frame);

/** The bytes that the fields of a layer refer to, as hex digits. */
export const bytesOf = (packet, layer) => isInFrame(packet, layer) ? packet.frame : packet.bytes;

/** The value of a field; `=` stands for the digits of its bytes. */
export function valueOf(packet, layer, index) {
  const value = layer.values[index];
  if (value !== '=') return value;
  const {first, end} = layer.fields[index];
  return spaced(bytesOf(packet, layer).slice(2 * first, 2 * end));
}

/** The number in the value of a field, `48.75 ms`; NaN if it has none. */
export const quantityOf = (packet, layer, index) => Number(valueOf(packet, layer, index).split(' ')[0]);

/** The text that a search looks in, in lower case; computed once per packet. */
export function searchable(packet) {
  packet.searchable ??= [
    String(packet.number), summaryOf(packet),
    ...packet.layers.flatMap((layer) => [
      LABELS[layer.name], layer.summary,
      ...layer.fields.map((field, index) => `${field.name} ${valueOf(packet, layer, index)}`),
    ]),
    spaced(packet.bytes),
  ].join('\n').toLowerCase();
  return packet.searchable;
}
