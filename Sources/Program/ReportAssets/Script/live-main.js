/** Connects the parts of the live page, and starts it. */

import {element, make} from './elements.js';
import {LiveCard} from './live-card.js';
import {LiveDay} from './live-day.js';
import {LiveDayChart} from './live-day-chart.js';
import {enableButtons, listenToChart, listenToDay} from './live-day-input.js';
import {listenToMarks} from './live-marks.js';
import {LiveSession} from './live-session.js';
import {LiveStream} from './live-stream.js';
import {endWords, lasting, markText} from './live-words.js';

/** The news that the program is there again is shown for so long, in seconds. */
const PROGRAM_NEWS = 20;

const arrival = () => performance.now() / 1000;
const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** The parts of the page, of each ring: its card, and its day. */
const parts = new Map();
const connection = {isOpen: false, since: arrival(), lost: null, refusal: '', wait: 0, end: ''};
/** What the day is read at: a chart, and a time; null without a mouse on it. */
let pointed = null;
/** `pausedAt`: the time at which the waves stand still; null if they scroll. */
const scrolling = {pausedAt: null, frame: 0};

const day = new LiveDay(() => element('days').clientWidth, () => session.clock.at(arrival()), drawDay);
const session = new LiveSession({
  began(isNewRun) {
    connection.end = '';
    day.isHeard = true;
    if (isNewRun) {
      for (const {card, chart} of parts.values()) for (const box of [card.box, card.jump, chart.box]) box.remove();
      parts.clear();
      if (scrolling.pausedAt !== null) setPaused(false);
      day.forget();
    } else {
      day.askSoon();
    }
    update();
  },
  introduced(ring) {
    if (!parts.has(ring)) addRing(ring);
    update();
  },
  changed() { if (!document.hidden) update(); },
  ended(reason) {
    connection.end = endWords(reason);
    day.isHeard = false;
    update();
    drawDay();
  },
});

const seen = new IntersectionObserver((entries) => {
  for (const {target, isIntersecting} of entries) {
    for (const {card} of parts.values()) if (card.canvas === target) card.isSeen = isIntersecting;
  }
  // What stands still is drawn when it comes into view, too.
  drawWaves();
});

const sizes = new ResizeObserver(redraw);

function addRing(ring) {
  const card = new LiveCard(ring, session.clock);
  const chart = new LiveDayChart(ring, day);
  parts.set(ring, {card, chart});
  seen.observe(card.canvas);
  sizes.observe(card.facts);
  day.askSoon();
  listenToChart(chart, day, (time) => {
    pointed = time === null ? null : {chart, time};
    readPointed();
  });
  const shown = session.rings.map((one) => parts.get(one));
  element('rings').replaceChildren(...shown.map((one) => one.card.box));
  element('days').replaceChildren(...shown.map((one) => one.chart.box));
  element('jumps').replaceChildren(...shown.map((one) => one.card.jump));
}

/** Whether the program says what happens now. */
const isHeard = () => connection.isOpen && connection.end === '';

/** What is said of the connection to the program. */
function connectionText() {
  const {isOpen, since, lost, refusal, wait, end} = connection;
  if (!isOpen && refusal) return refusal;
  if (end) return end;
  if (isOpen && session.rings.length === 0) return 'halo-raw looks for the ring';
  if (isOpen) return `connected to halo-raw${lost !== null && arrival() - since < PROGRAM_NEWS ? ` again after ${lasting(lost)}` : ''}`;
  if (wait === 0) return 'connects to halo-raw';
  return `${lost === null ? 'halo-raw does not answer' : 'The connection to halo-raw is lost'}. This page tries again every ${lasting(wait)}.`;
}

/** Writes all texts. */
function update() {
  const now = session.clock.at(arrival());
  for (const {card} of parts.values()) card.update(now, isHeard(), arrival());
  const {host, program, rings, missed} = session;
  const title = host ? `halo-raw on ${host}` : 'halo-raw';
  if (document.title !== title) {
    element('name').textContent = title;
    document.title = title;
  }
  element('name').title = program;
  const said = connectionText();
  if (element('connection').textContent !== said) element('connection').textContent = said;
  element('connection').dataset.link = isHeard() ? 'on' : 'off';
  element('waiting').hidden = rings.length > 0 || !isHeard();
  element('pause').hidden = rings.length === 0;
  element('signs').hidden = rings.length === 0;
  element('jumps').hidden = rings.length < 2;
  element('day').hidden = rings.length === 0;
  element('missed').hidden = missed === 0;
  element('missed').textContent = `This page was too slow for ${missed.toLocaleString('en')} samples: the curves are interrupted there.`;
}

