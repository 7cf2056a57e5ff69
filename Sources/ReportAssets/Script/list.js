/** The list of packets. Only the rows that are in view exist. */

import {ARROWS, DIRECTIONS, LABELS, seconds} from './format.js';
import {summaryOf} from './packets.js';
import {element, make, packets} from './session.js';
import {select, view} from './view.js';

/** The height of a row in pixels, as --row in page.css. */
const ROW = 26;

export const list = {
  box: element('list'),
  body: element('rows'),
  /** The rows that exist: each with its element and its cells. */
  rows: [],

  /** Reserves the height of all rows; needed before scrolling. */
  measure() { this.body.style.height = `${view.shown.length * ROW}px`; },

  /** Fills the rows that are in view. */
  draw() {
    const {box, body, rows} = this;
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 4);
    const count = Math.max(0, Math.min(view.shown.length - first, Math.ceil(box.clientHeight / ROW) + 8));
    while (rows.length < count) {
      const cells = Array.from({length: 5}, () => make('span', {role: 'gridcell'}));
      rows.push({row: make('div', {role: 'row', class: 'row'}, ...cells), cells});
    }
    while (rows.length > count) rows.pop().row.remove();
    rows.forEach(({row, cells}, index) => this.fill(row, cells, first + index));
    if (body.childElementCount !== count) body.replaceChildren(...rows.map(({row}) => row));
    const selected = rows.find(({row}) => row.getAttribute('aria-selected') === 'true');
    if (selected) box.setAttribute('aria-activedescendant', selected.row.id);
    else box.removeAttribute('aria-activedescendant');
    box.setAttribute('aria-rowcount', view.shown.length);
  },

  fill(row, cells, index) {
    const packet = view.shown[index];
    row.id = `row-${packet.number}`;
    row.style.top = `${index * ROW}px`;
    row.dataset.index = index;
    row.setAttribute('aria-rowindex', index + 1);
    row.setAttribute('aria-selected', packet === view.selected);
    const texts = [
      packet.number, packet.time === null ? 'no time' : seconds(packet.time), ARROWS[packet.direction],
      LABELS[packet.lane], summaryOf(packet),
    ];
    cells.forEach((cell, column) => { cell.textContent = texts[column]; });
    cells[2].setAttribute('aria-label', DIRECTIONS[packet.direction]);
    cells[3].className = 'layer';
    cells[3].style.color = `var(--${packet.lane})`;
  },

  /** Scrolls to a row: to the middle if it is far away. */
  reveal(packet) {
    const index = view.shown.indexOf(packet);
    if (index < 0) return;
    const {box} = this;
    const top = index * ROW;
    if (top >= box.scrollTop && top + ROW <= box.scrollTop + box.clientHeight) return;
    const isNear = top > box.scrollTop - 2 * ROW && top < box.scrollTop + box.clientHeight + 2 * ROW;
    const below = top - box.clientHeight + ROW;
    box.scrollTop = isNear ? (top < box.scrollTop ? top : below) : top - box.clientHeight / 2;
  },

  /** Selects the packet `distance` rows below the selected one, within the list. */
  move(distance) {
    if (view.shown.length === 0) return;
    const index = view.shown.indexOf(view.selected) + distance;
    select(view.shown[Math.max(0, Math.min(view.shown.length - 1, index))]);
  },

  /** - openDetail: moves the focus to the selected packet */
  listen(openDetail) {
    const {box} = this;
    box.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(box);
    box.addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (row) select(view.shown[Number(row.dataset.index)]);
    });
    box.addEventListener('keydown', (event) => {
      const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
      const distance = {
        ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -packets.length, End: packets.length,
      }[event.key];
      if (distance !== undefined) this.move(distance);
      else if (event.key === 'Enter' && view.selected) openDetail();
      else return;
      event.preventDefault();
    });
  },
};
