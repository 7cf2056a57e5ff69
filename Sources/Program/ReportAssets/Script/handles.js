/** The packets of one attribute handle. */

/** The attribute handle that a packet is about; undefined if there is none, or several. */
export function handleOf({keys: {handle = []}}) {
  const [[first, last] = []] = handle;
  return handle.length === 1 && first === last ? first : undefined;
}

/** The connection handle of a packet's link; undefined if there is none. */
export const linkOf = (packet) => packet.keys.link?.[0]?.[0];

/** Whether two packets belong to the same device; without an address, to the same link. */
const isSamePeer = (one, other) => one.peer && other.peer ? one.peer === other.peer
  : one.adapter === other.adapter && linkOf(one) === linkOf(other);

/**
 * The nearest packet of the same handle and device.
 *
 * - packets: where it is looked for, in the order of the capture
 * - step: 1 for the next, -1 for the previous
 *
 * Returns null or undefined if there is none.
 */
export function neighborOf(packet, packets, step) {
  const handle = handleOf(packet);
  if (handle === undefined) return null;
  const isWanted = (other) => isSamePeer(packet, other)
    && other.keys.handle.some(([first, last]) => first <= handle && handle <= last);
  return step > 0 ? packets.find((other) => other.number > packet.number && isWanted(other))
    : packets.findLast((other) => other.number < packet.number && isWanted(other));
}
