/** The head of the page, the search field and the filters. */

import {element, make} from './elements.js';
import {parseFilter} from './field-filter.js';
import {counted, LABELS, LAYERS, microseconds, seconds, utcDate} from './format.js';
import {capture, numberedKeys, packets, whole} from './session.js';
import {clearFilters, filter, showRange, view} from './view.js';

/** A search starts this long after the last key, in milliseconds. */
const TYPING_PAUSE = 120;

/** - chosen: returns the set that the buttons change */
function addSwitches(box, names, labels, chosen) {
  for (const name of names) {
    const dot = make('span', {class: 'dot', 'aria-hidden': 'true'});
    dot.style.background = `var(--${name})`;
    const button = make('button', {type: 'button', 'data-name': name, 'aria-pressed': 'false'},
      ...(LABELS[name] ? [dot] : []), labels[name]);
    button.addEventListener('click', () => {
      if (!chosen().delete(name)) chosen().add(name);
      filter();
    });
    box.append(button);
  }
}

/** Adds the buttons of the filters: one for each layer of the session, one for each direction. */
export function addFilters() {
  const present = new Set(packets.flatMap((packet) => packet.layers.map((layer) => layer.name)));
  addSwitches(element('layers'), LAYERS.filter((name) => present.has(name)), LABELS, () => view.layers);
  addSwitches(element('directions'), ['sent', 'received'], {sent: '→ Sent', received: '← Received'},
    () => view.directions);
  const marked = packets.filter((packet) => packet.mark).length;
  element('problems').textContent = counted(marked, 'problem');
  element('problems').title = 'Errors, refusals, damaged packets and requests without an answer';
  element('problems').disabled = marked === 0;
}

/** Shows what is wrong with a filter, or nothing. */
function showMistake(text) {
  const {mistake} = parseFilter(text, numberedKeys);
  element('filter').setAttribute('aria-invalid', mistake !== '');
  element('mistake').textContent = mistake;
  return mistake === '';
}

/** Shows the filters of the view, and how many packets they let through. */
export function showFilters() {
  for (const [id, chosen] of [['layers', view.layers], ['directions', view.directions]]) {
    for (const button of element(id).querySelectorAll('button')) {
      button.setAttribute('aria-pressed', chosen.has(button.dataset.name));
    }
  }
  for (const id of ['query', 'filter']) {
    if (element(id).value !== view[id]) element(id).value = view[id];
  }
  showMistake(view.filter);
  element('problems').setAttribute('aria-pressed', view.problems);
  if (whole) {
    const {from, to} = view.range ?? whole;
    element('from').value = seconds(from);
    element('to').value = seconds(to);
  }
  const isAll = view.shown === packets;
  const total = counted(packets.length, 'packet');
  element('reset').disabled = isAll;
  element('count').textContent = isAll ? total : `${view.shown.length.toLocaleString('en')} of ${total}`;
}

/** Shows the name of the capture and what it holds. */
export function showHead() {
  const name = capture.name.split('/').pop() || capture.name;
  document.title = `${name} – halo-raw`;
  element('name').textContent = name;
  element('name').title = name;
  const parts = [capture.device, counted(packets.length, 'packet')].filter(Boolean);
  if (whole) parts.push(`${seconds(whole.to - whole.from, 3)} s`);
  const date = utcDate(capture.start, 0);
  if (date) parts.push(`from ${date.slice(0, 19)} UTC`);
  element('about').textContent = parts.join(' · ');
  element('remark').textContent = capture.remark;
  element('remark').hidden = capture.remark === '';
  element('timeline').setAttribute('aria-label', whole
    ? `Timeline of ${counted(packets.length, 'packet')} in ${seconds(whole.to - whole.from, 3)} seconds. `
      + 'Drag or press plus and minus to zoom, arrow keys to move, Home to show all.' : 'No packet has a time.');
  element('strip').hidden = !whole;
  element('range').hidden = !whole;
}

/** - enterList: moves the focus to the list, and selects a packet that is shown */
export function listenToFilters(enterList) {
  for (const id of ['query', 'filter']) {
    let timer = 0;
    element(id).addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const {value} = element(id);
        // A filter with a mistake changes nothing.
        if (id === 'filter' && !showMistake(value)) return;
        view[id] = value;
        filter();
      }, TYPING_PAUSE);
    });
    element(id).addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== 'ArrowDown') return;
      event.preventDefault();
      enterList();
    });
  }
  element('problems').addEventListener('click', () => { view.problems = !view.problems; filter(); });
  element('show-choices').addEventListener('click', () => {
    const isOpen = element('controls').classList.toggle('open');
    element('show-choices').setAttribute('aria-expanded', isOpen);
  });
  element('controls').addEventListener('submit', (event) => event.preventDefault());
  for (const id of ['from', 'to']) {
    element(id).addEventListener('change', () => {
      const [from, to] = ['from', 'to'].map((name) => microseconds(element(name).value));
      if (from !== null && to !== null && from <= to) showRange(from, to);
      else showFilters();
    });
  }
  element('reset').addEventListener('click', clearFilters);
}
