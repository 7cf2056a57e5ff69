const list = {
  box: element('list'), rows: element('rows'), height: 26, made: [],

  /** Makes room for all rows; has to be done before anything is scrolled to. */
  measure() { this.rows.style.height = `${view.shown.length * this.height}px`; },

  /** Fills the rows that can be seen, however many packets there are. */
  draw() {
    const {box, rows, height, made} = this;
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 4);
    const count = Math.max(0, Math.min(view.shown.length - first, Math.ceil(box.clientHeight / height) + 8));
    while (made.length < count) {
      const cells = [0, 1, 2, 3, 4].map(() => make('span', {role: 'gridcell'}));
      made.push({row: make('div', {role: 'row', class: 'row'}, ...cells), cells});
    }
    while (made.length > count) made.pop().row.remove();
    made.forEach(({row, cells}, place) => this.fill(row, cells, first + place));
    if (rows.childElementCount !== count) rows.replaceChildren(...made.map(({row}) => row));
    const selected = made.find(({row}) => row.getAttribute('aria-selected') === 'true');
    if (selected) box.setAttribute('aria-activedescendant', selected.row.id);
    else box.removeAttribute('aria-activedescendant');
    box.setAttribute('aria-rowcount', view.shown.length);
  },

  fill(row, cells, index) {
    const packet = view.shown[index];
    row.id = `row-${packet.number}`;
    row.style.top = `${index * this.height}px`;
    row.dataset.index = index;
    row.setAttribute('aria-rowindex', index + 1);
    row.setAttribute('aria-selected', packet === view.selected);
    const words = [
      packet.number, packet.time === null ? 'no time' : seconds(packet.time), ARROWS[packet.direction],
      LABELS[packet.lane], summaryOf(packet),
    ];
    cells.forEach((cell, column) => { cell.textContent = words[column]; });
    cells[2].setAttribute('aria-label', DIRECTIONS[packet.direction]);
    cells[3].className = 'layer';
    cells[3].style.color = `var(--${packet.lane})`;
  },

  /** Brings a row into view, in the middle if it is far away. */
  reveal(packet) {
    const index = view.shown.indexOf(packet);
    if (index < 0) return;
    const {box, height} = this;
    const top = index * height;
    if (top >= box.scrollTop && top + height <= box.scrollTop + box.clientHeight) return;
    const isNear = top > box.scrollTop - 2 * height && top < box.scrollTop + box.clientHeight + 2 * height;
    const below = top - box.clientHeight + height;
    box.scrollTop = isNear ? (top < box.scrollTop ? top : below) : top - box.clientHeight / 2;
  },

  /** Goes so many rows on from the selected one. */
  move(distance) {
    if (view.shown.length === 0) return;
    const index = view.shown.indexOf(view.selected);
    const last = view.shown.length - 1;
    select(view.shown[Math.max(0, Math.min(last, index + distance))]);
  },

  listen() {
    const {box} = this;
    box.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(box);
    box.addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (row) select(view.shown[Number(row.dataset.index)]);
    });
    box.addEventListener('keydown', (event) => {
      const page = Math.max(1, Math.floor(box.clientHeight / this.height) - 1);
      const distance = {
        ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -packets.length, End: packets.length,
      }[event.key];
      if (distance !== undefined) this.move(distance);
      else if (event.key === 'Enter' && view.selected) detail.focus();
      else return;
      event.preventDefault();
    });
  },
};
