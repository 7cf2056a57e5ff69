/** The names of layers and directions, and numbers as text. */

/** The layers, from the wire up. */
export const LAYERS = [
  'll', 'hci', 'l2cap', 'signaling', 'smp', 'sdp', 'rfcomm', 'avdtp', 'avctp', 'att', 'gatt', 'ring',
];

/** The names to show: of the layers, and of a packet without layers. */
export const LABELS = {
  ll: 'Link layer', hci: 'HCI', l2cap: 'L2CAP', signaling: 'Signaling', smp: 'SMP', sdp: 'SDP', rfcomm: 'RFCOMM',
  avdtp: 'AVDTP', avctp: 'AVCTP', att: 'ATT', gatt: 'GATT', ring: 'Ring', note: 'Note',
};

/** Indexed by a packet's direction. */
export const DIRECTIONS = ['unknown', 'sent', 'received'];
export const ARROWS = ['·', '→', '←'];

/** Why a packet is marked, in the words of its badge. */
export const MARKS = {error: 'error', refused: 'refused', damaged: 'damaged', unanswered: 'no answer'};

/** Four hex digits, as handles are written: `0x0012`. */
export const hex = (number) => `0x${number.toString(16).padStart(4, '0')}`;

/** Microseconds as seconds: `1.500000`. */
export const seconds = (time, decimals = 6) => (time / 1e6).toFixed(decimals);

/** The text `1.5`, in seconds, as microseconds; null if it is not a number. */
export function microseconds(text) {
  const number = text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(number) ? Math.round(number * 1e6) : null;
}

/**
 * A time in UTC, `2026-11-20 12:55:21.000`; null if it is unknown or not a valid date.
 *
 * - start: of the capture, in microseconds since 1970; null if unknown
 * - time: in microseconds since the start
 */
export function utcDate(start, time) {
  const date = new Date((start + time) / 1000);
  return start === null || Number.isNaN(date.getTime())
    ? null : date.toISOString().replace('T', ' ').replace('Z', '');
}

/** `1 packet`, `1,234 packets`. */
export const counted = (number, name) => `${number.toLocaleString('en')} ${name}${number === 1 ? '' : 's'}`;

/** Hex digits with a space between bytes. */
export const spaced = (digits) => digits.replaceAll(/..(?=.)/gu, '$& ');
