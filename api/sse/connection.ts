// Runs one open stream: messages written to its socket are charged, and a slow reader is disconnected, or its
// messages are conflated to the latest.
import type { Socket } from 'node:net';
import { Batch, type Frame } from '../../store/bus/batch.ts';
import { asChunk, eventFrame, HEARTBEAT, LAST_CHUNK } from '../../store/bus/frames.ts';
import type { Group, Subscriber, Subscription } from '../../store/bus/group.ts';
import type { Hub } from '../../store/bus/hub.ts';
import type { SnapshotBuffer } from '../../reads/live/snapshotBuffer.ts';
import type { MessageMeter } from './meter.ts';

/** Maximum bytes buffered for a reader, and for a reader of all symbols. */
const WAITING_BYTES_MAX = 1024 ** 2;
const FIREHOSE_WAITING_BYTES_MAX = 8 * 1024 ** 2;
/** Maximum messages that wait to be charged, at most for the lease of another node; with more it is slow. */
const UNCHARGED_MAX = 10_000;
/** Intervals of settling charges and of checking the token. */
const SETTLE_MS = 10_000;
const CHECK_MS = 5_000;

/** Why a stream ended, as sent to clients with `events`. */
export type EndReason =
  'quota' | 'token' | 'slow' | 'stopping' | 'closed' | 'source' | 'permission';

/** Returns the latest messages of a symbol as JSON, one for each channel that has any. */
export type LatestMessages = (symbol: string) => readonly string[];

interface ConnectionParts {
  readonly socket: Socket;
  /** False for HTTP/1.0, which has no chunks. */
  readonly isChunked: boolean;
  readonly hub: Hub;
  readonly meter: MessageMeter;
  readonly subscription: Subscription;
  readonly newest: LatestMessages;
  /** The buffer that is subscribed since the moment of the latest messages. */
  readonly gathering: SnapshotBuffer | undefined;
  /** Sends gaps, notices and the end as named events. */
  readonly events: boolean;
  /** 0 for none. */
  readonly heartbeatMs: number;
  /** Whether the token still has access. */
  readonly isAllowed: () => boolean;
  readonly nowMs: number;
  readonly onEnd: (reason: EndReason) => void;
}

export class StreamConnection implements Subscriber {
  readonly #parts: ConnectionParts;
  #group: Group;
  /** The current subscriber of the group. */
  #subscriber: SnapshotBuffer | this;
  #newest: LatestMessages;
  /** Symbols whose latest message is sent when the reader has room again, with the message if it is known. */
  readonly #missed = new Map<string, Frame | undefined>();
  #isOpen = true;
  /** Total messages at each of the last minutes, oldest first. */
  readonly #minutes: { readonly ms: number; readonly messages: number }[] = [];
  #hasWritten = false;
  #writtenMs: number;
  #settledMs: number;
  #checkedMs: number;

  #uncharged: Frame[] = [];

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#newest = parts.newest;
    this.#writtenMs = this.#settledMs = this.#checkedMs = parts.nowMs;
    this.#subscriber = parts.gathering ?? this;
    this.#group = parts.gathering?.group ?? parts.hub.join(parts.subscription, this);
    parts.socket.on('drain', () => this.#catchUp());
    parts.socket.once('close', () => this.end('closed'));
  }

  get subscription(): Subscription {
    return this.#group.subscription;
  }

  /** Bytes that a full reader is behind; 0 for a conflated stream. */
  get queuedBytes(): number {
    const isBehind = this.subscription.intervalMs === 0 && this.#isFull();
    return isBehind ? this.#parts.socket.writableLength : 0;
  }

  get messages(): number {
    return this.#parts.meter.charged;
  }

