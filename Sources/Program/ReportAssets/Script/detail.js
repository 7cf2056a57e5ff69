/** The selected packet: its bytes, its layers and their fields. */

import {ByteView} from './bytes.js';
import {headOf, linked} from './detail-head.js';
import {element, make} from './elements.js';
import {counted, LABELS, LAYERS} from './format.js';
import {hitsIn, marked} from './hits.js';
import {isInFrame, valueOf} from './packets.js';
import {sectionAddress} from './specification.js';
import {view, writeFragment} from './view.js';

/** Layers with more fields show the rest on request. */
const FIELDS_AT_ONCE = 1000;
/** Deeper fields are not indented further. */
const DEEPEST = 2;

const HELP = 'Keys: ↑ ↓ select a packet, p n the previous and the next of its handle, Enter goes to its fields, '
  + '/ searches, Esc clears the filters. Enter on a field opens the page of its section.';

export const detail = {
  box: element('detail'),
  /** The fields that are drawn: each with its elements, its ByteView and its range of bytes. */
  fields: [],
  /** The ByteViews that are drawn. */
  byteViews: [],
  /** The packet that shows all of its fields, or null. */
  complete: null,

  draw() {
    const packet = view.selected;
    this.fields = [];
    this.byteViews = [];
    if (!packet) {
      this.box.replaceChildren(make('p', {class: 'empty'}, 'The capture has no packets.'));
      return;
    }
    const width = this.box.clientWidth;
    const layersIn = (isFrame) => packet.layers.filter((layer) => isInFrame(packet, layer) === isFrame);
    this.byteViews = [new ByteView('Bytes', packet.bytes, layersIn(false), width)];
    if (packet.frame) {
      this.byteViews.push(new ByteView('Bytes of the reassembled frame', packet.frame, layersIn(true), width));
    }
    const hadFocus = this.box.contains(document.activeElement);
    const dump = make('div', {id: 'dump'}, ...this.byteViews.map(({box}) => box));
    this.box.replaceChildren(
      ...headOf(packet), dump, ...packet.layers.map((layer) => this.layerBox(packet, layer)),
      make('p', {class: 'help'}, HELP));
    if (hadFocus) this.box.focus({preventScroll: true});
    this.box.scrollTop = 0;
    // The bytes stay at the top; what is scrolled to must stop below them.
    this.box.style.scrollPaddingTop = `${dump.offsetHeight}px`;
  },

  layerBox(packet, layer) {
    const summary = make('summary', {},
      make('span', {class: 'layer'}, LABELS[layer.name]),
      make('span', {class: 'words'}, ...marked(layer.summary, view.terms)), ...hitCount(packet, layer));
    summary.firstChild.style.color = `var(--${layer.name})`;
    const table = make('table', {class: 'fields', 'aria-label': `Fields of ${LABELS[layer.name]}`});
    const box = make('details', {'data-layer': layer.name}, summary, table);
    box.open = isOpen(packet, layer);
    const byteView = this.byteViews[isInFrame(packet, layer) ? 1 : 0];
    const count = packet === this.complete ? layer.fields.length : FIELDS_AT_ONCE;
    layer.fields.slice(0, count).forEach(({name, reference, depth, first, end}, index) => {
      const value = valueOf(packet, layer, index);
      const row = make('tr', {tabindex: this.fields.length > 0 ? -1 : 0, class: `depth${Math.min(depth, DEEPEST)}`},
        make('td', {}, ...marked(name, view.terms)),
        make('td', {}, ...(layer.name === 'gatt' ? linked(value) : marked(value, view.terms))),
        make('td', {}, referenceOf(reference)));
      const field = {row, summary, box, byteView, first, end};
      row.addEventListener('pointerenter', () => this.highlight(field));
      row.addEventListener('focus', () => this.highlight(field));
      this.fields.push(field);
      table.append(row);
    });
    if (count < layer.fields.length) {
      const label = `Show all ${counted(layer.fields.length, 'field')}`;
      const more = make('button', {class: 'jump more', type: 'button'}, label);
      more.addEventListener('click', () => { this.complete = packet; this.draw(); });
      box.append(more);
    }
    box.addEventListener('toggle', () => rememberOpen(packet, layer, box.open));
    return box;
  },

  /** Highlights a field and its bytes, and no others; null highlights none. */
  highlight(field) {
    for (const other of this.fields) {
      other.row.classList.toggle('hot', other === field);
      other.summary.classList.remove('hot');
    }
    if (field && !field.box.open) field.summary.classList.add('hot');
    for (const byteView of this.byteViews) {
      const isHere = field?.byteView === byteView;
      byteView.highlight(isHere ? field.first : 0, isHere ? field.end : 0);
    }
  },

  /** The smallest field that contains the byte of an element; of equal ones, that of the highest layer. */
  fieldAt(target) {
    if (target.dataset.index === undefined) return null;
    const index = Number(target.dataset.index);
    const byteView = this.byteViews.find(({box}) => box.contains(target));
    return this.fields
      .filter((field) => field.byteView === byteView && field.first <= index && index < field.end)
      .reduce((best, field) => best && best.end - best.first < field.end - field.first ? best : field, null);
  },

  focus() {
    const field = this.fields.find(({box}) => box.open);
    (field?.row ?? this.box.querySelector('summary') ?? this.box).focus();
  },

  /** Moves the focus `step` fields on, over folded layers. Returns false if no field has the focus. */
  move(step) {
    const visible = this.fields.filter(({box}) => box.open);
    const index = visible.findIndex(({row}) => row === document.activeElement);
    if (index >= 0) visible[index + step]?.row.focus();
    return index >= 0;
  },

  /** - leave: moves the focus back to the list */
  listen(leave) {
    const {box} = this;
    box.addEventListener('pointerover', (event) => {
      const field = this.fieldAt(event.target);
      if (!field) return;
      this.highlight(field);
      (field.box.open ? field.row : field.summary).scrollIntoView({block: 'nearest'});
    });
    box.addEventListener('pointerleave', () => this.highlight(null));
    box.addEventListener('click', (event) => {
      const field = this.fieldAt(event.target);
      if (!field) return;
      field.box.open = true;
      field.row.focus();
    });
    box.addEventListener('keydown', (event) => {
      const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (step !== undefined && this.move(step)) event.preventDefault();
      if (event.key === 'Enter') document.activeElement.querySelector('td > a')?.click();
      if (event.key === 'Escape') {
        event.stopPropagation();
        leave();
      }
    });
  },
};

