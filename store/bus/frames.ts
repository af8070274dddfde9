// What goes over the wire of a stream (SPEC.md "Streaming events", INTERFACE.md 2.1): `data: [object]`, a
// blank line, and nothing else that nobody asked for. A naive client breaks for ever on one comment.

const END = '\r\n\r\n';

/** @param json of one object @param id told before it, where the subscriber asked for ids */
export const dataFrame = (json: string, id?: string): Buffer =>
  Buffer.from(`${id === undefined ? '' : `id: ${id}\r\n`}data: [${json}]${END}`);

/** Only for who asked for events by name. */
export const eventFrame = (name: string, value: object): Buffer =>
  Buffer.from(`event: ${name}\r\ndata: ${JSON.stringify(value)}${END}`);

/** Only for who asked for heartbeats. */
export const HEARTBEAT = Buffer.from(`:${END}`);

/** Bytes as one chunk of an HTTP/1.1 body: made once, they are the same for every reader. */
export const asChunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]);

const CRLF = Buffer.from('\r\n');

/** Ends a body of chunks. */
export const LAST_CHUNK = Buffer.from('0\r\n\r\n');