  /** Messages per hour, over the last hour or since the stream was opened. */
  hourly(nowMs: number): number {
    const [since = { ms: this.#parts.nowMs, messages: 0 }] = this.#minutes;
    const elapsed = Math.max(1_000, nowMs - since.ms);
    return Math.round(((this.messages - since.messages) / elapsed) * 3_600_000);
  }

  /** Sends the messages missed since an id, and the number of those that are not buffered any more. */
  resume(id: string): void {
    const { frames, gap } = this.#group.resumeAfter(id, this.#subscriber);
    if (gap !== 0) this.#sendEvent('gap', { messages: gap });
    if (frames.length > 0) this.take(new Batch(frames));
    // The buffered messages are among them.
    this.#parts.gathering?.open(this);
  }

  /** Sends the messages received since the moment of the latest messages. */
  sendGathered(gathering = this.#parts.gathering): void {
    const batches = gathering === undefined ? [] : gathering.open(this);
    if (batches === undefined) this.end('slow');
    for (const batch of batches ?? []) this.take(batch);
  }

  /** Sends the latest messages of these symbols. */
  sendNewest(symbols: Iterable<string>): void {
    for (const symbol of symbols) this.#missed.set(symbol, undefined);
    this.#catchUp();
  }

  /** Sends past messages. */
  sendPast(messages: readonly { readonly symbol: string; readonly json: string }[]): void {
    if (messages.length === 0) return;
    this.take(new Batch(messages.map(({ json, symbol }) => this.#group.createFrame(symbol, json))));
  }

  /** Replaces the subscription. */
  change(subscription: Subscription, newest: LatestMessages, gathering?: SnapshotBuffer): void {
    if (!this.#isOpen) return gathering?.drop();
    this.#parts.hub.leave(this.#group, this.#subscriber);
    this.#newest = newest;
    this.#subscriber = gathering ?? this;
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

  /** Checks token, quota and heartbeat; called about once a second. */
  check(nowMs: number): void {
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
      this.#writeRaw(HEARTBEAT);
    }
  }

  end(reason: EndReason): void {
    if (!this.#isOpen) return;
    this.#sendEvent('end', { reason });
    this.#isOpen = false;
    const { hub, isChunked, meter, onEnd, socket } = this.#parts;
    hub.leave(this.#group, this.#subscriber);
    meter.close();
    if (reason === 'slow') socket.destroy();
    else if (!socket.destroyed) socket.end(isChunked ? LAST_CHUNK : '');
    onEnd(reason);
  }

  #write(batch: Batch): void {
    // Earlier messages are still waiting.
    if (this.#uncharged.length > 0) return this.#queueUncharged(batch.frames);
    const paid = this.#parts.meter.pay(batch.frames.length);
    if (paid > 0) {
      const sent = batch.firstFrames(paid);
      this.#parts.socket.write(this.#parts.isChunked ? sent.chunk : sent.bytes);
      this.#hasWritten = true;
    }
    if (paid === batch.frames.length) return;
    const { room } = this.#parts.meter;
    if (room === undefined) return this.end('quota');
    this.#queueUncharged(batch.frames.slice(paid));
    void room.then(() => {
      const frames = this.#uncharged;
      this.#uncharged = [];
      if (this.#isOpen) this.#write(new Batch(frames));
    });
  }

  /** Queues messages until quota leased to other nodes is returned. */
  #queueUncharged(frames: readonly Frame[]): void {
    this.#uncharged.push(...frames);
    if (this.#uncharged.length > UNCHARGED_MAX) this.end('slow');
  }

  /** Sends missed messages while the reader has room. */
  #catchUp(): void {
    while (this.#missed.size > 0 && this.#isOpen && !this.#isFull()) {
      const frames: Frame[] = [];
      for (const [symbol, frame] of this.#missed) {
        this.#missed.delete(symbol);
        if (frame !== undefined) frames.push(frame);
        else
          frames.push(...this.#newest(symbol).map((json) => this.#group.createFrame(symbol, json)));
        if (frames.length >= FRAMES_BATCH_SIZE) break;
      }
      if (frames.length > 0) this.#write(new Batch(frames));
    }
  }

  #isFull(): boolean {
    const isFirehose = this.subscription.symbols === undefined;
    const most = isFirehose ? FIREHOSE_WAITING_BYTES_MAX : WAITING_BYTES_MAX;
    return this.#parts.socket.writableLength > most;
  }

  #sendEvent(name: string, value: object): void {
    if (this.#parts.events && this.#isOpen) this.#writeRaw(eventFrame(name, value));
  }

  #writeRaw(bytes: Buffer): void {
    if (this.#parts.socket.destroyed) return;
    this.#parts.socket.write(this.#parts.isChunked ? asChunk(bytes) : bytes);
  }
}

const HOUR_MINUTES = 60;

/** Messages built for one reader before they are written. */
const FRAMES_BATCH_SIZE = 100;
