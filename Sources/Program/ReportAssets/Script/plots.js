/** The timeline, the charts and what stands over them, on one scale. */

import {charts} from './charts.js';
import {drawOverlay} from './overlay.js';
import {timeline} from './timeline.js';
import {listenToPointer, listenToTimeline} from './timeline-input.js';
import {observe, view} from './view.js';

function drawPlots() {
  timeline.draw();
  charts.draw();
  drawOverlay();
}

/** Draws them after each change, from now on. */
export function showPlots() {
  observe('selection', () => { drawOverlay(); charts.read(view.selected?.time ?? null); });
  observe('filters', drawPlots);
  observe('charts', () => { charts.update(listenToPointer); drawPlots(); });
  listenToTimeline(drawPlots);
  charts.listen();
}
