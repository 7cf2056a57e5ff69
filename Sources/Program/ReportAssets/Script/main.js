/** Connects the parts of the page, and starts it. */

import {addFilters, listenToFilters, showFilters, showHead} from './controls.js';
import {detail} from './detail.js';
import {listenToKeys} from './keys.js';
import {list} from './list.js';
import {isDetailPage, leaveDetailPage, listenToPages, showDetailPage} from './pages.js';
import {showPlots} from './plots.js';
import {report} from './report.js';
import {listenToStatistics} from './statistics.js';
import {observe, readFragment, view} from './view.js';

function enterList() {
  if (!view.shown.includes(view.selected)) list.move(0);
  list.box.focus();
}

function leaveDetail() {
  if (isDetailPage()) leaveDetailPage();
  list.box.focus();
}

function showList() {
  list.measure();
  list.reveal(view.selected);
  list.draw();
}

observe('selection', () => { list.reveal(view.selected); list.draw(); detail.draw(); });
observe('filters', () => {
  showFilters();
  list.box.scrollTop = 0;
  showList();
  detail.draw();
});

list.addHeadings();
addFilters();
showHead();
showPlots();
listenToStatistics();
listenToPages(() => { showList(); detail.draw(); });
list.listen(showDetailPage, () => { showDetailPage(); detail.focus(); });
detail.listen(leaveDetail);
listenToFilters(enterList);
listenToKeys();
addEventListener('hashchange', readFragment);
readFragment();
list.box.focus();

/** The only global name. */
globalThis.report = report;
