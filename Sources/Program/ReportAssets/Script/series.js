/** What the charts show: values over time, from the packets. No drawing. */

import {hex} from './format.js';
import {linkOf} from './handles.js';
import {bytesOf, quantityOf, valueOf} from './packets.js';

/** The ATT opcodes of notifications, indications, and notifications of several values. */
const NOTIFICATIONS = new Set([0x1b, 0x1d, 0x23]);
/** The event Disconnection Complete. */
const DISCONNECTION = 0x05;
/** A line is not drawn across a longer pause, in microseconds. */
const PAUSE = 2_000_000;
/** The rates of at most this many handles are drawn. */
const MOST_RATES = 3;

/** Values over time; a value that is not a number ends the line. */
const emptySeries = (name) => ({name, times: [], values: []});

function add({times, values}, time, value) {
  times.push(time);
  values.push(value);
}

/** The series of a key; it is made when it is asked for. */
function seriesOf(all, key, name = key) {
  if (!all.has(key)) all.set(key, emptySeries(name));
  return all.get(key);
}

/** The number of a hex digit, from its character code: `0` to `9`, `a` to `f`. */
const nibble = (code) => code < 58 ? code - 48 : code - 87;

/** A byte of hex digits; hundreds of thousands are read, without making a text of each. */
const byteAt = (digits, index) =>
  nibble(digits.codePointAt(2 * index)) << 4 | nibble(digits.codePointAt(2 * index + 1));

/** The value of each byte, from the weights of its bits, the most significant first. */
function tableOf(weights) {
  return Float64Array.from({length: 256}, (_, byte) =>
    weights.reduce((sum, weight, bit) => sum + (byte & 128 >> bit ? weight : 0), 0));
}

/** Makes a function that returns the values of a frame, or null if it has another form (PageSamples.swift). */
function readerOf({marks, perUnit, values}) {
  const places = values.map(([, offset, weights]) =>
    ({offset, high: tableOf(weights.slice(0, 8)), low: tableOf(weights.slice(8))}));
  return (digits, start) => {
    if (marks.some(([offset, byte]) => byteAt(digits, start + offset) !== byte)) return null;
    return places.map(({offset, high, low}) =>
      (high[byteAt(digits, start + offset)] + low[byteAt(digits, start + offset + 1)]) / perUnit);
  };
}

const isNotification = (packet) => (packet.keys.opcode ?? []).some(([opcode]) => NOTIFICATIONS.has(opcode));

const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The samples of rings: a chart for each form, and each ring. */
function sampleCharts(packets, forms, nameOf) {
  const readers = forms.map((form) => ({form, read: readerOf(form), charts: new Map()}));
  for (const packet of packets) {
    if (packet.lane !== 'ring' || packet.time === null || packet.mark === 'damaged' || !isNotification(packet)) continue;
    const digits = bytesOf(packet, packet.top);
    const start = packet.top.fields[0]?.first ?? 0;
    for (const {form, read, charts} of readers) {
      const values = read(digits, start);
      if (!values) continue;
      const ring = nameOf(packet);
      if (!charts.has(ring)) charts.set(ring, form.values.map(([name]) => emptySeries(name)));
      charts.get(ring).forEach((series, index) => {
        if (packet.time - series.times.at(-1) > PAUSE) add(series, packet.time, NaN);
        add(series, packet.time, values[index]);
      });
    }
  }
  return readers.flatMap(({form, charts}) => [...charts].map(([ring, series]) =>
    ({name: capitalized(form.name), of: charts.size > 1 ? ring : '', unit: form.unit, kind: 'line', series})));
}

/** The fields of advertising PDUs with the address of the sender. */
const SENDERS = new Set(['AdvA', 'ScanA', 'InitA']);

/** The indexes of the fields of a name; layers of one shape share their fields. */
function fieldFinder(name) {
  const known = new Map();
  return (fields) => {
    if (!known.has(fields)) known.set(fields, fields.flatMap((field, index) => field.name === name ? [index] : []));
    return known.get(fields);
  };
}

/** The address of the device whose strength a field has; of a connection on the air, the central has no address here. */
function senderOf(packet, layer, index) {
  const isOfAir = layer.name === 'll';
  // On the air, the first address is that of the sender.
  const address = isOfAir
    ? layer.fields.findIndex(({name}) => SENDERS.has(name))
    : layer.fields.findLastIndex(({name}, other) => other < index && name === 'address');
  if (address >= 0) return valueOf(packet, layer, address).split(' ')[0];
  return isOfAir && packet.direction === 1 ? 'central' : packet.peer ?? '';
}

/** The strength of what was received, by device. */
function strengthChart(packets) {
  const strengths = fieldFinder('RSSI');
  const devices = new Map();
  for (const packet of packets) {
    const [layer] = packet.layers;
    if (layer?.name !== 'hci' && layer?.name !== 'll' || packet.time === null) continue;
    for (const index of strengths(layer.fields)) {
      const value = quantityOf(packet, layer, index);
      if (!Number.isNaN(value)) add(seriesOf(devices, senderOf(packet, layer, index)), packet.time, value);
    }
  }
  return {name: 'RSSI', of: '', unit: 'dBm', kind: 'dots', series: [...devices.values()]};
}

/** The connection interval in force on each link. */
function intervalChart(packets, nameOf) {
  const intervals = fieldFinder('connection interval');
  const links = new Map();
  for (const packet of packets) {
    const [[event] = []] = packet.keys.event ?? [];
    const link = linkOf(packet);
    if (event === undefined || link === undefined || packet.time === null || packet.mark) continue;
    const key = `${packet.adapter} ${link}`;
    const [layer] = packet.layers;
    if (event === DISCONNECTION && links.has(key)) add(links.get(key), packet.time, NaN);
    for (const index of intervals(layer.fields)) {
      const value = quantityOf(packet, layer, index);
      if (!Number.isNaN(value)) add(seriesOf(links, key, nameOf(packet) || hex(link)), packet.time, value);
    }
  }
  return {name: 'Interval', of: '', unit: 'ms', kind: 'steps', series: [...links.values()]};
}

/** The times of notifications and indications, by handle; the values are 1. */
function notificationChart(packets, nameOf) {
  const handles = new Map();
  for (const packet of packets) {
    if (packet.time === null || !isNotification(packet)) continue;
    for (const [handle] of packet.keys.handle) {
      const device = nameOf(packet);
      add(seriesOf(handles, `${device} ${handle}`, `${hex(handle)} ${device}`), packet.time, 1);
    }
  }
  const most = [...handles.values()].toSorted((one, other) => other.times.length - one.times.length);
  return {name: 'Rate', of: 'notifications', unit: '/s', kind: 'rate', series: most.slice(0, MOST_RATES)};
}

/**
 * The charts of a session; those without values are left out.
 *
 * - forms: of the samples of rings
 * - nameOf: returns the name of a packet's device
 *
 * Returns for each its name, what it is `of` (empty if the name says enough), its unit, its kind (`line`, `dots`,
 * `steps`, or `rate`, of the values in a second), and its series: of names, times in microseconds and values.
 */
export function chartsOf(packets, forms, nameOf) {
  return [
    ...sampleCharts(packets, forms, nameOf), notificationChart(packets, nameOf), intervalChart(packets, nameOf),
    strengthChart(packets),
  ].filter(({series}) => series.length > 0);
}
