// Defines an endpoint: one row of the table from which routes, checks, headers, OpenAPI, the
// reference page and the authorization matrix derive (DESIGN.md idea 8).
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import type { JournalParts } from '../../jobs/upkeep/journalRoll.ts';
import type { Deliveries } from '../../jobs/deliveries/deliveries.ts';
import type { Exports } from '../../jobs/export/exports.ts';
import type { DamagedPublications } from '../../store/publications/damagedPublications.ts';
import type { FileCheck } from '../../jobs/upkeep/fileCheck.ts';
import type { Feeds } from '../../jobs/feeds/feeds.ts';
import type { FillProgress } from '../../jobs/exchange/progress.ts';
import type { FetchParts } from '../../jobs/run/fetch.ts';
import type { AlertDeliveries } from '../../jobs/deliveries/alertDeliveries.ts';
import type { Rules } from '../../jobs/rules/rules.ts';
import type { Upstreams } from '../../jobs/feeds/upstreams.ts';
import type { LoadDispatcher } from '../../jobs/remote/dispatcher.ts';
import type { Runner } from '../../jobs/run/runner.ts';
import type { Shape } from '../../market/types/shape.ts';
import type { MarketMemory } from '../../market/board/marketMemory.ts';
import type { LiveBoard } from '../../market/live/liveBoard.ts';
import type { LiveQuotes } from '../../market/live/liveQuotes.ts';
import type { Job } from '../../store/work/jobs.ts';
import type { Scheduler } from '../../jobs/schedule/scheduler.ts';
import type { WorkerPool } from '../../workers/workerPool.ts';
import type { PictureFormat } from '../../query/charts/drawing.ts';
import type { SeriesEngine } from '../../query/series/series.ts';
import type { SqlEngine } from '../../query/sql/run/run.ts';
import type { Accounts } from '../../store/accounts/accounts.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import type { BillingDays } from '../../store/ledger/billingDays.ts';
import type { Hub } from '../../store/bus/hub.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { AtCrashPoint } from '../../store/base/crashPoints.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Disk } from '../../store/base/disk.ts';
import type { Body, BodyFormat, PlainFormat } from '../../store/duckdb/protocol.ts';
import type { FileCache } from '../../store/files/bucket/fileCache.ts';
import type { FileProofs } from '../../store/files/fileProofs.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { LakeClock } from '../../store/catalog/lakeClock.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Charge } from '../../store/ledger/metering.ts';
import type { NamedQueries } from '../../store/lake/datasets/views.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';
import type { Publications } from '../../store/publications/publications.ts';
import type { QueryCursors } from '../../store/lake/history/queryCursors.ts';
import type { CatalogPlace } from '../../store/catalog/catalogPlace.ts';
import type { Scrub } from '../../store/catalog/scrub.ts';
import type { LiveSecrets } from '../../store/catalog/secrets/secrets.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { WriteKeys } from '../../store/work/writeKeys.ts';
import type { Storage } from '../../store/lake/storage.ts';
import type { RecordWatches } from '../sse/recordWatches.ts';
import type { OpenStreams } from '../sse/openStreams.ts';
import type { FailedTime } from './failedTime.ts';
import type { FailureStyle } from './failures.ts';
import type { Parameter, Values } from './parameters.ts';
import type { TestCursors } from './testCursors.ts';
import type { IngestServices } from '../../pipeline/conform/load.ts';
import type { ByteRange } from './ranges.ts';
import type { Environment } from './throttle.ts';
import type { DownloadGrants } from './downloadGrants.ts';

/** All services that an endpoint may use; created once, in main.ts. */
export interface Services {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly lakeClock: LakeClock;
  readonly database: Database;
  readonly folder: Folder;
  readonly disk: Disk;
  readonly at: AtCrashPoint;
  readonly lake: Lake;
  readonly proofs: FileProofs;
  /** Copies of the files of a bucket; undefined if the files are in the data folder. */
  readonly fileCache: FileCache | undefined;
  readonly fileCheck: FileCheck;
  /** Published files that are not served because they are damaged. */
  readonly damagedPublications: DamagedPublications;
  readonly accounts: Accounts;
  readonly adminToken: string;
  readonly ledger: Ledger;
  readonly pending: Pending;
  readonly cursors: QueryCursors;
  readonly catalog: CatalogPlace;
  readonly scrub: Scrub;
  readonly storage: Storage;
  readonly writeKeys: WriteKeys;
  readonly days: BillingDays;
  readonly series: SeriesEngine;
  readonly market: MarketMemory;
  readonly workers: WorkerPool;
  readonly sql: SqlEngine;
  readonly queries: NamedQueries;
  readonly runner: Runner;
  readonly journal: JournalParts;
  readonly ingestion: IngestServices;
  /** Dispatches loads to nodes that work on them. */
  readonly loadGiver: LoadDispatcher;
  readonly secrets: LiveSecrets;
  readonly fetching: FetchParts;
  readonly scheduler: Scheduler;
  /** Listeners that are called for each finished job. */
  readonly jobEnds: Set<(job: Job) => void>;
  readonly deliveries: Deliveries;
  readonly rules: Rules;
  readonly alertDeliveries: AlertDeliveries;
  readonly exports: Exports;
  readonly publications: Publications;
  readonly downloads: DownloadGrants;
  /** Progress of the initial load of the synthetic exchange. */
  readonly filling: FillProgress;
  readonly failedTime: FailedTime;
  readonly streams: Streaming;
  readonly upstreams: Upstreams;
}

