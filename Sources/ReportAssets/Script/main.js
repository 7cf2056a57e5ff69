/** Connects the parts of the page, and starts it. */

import {addFilters, listenToFilters, showFilters, showHead} from './controls.js';
import {detail} from './detail.js';
import {ARROWS} from './format.js';
import {list} from './list.js';
import {bytesOf, summaryOf, valueOf} from './packets.js';
import {element, packets, whole} from './session.js';
import {timeline} from './timeline.js';
import {listenToTimeline} from './timeline-input.js';
import {clearFilters, filter, observe, readFragment, select, view} from './view.js';

function enterList() {
  if (!view.shown.includes(view.selected)) list.move(0);
  list.box.focus();
}

/** The keys that work in every part of the page: / searches, Escape leaves a field or clears the filters. */
function handleKey(event) {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    element('query').select();
  } else if (event.key === 'Escape') {
    if (isTyping) list.box.focus();
    else clearFilters();
  }
}

observe('selection', () => {
  list.reveal(view.selected);
  list.draw();
  detail.draw();
  timeline.draw();
});
observe('filters', () => {
  showFilters();
  list.measure();
  list.box.scrollTop = 0;
  list.reveal(view.selected);
  list.draw();
  timeline.draw();
});

addFilters();
showHead();
listenToTimeline();
list.listen(() => detail.focus());
detail.listen(() => list.box.focus());
listenToFilters(enterList);
document.addEventListener('keydown', handleKey);
addEventListener('hashchange', readFragment);
readFragment();
list.box.focus();

/** The only global name: for the console of the browser, and for tests. */
globalThis.report = {
  ARROWS, bytesOf, filter, list, packets, select, summaryOf, timeline, valueOf, view, whole,
};
