/** What the pictures of the live page are made of, beyond lines: strips of quality, interruptions, flags. */

import {shortReason} from './live-words.js';
import {color} from './style.js';

/** A screen reader is told what a picture shows at most so often, in seconds. */
export const LABEL_PAUSE = 5;
/** A second whose quality is at least this counts. */
export const ACCEPTED = .5;
const SMALL = '11px system-ui, sans-serif';

/** In CSS pixels: above and below the lines of a lane, the strip of quality, the axis. */
export const ROOM = {top: 20, bottom: 6, strip: 14, axis: 20};

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
 * Draws marks as lines with flags, each in what room there is to the next one, or else beside the flag of the one before.
 *
 * - marks: in order, of `x` and `text`
 */
export function drawFlags(context, marks, {top, bottom, width}) {
  let taken = 0;
  marks.forEach(({x, text}, index) => {
    const next = marks[index + 1]?.x ?? width;
    taken = drawFlag(context, text, {x, top, bottom, left: x - taken - 12, right: next - x - 8});
  });
}

/** Returns where the flag, or its line, ends at the right. */
function drawFlag(context, text, {x, top, bottom, left, right}) {
  context.fillStyle = color('text');
  context.fillRect(Math.round(x), top, 1, bottom - top);
  context.font = SMALL;
  let shown = text;
  const whole = context.measureText(text).width;
  const isLeft = whole > right && left > right;
  const room = isLeft ? left : right;
  while (shown.length > 1 && context.measureText(shown).width > room) shown = `${shown.slice(0, -2).trimEnd()}…`;
  const {width} = context.measureText(shown);
  if (shown.length < 2) return x;
  writeSmall(context, shown, {x: isLeft ? x - 5 - width : x + 5, y: top + 7, room, isOnGround: true, name: 'text'});
  return isLeft ? x : x + 5 + width;
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
