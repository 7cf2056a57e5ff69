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
  constructor(ring) {
    const id = `ring-${ring.index}`;
    this.ring = ring;
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
    this.box = make('section', {class: 'ring', id, 'aria-labelledby': `${id}-name`},
      make('header', {}, this.name, this.link), make('div', {class: 'now'}, head, this.numbers),
      make('div', {class: 'waves'}, this.canvas), this.spoken);
    this.jump = make('a', {href: `#${id}`});
    this.labeled = -Infinity;
    this.told = {time: -Infinity, isKnown: null};
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
    const quality = ring.second && now - ring.second.t < FRESH ? ring.second.quality : null;
    const rate = rateOf(ring.state, quality, isHeard);
    write(this.name, ring.name);
    this.name.title = ring.firmware ? `firmware ${ring.firmware}` : '';
    write(this.link, isHeard ? linkWords(ring, now) : 'no news');
    this.box.dataset.link = isHeard && ring.state?.connected === true ? 'on' : 'off';
    write(this.rate, rate.number === null ? '–' : String(rate.number));
    this.rate.classList.toggle('missing', rate.number === null);
    this.unit.hidden = rate.number === null;
    write(this.words, rate.words);
    write(this.jump, rate.number === null ? `${ring.name} –` : `${ring.name} ${rate.number}`);
    if (ring.state) this.writeNumbers(ring.state);
    this.speak(rate, arrival);
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

  /** Tells a screen reader the rate: now and then, and at once when it is lost. */
  speak({number, words}, arrival) {
    const isKnown = number !== null;
    const isLost = this.told.isKnown === true && !isKnown;
    if (!isLost && arrival - this.told.time < SPEECH_PAUSE) return;
    this.told = {time: arrival, isKnown};
    write(this.spoken, isKnown ? `${this.ring.name}: ${number} beats a minute. ${words}` : `${this.ring.name}: ${words}`);
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