/** The section of a field: a link to the page that has it, if there is one. The keyboard reaches it by its row. */
function referenceOf(reference) {
  const address = sectionAddress(reference);
  return address === null ? reference : make('a', {
    href: address, target: '_blank', rel: 'noopener noreferrer', tabindex: -1, title: `Look for the section in ${address}`,
  }, reference);
}

const isHit = (text) => hitsIn(text, view.terms).length > 0;

/** How many fields of a layer a search has found; they may be folded. */
function hitCount(packet, layer) {
  const found = view.terms.length === 0 ? [] : layer.fields.filter((field, index) =>
    isHit(field.name) || isHit(valueOf(packet, layer, index)));
  return found.length > 0 ? [make('mark', {class: 'hits'}, counted(found.length, 'hit'))] : [];
}

function isOpen(packet, layer) {
  return view.open ? view.open.has(layer.name) : layer === packet.top || layer.name === 'gatt';
}

/** Keeps which layers are unfolded, for the packets that are selected next. */
function rememberOpen(packet, layer, nowOpen) {
  if (nowOpen === isOpen(packet, layer)) return;
  // The first change starts from what this packet shows; layers that it does not have start unfolded.
  const folded = new Set(packet.layers.filter((other) => !isOpen(packet, other)).map((other) => other.name));
  view.open ??= new Set(LAYERS.filter((name) => !folded.has(name)));
  if (nowOpen) view.open.add(layer.name);
  else view.open.delete(layer.name);
  writeFragment();
}
