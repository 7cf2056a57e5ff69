/** The elements of the page, and the session that it carries. */

import {readPackets, timeSpan} from './packets.js';

export const element = (id) => document.getElementById(id);

/** Makes an element from its name, attributes and children: elements, or strings, which stay text. */
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Reads the packets and removes their element, so that the text is not kept twice. */
function takePackets() {
  const source = element('packets');
  const {capacity, shortest, longest} = source.dataset;
  const limits = {capacity: Number(capacity), shortest: Number(shortest), longest: Number(longest)};
  const packets = readPackets(source.textContent, limits);
  source.remove();
  return packets;
}

export const packets = takePackets();
export const byNumber = new Map(packets.map((packet) => [packet.number, packet]));

/** The first and the last time of the session, in microseconds; null if no packet has a time. */
export const whole = timeSpan(packets);

/** Of the capture: `name`, `remark` (why it is incomplete, or empty), `start` (microseconds since 1970, or null). */
export const capture = JSON.parse(element('capture').textContent);