/** Live data and their readers. */
export interface Streaming {
  readonly hub: Hub;
  readonly board: LiveBoard;
  readonly quotes: LiveQuotes;
  readonly open: OpenStreams;
  readonly feeds: Feeds;
  readonly records: RecordWatches;
  /** The log of messages for other nodes; undefined without one. */
  readonly bus?: { readonly isHere: boolean } | undefined;
  /** A replay of past data, which must not be mixed with current stored data. */
  readonly isReplay?: true;
}

/** One checked request. */
export interface Call {
  readonly requestId: string;
  /** Id of the endpoint that answers it. */
  readonly endpoint: string;
  readonly environment: Environment;
  /** A HEAD request: nothing is read, and it is free. */
  readonly bodiless: boolean;
  /** Undefined if the endpoint needs no token, or the operator's. */
  readonly caller: Caller | undefined;
  /** The actor for the audit log: the id of the token, or `admin`. */
  readonly actor: string;
  /** Must be called with the hash of a streamed body before it is used; throws if it was not signed. */
  readonly checkBody: ((bodyHash: string) => void) | undefined;
  /** Values of the path's named segments, including the version. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Values;
  /** The checked JSON body, if the endpoint declares one; for a form also a text that is not JSON. */
  readonly json: unknown;
  /** The body as a stream, if the endpoint accepts a file. */
  readonly stream: Readable;
  readonly contentLength: number | undefined;
  readonly accept: string;
  /** A browser shows or saves the answer: the request does not come from a script. */
  readonly navigates: boolean;
  /** Header If-None-Match: tags of answers that the caller has cached. */
  readonly ifNoneMatch: string;
  /** Header Range: which bytes of a file. */
  readonly range: string;
  /** Header If-Range: the version of the file that the range belongs to. */
  readonly ifRange: string;
  /** The caller's address, as far as trusted proxies report it. */
  readonly address: string;
  /** The caller of an optional token. @throws Failure for an invalid token. */
  readonly identifyCaller: () => Caller | undefined;
  /** Header Last-Event-ID: the last message that was read from a stream. */
  readonly lastEventId: string;
  /** Header Idempotency-Key: a write with it is done once; empty without the header. */
  readonly idempotencyKey: string;
  /** Registers work for the end of the answer: `whole` if all of it was handed to the network. */
  readonly atEnd: (work: (whole: boolean) => void) => void;
  /** Positions of named queries in the test environment; undefined in production. */
  readonly testCursors: TestCursors | undefined;
  /** A signal that is aborted when the caller disconnects; created on first use. */
  readonly departure: () => AbortSignal;
}

/** A published file, or a part of it. */
export interface FileAnswer {
  readonly kind: 'file';
  /** 416: the range is outside of the file. */
  readonly status: 200 | 206 | 416;
  readonly part: ByteRange;
  /** Length of the whole file. */
  readonly bytes: number;
  /** Undefined if only headers are sent. */
  readonly stream: Readable | undefined;
  readonly tag: string;
  readonly contentType: string;
  /** The name for saving: printable ASCII without quotes. */
  readonly name: string;
  readonly source: string;
  /** Must be called when the answer has ended: `whole` if its `length` bytes were handed to the network. */
  readonly onEnd: (whole: boolean, length: number) => void;
}

/** Messages without an end, until the caller disconnects. */
export interface StreamAnswer {
  readonly kind: 'stream';
  /** The id by which its caller may change the subscription. */
  readonly id: string;
  readonly datasets: readonly Dataset[];
  /** Takes over the socket, after the headers were written. */
  readonly open: (socket: Socket, isChunked: boolean) => void;
  /** Called if the stream is never opened. */
  readonly onUnopened: () => void;
}

