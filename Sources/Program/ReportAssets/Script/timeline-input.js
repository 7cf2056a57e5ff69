/** The input of the timeline and the charts: dragging, the wheel and keys select a time range. */

import {element} from './elements.js';
import {drawOverlay} from './overlay.js';
import {whole} from './session.js';
import {timeline} from './timeline.js';
import {select, showRange, view} from './view.js';

/** The shortest range to zoom to, in microseconds. */
const SHORTEST = 10;
/** A drag of fewer pixels is a click. */
const CLICK = 4;

function zoom(factor, time) {
  const {from, to} = timeline.span();
  if ((to - from) * factor >= SHORTEST) showRange(time - (time - from) * factor, time + (to - time) * factor);
}

/** Moves the range by a part of its length. */
function pan(part) {
  if (!view.range) return;
  const {from, to} = timeline.span();
  const distance = Math.max(whole.from - from, Math.min(whole.to - to, (to - from) * part));
  showRange(from + distance, to + distance);
}

function selectNear(time) {
  const distance = (packet) => packet.time === null ? Infinity : Math.abs(packet.time - time);
  let [nearest] = view.shown;
  for (const packet of view.shown) if (distance(packet) < distance(nearest)) nearest = packet;
  if (nearest) select(nearest);
}

/** - canvas: the timeline's, or a chart's */
export function listenToPointer(canvas) {
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const x = timeline.limitedX(event.offsetX);
    timeline.drag = {first: x, last: x};
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!timeline.drag) return;
    timeline.drag.last = timeline.limitedX(event.offsetX);
    drawOverlay();
  });
  canvas.addEventListener('pointerup', () => {
    if (!timeline.drag) return;
    const {first, last} = timeline.drag;
    const [left, right] = [Math.min(first, last), Math.max(first, last)];
    timeline.drag = null;
    drawOverlay();
    if (right - left > CLICK) showRange(timeline.timeAt(left), timeline.timeAt(right));
    else selectNear(timeline.timeAt(left));
  });
  canvas.addEventListener('pointercancel', () => { timeline.drag = null; drawOverlay(); });
  canvas.addEventListener('wheel', (event) => {
    // Over the labels, the wheel scrolls.
    if (event.offsetX < timeline.gutter) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(Math.sign(event.deltaX) * .1);
    else zoom(event.deltaY > 0 ? 1.25 : .8, timeline.timeAt(event.offsetX));
  }, {passive: false});
  canvas.addEventListener('dblclick', () => showRange(whole.from, whole.to));
}

function listenToZoomKeys(canvas) {
  const actions = {
    '+': (middle) => zoom(.5, middle),
    '=': (middle) => zoom(.5, middle),
    '-': (middle) => zoom(2, middle),
    ArrowLeft: () => pan(-.25),
    ArrowRight: () => pan(.25),
    Home: () => showRange(whole.from, whole.to),
  };
  canvas.addEventListener('keydown', (event) => {
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    const {from, to} = timeline.span();
    const time = view.selected?.time ?? null;
    action(time !== null && time >= from && time <= to ? time : (from + to) / 2);
  });
}

/** - draw: draws the timeline, the charts and what stands over them */
export function listenToTimeline(draw) {
  listenToPointer(timeline.canvas);
  listenToZoomKeys(timeline.canvas);
  new ResizeObserver(draw).observe(element('strip'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}
