/** The rings of the program, from its messages. What a message lacks or has too much of does no harm. */

import {LiveClock} from './live-clock.js';
import {LiveRing, MOST_RINGS} from './live-ring.js';
import {finite, moment, plain} from './live-words.js';

const isTruth = (value) => typeof value === 'boolean' ? value : null;

/** The state of a ring as the page keeps it. */
function readState(message) {
  const {variability} = message;
  return {
    text: plain(message.state, 120), connected: isTruth(message.connected), rate: finite(message.rate),
    bpm: finite(message.bpm), bpmSource: message.bpm_source === 'ring' ? 'ring' : 'light', hasOwnRate: message.own_rate === true,
    fault: plain(message.fault, 40) || null, battery: finite(message.battery), charging: isTruth(message.charging),
    interval: finite(message.interval_ms), lost: finite(message.lost), gaps: finite(message.gaps), records: finite(message.records),
    variability: typeof variability !== 'object' || variability === null ? null : {
      rmssd: finite(variability.rmssd_ms), sdnn: finite(variability.sdnn_ms), window: finite(variability.window_s),
      isEstimate: variability.estimate === true,
    },
  };
}

export class LiveSession {
  /** - observers: functions by name: `began`, `introduced`, `changed`, `ended` */
  constructor(observers) {
    this.clock = new LiveClock();
    this.rings = [];
    this.program = '';
    this.host = '';
    /** Samples that this viewer did not get, as it was too slow. */
    this.missed = 0;
    this.observers = observers;
  }

  /** - arrival: on the clock of the page, in seconds */
  receive(name, message, arrival) {
    if (typeof message !== 'object' || message === null || !Object.hasOwn(ACTIONS, name)) return;
    ACTIONS[name](this, message, arrival);
  }

  /** The ring that a message is about; undefined if it was not introduced. */
  ringOf({ring}) { return this.rings.find(({index}) => index === ring); }
}

/** What a message of each name does. */
const ACTIONS = {
  hello(session, {program, host, now, time}, arrival) {
    if (moment(now) === null || finite(time) === null) return;
    Object.assign(session, {program: plain(program, 40), host: plain(host, 60)});
    const isNewRun = session.clock.set(now, time, arrival);
    if (isNewRun) Object.assign(session, {rings: [], missed: 0});
    session.observers.began(isNewRun);
  },
  ring(session, message) {
    const {ring: index} = message;
    if (!Number.isInteger(index) || index < 0 || index >= MOST_RINGS) return;
    let ring = session.ringOf(message);
    if (!ring) {
      ring = new LiveRing(index);
      session.rings = [...session.rings, ring].toSorted((one, other) => one.index - other.index);
    }
    ring.introduce(message);
    session.observers.introduced(ring);
  },
  samples(session, message, arrival) {
    const last = session.ringOf(message)?.addSamples(message, session.clock.began) ?? NaN;
    if (!Number.isNaN(last)) session.clock.hear(last, arrival);
  },
  beat(session, message) { session.ringOf(message)?.addBeat(message); },
  second(session, message) { session.ringOf(message)?.addSecond(message); },
  mark(session, message) { session.ringOf(message)?.addMark(message); },
  state(session, message, arrival) {
    const ring = session.ringOf(message);
    if (!ring) return;
    ring.setState(readState(message), session.clock.at(arrival));
    session.observers.changed(ring);
  },
  missed(session, {samples}) {
    session.missed += finite(samples) ?? 0;
    for (const ring of session.rings) ring.interrupt();
  },
  end(session, {reason}) { session.observers.ended(reason); },
};
