/** The waveforms of a ring: the last seconds of its samples, with beats, marks, interruptions, and the quality of each second. */

import {drawDots, drawLine, drawTicks, prepare, writeLimit} from './drawing.js';
import {drawFlags, drawGap, drawQuality, LOOKS, ROOM, within, writeSmall} from './live-paint.js';
import {isInterruption} from './live-ring.js';
import {ACCEPTED, markText} from './live-words.js';
import {shortNumber} from './plotting.js';
import {ticksOf} from './scale.js';
import {color} from './style.js';

/** How many seconds are shown: of a ring with many samples a second, and of one with few. */
const WINDOW = 10;
const SLOW_WINDOW = 60;
/** The picture is so much behind the newest sample, in seconds, and an interval, so that the line does not stutter. */
const DELAY = .25;
/** The limits of a lane come to their place in about this time, in seconds. */
const EASE = .35;

const xs = new Float32Array(8192);
const ys = new Float32Array(8192);

export class LiveWave {
  constructor(ring, canvas) {
    this.ring = ring;
    this.canvas = canvas;
    this.limits = {};
    this.drawn = NaN;
    /** The height that the picture fills at least, in CSS pixels. */
    this.least = 0;
  }

  /** The width of the lines, without the limits at their right, in CSS pixels. */
  get width() { return Math.max(1, this.canvas.clientWidth - ROOM.limits); }

  /** The lanes from above: their kinds, and where they are. */
  get places() {
    const {lanes} = this.ring;
    const usual = lanes.reduce((sum, kind) => sum + LOOKS[kind].height, 0);
    const factor = Math.max(1, (this.least - ROOM.strip - ROOM.axis) / usual);
    let top = 0;
    return lanes.map((kind) => {
      const height = Math.round(LOOKS[kind].height * factor);
      top += height;
      return {kind, top: top - height, height};
    });
  }

  get seconds() { return this.ring.isSlow ? SLOW_WINDOW : WINDOW; }

  /** The time range that is shown when the program's clock is at `now`. */
  spanAt(now) {
    const {usual} = this.ring.main;
    const to = now - DELAY - Math.min(1.5, Number.isNaN(usual) ? 0 : usual);
    return {from: to - this.seconds, to};
  }

  /** Whether the picture has moved by a pixel of the screen since it was drawn. */
  isDue(now) { return !(Math.abs(now - this.drawn) * this.canvas.width < this.seconds); }

  /** - isStill: draws the limits where they belong at once */
  draw(now, clock, isStill) {
    const {ring, canvas, places} = this;
    const bottom = places.reduce((sum, {height}) => sum + height, 0);
    const context = prepare(canvas, bottom + ROOM.strip + ROOM.axis);
    const {width} = this;
    const span = this.spanAt(now);
    const xOf = (time) => (time - span.from) / (span.to - span.from) * width;
    const share = isStill || Number.isNaN(this.drawn) ? 1 : 1 - Math.exp(-Math.max(0, now - this.drawn) / EASE);
    this.drawn = now;
    const {times, decimals} = ticksOf({from: span.from * 1e6, to: span.to * 1e6}, Math.max(2, width / 90));
    const labelOf = (time) => clock.text(Math.round(time / 1e6), true);
    const shown = decimals > 0 ? times.filter((time) => time % 1e6 === 0) : times;
    drawTicks(context, shown, (time) => xOf(time / 1e6), labelOf, {right: width + ROOM.limits / 2, bottom: bottom + ROOM.strip + 3});
    const plot = {x: 0, y: 0, width, height: bottom + ROOM.strip};
    within(context, plot, () => this.drawGaps(context, span, xOf, {width, bottom}));
    for (const place of places) this.drawLane(context, place, {span, xOf, share});
    const stretches = ring.seconds.filter(({t}) => t + 1 >= Math.max(span.from, ring.first) && t <= span.to)
      .map(({t, quality, reason}) => {
        const x = xOf(Math.max(t, ring.first));
        return {x, width: xOf(t + 1) - x - 1, quality, reason};
      });
    within(context, plot, () => drawQuality(context, stretches, {y: bottom + 1, height: ROOM.strip - 2}));
    this.drawMarks(context, span, xOf, places);
  }

