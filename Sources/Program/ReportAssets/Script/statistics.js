/** The statistics of the capture, as `decode --summary` prints them. */

import {element, make} from './elements.js';
import {capture} from './session.js';

/** The blocks of a text: a line without indentation begins one, and is its title. */
function blocksOf(text) {
  const blocks = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith(' ') && blocks.length > 0) blocks.at(-1).lines.push(line.slice(2));
    else blocks.push({title: line, lines: []});
  }
  return blocks;
}

function lineItem(line) {
  const item = make('li', {}, line.trimStart());
  item.style.marginLeft = `${line.length - line.trimStart().length}ch`;
  return item;
}

/** Fills the dialog when it is opened for the first time, and opens it. */
function show() {
  const dialog = element('statistics');
  if (!dialog.querySelector('section')) {
    for (const {title, lines} of blocksOf(capture.summary)) {
      dialog.append(make('section', {}, make('h3', {}, title), make('ul', {}, ...lines.map(lineItem))));
    }
  }
  dialog.showModal();
  dialog.scrollTop = 0;
}

export function listenToStatistics() {
  const dialog = element('statistics');
  element('show-statistics').addEventListener('click', show);
  element('hide-statistics').addEventListener('click', () => dialog.close());
  // The dialog itself is the target only outside of what is in it, and in its padding.
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
}
