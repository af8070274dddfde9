// Parses segments of the exchange's transport (INTERFACE.md 7.1): messages with their positions in the
// stream. Lost, duplicate and out-of-order messages are counted; each message is returned once.

/** Protocols of captures, by the ids of their segments. */
const PROTOCOLS: ReadonlyMap<number, string> = new Map([
  [0x8002, 'TOPS 1.5'],
  [0x8003, 'TOPS 1.6'],
  [0x8004, 'DEEP 1.0'],
]);

const HEADER_BYTES = 40;
/** Streams of one file: one for each session of a channel. */
const STREAMS_MAX = 1_000;

export interface SegmentCounts {
  readonly segments: number;
  readonly heartbeats: number;
  readonly messages: number;
  /** Messages that were never received, as a later one shows. */
  readonly missing: number;
  /** Duplicate messages. */
  readonly repeated: number;
  /** Restarts of a stream with its first message. */
  readonly resets: number;
  /** Segments of another transport, or with invalid lengths. */
  readonly damaged: number;
  readonly protocols: readonly string[];
  readonly sessions: number;
}

/** A message is in `bytes` from `start` to `end`; positions in its stream begin with 1. */
type OnMessage = (bytes: Buffer, start: number, end: number, sequence: number) => void;

interface Stream {
  /** Position of the next message. */
  next: number;
  /** Of the latest segment, nanoseconds. */
  sent: number;
}

export class SegmentReader {
  readonly #onMessage: OnMessage;
  /** By protocol and session, 48 bits. */
  readonly #streams = new Map<number, Stream>();
  readonly #protocols = new Set<number>();
  readonly #sessions = new Set<number>();
  #segments = 0;
  #heartbeats = 0;
  #messages = 0;
  #missing = 0;
  #repeated = 0;
  #resets = 0;
  #damaged = 0;

  constructor(onMessage: OnMessage) {
    this.#onMessage = onMessage;
  }

  /** Parses one UDP payload. */
  segment(bytes: Buffer, start: number, end: number): void {
    const protocol = end - start < HEADER_BYTES ? 0 : bytes.readUInt16LE(start + 2);
    if (!PROTOCOLS.has(protocol) || bytes.readUInt8(start) !== 1) {
      this.#damaged += 1;
      return;
    }
    const [length, count] = [bytes.readUInt16LE(start + 12), bytes.readUInt16LE(start + 14)];
    const from = start + HEADER_BYTES;
    if (from + length > end) {
      this.#damaged += 1;
      return;
    }
    const session = bytes.readUInt32LE(start + 8);
    this.#segments += 1;
    this.#protocols.add(protocol);
    if (this.#sessions.size < STREAMS_MAX) this.#sessions.add(session);
    if (count === 0) {
      this.#heartbeats += 1;
      return;
    }
    const first = numberAt(bytes, start + 24);
    const stream = this.#stream(protocol * 2 ** 32 + session, first, numberAt(bytes, start + 32));
    if (stream !== undefined) this.#forward(bytes, from, from + length, { count, first, stream });
  }

  counts(): SegmentCounts {
    return {
      segments: this.#segments,
      heartbeats: this.#heartbeats,
      messages: this.#messages,
      missing: this.#missing,
      repeated: this.#repeated,
      damaged: this.#damaged,
      resets: this.#resets,
      protocols: [...this.#protocols].map((id) => PROTOCOLS.get(id) ?? String(id)),
      sessions: this.#sessions.size,
    };
  }

  /** Undefined beyond the limit: duplicates could not be detected. */
  #stream(name: number, first: number, sent: number): Stream | undefined {
    const existing = this.#streams.get(name);
    if (existing === undefined) {
      if (this.#streams.size >= STREAMS_MAX) {
        this.#damaged += 1;
        return undefined;
      }
      const created = { next: first, sent };
      this.#streams.set(name, created);
      return created;
    }
    // A second line repeats earlier segments; a restarted server sends later ones.
    if (first === 1 && existing.next > 1 && sent > existing.sent) {
      existing.next = 1;
      this.#resets += 1;
    }
    existing.sent = Math.max(existing.sent, sent);
    return existing;
  }

  #forward(
    bytes: Buffer,
    from: number,
    end: number,
    { count, first, stream }: { count: number; first: number; stream: Stream },
  ): void {
    const { next } = stream;
    if (first > next) this.#missing += first - next;
    let at = from;
    for (let place = 0; place < count; place += 1) {
      const length = at + 2 > end ? 0 : bytes.readUInt16LE(at);
      if (length === 0 || at + 2 + length > end) {
        this.#damaged += 1;
        break;
      }
      const sequence = first + place;
      if (sequence < next) this.#repeated += 1;
      else {
        this.#messages += 1;
        this.#onMessage(bytes, at + 2, at + 2 + length, sequence);
      }
      at += 2 + length;
    }
    stream.next = Math.max(next, first + count);
  }
}

/** 64 bits as a number: exact below 2^53. */
export const numberAt = (bytes: Buffer, at: number): number =>
  bytes.readInt32LE(at + 4) * 4_294_967_296 + bytes.readUInt32LE(at);