  /** Draws a kind of samples, and on the first one the beats. */
  drawLane(context, {kind, top, height}, {span, xOf, share}) {
    const {label, unit, lines} = LOOKS[kind];
    const {width} = this;
    const series = this.ring.series[kind];
    const runs = lines.map((_, channel) => series.runs(span, this.ring.cuts, channel));
    const limits = this.limitsOf(kind, runs, share);
    const box = {x: 0, y: top, width, height};
    context.fillStyle = color('line');
    context.fillRect(0, top + height - .5, width, 1);
    if (limits) {
      const scale = (height - ROOM.top - ROOM.bottom) / (limits.high - limits.low);
      const yOf = (value) => top + height - ROOM.bottom - (value - limits.low) * scale;
      within(context, box, () => {
        lines.forEach(([letter, name], channel) => {
          context.strokeStyle = color(name);
          context.fillStyle = color(name);
          for (const run of runs[channel]) drawRun(context, series, channel, run, xOf, yOf);
          const end = letter ? series.lineAt(span.to, this.ring.cuts, channel) : NaN;
          if (end >= limits.low) writeSmall(context, letter, {x: width - 12 - 9 * channel, y: yOf(end) - 7, room: 20, name});
        });
        if (kind === 'ppg') this.drawBeats(context, series, {top, span, xOf, yOf});
      });
      // Counts are whole numbers, also while the limits come to their place.
      const textOf = (value) => unit ? `${shortNumber(value)} ${unit}` : shortNumber(Math.round(value));
      const write = (value, baseline, y) => writeLimit(context, textOf(value), baseline, width + ROOM.limits - 2, y);
      write(limits.high, 'top', top + 3);
      write(limits.low, 'bottom', top + height - 3);
    }
    const name = lines.length > 1 ? 'quiet' : lines[0][1];
    let x = 4 + writeSmall(context, label, {x: 4, y: top + 9, room: width, isOnGround: true, name});
    for (const [letter, other] of lines) x += 6 + writeSmall(context, letter, {x: x + 6, y: top + 9, room: 20, name: other});
  }

  /** The limits of a lane: they follow what is shown, and do not jump. */
  limitsOf(kind, runs, share) {
    const series = this.ring.series[kind];
    const extremes = runs.map((some, channel) => series.extremes(some, channel));
    let low = Math.min(...extremes.map(([least]) => least));
    let high = Math.max(...extremes.map(([, most]) => most));
    if (low > high) return null;
    // Counts are never below 0.
    if (high === low) [low, high] = [LOOKS[kind].unit ? low - 1 : Math.max(0, low - 1), high + 1];
    const before = this.limits[kind] ?? {low, high};
    // They widen at once, so that no line leaves its lane, and narrow slowly.
    this.limits[kind] = {
      low: Math.min(low, before.low + (low - before.low) * share), high: Math.max(high, before.high + (high - before.high) * share),
    };
    return this.limits[kind];
  }

  /** Draws accepted beats as dots on the wave, others hollow; above it where it has no line. */
  drawBeats(context, series, {top, span, xOf, yOf}) {
    context.lineWidth = 1.5;
    for (const {t, quality} of this.ring.beats) {
      if (t < Math.max(span.from, this.ring.first) || t > span.to) continue;
      const value = series.lineAt(t, this.ring.cuts);
      context.beginPath();
      context.arc(xOf(t), Number.isNaN(value) ? top + ROOM.top - 4 : yOf(value), 4, 0, 2 * Math.PI);
      context.fillStyle = color(quality >= ACCEPTED ? 'att' : 'ground');
      context.strokeStyle = color(quality >= ACCEPTED ? 'ground' : 'text');
      context.fill();
      context.stroke();
    }
  }

  /** Draws where the first kind of samples has none, and also up to now. */
  drawGaps(context, span, xOf, {width, bottom}) {
    const series = this.ring.main;
    if (series.total === 0) return;
    const runs = series.runs(span, this.ring.cuts);
    const gaps = [];
    runs.slice(1).forEach(([first], index) => {
      const begin = series.timeAt(runs[index][1]);
      // A sample by itself between two interruptions is within one.
      if (gaps.length > 0 && begin === gaps.at(-1)[1]) gaps.at(-1)[1] = series.timeAt(first);
      else gaps.push([begin, series.timeAt(first)]);
    });
    const end = runs.length > 0 ? series.timeAt(runs.at(-1)[1]) : -Infinity;
    if (span.to - end > series.longest) gaps.push([end, Infinity]);
    for (const [from, to] of gaps) {
      const x = Math.max(-2, xOf(from));
      const mark = this.ring.marks.findLast(({t, kind}) => isInterruption({kind}) && t >= from - 1 && t <= to + 1);
      const box = {x, y: 0, width: Math.min(width + 2, xOf(to)) - x, height: bottom};
      if (box.width > 0) drawGap(context, box, mark && markText(mark));
    }
  }

  /** Draws what happened, but for the interruptions. */
  drawMarks(context, span, xOf, places) {
    const shown = this.ring.marks.filter(({t, kind}) => t >= span.from && t <= span.to && !isInterruption({kind}));
    const lanes = places.map(({top, height}) => ({top: top + ROOM.top, bottom: top + height}));
    drawFlags(context, shown.map((mark) => ({x: xOf(mark.t), text: markText(mark)})), {lanes, width: this.width});
  }
}

function drawRun(context, series, channel, [first, last], xOf, yOf) {
  const count = Math.min(xs.length, last - first + 1);
  for (let index = 0; index < count; index += 1) {
    xs[index] = xOf(series.timeAt(first + index));
    ys[index] = yOf(series.valueAt(first + index, channel));
  }
  (count === 1 ? drawDots : drawLine)(context, xs, ys, count);
}
