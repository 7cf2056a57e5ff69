/** Reads messages (text/event-stream) from pieces of text. */

/** The longest message, in characters. */
const LONGEST_MESSAGE = 1 << 20;

export class EventReader {
  /** - receive: called with the name and the text of each message */
  constructor(receive) {
    this.receive = receive;
    this.pending = '';
    this.name = '';
    this.data = [];
  }

  /** Returns false if a message is too long to be one. */
  read(piece) {
    const lines = (this.pending + piece).split(/\r\n|\n/u);
    this.pending = lines.pop();
    for (const line of lines) this.take(line);
    return this.pending.length <= LONGEST_MESSAGE;
  }

  take(line) {
    if (line === '') {
      if (this.data.length > 0) this.receive(this.name, this.data.join('\n'));
      this.name = '';
      this.data = [];
      return;
    }
    const [, field, value] = /^(?<field>[^:]*):? ?(?<value>.*)$/u.exec(line) ?? [];
    if (field === 'event') this.name = value;
    else if (field === 'data') this.data.push(value);
  }
}
