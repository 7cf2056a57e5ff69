/** Pictures of the samples, rates and intervals, below the timeline and on its scale. */

import {drawDots, drawLine, prepare, writeLimit} from './drawing.js';
import {element, make} from './elements.js';
import {counted} from './format.js';
import {limitsOf, shortNumber, shownOf, valueAt} from './plotting.js';
import {chartsOf} from './series.js';
import {capture, deviceOf, packets, whole} from './session.js';
import {color, size} from './style.js';
import {timeline} from './timeline.js';
import {showCharts, view} from './view.js';

/** In CSS pixels: the least height of a chart, that of its name and of a line of its legend; the room around lines. */
const HEIGHT = 40;
const CAPTION = 18;
const LEGEND = 11;
const MARGIN = 5;
/** The charts are open from the start in windows at least this high. */
const ROOMY = 800;
/** The colors of series, in their order: those of layers. */
const COLORS = ['ring', 'signaling', 'att', 'smp', 'l2cap'];

export const charts = {
  box: element('charts'),
  /** Each with its canvas, the box of its values, and what is in it; null before they are shown. */
  all: null,

  isOpen() { return view.charts ?? (innerHeight >= ROOMY && size('pages') === 1); },

  /**
   * Shows or hides the charts; makes them before they are shown for the first time.
   *
   * - listen: lets a canvas select time ranges
   */
  update(listen) {
    const isOpen = this.isOpen() && whole !== null;
    if (isOpen && !this.all) {
      this.all = chartsOf(packets, capture.samples, deviceOf).map((chart) => this.make(chart));
      for (const {canvas} of this.all) listen(canvas);
      if (this.all.length === 0) this.box.append(make('p', {class: 'empty'}, 'The capture has no values to draw.'));
    }
    // Without values, the charts open only when they are asked for.
    const isShown = isOpen && (this.all.length > 0 || view.charts === true);
    this.box.hidden = !isShown;
    element('show-charts').setAttribute('aria-expanded', isShown);
    this.draw();
    this.read(view.selected?.time ?? null);
  },

  make(chart) {
    const {name, of, unit, kind, series} = chart;
    const title = [name, of].filter(Boolean).join(' of ');
    const count = counted(series.reduce((sum, {times}) => sum + times.length, 0), 'value');
    const lines = kind === 'dots' ? counted(series.length, 'device') : series.map((one) => one.name).join(', ');
    const label = `${title}${unit && `, ${unit}`}: ${count} of ${lines}`;
    const values = make('span', {class: 'values'});
    const legends = kind === 'dots' ? 1 : Math.min(series.length, COLORS.length);
    const height = Math.max(HEIGHT, CAPTION + LEGEND * legends);
    const canvas = make('canvas', {role: 'img', 'aria-label': label, title: `${label}. Drag to zoom in.`});
    this.box.append(make('figure', {}, make('figcaption', {}, unit ? `${name}, ${unit}` : name, values), canvas));
    return {...chart, canvas, values, height};
  },

  draw() {
    if (this.box.hidden || !this.all) return;
    for (const chart of this.all) drawChart(chart);
  },

  /** Writes the legends beside the charts: the names of several lines, and the values at a time. */
  read(time) {
    if (this.box.hidden || !this.all) return;
    for (const {kind, series, values} of this.all) {
      if (kind === 'dots') {
        values.replaceChildren(counted(series.length, 'device'));
        continue;
      }
      values.replaceChildren(...series.slice(0, COLORS.length).flatMap((one, index) => {
        const part = make('span', {}, legendOf(kind, one, series.length > 1, time));
        if (series.length > 1) part.style.color = `var(--${COLORS[index]})`;
        return part.textContent === '' ? [] : [part];
      }));
    }
  },

  listen() {
    element('show-charts').addEventListener('click', () => showCharts(this.box.hidden));
    const plots = element('plots');
    plots.addEventListener('pointermove', (event) => {
      this.read(timeline.timeAt(event.clientX - plots.getBoundingClientRect().left));
    });
    plots.addEventListener('pointerleave', () => this.read(view.selected?.time ?? null));
  },
};

/** What stands beside a line: its name if there are several, and its value at a time; of rates, only the handle. */
function legendOf(kind, series, isOneOfSeveral, time) {
  const [name] = series.name.split(' ');
  if (kind === 'rate') return name;
  const value = time === null ? undefined : valueAt(series, time);
  return [isOneOfSeveral ? name : '', value === undefined ? '' : shortNumber(value)].filter(Boolean).join(' ');
}

function drawChart(chart) {
  const {canvas, kind, unit, height} = chart;
  const context = prepare(canvas, height);
  const gutter = size('gutter');
  const right = canvas.clientWidth;
  const span = timeline.span();
  const shown = shownOf(chart, span, whole.to, timeline.width());
  const scale = timeline.width() / (span.to - span.from);
  const xOf = (time) => gutter + (time - span.from) * scale;
  const limits = limitsOf(shown, kind);
  context.fillStyle = color('line');
  context.fillRect(gutter, height - 1, right - gutter, 1);
  if (!limits) return;
  const yOf = (value) =>
    height - MARGIN - (value - limits.low) / (limits.high - limits.low) * (height - 2 * MARGIN);
  context.save();
  context.beginPath();
  context.rect(gutter, 0, right - gutter, height);
  context.clip();
  shown.forEach((runs, index) => {
    const name = kind === 'dots' ? 'hci' : COLORS[index % COLORS.length];
    context.strokeStyle = color(name);
    context.fillStyle = color(name);
    for (const run of runs) {
      const draw = kind === 'dots' || run.length === 1 ? drawDots : drawLine;
      draw(context, run.map(([time]) => xOf(time)), run.map(([, value]) => yOf(value)));
    }
  });
  context.restore();
  const write = (value, baseline, y) =>
    writeLimit(context, `${shortNumber(value)} ${unit}`.trim(), baseline, right - 2, y);
  write(limits.high, 'top', 2);
  write(limits.low, 'bottom', height - 2);
}
