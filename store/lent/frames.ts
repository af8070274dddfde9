// Messages of a query process over a socket between two nodes: each behind its length, as V8 writes values.
import { deserialize, serialize } from 'node:v8';
import type { Socket } from 'node:net';
import type { FromChild, Request } from '../duckdb/protocol.ts';

/** To the node that lends the process. */
export type ToLender =
  | {
      readonly kind: 'request';
      readonly request: Request;
      /** What the paths of files begin with, which the lender has elsewhere. */
      readonly lake: string;
    }
  | { readonly kind: 'interrupt'; readonly id: number };

/** From it; pieces of a body that is a file come before the answer that has it. */
export type FromLender =
  FromChild | { readonly kind: 'piece'; readonly id: number; readonly bytes: Uint8Array };

/** A body of `BODY_BYTES_MAX` with what is around it; nobody sends more. */
const FRAME_BYTES_MAX = 128 * 1024 ** 2;
const LENGTH_BYTES = 4;

export function frameOf(message: object): Buffer {
  const body = serialize(message);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(body.length);
  return Buffer.concat([length, body]);
}

/** Messages as they come. @throws RangeError for one that is longer than any may be */
export async function* framesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<unknown, void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let wanted: number | undefined;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    while (bytes >= (wanted ?? LENGTH_BYTES)) {
      const all: Buffer =
        parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
      const taken = wanted ?? LENGTH_BYTES;
      if (wanted === undefined) {
        wanted = all.readUInt32LE();
        if (wanted > FRAME_BYTES_MAX) throw new RangeError(`a message of ${wanted} bytes`);
      } else {
        wanted = undefined;
        yield deserialize(all.subarray(0, taken)) as unknown;
      }
      parts = [all.subarray(taken)];
      bytes = all.length - taken;
    }
  }
}

/** With all that is written in this turn: a message and its answer take 34 µs of a loop, mostly below. */
export function writeTogether(socket: Socket, frame: Buffer): void {
  if (socket.writableCorked === 0) {
    socket.cork();
    process.nextTick(() => socket.uncork());
  }
  socket.write(frame);
}

/** Until more may be written, or nothing any more. */
export async function drained(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const go = (): void => {
      socket.off('drain', go).off('close', go);
      resolve();
    };
    socket.once('drain', go).once('close', go);
  });
}
