/** The clock of the program: times `t` in seconds, what they are in the time of day, and which one is shown now. */

/** Two runs of the program begin more than this apart, in milliseconds. */
const SAME_RUN = 2000;
/** The part of a message's delay that is believed to be a clock that runs apart, and not a slow network. */
const DRIFT = .005;
/** A difference beyond this, in seconds, is of a clock that was set or stood still. */
const JUMP = 10;

const two = (number) => String(number).padStart(2, '0');

export class LiveClock {
  constructor() {
    /** Milliseconds since 1970 at t = 0; null before the program has said it. */
    this.epoch = null;
    /** The clock of the page less that of the program, in seconds, by the quickest messages. */
    this.skew = 0;
    /** The time of the last `hello`: what is said of times before it comes late. */
    this.began = -Infinity;
  }

  /**
   * - now, time: the two clocks of the program, as `hello` has them
   * - arrival: on the clock of the page, in seconds
   *
   * Returns whether the program has begun anew since the last one.
   */
  set(now, time, arrival) {
    const epoch = time - now * 1000;
    const isNewRun = this.epoch !== null && Math.abs(epoch - this.epoch) > SAME_RUN;
    this.epoch = epoch;
    this.skew = arrival - now;
    this.began = now;
    return isNewRun;
  }

  /** Takes note of a message about the time `t` that arrives now. */
  hear(t, arrival) {
    if (t < this.began) return;
    const skew = arrival - t;
    const isTaken = skew < this.skew || skew - this.skew > JUMP;
    this.skew = isTaken ? skew : this.skew + (skew - this.skew) * DRIFT;
  }

  /** The time `t` at a time of the page. */
  at(arrival) { return arrival - this.skew; }

  /** The time of day: `14:03`, or `14:03:27`; empty as long as it is not known. */
  text(t, hasSeconds = false) {
    const date = new Date((this.epoch ?? NaN) + t * 1000);
    if (Number.isNaN(date.getTime())) return '';
    const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
    return hasSeconds ? `${minutes}:${two(date.getSeconds())}` : minutes;
  }

  /** How far the time of day at `t` is behind the last whole day, in seconds: where round times are. */
  secondOfDay(t) {
    const date = new Date(this.epoch + t * 1000);
    return date.getHours() * 3600 + date.getMinutes() * 60 + date.getSeconds() + date.getMilliseconds() / 1000;
  }
}
