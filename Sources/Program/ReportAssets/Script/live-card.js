/** A ring on the page: its rate, its numbers, its waveforms. */

import {make} from './elements.js';
import {LABEL_PAUSE, LOOKS} from './live-paint.js';
import {LiveWave} from './live-wave.js';
import {lasting, linkWords, markText, numbersOf, percent, rateOf} from './live-words.js';
import {shortNumber} from './plotting.js';

/** A screen reader is told the rate at most so often, in seconds. */
const SPEECH_PAUSE = 15;
/** The quality of a second is news for so long, in seconds. */
const FRESH = 12;

/** Writes a text, if it is another one. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export class LiveCard {
  /** - clock: of the program */
  constructor(ring, clock) {
    const id = `ring-${ring.index}`;
    this.ring = ring;
    this.clock = clock;
    this.name = make('h2', {id: `${id}-name`, dir: 'auto'});
    this.link = make('p', {class: 'link'});
    this.rate = make('p', {class: 'rate'}, '–');
    this.unit = make('p', {class: 'unit'}, 'beats a minute');
    this.words = make('p', {class: 'words'});
    this.spoken = make('p', {class: 'spoken', role: 'status', 'aria-live': 'polite'});
    this.numbers = make('dl');
    this.values = new Map();
    this.canvas = make('canvas', {role: 'img', 'aria-label': 'Waveforms: no samples yet'});
    this.wave = new LiveWave(ring, this.canvas);
    const head = make('div', {class: 'reading'}, this.rate, this.unit, this.words);
    this.facts = make('div', {class: 'now'}, head, this.numbers);
    this.box = make('section', {class: 'ring', id, 'aria-labelledby': `${id}-name`},
      make('header', {}, this.name, this.link), this.facts,
      make('div', {class: 'waves'}, this.canvas), this.spoken);
    this.jump = make('a', {href: `#${id}`});
    this.labeled = -Infinity;
    this.told = {time: -Infinity, number: null, wasKnown: false};
    this.isSeen = true;
  }

  /**
   * Writes what is known.
   *
   * - now: on the clock of the program
   * - isHeard: whether the program is connected
   * - arrival: on the clock of the page, in seconds
   */
  update(now, isHeard, arrival) {
    const {ring} = this;
    const second = ring.second && now - ring.second.t < FRESH ? ring.second : null;
    const rate = isHeard ? rateOf(ring, second) : this.lastRate();
    const isOn = isHeard && ring.state?.connected === true;
    write(this.name, ring.name);
    this.name.title = ring.firmware ? `firmware ${ring.firmware}` : '';
    write(this.link, isHeard ? linkWords(ring, now) : '');
    this.box.dataset.link = isOn ? 'on' : 'off';
    this.box.classList.toggle('past', !isOn && ring.state !== null);
    write(this.rate, rate.number === null ? '–' : String(rate.number));
    this.rate.classList.toggle('missing', rate.number === null || rate.isPast);
    this.unit.hidden = rate.number === null;
    write(this.words, rate.words);
    write(this.jump, rate.number === null || !isHeard ? `${ring.name} –` : `${ring.name} ${rate.number}`);
    if (ring.state) this.writeNumbers(ring.state);
    this.speak(rate, isHeard, arrival);
    if (arrival - this.labeled < LABEL_PAUSE) return;
    this.labeled = ring.main.total > 0 ? arrival : -Infinity;
    this.canvas.setAttribute('aria-label', this.describe(now));
  }

  writeNumbers(state) {
    for (const [name, text, isEstimate] of numbersOf(state)) {
      if (!this.values.has(name)) {
        const value = make('span');
        const note = make('em', {}, 'estimate');
        this.values.set(name, {value, note});
        this.numbers.append(make('div', {}, make('dt', {}, name), make('dd', {}, value, ' ', note)));
      }
      const {value, note} = this.values.get(name);
      write(value, text);
      note.hidden = !isEstimate;
    }
  }

  /** The last rate that the program has told, without a connection to it. */
  lastRate() {
    const {state, news} = this.ring;
    const words = state ? `Last news at ${this.clock.text(news, true)}` : 'Nothing is known.';
    return {number: state?.bpm ? Math.round(state.bpm) : null, words, isPast: true};
  }

  /** Tells a screen reader the rate: the first one and a loss at once, others now and then; and nothing that is past. */
  speak({number, told}, isHeard, arrival) {
    const {ring} = this;
    const isFirst = number !== null && !this.told.wasKnown;
    const isLost = number === null && this.told.number !== null;
    if (!isHeard) {
      this.told = {time: -Infinity, number: null, wasKnown: false};
      write(this.spoken, '');
    } else if (isFirst || isLost || arrival - this.told.time >= SPEECH_PAUSE) {
      this.told = {time: arrival, number, wasKnown: this.told.wasKnown || number !== null};
      write(this.spoken, number === null ? `${ring.name}: ${told}` : `${ring.name}: ${number} beats a minute. ${told}`);
    } else if (number !== this.told.number) {
      write(this.spoken, '');
    }
  }

  /** What the waveforms show, in words. */
  describe(now) {
    const {ring, wave} = this;
    const span = wave.spanAt(now);
    const values = ring.lanes.flatMap((kind) => LOOKS[kind].lines.map(([letter], channel) => {
      const series = ring.series[kind];
      const value = series.last >= span.from ? series.valueAt(series.size - 1, channel) : NaN;
      const text = Number.isNaN(value) ? 'no value' : `${shortNumber(value)} ${LOOKS[kind].unit}`.trim();
      return `${LOOKS[kind].label} ${letter && `${letter} `}${text}`;
    }));
    const beats = ring.beats.filter(({t, bpm}) => t >= span.from && bpm !== null).length;
    const quality = ring.second && now - ring.second.t < FRESH ? `, quality ${percent(ring.second.quality)}` : '';
    const mark = ring.marks.findLast(({t}) => t >= span.from && t <= now);
    return `Waveforms of the last ${lasting(wave.seconds)} of ${ring.name}: ${values.join(', ')}; ${beats} accepted beats${quality}`
      + `${mark ? `; ${markText(mark)}` : ''}`;
  }
}
