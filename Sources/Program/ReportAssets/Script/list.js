/** The list of packets. Only the rows that are in view exist. */

import {cellsOf, COLUMNS} from './columns.js';
import {element, make} from './elements.js';
import {DIRECTIONS, MARKS} from './format.js';
import {linkOf} from './handles.js';
import {marked} from './hits.js';
import {hasAdapters, packets} from './session.js';
import {size} from './style.js';
import {select, view} from './view.js';

export const list = {
  box: element('list'),
  body: element('rows'),
  /** The rows that exist: each with its element and its cells. */
  rows: [],
  /** The heights of a row and of the headings, in pixels. */
  row: 0,
  head: 0,

  /** Reserves the height of all rows; needed before scrolling. */
  measure() {
    this.row = size('row');
    this.head = element('headings').offsetHeight;
    this.body.style.height = `${view.shown.length * this.row}px`;
  },

  /** Fills the rows that are in view. */
  draw() {
    const {box, body, rows} = this;
    const first = Math.max(0, Math.floor(box.scrollTop / this.row) - 4);
    const count = Math.max(0, Math.min(view.shown.length - first, Math.ceil(box.clientHeight / this.row) + 8));
    while (rows.length < count) {
      const cells = COLUMNS.map(({name}) => make('span', {role: 'gridcell', class: name}));
      rows.push({row: make('div', {role: 'row', class: 'row'}, ...cells), cells});
    }
    while (rows.length > count) rows.pop().row.remove();
    rows.forEach(({row, cells}, index) => this.fill(row, cells, first + index));
    if (body.childElementCount !== count) body.replaceChildren(...rows.map(({row}) => row));
    const selected = rows.find(({row}) => row.getAttribute('aria-selected') === 'true');
    if (selected) box.setAttribute('aria-activedescendant', selected.row.id);
    else box.removeAttribute('aria-activedescendant');
    box.setAttribute('aria-rowcount', view.shown.length + 1);
  },

  fill(row, cells, index) {
    const packet = view.shown[index];
    row.id = `row-${packet.number}`;
    row.style.top = `${index * this.row}px`;
    row.dataset.index = index;
    // The headings are the first row.
    row.setAttribute('aria-rowindex', index + 2);
    row.setAttribute('aria-selected', packet === view.selected);
    row.dataset.mark = packet.mark ?? '';
    const texts = cellsOf(packet, view.shown[index - 1]);
    cells.forEach((cell, column) => {
      const {name, isCut} = COLUMNS[column];
      const text = String(texts[name]);
      cell.replaceChildren(...marked(text, view.terms));
      // What the column has no room for is in its tooltip.
      if (isCut) cell.title = name === 'peer' ? packet.peer ?? '' : text;
      if (name === 'arrow') cell.setAttribute('aria-label', DIRECTIONS[packet.direction]);
      if (name === 'layer') cell.style.color = `var(--${packet.lane})`;
      if (name === 'summary' && packet.mark) cell.prepend(make('span', {class: 'badge'}, MARKS[packet.mark]), ' ');
    });
  },

  /** Scrolls to a row: to the middle if it is far away. */
  reveal(packet) {
    const index = view.shown.indexOf(packet);
    if (index < 0) return;
    const {box, row} = this;
    const height = box.clientHeight - this.head;
    const top = index * row;
    if (top >= box.scrollTop && top + row <= box.scrollTop + height) return;
    const isNear = top > box.scrollTop - 2 * row && top < box.scrollTop + height + 2 * row;
    const below = top - height + row;
    box.scrollTop = isNear ? (top < box.scrollTop ? top : below) : top - height / 2;
  },

  /** Selects the packet `distance` rows below the selected one, within the list. */
  move(distance) {
    if (view.shown.length === 0) return;
    const index = view.shown.indexOf(view.selected) + distance;
    select(view.shown[Math.max(0, Math.min(view.shown.length - 1, index))]);
  },

  /** Makes the headings, and hides the columns that are empty in all packets. */
  addHeadings() {
    element('headings').append(...COLUMNS.map(({name, heading, title}) =>
      make('span', {role: 'columnheader', class: name, title}, heading)));
    this.box.setAttribute('aria-colcount', COLUMNS.length);
    const classes = {
      linkless: !hasAdapters && packets.every((packet) => linkOf(packet) === undefined && packet.peer === null),
      peerless: packets.every((packet) => packet.peer === null),
      adapters: hasAdapters,
    };
    for (const [name, isSo] of Object.entries(classes)) this.box.classList.toggle(name, isSo);
  },

  /**
   * - showDetail: shows the selected packet, where it does not stand beside the list
   * - openDetail: shows it, and moves the focus to it
   */
  listen(showDetail, openDetail) {
    const {box} = this;
    box.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => { this.measure(); this.draw(); }).observe(box);
    box.addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (!row) return;
      select(view.shown[Number(row.dataset.index)]);
      showDetail();
    });
    box.addEventListener('keydown', (event) => {
      const page = Math.max(1, Math.floor((box.clientHeight - this.head) / this.row) - 1);
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
