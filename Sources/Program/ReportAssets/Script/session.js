/** The session that the page carries. */

import {element} from './elements.js';
import {readPackets, timeSpan} from './packets.js';

/**
 * Of the capture: `name`; `remark` (why it is incomplete, or empty); `start` (microseconds since 1970, or null); `device`, that
 * with the most traffic, or empty; `summary`, as `decode --summary` prints it; `samples`, the forms of a ring's samples;
 * `unanswered`, the numbers of requests without an answer. PageWriter.swift writes it.
 */
export const capture = JSON.parse(element('capture').textContent);

const source = element('packets');

/** The names of the numbers that packets have for filters. */
export const numberedKeys = source.dataset.keys.split(' ');

/** Reads the packets and removes their element, so that the text is not kept twice. */
function takePackets() {
  const {capacity, shortest, longest} = source.dataset;
  const limits = {
    capacity: Number(capacity), shortest: Number(shortest), longest: Number(longest), keys: numberedKeys,
  };
  const packets = readPackets(source.textContent, limits);
  source.remove();
  return packets;
}

export const packets = takePackets();
export const byNumber = new Map(packets.map((packet) => [packet.number, packet]));
for (const number of capture.unanswered) {
  const request = byNumber.get(number);
  if (request) request.mark ??= 'unanswered';
}

/** The first and the last time of the session, in microseconds; null if no packet has a time. */
export const whole = timeSpan(packets);

/** The names of devices, by address, as they are known at the end. */
const names = new Map(packets.filter((packet) => packet.peerName).map(({peer, peerName}) => [peer, peerName]));

/** The name of the device at the other end of the packet's link; its address, if the name is unknown; or empty. */
export const deviceOf = ({peer}) => peer === null ? '' : names.get(peer) ?? peer;

/** Whether the packets are from several adapters. */
export const hasAdapters = new Set(packets.map(({adapter}) => adapter).filter((adapter) => adapter !== null)).size > 1;
