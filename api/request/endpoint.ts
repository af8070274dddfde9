// What an endpoint is: one row of the table from which routes, checks, headers, OpenAPI, the
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
import type { LoadGiver } from '../../jobs/elsewhere/giving.ts';
import type { Runner } from '../../jobs/run/runner.ts';
import type { Shape } from '../../market/types/shape.ts';
import type { MarketMemory } from '../../market/board/marketMemory.ts';
import type { LiveBoard } from '../../market/live/liveBoard.ts';
import type { LiveQuotes } from '../../market/live/liveQuotes.ts';
import type { Job } from '../../store/work/jobs.ts';
import type { Scheduler } from '../../jobs/schedule/scheduler.ts';
import type { Charts } from '../../query/charts/charts.ts';
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
import type { NamedQueries } from '../../store/lake/datasets/namedQueries.ts';
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
import type { Part } from './ranges.ts';
import type { Environment } from './throttle.ts';
import type { Uses } from './uses.ts';

/** Everything an endpoint may use. Made once, in main.ts. */
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
  /** Copies of the files of a bucket; undefined where they are in the data folder. */
  readonly fileCache: FileCache | undefined;
  readonly fileCheck: FileCheck;
  /** Published files that are not handed out. */
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
  readonly charts: Charts;
  readonly sql: SqlEngine;
  readonly queries: NamedQueries;
  readonly runner: Runner;
  readonly journal: JournalParts;
  readonly ingestion: IngestServices;
  /** Nodes that work on loads. */
  readonly loadGiver: LoadGiver;
  readonly secrets: LiveSecrets;
  readonly fetching: FetchParts;
  readonly scheduler: Scheduler;
  /** Who is told of each job that has ended. */
  readonly jobEnds: Set<(job: Job) => void>;
  readonly deliveries: Deliveries;
  readonly rules: Rules;
  readonly alertDeliveries: AlertDeliveries;
  readonly exports: Exports;
  readonly publications: Publications;
  readonly downloads: Uses;
  /** What the synthetic exchange is still to load. */
  readonly filling: FillProgress;
  readonly failedTime: FailedTime;
  readonly streams: Streaming;
  readonly upstreams: Upstreams;
}

/** What is told as it happens, and to whom. */
export interface Streaming {
  readonly hub: Hub;
  readonly board: LiveBoard;
  readonly quotes: LiveQuotes;
  readonly open: OpenStreams;
  readonly feeds: Feeds;
  readonly records: RecordWatches;
  /** Where messages are kept for other nodes; undefined where they are not. */
  readonly bus?: { readonly isHere: boolean } | undefined;
  /** It is of the past: what is stored of now has no place in it. */
  readonly isReplay?: true;
}

/** One request, checked. */
export interface Call {
  readonly requestId: string;
  /** Id of the row of the table that answers it. */
  readonly endpoint: string;
  readonly environment: Environment;
  /** A HEAD request: its answer carries no records, so that nothing is read and it costs nothing. */
  readonly bodiless: boolean;
  /** Undefined where the endpoint needs no token, or the operator's. */
  readonly caller: Caller | undefined;
  /** Who acts, for the audit log: the id of the token, or `admin`. */
  readonly actor: string;
  /** Must be told the hash of a streamed body before it is used; throws when it was not signed. */
  readonly checkBody: ((bodyHash: string) => void) | undefined;
  /** Values of the path's own segments, the version among them. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Values;
  /** The checked JSON body, where the endpoint declares one; of a form also a text that is no JSON. */
  readonly json: unknown;
  /** The body as it comes, where the endpoint takes a file. */
  readonly stream: Readable;
  readonly contentLength: number | undefined;
  readonly accept: string;
  /** A browser shows or saves the answer itself: no script asked for it. */
  readonly navigates: boolean;
  /** Header If-None-Match: tags of answers that the caller has. */
  readonly ifNoneMatch: string;
  /** Header Range: which bytes of a file. */
  readonly range: string;
  /** Header If-Range: the file of which these bytes are. */
  readonly ifRange: string;
  /** Where the caller is, as far as proxies that are trusted tell it. */
  readonly address: string;
  /** The account of a token that is shown where none is needed. @throws Failure for one that is no good. */
  readonly identified: () => Caller | undefined;
  /** The header of that name: the last message of a stream that was read. */
  readonly lastEventId: string;
  /** The header of that name: a write with it is done once; empty where there is none. */
  readonly idempotencyKey: string;
  /** Once, when the answer is over: whether all of it was handed to the network. */
  readonly atEnd: (work: (whole: boolean) => void) => void;
  /** Where named queries stand in the test environment; undefined in production. */
  readonly testCursors: TestCursors | undefined;
  /** A signal that is aborted when the caller goes away, made when it is first asked for. */
  readonly departure: () => AbortSignal;
}

/** A published file, or a part of it. */
export interface FileAnswer {
  readonly kind: 'file';
  /** 416: there are no such bytes. */
  readonly status: 200 | 206 | 416;
  readonly part: Part;
  /** Of the whole file. */
  readonly bytes: number;
  /** Undefined where only its headers are told. */
  readonly stream: Readable | undefined;
  readonly tag: string;
  readonly contentType: string;
  /** As it is saved: printable ASCII without quotes. */
  readonly name: string;
  readonly source: string;
  /** Must be called once the answer is over: whether its `length` bytes were handed to the network. */
  readonly ended: (whole: boolean, length: number) => void;
}

