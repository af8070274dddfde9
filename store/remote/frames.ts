// Encodes messages between nodes: a length prefix, then the value in V8 serialization.
import { deserialize, serialize } from 'node:v8';
import type { Socket } from 'node:net';
import type { FromChild, Request } from '../duckdb/protocol.ts';

/** Messages to the node that runs the process. */
export type ToExecutor =
  | {
      readonly kind: 'request';
      readonly request: Request;
      /** Path prefix of the files, which the executing node replaces by its own folder. */
      readonly lake: string;
    }
  | { readonly kind: 'interrupt'; readonly id: number };

/** Messages from it; the pieces of a body that is a file precede its answer. */
export type FromExecutor =
  FromChild | { readonly kind: 'piece'; readonly id: number; readonly bytes: Uint8Array };

/** Limit of one message: a body of `BODY_BYTES_MAX` and its envelope. */
const FRAME_BYTES_MAX = 128 * 1024 ** 2;
const LENGTH_BYTES = 4;

export function encodeFrame(message: object): Buffer {
  const body = serialize(message);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(body.length);
  return Buffer.concat([length, body]);
}

/** Decodes messages as they arrive. @throws RangeError for a message above `FRAME_BYTES_MAX` */
export async function* decodeFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<unknown, void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let bodyBytes: number | undefined;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    while (bytes >= (bodyBytes ?? LENGTH_BYTES)) {
      const buffered: Buffer =
        parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
      const consumed = bodyBytes ?? LENGTH_BYTES;
      if (bodyBytes === undefined) {
        bodyBytes = buffered.readUInt32LE();
        if (bodyBytes > FRAME_BYTES_MAX) throw new RangeError(`a message of ${bodyBytes} bytes`);
      } else {
        bodyBytes = undefined;
        yield deserialize(buffered.subarray(0, consumed)) as unknown;
      }
      parts = [buffered.subarray(consumed)];
      bytes = buffered.length - consumed;
    }
  }
}

/**
 * Writes all frames of one event loop turn together: a message and its answer take 34 µs of a loop, mostly
 * below.
 */
export function writeCorked(socket: Socket, frame: Buffer): void {
  if (socket.writableCorked === 0) {
    socket.cork();
    process.nextTick(() => socket.uncork());
  }
  socket.write(frame);
}

/** Resolves when the socket accepts more data, or is closed. */
export async function waitForDrain(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      socket.off('drain', finish).off('close', finish);
      resolve();
    };
    socket.once('drain', finish).once('close', finish);
  });
}
