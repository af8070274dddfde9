// One open stream: what is written to its socket is paid for, and a reader that does not read ends or gets
// only the newest.
import type { Socket } from 'node:net';
import { Batch, type Frame } from '../../store/bus/batch.ts';
import { asChunk, eventFrame, HEARTBEAT, LAST_CHUNK } from '../../store/bus/frames.ts';
import type { Group, Subscriber, Subscription } from '../../store/bus/group.ts';
import type { Hub } from '../../store/bus/hub.ts';
import type { Gathering } from './gathering.ts';
import type { MessageMeter } from './meter.ts';

/** Bytes that may wait for a reader; for the streams of all symbols. */
const WAITING_BYTES_MAX = 1024 ** 2;
const FIREHOSE_WAITING_BYTES_MAX = 8 * 1024 ** 2;
/** Messages that wait to be paid, at most as long as a lease of another node; with more it is slow. */
const UNPAID_MAX = 10_000;
/** Charges are written, and the token is asked for, so often. */
const SETTLE_MS = 10_000;
const CHECK_MS = 5_000;

/** Why a stream ended, as who asked for events is told. */
export type EndReason =
  'quota' | 'token' | 'slow' | 'stopping' | 'closed' | 'source' | 'permission';

/** The newest messages of a symbol as JSON, of each of its channels; none where there is none. */
export type Newest = (symbol: string) => readonly string[];

interface ConnectionParts {
  readonly socket: Socket;
  /** HTTP/1.0 knows no chunks. */
  readonly isChunked: boolean;
  readonly hub: Hub;
  readonly meter: MessageMeter;
  readonly subscription: Subscription;
  readonly newest: Newest;
  /** It listens already, since the moment of its newest messages. */
  readonly gathering: Gathering | undefined;
  /** Tells gaps, notices and its end by name. */
  readonly events: boolean;
  /** 0 for none. */
  readonly heartbeatMs: number;
  /** Whether the token is still one. */
  readonly isAllowed: () => boolean;
  readonly nowMs: number;
  readonly onEnd: (reason: EndReason) => void;
}

export class StreamConnection implements Subscriber {
  readonly #parts: ConnectionParts;
  #group: Group;
  /** Who listens for it. */
  #listening: Gathering | this;
  #newest: Newest;
  /** Symbols whose newest message is to be sent when the reader reads again, and it where it is known. */
  readonly #missed = new Map<string, Frame | undefined>();
  #isOpen = true;
  /** Messages so far at each of the last minutes, oldest first. */
  readonly #minutes: { readonly ms: number; readonly messages: number }[] = [];
  #hasWritten = false;
  #writtenMs: number;
  #settledMs: number;
  #checkedMs: number;

  #unpaid: Frame[] = [];

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#newest = parts.newest;
    this.#writtenMs = this.#settledMs = this.#checkedMs = parts.nowMs;
    this.#listening = parts.gathering ?? this;
    this.#group = parts.gathering?.group ?? parts.hub.join(parts.subscription, this);
    parts.socket.on('drain', () => this.#catchUp());
    parts.socket.once('close', () => this.end('closed'));
  }

  get subscription(): Subscription {
    return this.#group.subscription;
  }

  /** Whoever gets the newest only is never behind. */
  get behind(): number {
    const isBehind = this.subscription.intervalMs === 0 && this.#isFull();
    return isBehind ? this.#parts.socket.writableLength : 0;
  }

  get messages(): number {
    return this.#parts.meter.charged;
  }

