// Stores stream messages in NATS JetStream: one stream for each lake, in the order of publication.
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
import { formatEntries } from '../logEntries.ts';
import type { LogStore } from '../topicLog.ts';
import { SoleWriter } from './soleWriter.ts';

/** Age and size limits of stored messages. The oldest are deleted first. */
const RETENTION_MS = 300_000;
const RETENTION_BYTES = 64 * 1024 ** 2;
/** Subscribers wait at most so long for messages to be stored; then they are sent anyway. */
const ACK_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 2_000;
/** No timeout is that long: the process was suspended, and another one may have taken over. */
const SUSPENDED_MS = ACK_TIMEOUT_MS + 3 * REQUEST_TIMEOUT_MS;
/** 300,000 messages, of 1,000 a second for five minutes, take 4 s. */
const READ_TIMEOUT_MS = 30_000;
/** Unacknowledged bytes sent to the server. */
const IN_FLIGHT_BYTES_MAX = 16 * 1024 ** 2;
const RETRY_DELAY_MS = 1_000;
/** JetStream error: the stream does not exist. */
const STREAM_NOT_FOUND = 10_059;
/** JetStream error: another message follows the expected last one. */
const WRONG_LAST_SEQUENCE = 10_071;
/** A message without entries. */
const EMPTY_MESSAGE = formatEntries([]);

type OpenedLog = NonNullable<Awaited<ReturnType<LogStore['open']>>>;

interface NatsLogParts {
  readonly settings: BusSettings;
  /** Part of the stream's name. */
  readonly lake: string;
  readonly onFault: (reason: unknown) => void;
  /** Time in which a process detects that it no longer serves; tests set less. */
  readonly fenceMs?: number;
}

export class NatsLog implements LogStore {
  readonly #parts: NatsLogParts;
  readonly #name: string;
  readonly #subject: string;
  #connection: NatsConnection | undefined;
  /** Undefined: the stream must be opened again. */
  #tag: string | undefined;
  /** Shared by concurrent callers, so that they continue in their order. */
  #opening: Promise<OpenedLog | undefined> | undefined;
  readonly #writer: SoleWriter;
  #isClaimed = false;
  #inFlightBytes = 0;
  #isDisconnected = true;
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

  /** Whether the server is connected. */
  get isHere(): boolean {
    return !this.#isDisconnected;
  }

