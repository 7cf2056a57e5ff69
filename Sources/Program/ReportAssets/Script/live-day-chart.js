/** The day of a ring: heart rate, quality, light and movement, on one scale of time. */

import {drawDots, drawLine, drawTicks, prepare, writeLimit} from './drawing.js';
import {make} from './elements.js';
import {drawFlags, hatch, LABEL_PAUSE, ROOM, within, writeSmall} from './live-paint.js';
import {isInterruption} from './live-ring.js';
import {ACCEPTED, finite, markText, percent, valued} from './live-words.js';
import {limitsOf, runsOf, shortNumber} from './plotting.js';
import {color} from './style.js';

/**
 * From above: what is drawn as lines, from which rows and of which kind of samples, in CSS pixels; then the strip of quality and
 * the axis. The limits are at least so far apart.
 */
const LANES = [
  {rows: ['bpm'], of: 'ppg', label: 'Heart rate', height: 118, unit: '', name: 'error', least: 20},
  {rows: ['low', 'high'], of: 'ppg', label: 'Green light', height: 62, unit: '', name: 'att', least: 2},
  {rows: ['motion'], of: 'accel', label: 'Movement', height: 54, unit: 'g', name: 'smp', least: .2, isFromZero: true},
];
/** Round steps of the time of day, in seconds. */
const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600];

/** The ticks of a range at round times of the day. */
function clockTicks({from, to}, most, clock) {
  const step = CLOCK_STEPS.find((one) => one >= (to - from) / most) ?? CLOCK_STEPS.at(-1);
  const first = from + (step - clock.secondOfDay(from) % step) % step;
  const count = Math.min(2 * most, Math.max(0, Math.floor((to - first) / step) + 1));
  return {step, times: Array.from({length: count}, (_, index) => first + index * step)};
}

/** The limits of a lane, of which no number is below 0; null without a number. */
function laneLimits(shown, {least, isFromZero}) {
  const limits = limitsOf(shown, 'line');
  if (!limits) return null;
  if (isFromZero) return {low: 0, high: Math.max(least, ...shown.flat(2).map(([, value]) => value))};
  if (limits.high - limits.low >= least) return limits;
  const low = Math.max(0, Math.round((limits.low + limits.high - least) / 2));
  return {low, high: low + least};
}

export class LiveDayChart {
  /** - day: which part of it is shown, and its data */
  constructor(ring, day) {
    this.ring = ring;
    this.day = day;
    this.name = make('figcaption', {dir: 'auto'});
    this.canvas = make('canvas', {
      role: 'img', tabindex: '0', 'aria-label': 'The day so far: not known yet',
      'aria-keyshortcuts': '+ - ArrowLeft ArrowRight 0', 'aria-describedby': 'day-help',
    });
    this.dragged = make('div', {class: 'dragged', hidden: ''});
    this.box = make('figure', {}, this.name, make('div', {class: 'plot'}, this.canvas, this.dragged));
    this.labeled = -Infinity;
    /** The lanes that have had a value. */
    this.known = new Set();
  }

  /** The lanes that are drawn: those whose samples come, and those that have had a value. */
  get lanes() {
    for (const lane of LANES) {
      if (this.columns && lane.rows.some((row) => this.columns[row].some((value) => !Number.isNaN(value)))) this.known.add(lane);
    }
    return LANES.filter((lane) => this.known.has(lane) || this.ring.lanes.includes(lane.of));
  }

  /** The width of the lines, without the limits at their right, in CSS pixels. */
  get width() { return Math.max(1, this.canvas.clientWidth - ROOM.limits); }

  /** The columns of this ring; undefined if the program has none. */
  get columns() { return this.day.data?.rings.find(({index}) => index === this.ring.index); }

  timeAt(x) {
    const {from, to} = this.day.span();
    return from + (to - from) * Math.min(1, Math.max(0, x / this.width));
  }

  draw(clock, arrival) {
    const {canvas, day, ring, columns, lanes} = this;
    this.name.textContent = ring.name;
    const bottom = lanes.reduce((sum, {height}) => sum + height, 0);
    const context = prepare(canvas, bottom + ROOM.strip + ROOM.axis);
    const {width} = this;
    const span = day.span();
    const xOf = (time) => (time - span.from) / (span.to - span.from) * width;
    const {step, times} = clockTicks(span, Math.max(2, width / 76), clock);
    drawTicks(context, times, xOf, (time) => clock.text(time, step < 60), {right: width + ROOM.limits / 2, bottom: bottom + ROOM.strip + 3});
    let top = 0;
    const plots = lanes.map((lane) => {
      this.drawLane(context, columns, lane, {top, span, xOf, width});
      top += lane.height;
      return {top: top - lane.height + ROOM.top, bottom: top};
    });
    const strip = {x: 0, y: bottom + 1, width, height: ROOM.strip - 2};
    if (columns) within(context, strip, () => drawQualities(context, columns.quality, day.data, xOf, strip));
    if (plots.length > 0) this.drawMarks(context, span, xOf, plots);
    if (!day.data || arrival - this.labeled < LABEL_PAUSE) return;
    this.labeled = arrival;
    canvas.setAttribute('aria-label', this.describe(clock));
  }

