// Parses server-sent events from pieces of any length.

export interface Frame {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Characters of one event; no event of this server is longer. */
const FRAME_MAX = 16 * 1024 ** 2;

/** Takes pieces, and returns the events that they complete. Comments are no events. */
export function frameReader(): (piece: string) => readonly Frame[] {
  let rest = '';
  return (piece) => {
    rest += piece;
    if (rest.length > FRAME_MAX) throw new Error(`an event is over ${FRAME_MAX} characters`);
    const frames: Frame[] = [];
    for (;;) {
      // A lone carriage return at the end may be half of a line break.
      const end = /\r\n\r\n|\n\n|\r\r(?!\n|$)/.exec(rest);
      if (end === null) return frames;
      const frame = frameOf(rest.slice(0, end.index));
      rest = rest.slice(end.index + end[0].length);
      if (frame !== undefined) frames.push(frame);
    }
  };
}

function frameOf(text: string): Frame | undefined {
  let [event, id]: [string, string | undefined] = ['message', undefined];
  const data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    const at = line.indexOf(':');
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id') id = value;
  }
  return data.length === 0 ? undefined : { event, id, data: data.join('\n') };
}
