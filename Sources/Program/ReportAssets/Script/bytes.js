/** The bytes of a packet, sixteen per line, or eight where there is less room, each in the color of its layer. */

import {make} from './elements.js';
import {counted} from './format.js';
import {hitBytes} from './hits.js';
import {size} from './style.js';
import {view} from './view.js';

/** Longer packets show the rest on request. */
const BYTES_AT_ONCE = 1024;

export class ByteView {
  /**
   * - title: of the block
   * - digits: of the bytes, two each
   * - layers: those whose fields refer to these bytes, from the wire up
   * - width: what there is room for, in CSS pixels
   */
  constructor(title, digits, layers, width) {
    this.digits = digits;
    this.perLine = width >= size('sixteen-bytes') ? 16 : 8;
    this.hits = hitBytes(digits, view.terms);
    this.count = digits.length / 2;
    this.layers = layerOfEachByte(this.count, layers);
    this.cells = [];
    this.pre = make('pre');
    this.box = make('div', {class: 'bytes', role: 'group', 'aria-label': title}, make('h3', {}, title), this.pre);
    this.show(Math.min(this.count, BYTES_AT_ONCE));
    if (this.cells.length < this.count) {
      const button = make('button', {class: 'jump more', type: 'button'}, `Show all ${counted(this.count, 'byte')}`);
      button.addEventListener('click', () => { this.show(this.count); button.remove(); });
      this.box.append(button);
    }
  }

  show(count) {
    this.pre.replaceChildren();
    this.cells = [];
    for (let start = 0; start < count; start += this.perLine) {
      const line = make('div');
      const characters = make('span', {class: 'ascii', 'aria-hidden': 'true'});
      line.append(make('span', {class: 'offset', 'aria-hidden': 'true'}, start.toString(16).padStart(4, '0')));
      const end = Math.min(start + this.perLine, count);
      for (let index = start; index < end; index += 1) this.add(index, line, characters);
      const missing = start + this.perLine - end;
      if (missing > 0) characters.style.paddingLeft = `calc(${missing} * (2ch + 5px))`;
      line.append(characters);
      this.pre.append(line);
    }
  }

  add(index, line, characters) {
    const digits = this.digits.slice(2 * index, 2 * index + 2);
    const byte = make('span', {class: 'byte', 'data-index': index}, digits);
    const character = make('span', {class: 'char', 'data-index': index}, printable(parseInt(digits, 16)));
    const layer = this.layers[index];
    if (layer) byte.style.color = `var(--${layer})`;
    byte.classList.toggle('hit', this.hits.has(index));
    this.cells.push([byte, character]);
    line.append(byte);
    characters.append(character);
  }

  /** Scrolls the bytes to one of them, and nothing else: what the pointer is on stays there. */
  reveal(cell) {
    const box = this.box.parentElement;
    const [outer, inner] = [box.getBoundingClientRect(), cell.getBoundingClientRect()];
    if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top;
    else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
  }

  /** Highlights the bytes from `first` to before `end`, and no others. */
  highlight(first, end) {
    this.cells.forEach((pair, index) => {
      for (const cell of pair) cell.classList.toggle('hot', index >= first && index < end);
    });
    if (end > first && this.cells[first]) this.reveal(this.cells[first][0]);
  }
}

/** The name of the highest layer that has a field at each byte, or null. */
function layerOfEachByte(count, layers) {
  const names = Array.from({length: count}, () => null);
  for (const {name, fields} of layers) {
    for (const {first, end} of fields) names.fill(name, first, end);
  }
  return names;
}

/** The character of an ASCII code, a dot for those that are not visible. */
const printable = (code) => code > 32 && code < 127 ? String.fromCodePoint(code) : '·';
