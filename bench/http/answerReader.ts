// Finds the end of each response in the bytes of a connection, by its length or its last chunk. Supports only
// the part of HTTP that the two sides of a bench use, because a client library costs as much as the server.

/** Called at the end of each response with its status and the beginning of its body. */
type OnAnswer = (status: number, beginning: string) => void;

const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';
/** Bytes of a body kept for the error message. */
const BEGINNING_BYTES = 300;

interface Reading {
  part: 'head' | 'body' | 'size' | 'last line';
  /** Remaining bytes of the body or of the chunk, including its line end. */
  left: number;
  chunked: boolean;
  status: number;
  beginning: string;
  /** Received part of an incomplete head or line. */
  rest: Buffer;
}

/** Parses the bytes of a connection as they arrive, one response after the other. */
export function answerReader(onAnswer: OnAnswer): (bytes: Buffer) => void {
  const reading: Reading = {
    part: 'head',
    left: 0,
    chunked: false,
    status: 0,
    beginning: '',
    rest: Buffer.alloc(0),
  };
  return (bytes) => {
    let now: Buffer = bytes;
    while (now.length > 0) {
      const took = reading.part === 'body' ? passBody(reading, now) : passText(reading, now);
      now = now.subarray(took);
      if (!isWhole(reading)) continue;
      reading.part = 'head';
      onAnswer(reading.status, reading.beginning);
    }
  };
}

const isWhole = ({ part, left, chunked }: Reading): boolean =>
  part === 'body' && left === 0 && !chunked;

/** Consumes bytes of the body; returns their number. The size of the next chunk follows a chunk. */
function passBody(reading: Reading, bytes: Buffer): number {
  const took = Math.min(reading.left, bytes.length);
  if (reading.status >= 300 && reading.beginning.length < BEGINNING_BYTES) {
    reading.beginning += bytes.toString('utf8', 0, Math.min(took, BEGINNING_BYTES));
  }
  reading.left -= took;
  if (reading.left === 0 && reading.chunked) reading.part = 'size';
  return took;
}

/** Parses a head or a line once it is complete; returns the number of consumed bytes. */
function passText(reading: Reading, bytes: Buffer): number {
  const end = reading.part === 'head' ? HEAD_END : LINE_END;
  const before = reading.rest.length;
  const all = before === 0 ? bytes : Buffer.concat([reading.rest, bytes]);
  const at = all.indexOf(end);
  if (at < 0) {
    reading.rest = Buffer.from(all);
    return bytes.length;
  }
  reading.rest = Buffer.alloc(0);
  const text = all.toString('latin1', 0, at);
  if (reading.part === 'head') beginBody(reading, text);
  else if (reading.part === 'size') beginChunk(reading, text);
  else endChunks(reading);
  return at + end.length - before;
}

function beginBody(reading: Reading, head: string): void {
  reading.status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  reading.beginning = '';
  reading.chunked = /^transfer-encoding: chunked$/im.test(head);
  reading.part = reading.chunked ? 'size' : 'body';
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  reading.left = Number(length ?? 0);
  const mayLackLength = reading.chunked || reading.status === 204 || reading.status === 304;
  if (length === undefined && !mayLackLength) throw new Error(`no length of an answer: ${head}`);
}

function beginChunk(reading: Reading, line: string): void {
  const size = Number.parseInt(line, 16);
  if (Number.isNaN(size)) throw new Error(`no size of a chunk: ${line}`);
  reading.part = size === 0 ? 'last line' : 'body';
  reading.left = size === 0 ? 0 : size + LINE_END.length;
}

function endChunks(reading: Reading): void {
  reading.part = 'body';
  reading.chunked = false;
}
