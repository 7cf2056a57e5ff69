/** More bytes than these are shown when somebody asks for them. */
const BYTES_AT_ONCE = 1024;

class ByteView {
  /**
   * - title: what the bytes are
   * - digits: two a byte
   * - layers: those whose fields point into these bytes, from the wire up
   */
  constructor(title, digits, layers) {
    this.digits = digits;
    this.owners = [];
    for (const layer of layers) {
      for (const {first, end} of layer.fields) this.owners.fill(layer.name, first, this.reach(first, end));
    }
    this.cells = [];
    this.pre = make('pre', {});
    this.box = make('div', {class: 'bytes', role: 'group', 'aria-label': title}, make('h3', {}, title), this.pre);
    this.show(Math.min(this.count, BYTES_AT_ONCE));
    if (this.cells.length < this.count) {
      const button = make('button', {class: 'link more', type: 'button'}, `show all ${this.count} bytes`);
      button.addEventListener('click', () => { this.show(this.count); button.remove(); });
      this.box.append(button);
    }
  }

  get count() { return this.digits.length / 2; }

  /** Grows the list of owners up to `end`, as far as there are bytes. */
  reach(first, end) {
    const last = Math.min(end, this.count);
    while (this.owners.length < last) this.owners.push(null);
    return Math.max(first, last);
  }

  show(count) {
    this.pre.replaceChildren();
    this.cells = [];
    for (let start = 0; start < count; start += 16) {
      const line = make('div', {});
      const chars = make('span', {class: 'ascii', 'aria-hidden': 'true'});
      line.append(make('span', {class: 'offset', 'aria-hidden': 'true'}, start.toString(16).padStart(4, '0')));
      for (let place = start; place < Math.min(start + 16, count); place += 1) this.add(place, line, chars);
      const missing = start + 16 - count;
      if (missing > 0) chars.style.paddingLeft = `calc(${missing} * (2ch + 7px))`;
      line.append(chars);
      this.pre.append(line);
    }
  }

  add(place, line, chars) {
    const digits = this.digits.slice(2 * place, 2 * place + 2);
    const code = parseInt(digits, 16);
    const byte = make('span', {class: 'byte', 'data-at': place}, digits);
    const letter = code > 32 && code < 127 ? String.fromCharCode(code) : '·';
    const char = make('span', {class: 'char', 'data-at': place}, letter);
    const owner = this.owners[place];
    if (owner) byte.style.color = `var(--${owner})`;
    this.cells.push([byte, char]);
    line.append(byte);
    chars.append(char);
  }

  /** Highlights the bytes from `first` to before `end`; none if there are none. */
  highlight(first, end) {
    this.cells.forEach((pair, place) => {
      for (const cell of pair) cell.classList.toggle('hot', place >= first && place < end);
    });
    if (end > first) this.cells[first]?.[0].scrollIntoView({block: 'nearest'});
  }
}
