/** What the console of the browser, and tests, can use. */

import {charts} from './charts.js';
import {ARROWS} from './format.js';
import {list} from './list.js';
import {bytesOf, summaryOf, valueOf} from './packets.js';
import {packets, whole} from './session.js';
import {timeline} from './timeline.js';
import {filter, select, view} from './view.js';

export const report = {
  ARROWS, bytesOf, charts, filter, list, packets, select, summaryOf, timeline, valueOf, view, whole,
};