/** - isDue: returns whether a wave is drawn at a time; all are, without it */
function drawWaves(isDue = () => true) {
  const now = scrolling.pausedAt ?? session.clock.at(arrival());
  for (const {card} of parts.values()) if (card.isSeen && isDue(card.wave, now)) card.wave.draw(now, session.clock, calm.matches);
}

function drawDay() {
  if (document.hidden) return;
  for (const {chart} of parts.values()) chart.draw(session.clock, arrival());
  const {from, to} = day.span();
  const {clock} = session;
  element('day-range').textContent = day.whole ? `${clock.text(from, to - from < 600)} – ${day.follows && isHeard() ? 'now' : clock.text(to, to - from < 600)}` : '';
  element('day-mistake').textContent = isHeard() ? day.mistake : '';
  if (pointed && (pointed.time < from || pointed.time > to)) pointed = null;
  readPointed();
  enableButtons(day);
  const marks = marksOf((day.data?.marks ?? []).filter(({t}) => t >= from && t <= to));
  element('day-marks').replaceChildren(...marks.slice(-50).map((text) => make('li', {}, text)));
  element('day-happened').hidden = marks.length === 0;
}

/** The list of marks: one that all rings have at the same time is there once, others with the name of their ring. */
function marksOf(marks) {
  const {clock, rings} = session;
  const found = new Map();
  for (const mark of marks) {
    const text = `${clock.text(mark.t, true)}  ${markText(mark)}`;
    found.set(text, (found.get(text) ?? new Set()).add(mark.index));
  }
  return [...found].map(([text, indexes]) => {
    const names = rings.filter(({index}) => indexes.has(index)).map(({name}) => name);
    return names.length < rings.length ? `${text} (${names.join(', ')})` : text;
  });
}

function readPointed() { element('day-read').textContent = pointed ? pointed.chart.read(pointed.time, session.clock) : ''; }

/** Draws the waves with each picture of the screen; once a second for those who want less motion. */
function scroll() {
  cancelAnimationFrame(scrolling.frame);
  if (scrolling.pausedAt !== null || document.hidden || calm.matches) return;
  drawWaves((wave, now) => wave.isDue(now));
  scrolling.frame = requestAnimationFrame(scroll);
}

function setPaused(isPaused) {
  scrolling.pausedAt = isPaused ? session.clock.at(arrival()) : null;
  element('pause').textContent = isPaused ? 'Resume' : 'Pause';
  element('top').classList.toggle('paused', isPaused);
  element('paused').textContent = isPaused ? `paused at ${session.clock.text(scrolling.pausedAt, true)}; the numbers go on` : '';
  drawWaves();
  scroll();
}

const stream = new LiveStream((name, message) => session.receive(name, message, arrival()), ({isOpen, refusal, wait}) => {
  const wasOpen = connection.isOpen;
  if (isOpen) connection.lost = connection.lost === null ? null : arrival() - connection.since;
  else if (wasOpen) connection.lost = 0;
  if (isOpen !== wasOpen) connection.since = arrival();
  Object.assign(connection, {isOpen, refusal, wait});
  if (!isOpen) day.isHeard = false;
  update();
  if (wasOpen) drawDay();
});

/** Draws all, with the waves as high as the numbers beside them. */
function redraw() {
  for (const {card} of parts.values()) card.wave.least = card.facts.clientHeight;
  drawWaves();
  drawDay();
}

function listen() {
  element('pause').addEventListener('click', () => setPaused(scrolling.pausedAt === null));
  addEventListener('keydown', (event) => {
    if (event.key !== ' ' || parts.size === 0 || event.target.closest('button, input, a, summary')) return;
    event.preventDefault();
    if (!event.repeat) setPaused(scrolling.pausedAt === null);
  });
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    stream.check(true);
    update();
    day.askSoon();
    scroll();
  });
  calm.addEventListener('change', scroll);
  sizes.observe(element('rings'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  setInterval(() => {
    if (document.hidden) return;
    update();
    if (calm.matches && scrolling.pausedAt === null) drawWaves();
  }, 1000);
}

listenToDay(day, () => { pointed = null; });
listenToMarks(() => session.rings.length, () => day.askSoon());
listen();
element('marking').hidden = false;
stream.connect();
scroll();

/** The only global name: what the console of the browser, and tests, can use. */
globalThis.live = {connection, day, parts, scrolling, session, stream};
