/** What the pictures of the live page are made of, beyond lines: strips of quality, interruptions, flags. */

import {ACCEPTED, shortReason} from './live-words.js';
import {color} from './style.js';

/** A screen reader is told what a picture shows at most so often, in seconds. */
export const LABEL_PAUSE = 5;
const SMALL = '11px system-ui, sans-serif';

/** In CSS pixels: above and below the lines of a lane, the strip of quality, the axis, and the limits at the right. */
export const ROOM = {top: 20, bottom: 6, strip: 14, axis: 20, limits: 44};

/** A label of a mark that is cut has at least so much room, in CSS pixels. */
const SHORTEST_LABEL = 40;

/** The colors of the numbers of a sample, by kind. */
export const LOOKS = {
  ppg: {label: 'Green light', height: 132, unit: '', lines: [['', 'att']]},
  spo2: {label: 'Red light', height: 92, unit: '', lines: [['', 'error']]},
  accel: {label: 'Acceleration', height: 84, unit: 'g', lines: [['x', 'accent'], ['y', 'smp'], ['z', 'ring']]},
};

/** Draws in a rectangle only. */
export function within(context, {x, y, width, height}, draw) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  draw();
  context.restore();
}

/** Fills a rectangle with thin lines from below left to above right. */
export function hatch(context, box, name) {
  const {x, y, width, height} = box;
  if (!(width > 0)) return;
  within(context, box, () => {
    context.strokeStyle = color(name);
    context.lineWidth = 1;
    context.beginPath();
    // The lines stay where they are in time when the picture scrolls.
    for (let start = x - height; start < x + width; start += 6) {
      context.moveTo(start, y + height);
      context.lineTo(start + height, y);
    }
    context.stroke();
  });
}

/** Writes a small text, if there is room for it. Returns the width that it takes; 0 without room. */
export function writeSmall(context, text, {x, y, room, name = 'quiet', isOnGround = false}) {
  context.font = SMALL;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  const {width} = context.measureText(text);
  if (width > room) return 0;
  if (isOnGround) {
    context.fillStyle = color('ground');
    context.fillRect(x - 3, y - 7, width + 6, 14);
  }
  context.fillStyle = color(name);
  context.fillText(text, x, y);
  return width;
}

/** Draws a time without samples: its edges, lines across, and why. */
export function drawGap(context, box, text) {
  hatch(context, box, 'line');
  const {x, y, width, height} = box;
  context.fillStyle = color('quiet');
  for (const edge of [x, x + width]) context.fillRect(Math.round(edge), y, 1, height);
  if (width < 30) return;
  context.font = SMALL;
  const room = width - 12;
  const shown = [text, 'no samples', 'gap'].find((one) => one && context.measureText(one).width <= room);
  if (!shown) return;
  const start = x + (width - context.measureText(shown).width) / 2;
  writeSmall(context, shown, {x: start, y: y + height / 2, room, isOnGround: true, name: 'text'});
}

/**
 * Draws marks as lines, each with its text where there is room for it: first that of the newest one. Those without become ticks.
 *
 * - marks: in order, of `x` and `text`
 * - lanes: where the lines are, of `top` and `bottom`; they leave out the captions above
 */
export function drawFlags(context, marks, {lanes, width}) {
  context.font = SMALL;
  let free = width;
  const labels = marks.toReversed().map(({x, text}) => {
    const label = labelOf(context, text, {x, free});
    free = Math.min(x, label ? label.x : free) - 4;
    return {x: Math.round(x), label};
  });
  context.fillStyle = color('text');
  for (const {x, label} of labels) {
    for (const {top, bottom} of lanes) context.fillRect(x, top, 1, label ? bottom - top : 6);
  }
  for (const {label} of labels) {
    if (label) writeSmall(context, label.text, {x: label.x, y: lanes[0].top + 7, room: width, isOnGround: true, name: 'text'});
  }
}

/** Where the text of a mark is, and how much of it: at the right of its line, or else at the left; null without room. */
function labelOf(context, text, {x, free}) {
  const [right, left] = [free - x - 8, x <= free ? x - 8 : 0];
  const whole = context.measureText(text).width;
  if (whole <= right) return {text, x: x + 5};
  if (whole <= left) return {text, x: x - 5 - whole};
  const room = Math.max(left, right);
  if (room < SHORTEST_LABEL) return null;
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > room) shown = `${shown.slice(0, -2).trimEnd()}…`;
  return {text: shown, x: right >= left ? x + 5 : x - 5 - context.measureText(shown).width};
}

/**
 * Draws the quality of stretches of time: as the height of a bar where it is accepted, hatched where not, with the reason.
 *
 * - stretches: in order, of `x`, `width`, `quality` and `reason`
 */
export function drawQuality(context, stretches, {y, height}) {
  let [reason, from, to] = ['', 0, 0];
  const finish = () => {
    const room = to - from - 6;
    if (reason) writeSmall(context, shortReason(reason), {x: from + 3, y: y + height / 2, room, isOnGround: true, name: 'text'});
  };
  for (const stretch of stretches) {
    const {x, width, quality} = stretch;
    const isAccepted = quality >= ACCEPTED;
    const why = isAccepted ? '' : stretch.reason;
    if (why !== reason || Math.abs(x - to) > 2) {
      finish();
      reason = why;
      from = Math.max(0, x);
    }
    to = x + width;
    if (isAccepted) {
      context.fillStyle = color('att');
      context.fillRect(x, y + height * (1 - quality), width, height * quality);
    } else {
      hatch(context, {x, y, width, height}, 'quiet');
    }
  }
  finish();
}
