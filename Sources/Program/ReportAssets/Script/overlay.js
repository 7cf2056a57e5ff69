/** What stands over the timeline and the charts: the time of the selected packet, and the range that is dragged. */

import {element} from './elements.js';
import {whole} from './session.js';
import {timeline} from './timeline.js';
import {view} from './view.js';

export function drawOverlay() {
  if (!whole) return;
  const cursor = element('cursor');
  const time = view.selected?.time ?? null;
  const {from, to} = timeline.span();
  cursor.hidden = time === null || time < from || time > to;
  if (!cursor.hidden) cursor.style.left = `${timeline.xOf(time) - .75}px`;
  const dragged = element('dragged');
  dragged.hidden = !timeline.drag;
  if (timeline.drag) {
    const {first, last} = timeline.drag;
    dragged.style.left = `${Math.min(first, last)}px`;
    dragged.style.width = `${Math.abs(last - first)}px`;
  }
}