export type Answer =
  | FileAnswer
  /** A redirect to an address of this server, below the root. */
  | {
      readonly kind: 'redirect';
      readonly location: string;
      readonly charge: Charge;
      /** The source to be credited for the target. */
      readonly source: string;
    }
  | StreamAnswer
  | {
      readonly kind: 'json';
      readonly value: unknown;
      /** `none`: without price headers. */
      readonly metering: 'free' | 'none';
      /** JSON by default. */
      readonly format?: BodyFormat | undefined;
      /** As plain text to look at, not as a file. */
      readonly plain?: boolean | undefined;
      /** JSONP function name; only with json. */
      readonly callback?: string | undefined;
    }
  /** The headers of an answer to HEAD: nothing is read, it is free and has no length. */
  | {
      readonly kind: 'unread';
      readonly format: BodyFormat;
      readonly picture?: PictureFormat | undefined;
      readonly snapshot: number;
      readonly moment: Moment;
      readonly tag: string | undefined;
      readonly datasets: readonly Dataset[];
    }
  /** The caller has cached this answer: it is free. */
  | {
      readonly kind: 'unchanged';
      readonly snapshot: number;
      readonly moment: Moment;
      readonly tag: string;
    }
  /** Text, free of charge. */
  | { readonly kind: 'text'; readonly text: string; readonly contentType: string }
  | {
      readonly kind: 'rows';
      readonly body: Body;
      readonly format: BodyFormat;
      /** The body is a chart, rendered from records in `format`. */
      readonly picture?: PictureFormat | undefined;
      /** As plain text to look at, not as a file. */
      readonly plain: boolean;
      /** JSONP function name; only with json. */
      readonly callback: string | undefined;
      readonly snapshot: number;
      /** The moment of the read: the `asOf` that returns the same answer again. */
      readonly moment: Moment;
      /** Rows after which the answer was truncated; undefined for a complete one. */
      readonly cutAt?: number | undefined;
      /** Seconds for which the caller's cache may store it. */
      readonly cacheSeconds: number | undefined;
      /** Identifies these records of this version; undefined if the next answer differs anyway. */
      readonly tag: string | undefined;
      readonly charge: Charge;
      /** The source datasets, to be credited. */
      readonly datasets: readonly Dataset[];
      /** Requested parts that the caller may not read; the rest is answered without them. */
      readonly leftOut?: readonly string[] | undefined;
    };

/**
 * The tokens that an endpoint accepts. A publishable token may read what it was granted, `granted` also
 * accepts one with the right to change it, `admin` is the operator's own.
 */
export type TokenNeed = 'none' | 'publishable' | 'granted' | 'secret' | 'admin';

/** @typeParam S services of its handler */
export interface Endpoint<S = Services> {
  /** OpenAPI operation id. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the version; trailing segments with `?` may be left out. */
  readonly path: string;
  readonly aliases?: readonly string[];
  /** Deprecated aliases, with the day of their deprecation. */
  readonly deprecated?: Readonly<Record<string, string>>;
  readonly token: TokenNeed;
  readonly summary: string;
  /** Parameters that are not declared are passed as texts: the handler checks them. */
  readonly openParameters?: true;
  /** The price of a call, for the reference. */
  readonly weight: string;
  /** It accepts the header `Idempotency-Key`. */
  readonly once?: true;
  /** Answers even when a budget or a circuit breaker stops all calls of the account. */
  readonly always?: true;
  readonly parameters: readonly Parameter[];
  /**
   * `form`: the parameters may be in a JSON body as well as in the query, as clients of the original send
   * them (INTERFACE.md 5, 6). `bytesMax`: a maximum of `bodyLimits.ts` other than that of control bodies.
   */
  readonly body?:
    | { readonly kind: 'json'; readonly schema: TSchema; readonly bytesMax?: number }
    | { readonly kind: 'form' }
    /** JSON, or any text: `Call.json` has the value or the text. */
    | { readonly kind: 'text'; readonly bytesMax?: number }
    /** Streamed bytes; `json`: of one JSON object or a list of them. */
    | { readonly kind: 'file'; readonly json?: true };
  /** JSON schema of the 200 answer. */
  readonly answer: TSchema;
  /** The exact shape of the answer, if known, for the market's document. */
  readonly shape?: Shape;
  /** The answer is a stream of events; `too`: or the JSON of `answer`, if no stream is requested. */
  readonly events?: 'only' | 'too';
  /** Formats besides JSON. */
  readonly formats?: readonly (PlainFormat | PictureFormat)[];
  /**
   * Available in the test environment too: it returns data, or information needed to request them, and
   * reveals nothing of the setup or use of production.
   */
  readonly inTest?: true;
  readonly failures: FailureStyle;
  readonly handle: (call: Call, services: S) => Promise<Answer>;
}
