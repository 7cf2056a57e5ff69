/** The head of the selected packet: what it says, where it comes from, and the ways to other packets. */

import {element, make} from './elements.js';
import {counted, DIRECTIONS, hex, MARKS, seconds, utcDate} from './format.js';
import {handleOf, linkOf, neighborOf} from './handles.js';
import {marked} from './hits.js';
import {summaryOf} from './packets.js';
import {byNumber, capture, deviceOf} from './session.js';
import {leaveDetailPage} from './pages.js';
import {filter, select, view} from './view.js';

/** Number, direction, adapter, length and time of a packet, in one line. */
function originOf({number, time, direction, adapter, bytes}) {
  const parts = [`packet ${number}`];
  if (direction) parts.push(DIRECTIONS[direction]);
  if (adapter !== null) parts.push(`hci${adapter}`);
  parts.push(counted(bytes.length / 2, 'byte'));
  if (time !== null) {
    parts.push(`${seconds(time)} s`);
    const date = utcDate(capture.start, time);
    if (date) parts.push(`${date} UTC`);
  }
  return parts.join(' · ');
}

/** The link and its peer, with name and address, in one line; empty if the packet has no link. */
function peerLine(packet) {
  const link = linkOf(packet);
  const name = deviceOf(packet);
  const peer = name === packet.peer ? name : `${name} (${packet.peer})`;
  return [link === undefined ? '' : `link ${hex(link)}`, packet.peer === null ? '' : `peer ${peer}`]
    .filter(Boolean).join(' · ');
}

/** Splits a text so that each packet it mentions becomes a button that selects it. */
export function linked(text) {
  return text.split(/(packet \d+)/u).flatMap((part) => {
    const packet = part.startsWith('packet ') && byNumber.get(Number(part.slice('packet '.length)));
    if (!packet) return marked(part, view.terms);
    const link = make('button', {class: 'jump', type: 'button'}, part);
    link.addEventListener('click', () => select(packet));
    return link;
  });
}

/** A button that selects a packet; disabled if there is none. */
function stepButton(label, name, keys, packet) {
  const button = make('button', {type: 'button', 'aria-label': name, title: `${name} (${keys})`}, label);
  button.disabled = !packet;
  button.addEventListener('click', () => {
    select(packet);
    // The pane is drawn anew: the focus stays on the same button.
    document.querySelector(`#detail button[aria-label="${name}"]:not(:disabled)`)?.focus();
  });
  return button;
}

/** Selects the next or the previous packet of the selected one's handle, among those that are shown. */
export function selectOfHandle(step) {
  const packet = view.selected && neighborOf(view.selected, view.shown, step);
  if (packet) select(packet);
}

function handleSteps(packet) {
  const handle = handleOf(packet);
  if (handle === undefined) return [];
  const name = hex(handle);
  const only = make('button', {type: 'button', title: `Show only packets of handle ${name}`}, 'Only these');
  only.addEventListener('click', () => {
    view.filter = `handle=${name}`;
    leaveDetailPage();
    filter();
    element('list').focus();
  });
  return [make('div', {class: 'steps', role: 'group', 'aria-label': `Packets of handle ${name}`},
    make('span', {}, `Handle ${name}`),
    stepButton('‹', 'Previous packet of this handle', 'p', neighborOf(packet, view.shown, -1)),
    stepButton('›', 'Next packet of this handle', 'n', neighborOf(packet, view.shown, 1)), only)];
}

/** The way back to the list; seen only where the packet has a page of its own. */
function pageBar(packet) {
  const back = make('button', {type: 'button', id: 'back'}, '‹ Packets');
  back.addEventListener('click', leaveDetailPage);
  const index = view.shown.indexOf(packet);
  return make('div', {class: 'page-bar'}, back,
    stepButton('↑', 'Previous packet', '↑', index < 0 ? null : view.shown[index - 1]),
    stepButton('↓', 'Next packet', '↓', index < 0 ? null : view.shown[index + 1]));
}

/** The elements of the head. */
export function headOf(packet) {
  const badge = packet.mark ? [make('span', {class: 'badge'}, MARKS[packet.mark]), ' '] : [];
  const lines = [originOf(packet), peerLine(packet)].filter(Boolean).map((line) => make('p', {}, line));
  if (packet.note && packet.top) lines.push(make('p', {class: 'note'}, ...linked(packet.note)));
  return [
    pageBar(packet), make('h2', {'data-mark': packet.mark ?? ''}, ...badge, ...marked(summaryOf(packet), view.terms)), ...lines,
    ...handleSteps(packet),
  ];
}
