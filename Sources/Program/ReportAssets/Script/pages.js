/** In a narrow window, the list and the selected packet are two pages. The way back is a button, Escape, or Back. */

import {element} from './elements.js';
import {size} from './style.js';
import {writeFragmentNow} from './view.js';

const NAME = 'detail';

/** Whether the selected packet has a page of its own: the style sheet decides. */
const isNarrow = () => size('pages') === 2;

export const isDetailPage = () => isNarrow() && document.body.dataset.page === NAME;

/** Shows the page of the selected packet, if it has one. */
export function showDetailPage() {
  if (!isNarrow() || isDetailPage()) return;
  writeFragmentNow();
  history.pushState(NAME, '', location.href);
  document.body.dataset.page = NAME;
  element('back').focus();
}

/** Goes back to the list. */
export function leaveDetailPage() {
  if (history.state === NAME) history.back();
  else document.body.dataset.page = 'list';
}

/** - draw: called after each change of the page, and of what a narrow window is */
export function listenToPages(draw) {
  addEventListener('popstate', () => {
    const page = history.state ?? 'list';
    if (page === (document.body.dataset.page ?? 'list')) return;
    // The packet that was selected last stays selected.
    writeFragmentNow();
    document.body.dataset.page = page;
    draw();
    element(page).focus();
  });
  let wasNarrow = isNarrow();
  addEventListener('resize', () => {
    if (wasNarrow === isNarrow()) return;
    wasNarrow = isNarrow();
    draw();
  });
}
