/** Connects the parts of the live page, and starts it. */

import {element} from './elements.js';
import {LiveCard} from './live-card.js';
import {LiveDay} from './live-day.js';
import {LiveDayChart} from './live-day-chart.js';
import {listenToChart, listenToDay} from './live-day-input.js';
import {listenToMarks} from './live-marks.js';
import {LiveSession} from './live-session.js';
import {LiveStream} from './live-stream.js';
import {lasting, markText} from './live-words.js';

/** The news that the program is there again is shown for so long, in seconds. */
const PROGRAM_NEWS = 20;

const arrival = () => performance.now() / 1000;
const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** The parts of the page, of each ring: its card, and its day. */
const parts = new Map();
const connection = {isOpen: false, since: arrival(), lost: null, refusal: '', wait: 0, end: ''};
/** `pausedAt`: the time at which the waves stand still; null if they scroll. */
const scrolling = {pausedAt: null, frame: 0};

const day = new LiveDay(() => element('days').clientWidth, drawDay);
const session = new LiveSession({
  began(isNewRun) {
    connection.end = '';
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
  ended(reason) { connection.end = reason || 'The program has ended.'; },
});

const seen = new IntersectionObserver((entries) => {
  for (const {target, isIntersecting} of entries) {
    for (const {card} of parts.values()) if (card.canvas === target) card.isSeen = isIntersecting;
  }
});

function addRing(ring) {
  const card = new LiveCard(ring);
  const chart = new LiveDayChart(ring, day);
  parts.set(ring, {card, chart});
  seen.observe(card.canvas);
  day.askSoon();
  listenToChart(chart, day, (time) => { element('day-read').textContent = time === null ? '' : chart.read(time, session.clock); });
  const shown = session.rings.map((one) => parts.get(one));
  element('rings').replaceChildren(...shown.map((one) => one.card.box));
  element('days').replaceChildren(...shown.map((one) => one.chart.box));
  element('jumps').replaceChildren(...shown.map((one) => one.card.jump));
}

/** What is said of the connection to the program. */
function connectionText() {
  const {isOpen, since, lost, refusal, wait, end} = connection;
  if (isOpen) return lost !== null && arrival() - since < PROGRAM_NEWS ? `connected again after ${lasting(lost)}` : 'connected';
  const again = wait > 0 ? `tries again every ${lasting(wait)}` : 'connects';
  return [end || refusal || (lost === null ? '' : 'the connection to the program is lost'), again].filter(Boolean).join('; ');
}

/** Writes all texts. */
function update() {
  const now = session.clock.at(arrival());
  for (const {card} of parts.values()) card.update(now, connection.isOpen, arrival());
  const {host, program, rings, missed} = session;
  const title = host ? `halo-raw on ${host}` : 'halo-raw';
  if (document.title !== title) {
    element('name').textContent = title;
    document.title = title;
  }
  element('name').title = program;
  const said = connectionText();
  if (element('connection').textContent !== said) element('connection').textContent = said;
  element('connection').dataset.link = connection.isOpen ? 'on' : 'off';
  element('waiting').hidden = rings.length > 0;
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
  element('day-range').textContent = day.whole ? `${clock.text(from, to - from < 600)} – ${day.follows ? 'now' : clock.text(to, to - from < 600)}` : '';
  element('day-mistake').textContent = day.mistake;
  const marks = (day.data?.marks ?? []).filter(({t}) => t >= from && t <= to);
  element('day-marks').replaceChildren(...marks.slice(-50).map((mark) => {
    const item = document.createElement('li');
    item.textContent = `${clock.text(mark.t, true)}  ${markText(mark)}`;
    return item;
  }));
  element('day-happened').hidden = marks.length === 0;
}

/** Draws the waves with each picture of the screen; once a second for those who want less motion. */
function scroll() {
  cancelAnimationFrame(scrolling.frame);
  if (scrolling.pausedAt !== null || document.hidden || calm.matches) return;
  drawWaves((wave, now) => wave.isDue(now));
  scrolling.frame = requestAnimationFrame(scroll);
}

function setPaused(isPaused) {
  scrolling.pausedAt = isPaused ? session.clock.at(arrival()) : null;
  element('pause').classList.toggle('paused', isPaused);
  element('pause').textContent = isPaused ? 'Resume' : 'Pause';
  drawWaves();
  scroll();
}

const stream = new LiveStream((name, message) => session.receive(name, message, arrival()), ({isOpen, refusal, wait}) => {
  const wasOpen = connection.isOpen;
  if (isOpen) connection.lost = connection.lost === null ? null : arrival() - connection.since;
  else if (wasOpen) connection.lost = 0;
  if (isOpen !== wasOpen) connection.since = arrival();
  Object.assign(connection, {isOpen, refusal, wait});
  update();
});

function redraw() {
  drawWaves();
  drawDay();
}

function listen() {
  element('pause').addEventListener('click', () => setPaused(scrolling.pausedAt === null));
  addEventListener('keydown', (event) => {
    if (event.key !== ' ' || event.target.closest('button, input, a, summary')) return;
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
  new ResizeObserver(redraw).observe(element('rings'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  setInterval(() => {
    if (document.hidden) return;
    update();
    if (calm.matches && scrolling.pausedAt === null) drawWaves();
  }, 1000);
}

listenToDay(day);
listenToMarks(() => day.askSoon());
listen();
stream.connect();
scroll();

/** The only global name: what the console of the browser, and tests, can use. */
globalThis.live = {connection, day, parts, scrolling, session, stream};
