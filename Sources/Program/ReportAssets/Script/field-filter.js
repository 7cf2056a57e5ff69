/**
 * The filters of `decode --filter` (PacketFilter.swift): terms of the form `key=value`, with commas or spaces between
 * them, all of which must hold. A value is a number, a range `1..20` or several with bars; of `address`, an address; of
 * `peer`, addresses or the beginnings of names with bars.
 */

/** The keys whose numbers are not among those of a packet. */
const OWN_KEYS = ['time', 'packet'];

function numberOf(text) {
  if (text.startsWith('0x')) return /^0x[0-9a-f]{1,8}$/iu.test(text) ? parseInt(text, 16) : NaN;
  return /^[0-9.]+$/u.test(text) ? Number(text) : NaN;
}

/** The two ends of a range, or null. */
function rangeOf(text) {
  const dots = text.indexOf('..');
  if (dots < 0) {
    const number = numberOf(text);
    return Number.isNaN(number) ? null : [number, number];
  }
  const [first, last] = [text.slice(0, dots), text.slice(dots + 2)];
  const low = first === '' ? -Infinity : numberOf(first);
  const high = last === '' ? Infinity : numberOf(last);
  return low <= high ? [low, high] : null;
}

/** The hex digits of an address, as in text, or null. */
function addressOf(text) {
  const [, digits] = /^([0-9a-f]{2}(?:[:-]?[0-9a-f]{2}){5})(?:\/public|\/random)?$/iu.exec(text) ?? [];
  return digits ? digits.replaceAll(/[:-]/gu, '').toLowerCase() : null;
}

/** Reads one term; a term that cannot be read is a text: what is wrong with it. */
function readTerm(word, keys) {
  const [key] = word.split('=', 1);
  if (!keys.includes(key)) return `There is no filter “${key}”. There are: ${keys.join(', ')}.`;
  const value = word.slice(key.length + 1);
  if (key === 'address') {
    const address = addressOf(value);
    return address ? {key, address} : 'address needs an address: address=C0:11:22:33:A1:B2';
  }
  if (key === 'peer') {
    const peers = value.split('|').filter((part) => part !== '').map((part) =>
      ({address: addressOf(part), name: part.toLowerCase()}));
    return peers.length > 0 ? {key, peers} : 'peer needs an address or the beginning of a name: peer=R02';
  }
  const ranges = value.split('|').map(rangeOf);
  return ranges.includes(null)
    ? `${key} needs a number, a range or several: ${key}=0x12, ${key}=1..20, ${key}=1|2` : {key, ranges};
}

/**
 * Reads a filter.
 *
 * - listed: the keys that packets have numbers for, and others that --filter knows
 *
 * Returns its terms, none for an empty text, and the mistake in it: empty if there is none.
 */
export function parseFilter(text, listed) {
  const keys = [...listed, ...OWN_KEYS];
  const terms = text.split(/[, ]+/u).filter((word) => word !== '').map((word) => readTerm(word, keys));
  const mistake = terms.find((term) => typeof term === 'string');
  return mistake === undefined ? {terms, mistake: ''} : {terms: [], mistake};
}

/** The ranges of numbers that a packet has for a key. */
function rangesOf(packet, key) {
  if (key === 'packet') return [[packet.number, packet.number]];
  if (key === 'time') return packet.time === null ? [] : [[packet.time / 1e6, packet.time / 1e6]];
  return packet.keys[key];
}

const digitsOf = (address) => address?.replaceAll(':', '').toLowerCase();

/** Whether a link's peer has the address, or a command, an event or an advertising PDU has
 * it among its bytes, least significant first. */
function concerns(packet, address) {
  if (digitsOf(packet.peer) === address) return true;
  const has = (name) => packet.layers.some((layer) => layer.name === name);
  const isCommandOrEvent = /^0[14]/u.test(packet.bytes) && has('hci');
  if (!isCommandOrEvent && !(packet.bytes.startsWith('d6be898e') && has('ll'))) return false;
  const wanted = address.match(/../gu).toReversed().join('');
  let place = packet.bytes.indexOf(wanted);
  while (place % 2 === 1) place = packet.bytes.indexOf(wanted, place + 1);
  return place >= 0;
}

/** - peers: addresses, and beginnings of names in lower case */
function isWithOne(packet, peers) {
  return packet.peer !== null && peers.some(({address, name}) =>
    address ? digitsOf(packet.peer) === address : packet.peerName?.toLowerCase().startsWith(name));
}

/** Whether a term holds. */
function holds(packet, {key, address, peers, ranges}) {
  if (address) return concerns(packet, address);
  if (peers) return isWithOne(packet, peers);
  return rangesOf(packet, key).some(([first, last]) => ranges.some(([low, high]) => first <= high && low <= last));
}

/** Whether all terms hold. */
export const matches = (packet, terms) => terms.every((term) => holds(packet, term));