/** Messages without an end, for as long as the caller listens. */
export interface StreamAnswer {
  readonly kind: 'stream';
  /** By which its caller may change what it is sent. */
  readonly id: string;
  readonly datasets: readonly Dataset[];
  /** The headers were written: from now on the socket is the stream's. */
  readonly open: (socket: Socket, isChunked: boolean) => void;
  /** It never was opened. */
  readonly unopened: () => void;
}

export type Answer =
  | FileAnswer
  /** To an address of this server, below the root. */
  | {
      readonly kind: 'redirect';
      readonly location: string;
      readonly charge: Charge;
      /** Whom what is there must be credited to. */
      readonly source: string;
    }
  | StreamAnswer
  | {
      readonly kind: 'json';
      readonly value: unknown;
      /** `none`: without the headers of its price. */
      readonly metering: 'free' | 'none';
      /** JSON by default. */
      readonly format?: BodyFormat | undefined;
      /** As plain text to look at, not as a file. */
      readonly plain?: boolean | undefined;
      /** JSONP function name; only with json. */
      readonly callback?: string | undefined;
    }
  /** The headers of an answer that was not read, for HEAD: it costs nothing and has no length. */
  | {
      readonly kind: 'unread';
      readonly format: BodyFormat;
      readonly picture?: PictureFormat | undefined;
      readonly snapshot: number;
      readonly moment: Moment;
      readonly tag: string | undefined;
      readonly datasets: readonly Dataset[];
    }
  /** The caller has this answer already: it costs nothing. */
  | {
      readonly kind: 'unchanged';
      readonly snapshot: number;
      readonly moment: Moment;
      readonly tag: string;
    }
  /** Text that costs nothing. */
  | { readonly kind: 'text'; readonly text: string; readonly contentType: string }
  | {
      readonly kind: 'rows';
      readonly body: Body;
      readonly format: BodyFormat;
      /** The body is one, drawn from what the format says. */
      readonly picture?: PictureFormat | undefined;
      /** As plain text to look at, not as a file. */
      readonly plain: boolean;
      /** JSONP function name; only with json. */
      readonly callback: string | undefined;
      readonly snapshot: number;
      /** What was there to be read: `asOf` that answers the same again. */
      readonly moment: Moment;
      /** Rows after which the answer was cut; undefined for a whole one. */
      readonly cutAt?: number | undefined;
      /** Seconds that a cache of the caller may keep it. */
      readonly cacheSeconds: number | undefined;
      /** Names these records of this version; undefined when the next answer is another one. */
      readonly tag: string | undefined;
      readonly charge: Charge;
      /** Those that it was made of, to be credited. */
      readonly datasets: readonly Dataset[];
      /** What was asked for and the caller may not read, where the rest is answered without it. */
      readonly leftOut?: readonly string[] | undefined;
    };

/**
 * Which tokens an endpoint takes. A publishable one may read what it was granted, `granted` also
 * takes one with the right to change it, `admin` is the operator's own.
 */
export type TokenNeed = 'none' | 'publishable' | 'granted' | 'secret' | 'admin';

/** @typeParam S what its handler uses */
export interface Endpoint<S = Services> {
  /** OpenAPI operation id. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the version; trailing segments with `?` may be left out. */
  readonly path: string;
  readonly aliases?: readonly string[];
  /** Aliases that should not be used any more, with the day since when. */
  readonly deprecated?: Readonly<Record<string, string>>;
  readonly token: TokenNeed;
  readonly summary: string;
  /** Names that are not declared are kept as texts: the handler knows which there are. */
  readonly openParameters?: true;
  /** What a call costs, for the reference. */
  readonly weight: string;
  /** It takes the header `Idempotency-Key`. */
  readonly once?: true;
  /** Answers even when a budget or a circuit breaker stops all calls of the account. */
  readonly always?: true;
  readonly parameters: readonly Parameter[];
  /**
   * `form`: the parameters may stand in a JSON body as well as in the query, as clients of the
   * original send them (INTERFACE.md 5, 6). `bytesMax`: a maximum of `bodyLimits.ts` other than that of
   * control bodies.
   */
  readonly body?:
    | { readonly kind: 'json'; readonly schema: TSchema; readonly bytesMax?: number }
    | { readonly kind: 'form' }
    /** JSON, or any text: `Call.json` has the value or the text. */
    | { readonly kind: 'text'; readonly bytesMax?: number }
    /** Bytes that are not held; `json`: of one JSON object or a list of them. */
    | { readonly kind: 'file'; readonly json?: true };
  /** JSON schema of the 200 answer. */
  readonly answer: TSchema;
  /** All that is in it, where what makes it tells that: the market's document has it. */
  readonly shape?: Shape;
  /** The answer is a stream of events; `too`: or the JSON of `answer`, for who asks for none. */
  readonly events?: 'only' | 'too';
  /** Formats besides JSON that the endpoint answers in. */
  readonly formats?: readonly (PlainFormat | PictureFormat)[];
  /**
   * The test environment has it as well: it answers data, or what is needed to ask for them, and shows
   * nothing of how production is set up or used.
   */
  readonly inTest?: true;
  readonly failures: FailureStyle;
  readonly handle: (call: Call, services: S) => Promise<Answer>;
}
