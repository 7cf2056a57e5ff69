/** The packets of one attribute handle. */

/** The attribute handle that a packet is about; undefined if there is none. */
export const handleOf = (packet) => packet.keys.handle?.[0];

/** Whether two packets belong to the same device; without an address, to the same link. */
const isSamePeer = (one, other) => one.peer && other.peer ? one.peer === other.peer
  : one.adapter === other.adapter && one.keys.link?.[0] === other.keys.link?.[0];

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
  const isWanted = (other) => other.keys.handle.includes(handle) && isSamePeer(packet, other);
  return step > 0 ? packets.find((other) => other.number > packet.number && isWanted(other))
    : packets.findLast((other) => other.number < packet.number && isWanted(other));
}
