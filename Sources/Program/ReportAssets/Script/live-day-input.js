/** The input of the day: dragging, the wheel, keys and buttons select what is shown of it. */

import {element} from './elements.js';

/** A drag of fewer pixels is a click. */
const CLICK_WIDTH = 6;

/** - read: called with the time that is pointed at, or null */
export function listenToChart(chart, day, read) {
  const {canvas, dragged} = chart;
  let drag = null;
  const limited = (event) => Math.max(0, Math.min(event.offsetX, chart.width));
  const show = () => {
    dragged.hidden = !drag;
    if (!drag) return;
    dragged.style.left = `${Math.min(drag.first, drag.last)}px`;
    dragged.style.width = `${Math.abs(drag.last - drag.first)}px`;
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag = {first: limited(event), last: limited(event)};
  });
  canvas.addEventListener('pointermove', (event) => {
    read(chart.timeAt(limited(event)));
    if (!drag) return;
    drag.last = limited(event);
    show();
  });
  canvas.addEventListener('pointerup', () => {
    if (!drag) return;
    const [left, right] = [Math.min(drag.first, drag.last), Math.max(drag.first, drag.last)];
    drag = null;
    show();
    if (right - left > CLICK_WIDTH) day.show(chart.timeAt(left), chart.timeAt(right));
  });
  canvas.addEventListener('pointercancel', () => { drag = null; show(); });
  canvas.addEventListener('pointerleave', () => read(null));
  canvas.addEventListener('dblclick', () => day.showAll());
  canvas.addEventListener('wheel', (event) => {
    // The wheel scrolls the page; with a key, or two fingers that spread, it zooms.
    if (!event.ctrlKey) return;
    event.preventDefault();
    day.zoom(event.deltaY > 0 ? 1.25 : .8, chart.timeAt(limited(event)));
  }, {passive: false});
}

/** The buttons: what each does, by its key, and when it can. */
const BUTTONS = [
  ['earlier', 'ArrowLeft', 'earlier'], ['later', 'ArrowRight', 'later'], ['zoom-out', '-', 'out'], ['zoom-in', '+', 'in'],
  ['all-day', '0', 'all'], ['to-now', 'now', 'now'],
];

/** Disables the buttons that can do nothing. The focus stays where the keys are heard. */
export function enableButtons(day) {
  const {possible} = day;
  for (const [id, , name] of BUTTONS) {
    const button = element(id);
    if (!possible[name] && document.activeElement === button) {
      element('days').querySelector('canvas')?.focus({preventScroll: true});
    }
    button.disabled = !possible[name];
  }
}

/** - forget: called when keys change what is shown */
export function listenToDay(day, forget) {
  const actions = {
    '+': () => day.zoom(.5), '=': () => day.zoom(.5), '-': () => day.zoom(2), '−': () => day.zoom(2), 'now': () => day.showNow(),
    'ArrowLeft': () => day.pan(-.25), 'ArrowRight': () => day.pan(.25), '0': () => day.showAll(),
  };
  const press = (event) => {
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null;
    if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    forget();
    action();
  };
  for (const id of ['days', 'day-tools']) element(id).addEventListener('keydown', press);
  for (const [id, key] of BUTTONS) element(id).addEventListener('click', actions[key]);
}
