const LAYERS = ['hci', 'l2cap', 'signaling', 'smp', 'att', 'gatt', 'ring'];
const LABELS = {
  hci: 'HCI', l2cap: 'L2CAP', signaling: 'Signaling', smp: 'SMP', att: 'ATT', gatt: 'GATT', ring: 'Ring',
  note: 'Note',
};
const DIRECTIONS = ['unknown', 'sent', 'received'];
const ARROWS = ['·', '→', '←'];

const element = (id) => document.getElementById(id);

/** Makes an element: name, attributes, children (texts or elements). Texts stay texts. */
function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Reads the lines of packets, and keeps what they have in common once. */
function readPackets(source) {
  const capacity = Number(source.dataset.capacity);
  const shortest = Number(source.dataset.shortest);
  const longest = Number(source.dataset.longest);
  const texts = [];
  const shapes = [];

  function text(item) {
    if (typeof item === 'number') return texts[item];
    if (texts.length < capacity && item.length >= shortest && item.length <= longest) texts.push(item);
    return item;
  }

  function shape(item) {
    if (typeof item === 'number') return shapes[item];
    const [layer, ...fields] = item;
    const made = {layer, fields: fields.map(([name, reference, depth, first, end]) =>
      ({name: text(name), reference: text(reference), depth, first, end}))};
    if (shapes.length < capacity) shapes.push(made);
    return made;
  }

  function layer([form, summary, ...values]) {
    const {layer, fields} = shape(form);
    return {name: layer, fields, summary, values: values.map(text)};
  }

  const packets = [];
  for (const line of source.textContent.split('\n')) {
    if (line === '') continue;
    const [number, time, direction, adapter, bytes, frame, note, ...layers] = JSON.parse(line);
    const packet = {number, time, direction, adapter, bytes, frame, note, layers: layers.map(layer)};
    packet.top = packet.layers.findLast((layer) => layer.name !== 'gatt');
    packet.lane = packet.top ? packet.top.name : 'note';
    packets.push(packet);
  }
  return packets;
}

/** One line on a packet. */
function summaryOf(packet) {
  if (!packet.top) return packet.note || '';
  const gatt = packet.lane === 'att' && packet.layers.find((layer) => layer.name === 'gatt');
  const words = gatt ? `${packet.top.summary} · ${gatt.summary}` : packet.top.summary;
  return packet.note ? `${words}; ${packet.note}` : words;
}

/** The digits of the bytes that a layer's fields point into. */
function bytesOf(packet, layer) {
  return layer.name === 'hci' || !packet.frame ? packet.bytes : packet.frame;
}

const spaced = (digits) => digits.replace(/..(?=.)/g, '$& ');

function valueOf(packet, layer, index) {
  const value = layer.values[index];
  if (value !== '=') return value;
  const {first, end} = layer.fields[index];
  return spaced(bytesOf(packet, layer).slice(2 * first, 2 * end));
}

/** All that a search looks at, in small letters; kept from the first search on. */
function searchable(packet) {
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

const seconds = (microseconds, decimals = 6) => (microseconds / 1e6).toFixed(decimals);

/** `2026-11-20 12:55:21.000`, in UTC; null if the capture tells no date that can be. */
function dateAt(time) {
  const date = new Date((capture.start + time) / 1000);
  return capture.start === null || Number.isNaN(date.getTime())
    ? null : date.toISOString().replace('T', ' ').replace('Z', '');
}

const source = element('packets');
const packets = readPackets(source);
source.remove();
const capture = JSON.parse(element('capture').textContent);
const byNumber = new Map(packets.map((packet) => [packet.number, packet]));

/** First and last time of the session, in microseconds; null if no packet has one. */
const whole = packets.reduce((span, {time}) => time === null ? span : span
  ? {from: Math.min(span.from, time), to: Math.max(span.to, time)} : {from: time, to: time}, null);