  async open(): Promise<OpenedLog | undefined> {
    this.#opening ??= this.#request(async (manager, connection) => {
      const { created, state } = await this.#ensureStream(manager);
      const tag = creationTag(created);
      const last = this.#isClaimed ? state.last_seq : await this.#claim(connection, state.last_seq);
      this.#isClaimed = true;
      this.#writer.setLogState(tag, last);
      this.#tag = tag;
      return { tag, first: state.first_seq, last };
    }).finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  /**
   * Makes this process the writer: later messages of the former writer are rejected.
   * @returns the sequence of the message that claims the stream
   */
  async #claim(connection: NatsConnection, latest: number): Promise<number> {
    for (let lastSequence = latest; ;) {
      const options = { timeout: ACK_TIMEOUT_MS, retries: 0, expect: { lastSequence } };
      try {
        return (await jetstream(connection).publish(this.#subject, EMPTY_MESSAGE, options)).seq;
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || error.code !== WRONG_LAST_SEQUENCE)
          throw error;
        // The former writer has written in the meantime.
        const manager = await jetstreamManager(connection, { timeout: REQUEST_TIMEOUT_MS });
        lastSequence = (await this.#ensureStream(manager)).state.last_seq;
      }
    }
  }

  async read(last: number, take: (sequence: number, text: string) => void): Promise<boolean> {
    const isRead = await this.#request(async (manager, connection) => {
      const consumer = await manager.consumers.add(this.#name, {
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.All,
        mem_storage: true,
        filter_subject: this.#subject,
        inactive_threshold: nanos(REQUEST_TIMEOUT_MS * 5),
      });
      if (consumer.num_pending === 0) return true;
      const reader = await jetstream(connection).consumers.get(this.#name, consumer.name);
      const options = { max_messages: consumer.num_pending, expires: READ_TIMEOUT_MS };
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
    const isFull = this.#inFlightBytes + bytes.length > IN_FLIGHT_BYTES_MAX;
    if (connection === undefined || this.#isDisconnected || isFull) return undefined;
    this.#inFlightBytes += bytes.length;
    const sinceMs = monotonicMs();
    try {
      const tag = this.#tag ?? (await this.open())?.tag;
      if (tag === undefined) return undefined;
      const sequence = await this.#publish(connection, bytes);
      return sequence === undefined ? await this.#waitForFence() : { tag, sequence };
    } catch (error) {
      // The stream may have been replaced or deleted.
      this.#tag = undefined;
      this.#parts.onFault(error);
      if (monotonicMs() - sinceMs > SUSPENDED_MS) this.#writer.fence();
      return await this.#waitForFence();
    } finally {
      this.#inFlightBytes -= bytes.length;
    }
  }

  /** Waits while fenced: a new serving process sends the messages, and this process ends meanwhile. */
  async #waitForFence(): Promise<undefined> {
    if (this.#writer.fencedMs > 0) await sleep(this.#writer.fencedMs, undefined, { ref: false });
  }

  /** Publishes a message; undefined if another process writes. */
  async #publish(connection: NatsConnection, bytes: Buffer): Promise<number | undefined> {
    const lastSequence = this.#writer.beginWrite();
    if (lastSequence === undefined) return undefined;
    const options = { timeout: ACK_TIMEOUT_MS, retries: 0, expect: { lastSequence } };
    try {
      const { seq } = await jetstream(connection).publish(this.#subject, bytes, options);
      this.#writer.recordStored(seq);
      return seq;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE)
        this.#writer.recordRejected();
      else this.#writer.recordUnconfirmed();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = this.#connection;
    if (connection !== undefined) {
      // Does not wait for a server that does not answer.
      const late = sleep(this.#isDisconnected ? 0 : ACK_TIMEOUT_MS, undefined, { ref: false });
      await Promise.race([connection.drain().catch(() => undefined), late]);
      await connection.close();
    }
    await this.#connecting;
  }

  /** Retries until it is connected or closed: a server works without NATS. */
  async #connect(): Promise<void> {
    const options = {
      ...connectionOptions(this.#parts.settings),
      pingInterval: 5e3,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RETRY_DELAY_MS,
      ignoreAuthErrorAbort: true,
    };
    let lastError = '';
    while (!this.#isClosed) {
      try {
        const connection = await connect(options);
        this.#connection = connection;
        this.#isDisconnected = false;
        void this.#follow(connection);
        if (this.#isClosed) await connection.close();
        return;
      } catch (error) {
        if (String(error) !== lastError) this.#parts.onFault(error);
        lastError = String(error);
        await sleep(RETRY_DELAY_MS / 4);
      }
    }
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect' || type === 'close') this.#isDisconnected = true;
      if (type === 'disconnect') this.#parts.onFault(new Error('the connection to NATS is lost'));
      if (type !== 'reconnect') continue;
      this.#isDisconnected = false;
      this.#tag = undefined;
    }
  }

  /** Runs a request; undefined if it fails, which is reported. */
  async #request<T>(
    work: (manager: JetStreamManager, connection: NatsConnection) => Promise<T>,
  ): Promise<T | undefined> {
    const connection = this.#connection;
    if (connection === undefined || this.#isDisconnected) return undefined;
    try {
      return await work(
        await jetstreamManager(connection, { timeout: REQUEST_TIMEOUT_MS }),
        connection,
      );
    } catch (error) {
      this.#parts.onFault(error);
      return undefined;
    }
  }

  /** Reads the stream's state, and creates the stream if it is missing. */
  async #ensureStream(manager: JetStreamManager): Promise<StreamInfo> {
    try {
      return await manager.streams.info(this.#name);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== STREAM_NOT_FOUND) throw error;
      return manager.streams.add({
        name: this.#name,
        subjects: [this.#subject],
        max_age: nanos(RETENTION_MS),
        max_bytes: RETENTION_BYTES,
        discard: DiscardPolicy.Old,
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
      });
    }
  }
}

const connectionOptions = ({
  isTls,
  password,
  servers,
  token,
  user,
}: BusSettings): ConnectionOptions => ({
  servers: [...servers],
  name: 'tapedeck',
  timeout: REQUEST_TIMEOUT_MS,
  ...(user === undefined
    ? {}
    : {
        user,
        pass: password ?? '',
      }),
  ...(token === undefined ? {} : { token }),
  ...(isTls ? { tls: {} } : {}),
});

/** Reads the version of the server. @throws Error if it does not answer or has no JetStream */
export async function readNatsInfo(settings: BusSettings): Promise<{ readonly version: string }> {
  const connection = await connect({ ...connectionOptions(settings), reconnect: false });
  try {
    await (await jetstreamManager(connection, { timeout: REQUEST_TIMEOUT_MS })).getAccountInfo();
    return { version: connection.info?.version ?? '' };
  } finally {
    await connection.close();
  }
}

/** The creation time in epoch milliseconds, which differs from that of a later stream of the same name. */
const creationTag = (created: string): string => Date.parse(created).toString(36);
