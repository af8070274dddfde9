// Defines an endpoint: one row of the table from which routes, checks, headers, OpenAPI, the
// reference page and the authorization matrix derive (DESIGN.md idea 8).
import type { Answer } from '../../reads/request/answer.ts';
import type { ReadRequest } from '../../reads/request/readRequest.ts';
import type { LiveServices, ReadServices } from '../../reads/request/readServices.ts';
import type { TokenNeed } from '../../reads/rights/access.ts';
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
import type { Job } from '../../store/work/jobs.ts';
import type { Scheduler } from '../../jobs/schedule/scheduler.ts';
import type { PictureFormat } from '../../query/charts/drawing.ts';
import type { BillingDays } from '../../store/ledger/billingDays.ts';
import type { AtCrashPoint } from '../../store/base/crashPoints.ts';
import type { Disk } from '../../store/base/disk.ts';
import type { PlainFormat } from '../../store/duckdb/protocol.ts';
import type { FileCache } from '../../store/files/bucket/fileCache.ts';
import type { FileProofs } from '../../store/files/fileProofs.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import type { LakeClock } from '../../store/catalog/lakeClock.ts';
import type { Publications } from '../../store/publications/publications.ts';
import type { CatalogPlace } from '../../store/catalog/catalogPlace.ts';
import type { Scrub } from '../../store/catalog/scrub.ts';
import type { LiveSecrets } from '../../store/catalog/secrets/secrets.ts';
import type { WriteKeys } from '../../store/work/writeKeys.ts';
import type { Storage } from '../../store/lake/storage.ts';
import type { OpenStreams } from '../sse/openStreams.ts';
import type { FailureStyle } from '../../reads/request/failures.ts';
import type { Parameter } from '../../reads/request/parameters.ts';
import type { IngestServices } from '../../pipeline/conform/load.ts';
import type { DownloadGrants } from './downloadGrants.ts';

/** All services that an endpoint may use; created once, in main.ts. */
export interface Services extends ReadServices {
  readonly lakeClock: LakeClock;
  readonly folder: Folder;
  readonly disk: Disk;
  readonly at: AtCrashPoint;
  readonly proofs: FileProofs;
  /** Copies of the files of a bucket; undefined if the files are in the data folder. */
  readonly fileCache: FileCache | undefined;
  readonly fileCheck: FileCheck;
  /** Published files that are not served because they are damaged. */
  readonly damagedPublications: DamagedPublications;
  readonly adminToken: string;
  readonly catalog: CatalogPlace;
  readonly scrub: Scrub;
  readonly storage: Storage;
  readonly writeKeys: WriteKeys;
  readonly days: BillingDays;
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
  readonly streams: Streaming;
  readonly upstreams: Upstreams;
}

/** Live data, their sources and their readers. */
export interface Streaming extends LiveServices {
  readonly open: OpenStreams;
  readonly feeds: Feeds;
  /** The log of messages for other nodes; undefined without one. */
  readonly bus?: { readonly isHere: boolean } | undefined;
}

/** A request with a body, which is streamed. */
export interface BodyRequest extends ReadRequest {
  /** Header Idempotency-Key: a write with it is done once; empty without the header. */
  readonly idempotencyKey: string;
  /** Must be called with the hash of a streamed body before it is used; throws if it was not signed. */
  readonly checkBody: ((bodyHash: string) => void) | undefined;
  /** The body as a stream, if the endpoint accepts a file. */
  readonly stream: Readable;
  readonly contentLength: number | undefined;
}

/** One checked request, with what only HTTP has. */
export interface Call extends BodyRequest {
  /** The actor for the audit log: the id of the token, or `admin`. */
  readonly actor: string;
  /** Header Range: which bytes of a file. */
  readonly range: string;
  /** Header If-Range: the version of the file that the range belongs to. */
  readonly ifRange: string;
  /** The caller's address, as far as trusted proxies report it. */
  readonly address: string;
  /** Header Last-Event-ID: the last message that was read from a stream. */
  readonly lastEventId: string;
}

/** A request that needs no token, or the operator's. */
export type OpenCall = Omit<Call, 'caller'>;

/** An endpoint for callers with a token of an account. @typeParam S services of its handler */
export interface Endpoint<S = Services> extends EndpointRow {
  readonly token: Exclude<TokenNeed, OpenNeed>;
  readonly handle: (call: Call, services: S) => Promise<Answer>;
}

type OpenNeed = 'none' | 'admin';

export interface OpenEndpoint<S = Services> extends EndpointRow {
  readonly token: OpenNeed;
  readonly handle: (call: OpenCall, services: S) => Promise<Answer>;
}

/** A row of the table. */
export type AnyEndpoint<S = Services> = Endpoint<S> | OpenEndpoint<S>;

export const isOpen = <S>(endpoint: AnyEndpoint<S>): endpoint is OpenEndpoint<S> =>
  endpoint.token === 'none' || endpoint.token === 'admin';

/** What a row declares beside its token and its handler. */
export interface EndpointRow {
  /** OpenAPI operation id. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the version; trailing segments with `?` may be left out. */
  readonly path: string;
  readonly aliases?: readonly string[];
  /** Deprecated aliases, with the day of their deprecation. */
  readonly deprecated?: Readonly<Record<string, string>>;
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
}
