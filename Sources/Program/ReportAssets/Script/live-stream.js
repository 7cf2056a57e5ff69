/** The connection to the program: it reads its messages, and connects again whenever it ends. */

import {EventReader} from './live-events.js';
import {refusalOf} from './live-words.js';

/** Seconds to the next attempt: at first, and after so many that failed. */
const SOON = 2;
const LATER = 10;
const HASTY = 5;
/** The program says the state of a ring once a second. After so long without, in milliseconds, nobody is there. */
const SILENCE = 8000;
export class LiveStream {
  /**
   * - receive: called with the name and the content of each message
   * - tell: called with each change: `open`, or why it is not, and the seconds to the next attempt
   */
  constructor(receive, tell) {
    this.receive = receive;
    this.tell = tell;
    this.failures = 0;
    this.abort = null;
    this.heard = 0;
    this.timer = 0;
    /** Whether the next attempt does not wait. */
    this.isUrgent = false;
    setInterval(() => this.check(), 1000);
  }

  /** Connects now. */
  async connect() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.abort = new AbortController();
    this.heard = performance.now();
    const refusal = await this.follow(this.abort.signal).catch(() => '');
    this.abort = null;
    this.failures += 1;
    const pause = this.failures > HASTY ? LATER : SOON;
    const wait = this.isUrgent ? 0 : pause;
    this.isUrgent = false;
    this.timer = setTimeout(() => this.connect(), wait * 1000);
    this.tell({isOpen: false, refusal, wait});
  }

  /** Reads messages until the connection ends. Returns why it was refused, or an empty text. */
  async follow(signal) {
    const answer = await fetch('events', {headers: {Accept: 'text/event-stream'}, cache: 'no-store', signal});
    if (!answer.ok) {
      // A link that is no longer valid seldom becomes so again.
      if (answer.status === 404) this.failures = HASTY;
      return refusalOf(answer);
    }
    this.failures = 0;
    this.tell({isOpen: true, refusal: '', wait: 0});
    const reader = new EventReader((name, text) => this.take(name, text));
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let isGood = true; isGood;) {
      // The pieces come one after the other.
      // oxlint-disable-next-line no-await-in-loop
      const {done, value} = await pieces.read();
      this.heard = performance.now();
      isGood = !done && reader.read(value);
    }
    this.abort?.abort();
    return '';
  }

  take(name, text) {
    let message = null;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    this.receive(name, message);
  }

  /** Ends a connection on which nothing comes any more; connects at once after the page was hidden. */
  check(isUrgent = false) {
    if (this.abort && performance.now() - this.heard > SILENCE) {
      this.isUrgent = isUrgent;
      this.abort.abort();
    } else if (isUrgent && this.timer) {
      this.connect();
    }
  }
}
