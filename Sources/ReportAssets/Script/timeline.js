/** The session as a strip: one lane per layer, sent packets above its middle, received ones below. */

import {LABELS, LAYERS, seconds} from './format.js';
import {BELOW, barHeight, countColumns, greatest, ticksOf, widened} from './scale.js';
import {element, packets, whole} from './session.js';
import {view} from './view.js';

/** Sizes in CSS pixels: the labels at the left, a lane, the axis below, a column of bars. */
const GUTTER = 78;
const LANE = 22;
const AXIS = 20;
const COLUMN = 2;

export const timeline = {
  canvas: element('timeline'),
  lanes: [...LAYERS, 'note'].filter((name) => packets.some((packet) => packet.lane === name)),
  /** The first and the last x of a drag in progress, or null. */
  drag: null,

  /** The time range that is shown. */
  span() { return widened(view.range ?? whole); },
  width() { return Math.max(1, this.canvas.clientWidth - GUTTER); },
  limitedX(x) { return Math.max(GUTTER, Math.min(x, this.canvas.clientWidth)); },
  timeAt(x) {
    const {from, to} = this.span();
    return from + (to - from) * Math.min(1, Math.max(0, (x - GUTTER) / this.width()));
  },
  xOf(time) {
    const {from, to} = this.span();
    return GUTTER + (time - from) / (to - from) * this.width();
  },

  draw() {
    if (!whole) return;
    const {canvas, lanes} = this;
    const width = canvas.clientWidth;
    const height = lanes.length * LANE + AXIS;
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
      const middle = index * LANE + LANE / 2;
      context.fillStyle = color(name);
      context.fillText(LABELS[name], 0, middle);
      context.fillStyle = color('line');
      context.fillRect(GUTTER, middle - .5, width - GUTTER, 1);
    });
    this.drawPackets(context, color);
    this.drawMarks(context, color, height - AXIS);
  },

  drawAxis(context, color, height) {
    const {times, decimals} = ticksOf(this.span(), Math.max(2, this.width() / 110));
    context.textAlign = 'center';
    for (const time of times) {
      const x = this.xOf(time);
      context.fillStyle = color('line');
      context.fillRect(x, 0, 1, height - AXIS + 4);
      if (x > this.canvas.clientWidth - 24) continue;
      context.fillStyle = color('quiet');
      context.fillText(`${seconds(time, decimals)} s`, x, height - 8);
    }
    context.textAlign = 'start';
  },

  /** Draws the shown packets in full color, and pale behind them those that the filters hide. */
  drawPackets(context, color) {
    const count = Math.ceil(this.width() / COLUMN);
    const all = countColumns(packets, this.lanes, this.span(), count);
    const shown = view.shown === packets ? all : countColumns(view.shown, this.lanes, this.span(), count);
    const most = greatest(all);
    this.lanes.forEach((name, index) => {
      const middle = index * LANE + LANE / 2;
      for (const [columns, alpha] of shown === all ? [[all, 1]] : [[all, .22], [shown, 1]]) {
        context.globalAlpha = alpha;
        context.fillStyle = color(name);
        columns.get(name).forEach((side, which) => side.forEach((packetCount, column) => {
          const height = barHeight(packetCount, most, LANE / 2 - 1);
          const top = which === BELOW ? middle : middle - height;
          if (height > 0) context.fillRect(GUTTER + COLUMN * column, top, 1.6, height);
        }));
      }
    });
    context.globalAlpha = 1;
  },

  /** Draws the time of the selected packet, and the range that is dragged. */
  drawMarks(context, color, height) {
    const time = view.selected?.time ?? null;
    const {from, to} = this.span();
    context.fillStyle = color('accent');
    if (time !== null && time >= from && time <= to) context.fillRect(this.xOf(time) - .75, 0, 1.5, height);
    if (this.drag) {
      const {first, last} = this.drag;
      context.globalAlpha = .2;
      context.fillRect(Math.min(first, last), 0, Math.abs(last - first), height);
      context.globalAlpha = 1;
    }
  },
};
