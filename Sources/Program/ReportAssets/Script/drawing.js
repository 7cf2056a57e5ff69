/** What all pictures are made of: canvases, lines, dots, limits and the ticks of an axis. Sizes are in CSS pixels. */

import {color} from './style.js';

/** The size of the text of an axis, and of a limit. */
const FONT = 'system-ui, sans-serif';

/** Sets the size of a canvas if it has changed, empties it, and returns what draws on it, in CSS pixels. */
export function prepare(canvas, height) {
  const scale = devicePixelRatio || 1;
  const [width, rows] = [canvas.clientWidth, height].map((length) => Math.round(length * scale));
  if (canvas.width !== width || canvas.height !== rows) {
    canvas.style.height = `${height}px`;
    canvas.width = width;
    canvas.height = rows;
  }
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, canvas.clientWidth, height);
  return context;
}

/**
 * Draws a line through the first `count` points; where several points share a column of pixels, from the lowest to the
 * highest of them.
 */
export function drawLine(context, xs, ys, count = xs.length) {
  context.lineWidth = 1.25;
  context.lineJoin = 'round';
  context.beginPath();
  let [column, low, high, last] = [NaN, 0, 0, 0];
  const finish = () => { if (high > low) for (const y of [low, high, last]) context.lineTo(column, y); };
  for (let index = 0; index < count; index += 1) {
    const y = ys[index];
    if (Math.round(xs[index]) !== column) {
      finish();
      column = Math.round(xs[index]);
      low = y;
      high = y;
      context.lineTo(column, y);
    }
    low = Math.min(low, y);
    high = Math.max(high, y);
    last = y;
  }
  finish();
  context.stroke();
}

/** Draws the first `count` points, each by itself. */
export function drawDots(context, xs, ys, count = xs.length) {
  for (let index = 0; index < count; index += 1) context.fillRect(xs[index] - 1, ys[index] - 1, 2, 2);
}

/** Writes the greatest or the smallest value at the right. */
export function writeLimit(context, text, baseline, right, y) {
  context.font = `10px ${FONT}`;
  context.textAlign = 'right';
  context.textBaseline = baseline;
  const width = context.measureText(text).width + 4;
  context.fillStyle = color('ground');
  context.globalAlpha = .85;
  context.fillRect(right - width + 2, baseline === 'top' ? y : y - 11, width, 11);
  context.globalAlpha = 1;
  context.fillStyle = color('quiet');
  context.fillText(text, right, y);
}

/**
 * Draws the ticks of an axis, with their labels below; without a label where it would be cut off.
 *
 * - xOf: returns where a time is
 * - labelOf: returns the text of a time
 * - bottom: where the lines end
 */
export function drawTicks(context, times, xOf, labelOf, {right, bottom}) {
  context.font = `11px ${FONT}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const time of times) {
    const x = xOf(time);
    context.fillStyle = color('line');
    context.fillRect(x, 0, 1, bottom);
    if (x < 24 || x > right - 24) continue;
    context.fillStyle = color('quiet');
    context.fillText(labelOf(time), x, bottom + 8);
  }
  context.textAlign = 'start';
}