  /** Messages of an hour as the last one went, or as long as it is open. */
  hourly(nowMs: number): number {
    const [since = { ms: this.#parts.nowMs, messages: 0 }] = this.#minutes;
    const elapsed = Math.max(1_000, nowMs - since.ms);
    return Math.round(((this.messages - since.messages) / elapsed) * 3_600_000);
  }

  /** What it missed since the message of an id, and how much of that is not held any more. */
  resume(id: string): void {
    const { frames, gap } = this.#group.after(id, this.#listening);
    if (gap !== 0) this.#tell('gap', { messages: gap });
    if (frames.length > 0) this.take(new Batch(frames));
    // What was gathered is among them.
    this.#parts.gathering?.open(this);
  }

  /** What came since the moment of the newest messages. */
  sendGathered(gathering = this.#parts.gathering): void {
    const batches = gathering === undefined ? [] : gathering.open(this);
    if (batches === undefined) this.end('slow');
    for (const batch of batches ?? []) this.take(batch);
  }

  /** The newest messages of each of these symbols, as it stands now. */
  sendNewest(symbols: Iterable<string>): void {
    for (const symbol of symbols) this.#missed.set(symbol, undefined);
    this.#catchUp();
  }

  /** Messages that were told before. */
  sendPast(messages: readonly { readonly symbol: string; readonly json: string }[]): void {
    if (messages.length === 0) return;
    this.take(new Batch(messages.map(({ json, symbol }) => this.#group.framed(symbol, json))));
  }

  /** Another subscription in place of this one. */
  change(subscription: Subscription, newest: Newest, gathering?: Gathering): void {
    if (!this.#isOpen) return gathering?.drop();
    this.#parts.hub.leave(this.#group, this.#listening);
    this.#newest = newest;
    this.#listening = gathering ?? this;
    this.#group = gathering?.group ?? this.#parts.hub.join(subscription, this);
  }

  take(batch: Batch): void {
    if (!this.#isOpen) return;
    if (!this.#isFull()) {
      this.#write(batch);
      return;
    }
    if (this.subscription.intervalMs === 0) this.end('slow');
    else for (const frame of batch.frames) this.#missed.set(frame.symbol, frame);
  }

  /** Once a second or so. */
  look(nowMs: number): void {
    if (!this.#isOpen) return;
    const { heartbeatMs, isAllowed, meter } = this.#parts;
    if (nowMs - this.#checkedMs >= CHECK_MS) {
      this.#checkedMs = nowMs;
      if (!isAllowed()) {
        this.end('token');
        return;
      }
    }
    if (nowMs - this.#settledMs >= SETTLE_MS) {
      this.#settledMs = nowMs;
      if (!meter.renew()) {
        this.end('quota');
        return;
      }
    }
    const last = this.#minutes.at(-1);
    if (last === undefined || nowMs - last.ms >= 60_000) {
      this.#minutes.push({ ms: nowMs, messages: this.messages });
      if (this.#minutes.length > HOUR_MINUTES) this.#minutes.shift();
    }
    if (this.#hasWritten) this.#writtenMs = nowMs;
    this.#hasWritten = false;
    if (heartbeatMs > 0 && nowMs - this.#writtenMs >= heartbeatMs && !this.#isFull()) {
      this.#writtenMs = nowMs;
      this.#put(HEARTBEAT);
    }
  }

  end(reason: EndReason): void {
    if (!this.#isOpen) return;
    this.#tell('end', { reason });
    this.#isOpen = false;
    const { hub, isChunked, meter, onEnd, socket } = this.#parts;
    hub.leave(this.#group, this.#listening);
    meter.close();
    if (reason === 'slow') socket.destroy();
    else if (!socket.destroyed) socket.end(isChunked ? LAST_CHUNK : '');
    onEnd(reason);
  }

  #write(batch: Batch): void {
    // Those before wait yet.
    if (this.#unpaid.length > 0) return this.#owe(batch.frames);
    const paid = this.#parts.meter.pay(batch.frames.length);
    if (paid > 0) {
      const sent = batch.upTo(paid);
      this.#parts.socket.write(this.#parts.isChunked ? sent.chunk : sent.bytes);
      this.#hasWritten = true;
    }
    if (paid === batch.frames.length) return;
    const { room } = this.#parts.meter;
    if (room === undefined) return this.end('quota');
    this.#owe(batch.frames.slice(paid));
    void room.then(() => {
      const frames = this.#unpaid;
      this.#unpaid = [];
      if (this.#isOpen) this.#write(new Batch(frames));
    });
  }

  /** They are sent when what other nodes were lent is here. */
  #owe(frames: readonly Frame[]): void {
    this.#unpaid.push(...frames);
    if (this.#unpaid.length > UNPAID_MAX) this.end('slow');
  }

  /** Sends what was missed as far as the reader takes it. */
  #catchUp(): void {
    while (this.#missed.size > 0 && this.#isOpen && !this.#isFull()) {
      const frames: Frame[] = [];
      for (const [symbol, frame] of this.#missed) {
        this.#missed.delete(symbol);
        if (frame !== undefined) frames.push(frame);
        else frames.push(...this.#newest(symbol).map((json) => this.#group.framed(symbol, json)));
        if (frames.length >= AT_ONCE) break;
      }
      if (frames.length > 0) this.#write(new Batch(frames));
    }
  }

  #isFull(): boolean {
    const isFirehose = this.subscription.symbols === undefined;
    const most = isFirehose ? FIREHOSE_WAITING_BYTES_MAX : WAITING_BYTES_MAX;
    return this.#parts.socket.writableLength > most;
  }

  #tell(name: string, value: object): void {
    if (this.#parts.events && this.#isOpen) this.#put(eventFrame(name, value));
  }

  #put(bytes: Buffer): void {
    if (this.#parts.socket.destroyed) return;
    this.#parts.socket.write(this.#parts.isChunked ? asChunk(bytes) : bytes);
  }
}

const HOUR_MINUTES = 60;

/** Messages that are made at once for one reader. */
const AT_ONCE = 100;
