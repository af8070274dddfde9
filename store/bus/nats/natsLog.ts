// What streams told, kept by NATS JetStream: one stream for each lake, in the order in which it was told.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  connect,
  type ConnectionOptions,
  nanos,
  type NatsConnection,
} from '@nats-io/transport-node';
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  jetstream,
  type JetStreamManager,
  jetstreamManager,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { BusSettings } from '../../base/settings/busSettings.ts';
import { monotonicMs } from '../../base/clock.ts';
import { entriesText } from '../logEntries.ts';
import type { LogStore } from '../topicLog.ts';
import { SoleWriter } from './soleWriter.ts';

/** How long messages are kept, and how much of them. Older ones go first. */
const KEPT_MS = 300_000;
const KEPT_BYTES = 64 * 1024 ** 2;
/** Whoever listens waits so long at most for messages to be kept; then they go on without. */
const ACK_MS = 1_000;
const ASK_MS = 2_000;
/** No answer is waited for so long: the process was stopped, and another one may have taken its place. */
const SLEPT_MS = ACK_MS + 3 * ASK_MS;
/** 300,000 messages, of 1,000 a second for five minutes, take 4 s. */
const READ_MS = 30_000;
/** Bytes on their way to the server. */
const WAITING_BYTES_MAX = 16 * 1024 ** 2;
const AGAIN_MS = 1_000;
/** Of JetStream: there is no such stream. */
const NO_STREAM = 10_059;
/** Of JetStream: another message came behind the one that was told. */
const WRONG_LAST = 10_071;
/** No entry. */
const NOTHING = entriesText([]);

type Opened = NonNullable<Awaited<ReturnType<LogStore['open']>>>;

interface NatsLogParts {
  readonly settings: BusSettings;
  /** Names the stream. */
  readonly lake: string;
  readonly onFault: (reason: unknown) => void;
  /** As long as a process takes to find out that it does not serve any more, unless a test says less. */
  readonly fenceMs?: number;
}

export class NatsLog implements LogStore {
  readonly #parts: NatsLogParts;
  readonly #name: string;
  readonly #subject: string;
  #connection: NatsConnection | undefined;
  /** Undefined while it is to be asked for. */
  #tag: string | undefined;
  /** Shared by those who ask at once, so that they go on in their order. */
  #opening: Promise<Opened | undefined> | undefined;
  readonly #writer: SoleWriter;
  #isTaken = false;
  #waitingBytes = 0;
  #isAway = true;
  #isClosed = false;
  readonly #connecting: Promise<void>;

  constructor(parts: NatsLogParts) {
    this.#parts = parts;
    this.#writer = new SoleWriter(monotonicMs, parts.fenceMs);
    const lake = parts.lake.replaceAll(/[^A-Za-z0-9-]/g, '');
    this.#name = `TAPEDECK_${lake}`;
    this.#subject = `tapedeck.${lake}.told`;
    this.#connecting = this.#connect();
  }

  /** Whether it can be asked. */
  get isHere(): boolean {
    return !this.#isAway;
  }

