/** More fields of a layer than these are shown when somebody asks for them. */
const FIELDS_AT_ONCE = 1000;

const detail = {
  box: element('detail'), fields: [], views: [],
  /** The packet of which all fields were asked for. */
  complete: null,

  draw() {
    const packet = view.selected;
    this.fields = [];
    this.views = [];
    if (!packet) {
      this.box.replaceChildren(make('p', {class: 'empty'},
        'Select a packet to see its layers. Keys: ↑ ↓ for packets, Enter for fields, / to search, Esc for all.'));
      return;
    }
    const isLow = (layer) => layer.name === 'hci' || !packet.frame;
    const low = new ByteView('Bytes', packet.bytes, packet.layers.filter(isLow));
    this.views.push(low);
    if (packet.frame) {
      const high = packet.layers.filter((layer) => !isLow(layer));
      this.views.push(new ByteView('Bytes of the frame, put together', packet.frame, high));
    }
    const note = packet.note && packet.top ? [make('p', {class: 'note'}, ...this.linked(packet.note))] : [];
    const dump = make('div', {id: 'dump'}, ...this.views.map(({box}) => box));
    this.box.replaceChildren(
      make('h2', {}, summaryOf(packet)), make('p', {}, this.when(packet)), ...note,
      dump,
      ...packet.layers.map((layer) => this.layer(packet, layer, this.views[isLow(layer) ? 0 : 1])));
    this.box.scrollTop = 0;
    // The bytes stay in view; what is scrolled to has to stop below them.
    this.box.style.scrollPaddingTop = `${dump.offsetHeight}px`;
  },

  when({number, time, direction, adapter, bytes}) {
    const words = [`packet ${number}`];
    if (direction) words.push(DIRECTIONS[direction]);
    if (adapter !== null) words.push(`hci${adapter}`);
    words.push(`${bytes.length / 2} bytes`);
    if (time !== null) {
      words.push(`${seconds(time)} s`);
      const date = dateAt(time);
      if (date) words.push(`${date} UTC`);
    }
    return words.join(' · ');
  },

  isOpen(packet, layer) {
    return view.open ? view.open.has(layer.name) : layer === packet.top || layer.name === 'gatt';
  },

  layer(packet, layer, byteView) {
    const summary = make('summary', {},
      make('span', {class: 'layer'}, LABELS[layer.name]), make('span', {class: 'words'}, layer.summary));
    summary.firstChild.style.color = `var(--${layer.name})`;
    const table = make('table', {class: 'fields', 'aria-label': `Fields of ${LABELS[layer.name]}`});
    const box = make('details', {'data-layer': layer.name}, summary, table);
    box.open = this.isOpen(packet, layer);
    const count = packet === this.complete ? layer.fields.length : FIELDS_AT_ONCE;
    layer.fields.slice(0, count).forEach(({name, reference, depth, first, end}, index) => {
      const value = valueOf(packet, layer, index);
      const row = make('tr', {tabindex: this.fields.length ? -1 : 0, class: `depth${Math.min(depth, 2)}`},
        make('td', {}, name), make('td', {}, ...(layer.name === 'gatt' ? this.linked(value) : [value])),
        make('td', {}, reference));
      const field = {row, summary, box, byteView, first, end};
      row.addEventListener('pointerenter', () => this.point(field));
      row.addEventListener('focus', () => this.point(field));
      this.fields.push(field);
      table.append(row);
    });
    if (count < layer.fields.length) {
      const more = make('button', {class: 'link more', type: 'button'}, `show all ${layer.fields.length} fields`);
      more.addEventListener('click', () => { this.complete = packet; this.draw(); });
      box.append(more);
    }
    box.addEventListener('toggle', () => {
      if (box.open === this.isOpen(packet, layer)) return;
      // What the packet does not have, stands open where it comes.
      const closed = packet.layers.filter((other) => !this.isOpen(packet, other)).map((other) => other.name);
      view.open ??= new Set(LAYERS.filter((name) => !closed.includes(name)));
      if (box.open) view.open.add(layer.name); else view.open.delete(layer.name);
      writeFragment();
    });
    return box;
  },

  /** Text in which other packets can be gone to. */
  linked(text) {
    return text.split(/(packet \d+)/).map((part) => {
      const packet = part.startsWith('packet ') && byNumber.get(Number(part.slice(7)));
      if (!packet) return part;
      const link = make('button', {class: 'link', type: 'button'}, part);
      link.addEventListener('click', () => select(packet));
      return link;
    });
  },

  /** Highlights a field and its bytes; nothing if there is no field. */
  point(field) {
    for (const other of this.fields) {
      other.row.classList.toggle('hot', other === field);
      other.summary.classList.remove('hot');
    }
    if (field && !field.box.open) field.summary.classList.add('hot');
    for (const byteView of this.views) {
      const isHere = field?.byteView === byteView;
      byteView.highlight(isHere ? field.first : 0, isHere ? field.end : 0);
    }
  },

  /** The smallest field that a byte is part of; the highest layer's if several are as small. */
  fieldAt(target) {
    if (target.dataset.at === undefined) return null;
    const place = Number(target.dataset.at);
    const byteView = this.views.find(({box}) => box.contains(target));
    return this.fields
      .filter((field) => field.byteView === byteView && field.first <= place && place < field.end)
      .reduce((best, field) => best && best.end - best.first < field.end - field.first ? best : field, null);
  },

  focus() {
    const field = this.fields.find(({box}) => box.open);
    (field?.row ?? this.box.querySelector('summary') ?? this.box).focus();
  },

  /** Goes to the next field that can be seen, or to the one before. */
  move(step) {
    const seen = this.fields.filter(({box}) => box.open);
    const index = seen.findIndex(({row}) => row === document.activeElement);
    if (index >= 0) seen[index + step]?.row.focus();
    return index >= 0;
  },

  listen() {
    this.box.addEventListener('pointerover', (event) => {
      const field = this.fieldAt(event.target);
      if (!field) return;
      this.point(field);
      (field.box.open ? field.row : field.summary).scrollIntoView({block: 'nearest'});
    });
    this.box.addEventListener('pointerleave', () => this.point(null));
    this.box.addEventListener('click', (event) => {
      const field = this.fieldAt(event.target);
      if (!field) return;
      field.box.open = true;
      field.row.focus();
    });
    this.box.addEventListener('keydown', (event) => {
      const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (step !== undefined && this.move(step)) event.preventDefault();
      if (event.key === 'Escape') {
        event.stopPropagation();
        list.box.focus();
      }
    });
  },
};
