Object.assign(timeline, {
  /** Shows a part of the session, or all of it. */
  show(from, to) {
    const isWhole = from <= whole.from && to >= whole.to;
    const within = (time) => Math.max(whole.from, Math.min(whole.to, Math.round(time)));
    view.range = isWhole ? null : {from: within(from), to: within(to)};
    filter();
  },
  zoom(factor, time) {
    const {from, to} = this.span();
    if ((to - from) * factor >= 10) this.show(time - (time - from) * factor, time + (to - time) * factor);
  },
  pan(part) {
    const {from, to} = this.span();
    const way = Math.max(whole.from - from, Math.min(whole.to - to, (to - from) * part));
    if (view.range) this.show(from + way, to + way);
  },
  selectNear(time) {
    const distance = (packet) => packet.time === null ? Infinity : Math.abs(packet.time - time);
    let near = view.shown[0];
    for (const packet of view.shown) if (distance(packet) < distance(near)) near = packet;
    if (near) select(near);
  },

  listen() {
    const {canvas} = this;
    const place = (event) => Math.max(this.gutter, Math.min(event.offsetX, canvas.clientWidth));
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.drag = {first: place(event), last: place(event)};
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!this.drag) return;
      this.drag.last = place(event);
      this.draw();
    });
    canvas.addEventListener('pointerup', () => {
      if (!this.drag) return;
      const [left, right] = [this.drag.first, this.drag.last].sort((a, b) => a - b);
      this.drag = null;
      if (right - left > 4) this.show(this.timeAt(left), this.timeAt(right));
      else this.selectNear(this.timeAt(left));
    });
    canvas.addEventListener('pointercancel', () => { this.drag = null; this.draw(); });
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(Math.sign(event.deltaX) * .1);
      else this.zoom(event.deltaY > 0 ? 1.25 : .8, this.timeAt(event.offsetX));
    }, {passive: false});
    canvas.addEventListener('dblclick', () => this.show(whole.from, whole.to));
    canvas.addEventListener('keydown', (event) => {
      const {from, to} = this.span();
      const time = view.selected?.time ?? null;
      const middle = time !== null && time >= from && time <= to ? time : (from + to) / 2;
      const action = {
        '+': () => this.zoom(.5, middle), '=': () => this.zoom(.5, middle), '-': () => this.zoom(2, middle),
        ArrowLeft: () => this.pan(-.25), ArrowRight: () => this.pan(.25),
        Home: () => this.show(whole.from, whole.to),
      }[event.key];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    });
    new ResizeObserver(() => this.draw()).observe(element('strip'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  },
});