  async open(): Promise<Opened | undefined> {
    this.#opening ??= this.#asked(async (manager, connection) => {
      const { created, state } = await this.#stream(manager);
      const tag = tagOf(created);
      const last = this.#isTaken ? state.last_seq : await this.#taken(connection, state.last_seq);
      this.#isTaken = true;
      this.#writer.found(tag, last);
      this.#tag = tag;
      return { tag, first: state.first_seq, last };
    }).finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  /**
   * From here on it is this process that writes: whoever did before is refused, and finds that out.
   * @returns the sequence of what says so
   */
  async #taken(connection: NatsConnection, found: number): Promise<number> {
    for (let lastSequence = found; ;) {
      const options = { timeout: ACK_MS, retries: 0, expect: { lastSequence } };
      try {
        return (await jetstream(connection).publish(this.#subject, NOTHING, options)).seq;
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || error.code !== WRONG_LAST) throw error;
        // The last word of the former one.
        const manager = await jetstreamManager(connection, { timeout: ASK_MS });
        lastSequence = (await this.#stream(manager)).state.last_seq;
      }
    }
  }

  async read(last: number, take: (sequence: number, text: string) => void): Promise<boolean> {
    const isRead = await this.#asked(async (manager, connection) => {
      const consumer = await manager.consumers.add(this.#name, {
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.All,
        mem_storage: true,
        filter_subject: this.#subject,
        inactive_threshold: nanos(ASK_MS * 5),
      });
      if (consumer.num_pending === 0) return true;
      const reader = await jetstream(connection).consumers.get(this.#name, consumer.name);
      const options = { max_messages: consumer.num_pending, expires: READ_MS };
      let sequence = 0;
      for await (const message of await reader.fetch(options)) {
        sequence = message.seq;
        if (sequence <= last) take(sequence, message.string());
        if (message.info.pending === 0 || sequence >= last) break;
      }
      await manager.consumers.delete(this.#name, consumer.name);
      return sequence >= last;
    });
    return isRead ?? false;
  }

  async append(text: string): ReturnType<LogStore['append']> {
    const bytes = Buffer.from(text);
    const connection = this.#connection;
    const isFull = this.#waitingBytes + bytes.length > WAITING_BYTES_MAX;
    if (connection === undefined || this.#isAway || isFull) return undefined;
    this.#waitingBytes += bytes.length;
    const sinceMs = monotonicMs();
    try {
      const tag = this.#tag ?? (await this.open())?.tag;
      if (tag === undefined) return undefined;
      const sequence = await this.#publish(connection, bytes);
      return sequence === undefined ? await this.#unsure() : { tag, sequence };
    } catch (error) {
      // It may be another one, or none, when it is asked next.
      this.#tag = undefined;
      this.#parts.onFault(error);
      if (monotonicMs() - sinceMs > SLEPT_MS) this.#writer.overtaken();
      return await this.#unsure();
    } finally {
      this.#waitingBytes -= bytes.length;
    }
  }

  /** Where another one may serve, readers hear from it what this one would tell: by then it has ended. */
  async #unsure(): Promise<undefined> {
    if (this.#writer.fencedMs > 0) await sleep(this.#writer.fencedMs, undefined, { ref: false });
  }

  /** Undefined where another one writes. */
  async #publish(connection: NatsConnection, bytes: Buffer): Promise<number | undefined> {
    const lastSequence = this.#writer.begin();
    if (lastSequence === undefined) return undefined;
    const options = { timeout: ACK_MS, retries: 0, expect: { lastSequence } };
    try {
      const { seq } = await jetstream(connection).publish(this.#subject, bytes, options);
      this.#writer.kept(seq);
      return seq;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === WRONG_LAST) this.#writer.refused();
      else this.#writer.lost();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = this.#connection;
    if (connection !== undefined) {
      // A server that does not answer is not waited for.
      const late = sleep(this.#isAway ? 0 : ACK_MS, undefined, { ref: false });
      await Promise.race([connection.drain().catch(() => undefined), late]);
      await connection.close();
    }
    await this.#connecting;
  }

  /** Until it is there, or nobody wants it any more: a server works without. */
  async #connect(): Promise<void> {
    const options = {
      ...howToReach(this.#parts.settings),
      pingInterval: 5e3,
      maxReconnectAttempts: -1,
      reconnectTimeWait: AGAIN_MS,
      ignoreAuthErrorAbort: true,
    };
    let told = '';
    while (!this.#isClosed) {
      try {
        const connection = await connect(options);
        this.#connection = connection;
        this.#isAway = false;
        void this.#follow(connection);
        if (this.#isClosed) await connection.close();
        return;
      } catch (error) {
        if (String(error) !== told) this.#parts.onFault(error);
        told = String(error);
        await sleep(AGAIN_MS / 4);
      }
    }
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect' || type === 'close') this.#isAway = true;
      if (type === 'disconnect') this.#parts.onFault(new Error('the connection to NATS is lost'));
      if (type !== 'reconnect') continue;
      this.#isAway = false;
      this.#tag = undefined;
    }
  }

  /** Undefined where it can't be asked, which is told. */
  async #asked<T>(
    ask: (manager: JetStreamManager, connection: NatsConnection) => Promise<T>,
  ): Promise<T | undefined> {
    const connection = this.#connection;
    if (connection === undefined || this.#isAway) return undefined;
    try {
      return await ask(await jetstreamManager(connection, { timeout: ASK_MS }), connection);
    } catch (error) {
      this.#parts.onFault(error);
      return undefined;
    }
  }

  /** Made where there is none. */
  async #stream(manager: JetStreamManager): Promise<StreamInfo> {
    try {
      return await manager.streams.info(this.#name);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== NO_STREAM) throw error;
      return manager.streams.add({
        name: this.#name,
        subjects: [this.#subject],
        max_age: nanos(KEPT_MS),
        max_bytes: KEPT_BYTES,
        discard: DiscardPolicy.Old,
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
      });
    }
  }
}

const howToReach = ({ isTls, password, servers, token, user }: BusSettings): ConnectionOptions => ({
  servers: [...servers],
  name: 'tapedeck',
  timeout: ASK_MS,
  ...(user === undefined
    ? {}
    : {
        user,
        pass: password ?? '',
      }),
  ...(token === undefined ? {} : { token }),
  ...(isTls ? { tls: {} } : {}),
});

/** What it says of itself. @throws Error where it does not answer, or has no JetStream */
export async function askNats(settings: BusSettings): Promise<{ readonly version: string }> {
  const connection = await connect({ ...howToReach(settings), reconnect: false });
  try {
    await (await jetstreamManager(connection, { timeout: ASK_MS })).getAccountInfo();
    return { version: connection.info?.version ?? '' };
  } finally {
    await connection.close();
  }
}

/** Epoch milliseconds of when it was made, which a next one of its name does not have. */
const tagOf = (created: string): string => Date.parse(created).toString(36);
