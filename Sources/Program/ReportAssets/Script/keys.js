/** The keys that work in every part of the page. */

import {selectOfHandle} from './detail-head.js';
import {element} from './elements.js';
import {list} from './list.js';
import {isDetailPage, leaveDetailPage} from './pages.js';
import {clearFilters} from './view.js';

const actions = {'/': () => element('query').select(), n: () => selectOfHandle(1), p: () => selectOfHandle(-1)};

/** Leaves a field, or the page of the packet, or clears the filters. */
function leave(isTyping) {
  if (isTyping) list.box.focus();
  else if (isDetailPage()) leaveDetailPage();
  else clearFilters();
}

function handleKey(event) {
  if (element('statistics').open) return;
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === 'Escape') leave(isTyping);
  const action = actions[event.key];
  if (!action || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}

export function listenToKeys() {
  document.addEventListener('keydown', handleKey);
}
