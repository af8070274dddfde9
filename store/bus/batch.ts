// A batch of messages for many subscribers, whose bytes are joined only once.
import { asChunk } from './frames.ts';

/** One encoded message. */
export interface Frame {
  readonly symbol: string;
  readonly bytes: Buffer;
}

export class Batch {
  readonly frames: readonly Frame[];
  #bytes: Buffer | undefined;
  #chunk: Buffer | undefined;

  constructor(frames: readonly Frame[]) {
    this.frames = frames;
  }

  get bytes(): Buffer {
    this.#bytes ??=
      this.frames.length === 1
        ? (this.frames[0]?.bytes ?? Buffer.alloc(0))
        : Buffer.concat(this.frames.map(({ bytes }) => bytes));
    return this.#bytes;
  }

  /** The bytes as a chunk of an HTTP/1.1 body. */
  get chunk(): Buffer {
    this.#chunk ??= asChunk(this.bytes);
    return this.#chunk;
  }

  /** The first `count` messages. */
  firstFrames(count: number): Batch {
    return count >= this.frames.length ? this : new Batch(this.frames.slice(0, count));
  }
}
