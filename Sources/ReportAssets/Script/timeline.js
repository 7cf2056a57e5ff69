const timeline = {
  canvas: element('timeline'), gutter: 78, lane: 22, axis: 20,
  lanes: [...LAYERS, 'note'].filter((name) => packets.some((packet) => packet.lane === name)),
  drag: null, pointer: null,

  span() {
    const {from, to} = view.range ?? whole;
    return to > from ? {from, to} : {from: from - 500, to: from + 500};
  },
  width() { return Math.max(1, this.canvas.clientWidth - this.gutter); },
  timeAt(x) {
    const {from, to} = this.span();
    return from + (to - from) * Math.min(1, Math.max(0, (x - this.gutter) / this.width()));
  },
  xOf(time) {
    const {from, to} = this.span();
    return this.gutter + (time - from) / (to - from) * this.width();
  },

  draw() {
    if (!whole) return;
    const {canvas, gutter, lane, axis, lanes} = this;
    const width = canvas.clientWidth;
    const height = lanes.length * lane + axis;
    const scale = devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`);
    const context = canvas.getContext('2d');
    context.scale(scale, scale);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    this.drawAxis(context, color, height);
    lanes.forEach((name, index) => {
      const middle = index * lane + lane / 2;
      context.fillStyle = color(name);
      context.fillText(LABELS[name], 0, middle);
      context.fillStyle = color('line');
      context.fillRect(gutter, middle - .5, width - gutter, 1);
    });
    this.drawPackets(context, color);
    this.drawMarks(context, color, height - axis);
  },

  /** How many packets each column has; a column is two pixels wide. */
  columns(list) {
    const count = Math.ceil(this.width() / 2);
    const empty = () => [new Uint32Array(count), new Uint32Array(count)];
    const columns = new Map(this.lanes.map((name) => [name, empty()]));
    const {from, to} = this.span();
    for (const {time, lane, direction} of list) {
      if (time === null || time < from || time > to) continue;
      const place = Math.min(count - 1, Math.floor((time - from) / (to - from) * count));
      columns.get(lane)[direction === 1 ? 0 : 1][place] += 1;
    }
    return columns;
  },

  drawPackets(context, color) {
    const all = this.columns(packets);
    const shown = view.shown === packets ? all : this.columns(view.shown);
    let most = 1;
    for (const sides of all.values()) {
      for (const side of sides) for (const count of side) most = Math.max(most, count);
    }
    const room = (this.lane / 2 - 3) / Math.log2(1 + most);
    const tall = (count) => count === 0 ? 0 : 2 + room * Math.log2(1 + count);
    this.lanes.forEach((name, index) => {
      const middle = index * this.lane + this.lane / 2;
      for (const [columns, alpha] of [[all, shown === all ? 0 : .22], [shown, 1]]) {
        context.globalAlpha = alpha;
        context.fillStyle = color(name);
        columns.get(name).forEach((side, below) => side.forEach((count, place) => {
          const size = tall(count);
          if (size > 0) context.fillRect(this.gutter + 2 * place, below ? middle : middle - size, 1.6, size);
        }));
      }
    });
    context.globalAlpha = 1;
  },

  drawAxis(context, color, height) {
    const {from, to} = this.span();
    const rough = (to - from) / Math.max(2, this.width() / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(step / 1e6) + 1e-9)));
    context.textAlign = 'center';
    for (let tick = Math.ceil(from / step); tick * step <= to; tick += 1) {
      const x = this.xOf(tick * step);
      context.fillStyle = color('line');
      context.fillRect(x, 0, 1, height - this.axis + 4);
      context.fillStyle = color('quiet');
      if (x > this.canvas.clientWidth - 24) continue;
      context.fillText(`${seconds(tick * step, decimals)} s`, x, height - 8);
    }
    context.textAlign = 'start';
  },

  drawMarks(context, color, height) {
    const time = view.selected?.time ?? null;
    const {from, to} = this.span();
    if (time !== null && time >= from && time <= to) {
      context.fillStyle = color('accent');
      context.fillRect(this.xOf(time) - .75, 0, 1.5, height);
    }
    if (this.drag) {
      const [left, right] = [this.drag.first, this.drag.last].sort((a, b) => a - b);
      context.globalAlpha = .2;
      context.fillStyle = color('accent');
      context.fillRect(left, 0, right - left, height);
      context.globalAlpha = 1;
    }
  },
};
