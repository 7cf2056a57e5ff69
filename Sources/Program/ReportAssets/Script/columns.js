/** The columns of the list. */

import {ARROWS, hex, LABELS, seconds} from './format.js';
import {linkOf} from './handles.js';
import {summaryOf} from './packets.js';
import {hasAdapters, deviceOf} from './session.js';

/** Each with its name, as in cellsOf() and list.css; `isCut`: the text may be longer than the column. */
export const COLUMNS = [
  {name: 'number', heading: 'No.', title: 'Number in the capture'},
  {name: 'time', heading: 'Time', title: 'Seconds since the first packet of the capture'},
  {name: 'delta', heading: 'Delta', title: 'Seconds since the row above'},
  {name: 'arrow', heading: '↔', title: 'Direction: → sent, ← received'},
  {name: 'link', heading: 'Link', title: 'Connection handle'},
  {name: 'peer', heading: 'Peer', title: 'The device at the other end of the link', isCut: true},
  {name: 'layer', heading: 'Layer', title: 'The highest layer'},
  {name: 'summary', heading: 'Summary', title: 'What the packet says', isCut: true},
];

function linkText(packet) {
  const link = linkOf(packet);
  const adapterName = hasAdapters && packet.adapter !== null ? `hci${packet.adapter} ` : '';
  return link === undefined ? adapterName : adapterName + hex(link);
}

/**
 * The text of each cell of a row, by the name of its column.
 *
 * - above: the packet of the row above, or undefined
 */
export function cellsOf(packet, above) {
  const {number, time, direction, lane} = packet;
  return {
    number,
    time: time === null ? 'no time' : seconds(time),
    delta: time === null || (above?.time ?? null) === null ? '' : seconds(time - above.time),
    arrow: ARROWS[direction],
    link: linkText(packet),
    peer: deviceOf(packet),
    layer: LABELS[lane],
    summary: summaryOf(packet),
  };
}
