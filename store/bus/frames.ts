// Encodes the events of a stream (SPEC.md "Streaming events", INTERFACE.md 2.1): `data: [object]` and a
// blank line. Anything else is sent only on request, because a naive client breaks for ever on one comment.

const END = '\r\n\r\n';

/** @param json of one object @param id its event id, if the subscriber requested ids */
export const dataFrame = (json: string, id?: string): Buffer =>
  Buffer.from(`${id === undefined ? '' : `id: ${id}\r\n`}data: [${json}]${END}`);

/** A named event, only for subscribers that requested it. */
export const eventFrame = (name: string, value: object): Buffer =>
  Buffer.from(`event: ${name}\r\ndata: ${JSON.stringify(value)}${END}`);

/** Sent only to subscribers that requested heartbeats. */
export const HEARTBEAT = Buffer.from(`:${END}`);

/** Encodes bytes as one chunk of an HTTP/1.1 body, which all readers share. */
export const asChunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]);

const CRLF = Buffer.from('\r\n');

/** Ends a chunked body. */
export const LAST_CHUNK = Buffer.from('0\r\n\r\n');