  /** Draws a row, or says that it has no values. */
  drawLane(context, columns, lane, {top, span, xOf, width}) {
    const {rows, label, height, unit, name} = lane;
    const shown = columns ? rows.map((one) => this.runs(columns[one], span)) : [];
    const limits = laneLimits(shown, lane);
    const bottom = top + height;
    context.fillStyle = color('line');
    context.fillRect(0, bottom - .5, width, 1);
    writeSmall(context, limits ? label : `${label}: no values`, {x: 4, y: top + 9, room: width, isOnGround: true, name});
    if (!limits) return;
    const scale = (height - ROOM.top - ROOM.bottom) / (limits.high - limits.low);
    const yOf = (value) => bottom - ROOM.bottom - (value - limits.low) * scale;
    context.strokeStyle = color(name);
    context.fillStyle = color(name);
    within(context, {x: 0, y: top, width, height}, () => {
      for (const run of shown.flat()) {
        (run.length === 1 ? drawDots : drawLine)(context, run.map(([time]) => xOf(time)), run.map(([, value]) => yOf(value)));
      }
    });
    const right = width + ROOM.limits - 2;
    writeLimit(context, `${shortNumber(limits.high)} ${unit}`.trim(), 'top', right, top + 3);
    writeLimit(context, `${shortNumber(limits.low)} ${unit}`.trim(), 'bottom', right, bottom - 3);
  }

  /** The runs of a row: a column without a value interrupts the line. */
  runs(values, span) {
    const {from, step} = this.day.data;
    return runsOf({times: Float64Array.from(values, (_, index) => from + (index + .5) * step), values}, span);
  }

  drawMarks(context, span, xOf, lanes) {
    const flags = [];
    for (const mark of this.marksIn(span)) {
      const x = xOf(mark.t);
      if (!isInterruption(mark)) {
        flags.push({x, text: markText(mark)});
        continue;
      }
      context.fillStyle = color('quiet');
      for (const {top, bottom} of lanes) for (let y = top; y < bottom; y += 6) context.fillRect(Math.round(x), y, 1, 3);
    }
    drawFlags(context, flags, {lanes, width: this.width});
  }

  marksIn({from, to}) {
    return (this.day.data?.marks ?? []).filter(({t, index}) => index === this.ring.index && t >= from && t <= to);
  }

  /** What is known at a time, in words. */
  read(time, clock) {
    const {data} = this.day;
    const index = data ? Math.floor((time - data.from) / data.step) : -1;
    const value = (name) => finite(this.columns?.[name][index]);
    const quality = value('quality');
    const parts = [
      `heart rate ${valued(value('bpm'))}`, `quality ${quality === null ? 'not known' : percent(quality)}`,
      `movement ${valued(value('motion'), 'g')}`,
    ];
    return `${clock.text(time, true)}, ${this.ring.name}: ${parts.join(', ')}`;
  }

  describe(clock) {
    const span = this.day.span();
    const inside = this.columns ? this.runs(this.columns.bpm, span).flat().map(([, value]) => value) : [];
    const rates = inside.length > 0
      ? `heart rate from ${shortNumber(Math.min(...inside))} to ${shortNumber(Math.max(...inside))} beats a minute` : 'no heart rate';
    const marks = this.marksIn(span).map(markText).slice(-5);
    return `${this.ring.name} from ${clock.text(span.from)} to ${clock.text(span.to)}: ${rates}`
      + `${marks.length > 0 ? `; ${marks.join('; ')}` : ''}`;
  }
}

/** Draws the quality of each column: a bar where it is accepted, hatched where not. */
function drawQualities(context, qualities, {from, step}, xOf, {y, width, height}) {
  let hatched = null;
  qualities.forEach((quality, index) => {
    const x = Math.round(xOf(from + index * step));
    const end = Math.round(xOf(from + (index + 1) * step));
    if (end < 0 || x > width) return;
    if (hatched && quality < ACCEPTED) {
      hatched.width = end - hatched.x;
      return;
    }
    if (hatched) hatch(context, hatched, 'quiet');
    hatched = quality < ACCEPTED ? {x, y, width: end - x, height} : null;
    if (!(quality >= ACCEPTED)) return;
    context.fillStyle = color('att');
    context.fillRect(x, y + height * (1 - quality), end - x + .5, height * quality);
  });
  if (hatched) hatch(context, hatched, 'quiet');
}
