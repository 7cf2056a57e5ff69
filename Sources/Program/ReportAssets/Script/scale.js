/** The arithmetic of the timeline: times, columns and bar heights. No drawing. */

/** Sent packets are drawn above the middle of a lane, all others below. */
const ABOVE = 0;
export const BELOW = 1;

/** A time range that is not empty: one instant becomes a millisecond. */
export const widened = ({from, to}) => to > from ? {from, to} : {from: from - 500, to: from + 500};

/**
 * The ticks of an axis, at 1, 2 or 5 times a power of ten.
 *
 * - from, to: the range in microseconds
 * - most: the greatest number of steps in it
 *
 * Returns the times of the ticks, in microseconds, and the decimals that their labels need in seconds.
 */
export function ticksOf({from, to}, most) {
  const rough = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(step / 1e6) + 1e-9)));
  const times = [];
  for (let tick = Math.ceil(from / step); tick * step <= to; tick += 1) times.push(tick * step);
  return {times, decimals};
}

/**
 * Counts the packets in each column of each lane.
 *
 * Returns a map from the lane's name to two arrays of `count` numbers: ABOVE and BELOW.
 */
export function countColumns(packets, lanes, {from, to}, count) {
  const columns = new Map(lanes.map((name) => [name, [new Uint32Array(count), new Uint32Array(count)]]));
  for (const {time, lane, direction} of packets) {
    if (time === null || time < from || time > to) continue;
    const column = Math.min(count - 1, Math.floor((time - from) / (to - from) * count));
    columns.get(lane)[direction === 1 ? ABOVE : BELOW][column] += 1;
  }
  return columns;
}

/** The height of a bar: logarithmic, so that one packet is visible beside thousands; `room` for `most` packets. */
export function barHeight(count, most, room) {
  return count === 0 ? 0 : 2 + (room - 2) * Math.log2(1 + count) / Math.log2(1 + most);
}

/** The greatest count in any column, at least 1. */
export function greatest(columns) {
  let most = 1;
  for (const sides of columns.values()) {
    for (const side of sides) for (const count of side) most = Math.max(most, count);
  }
  return most;
}
