/** The session as a strip: one lane per layer, sent packets above its middle, received ones below. */

import {drawTicks, prepare} from './drawing.js';
import {element} from './elements.js';
import {LABELS, LAYERS, seconds} from './format.js';
import {BELOW, barHeight, countColumns, greatest, ticksOf, widened} from './scale.js';
import {packets, whole} from './session.js';
import {color, size} from './style.js';
import {view} from './view.js';

/** Sizes in CSS pixels: a lane, the axis below, a column of bars. */
const LANE = 22;
const AXIS = 20;
const COLUMN = 2;

export const timeline = {
  canvas: element('timeline'),
  lanes: [...LAYERS, 'note'].filter((name) => packets.some((packet) => packet.lane === name)),
  /** The first and the last x of a drag in progress, or null. */
  drag: null,
  /** The width of the labels at the left, in CSS pixels. */
  gutter: size('gutter'),

  /** The time range that is shown. */
  span() { return widened(view.range ?? whole); },
  width() { return Math.max(1, this.canvas.clientWidth - this.gutter); },
  limitedX(x) { return Math.max(this.gutter, Math.min(x, this.canvas.clientWidth)); },
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
    const {canvas, lanes} = this;
    this.gutter = size('gutter');
    const width = canvas.clientWidth;
    const height = lanes.length * LANE + AXIS;
    const context = prepare(canvas, height);
    const {times, decimals} = ticksOf(this.span(), Math.max(2, this.width() / 110));
    drawTicks(context, times, (time) => this.xOf(time), (time) => `${seconds(time, decimals)} s`,
      {right: width, bottom: height - AXIS + 4});
    lanes.forEach((name, index) => {
      const middle = index * LANE + LANE / 2;
      context.fillStyle = color(name);
      context.fillText(LABELS[name], 0, middle);
      context.fillStyle = color('line');
      context.fillRect(this.gutter, middle - .5, width - this.gutter, 1);
    });
    this.drawPackets(context);
  },

  /** Draws the shown packets in full color, and pale behind them those that the filters hide. */
  drawPackets(context) {
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
          if (height > 0) context.fillRect(this.gutter + COLUMN * column, top, 1.6, height);
        }));
      }
    });
    context.globalAlpha = 1;
  },
};
