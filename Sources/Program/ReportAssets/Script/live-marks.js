/** Marks: what a person notes at a time. */

import {element, make} from './elements.js';
import {plain, refusalOf} from './live-words.js';
import {shortNumber} from './plotting.js';

/** What became of a mark is said for so long, in milliseconds. */
const SAID = 10_000;
/** Where the last texts are kept, how many, and how long one may be. */
const STORE = 'halo-raw marks';
const MOST_TEXTS = 4;
const LONGEST_TEXT = 200;
/** The field is read so far. */
const LONGEST_FIELD = 100_000;

/** The last texts; none if the browser keeps nothing, or something else. */
function readTexts() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE));
    return Array.isArray(kept) ? kept.map((text) => plain(text, LONGEST_TEXT)).filter(Boolean).slice(0, MOST_TEXTS) : [];
  } catch {
    return [];
  }
}

function keepText(text) {
  try {
    localStorage.setItem(STORE, JSON.stringify([text, ...readTexts().filter((other) => other !== text)].slice(0, MOST_TEXTS)));
  } catch {
    // A browser that keeps nothing has no quick buttons after it is closed.
  }
}

/** Sends a mark. Returns why it is not set, or an empty text. */
async function send(text) {
  try {
    const answer = await fetch('mark', {method: 'POST', headers: {'Content-Type': 'text/plain; charset=utf-8'}, body: text});
    return answer.ok ? '' : await refusalOf(answer);
  } catch {
    return 'The program does not answer: the mark is not set.';
  }
}

/**
 * - rings: returns how many there are: a mark is of all
 * - isSet: called after a mark was set
 */
export function listenToMarks(rings, isSet) {
  const field = element('mark-text');
  const said = element('mark-said');
  let timer = 0;
  function say(text, isMistake = false) {
    clearTimeout(timer);
    timer = setTimeout(() => { said.textContent = ''; }, SAID);
    said.textContent = text;
    said.classList.toggle('mistake', isMistake);
  }
  async function set(text) {
    say('');
    const mistake = await send(text);
    say(mistake || `${rings() > 1 ? 'Marked in the records of all rings' : 'Marked'}: ${text}`, mistake !== '');
    if (mistake) return;
    keepText(text);
    if (plain(field.value, LONGEST_FIELD) === text) field.value = '';
    showTexts();
    isSet();
  }
  function showTexts() {
    element('quick').replaceChildren(...readTexts().map((text) => {
      const button = make('button', {type: 'button', 'aria-label': `Mark “${text}”`, title: text}, make('span', {dir: 'auto'}, text));
      button.addEventListener('click', () => set(text));
      return button;
    }));
  }
  element('marking').addEventListener('submit', (event) => {
    event.preventDefault();
    const text = plain(field.value, LONGEST_FIELD);
    const {length} = [...text];
    if (text && length <= LONGEST_TEXT) {
      set(text);
      return;
    }
    say(text ? `A mark has at most ${LONGEST_TEXT} characters; this text has ${shortNumber(length)}.` : 'Write what happens now.', text !== '');
    field.focus();
  });
  field.addEventListener('input', () => say(''));
  showTexts();
}
