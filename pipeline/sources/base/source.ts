// The interface of all sources: a pull lands new records, one file after the other, each with the position
// where the next pull begins.
import { Failure } from '../../../store/base/failure.ts';

/** The source of records, as its owner defined it (INTERFACE.md 3.7 "Sources"). */
export type SourceDefinition =
  | HttpDefinition
  | FileDefinition
  | S3Definition
  | PostgresDefinition
  | DatasetDefinition
  | FollowedDefinition;

export interface HttpDefinition {
  readonly type: 'HTTP';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `$` with steps `.name` and `[*]`: the path of the records in the document. */
  readonly jsonPath?: string;
  readonly pages?: Pages;
}

/** How a paged list is read to its end. */
export type Pages =
  /** `parameter` counts pages up from `first`, until one has no records. */
  | { readonly kind: 'page'; readonly parameter: string; readonly first?: number }
  /** `parameter` is set to the value at `cursorPath` of the previous page, until there is none. */
  | { readonly kind: 'cursor'; readonly parameter: string; readonly cursorPath: string };

/** A file, or every file that matches a pattern (`*`, `?`, `[…]`), below the folder of sources. */
export interface FileDefinition {
  readonly type: 'FILE';
  readonly path: string;
  readonly jsonPath?: string;
}

/** One object, or every object that matches a pattern and is newer than the last pull. */
export interface S3Definition {
  readonly type: 'AWS-S3';
  readonly awsbucketName: string;
  readonly key?: string;
  readonly pattern?: string;
  readonly jsonPath?: string;
  readonly region?: string;
  /** URL of a compatible server. */
  readonly endpoint?: string;
}

export interface PostgresDefinition {
  readonly type: 'POSTGRES';
  readonly table?: string;
  readonly query?: string;
  /** Column whose greatest value in the last pull is where the next one begins. */
  readonly incrementalColumn?: string;
}

/** Another dataset, or a SELECT over datasets and views, of the same account. */
export interface DatasetDefinition {
  readonly type: 'DATASET';
  readonly dataset?: string;
  readonly query?: string;
}

/** A feed of messages, stored on arrival. */
export interface FeedDefinition {
  readonly type: 'SSE' | 'WEBSOCKET';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The path of the records in a message; without it a message is a record, or a list of them. */
  readonly jsonPath?: string;
  /** A dataset of the same workspace. */
  readonly dataset: string;
  /** Texts that are sent to a WebSocket after it opens: its subscriptions. */
  readonly messages?: readonly string[];
  /** Properties by the names in the messages; null leaves one out. */
  readonly columns?: Readonly<Record<string, string | null>>;
  /** Properties that every record has unless its message sets them. */
  readonly constants?: Readonly<Record<string, string | number | boolean>>;
  /** Handling of records whose index value is stored already: `ignore` by default. */
  readonly duplicateKeyHandling?: 'ignore' | 'replace';
  /** `PAUSED` stops it. */
  readonly state?: 'ACTIVE' | 'PAUSED';
}

/** A recording of an exchange's feed, replayed at its original pace. */
export interface CaptureDefinition extends Pick<
  FeedDefinition,
  'dataset' | 'columns' | 'constants' | 'duplicateKeyHandling' | 'state'
> {
  readonly type: 'CAPTURE';
  /** Below the folder of sources. */
  readonly path: string;
  /** Factor of the original pace, 1 by default; `max`: as fast as records can be stored. */
  readonly speed?: number | 'max';
}

/** Sources that run continuously, without schedules. */
export type FollowedDefinition = FeedDefinition | CaptureDefinition;

/** The secret that opens a source; never returned to any client. */
export type Credential =
  | {
      readonly type: 'AWS-S3';
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      readonly sessionToken?: string;
    }
  | { readonly type: 'HTTP'; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly type: 'POSTGRES';
      readonly host: string;
      readonly port?: number;
      readonly database: string;
      readonly user: string;
      readonly password: string;
      /** TLS with certificate validation; `off` for a server without TLS. */
      readonly tls?: 'on' | 'off';
    };

/** A request for a page of the objects of a bucket. */
export interface BucketOrder {
  readonly bucket: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly credential: Credential | undefined;
  readonly prefix: string;
  /** Lists only objects and folders directly below the prefix, not the contents of folders. */
  readonly isFoldersOnly: boolean;
  /** At most 1,000. */
  readonly limit: number;
  /** `nextPage` of the previous page. */
  readonly page: string | undefined;
  readonly signal: AbortSignal;
}

export interface BucketPage {
  readonly folders: readonly string[];
  readonly objects: readonly {
    readonly key: string;
    readonly size: number;
    readonly etag: string;
    /** Epoch milliseconds. */
    readonly lastModified: number | null;
  }[];
  /** Null on the last page. */
  readonly nextPage: string | null;
}

export type ListBucket = (order: BucketOrder) => Promise<BucketPage>;

/** The position where a pull ended, in the source's own terms: plain JSON, stored beside the records. */
export type Position = Readonly<Record<string, string | number | null>>;

/** A file of records that has landed. */
export interface Piece {
  /** Object, URL, path or table, for display. */
  readonly name: string;
  /** Written completely, in the landing folder; the consumer of the piece removes it. */
  readonly path: string;
  readonly bytes: number;
  readonly jsonPath?: string;
  /** A page of a list that is stored as a whole, after its last page. */
  readonly page?: true;
  /** Where the next pull begins after this piece is stored. */
  readonly position: Position;
}

/** The folder where pieces land, and its limits. */
export interface Landing {
  readonly folder: string;
  /** Maximum bytes of one piece. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** Called with the bytes of this pull that have arrived, and the total if known. */
  readonly onBytes: (bytes: number, ofBytes: number | undefined) => void;
  /** Called for each item left out, with the reason, for the log of the job. */
  readonly onNote?: (note: string) => void;
}

export interface PullOrder<Definition extends SourceDefinition = SourceDefinition> {
  /** The owner of the source: data of this server is read with that account's rights. */
  readonly owner: { readonly accountId: string; readonly workspace: string };
  readonly definition: Definition;
  readonly credential: Credential | undefined;
  /** Undefined: everything. */
  readonly since: Position | undefined;
  readonly landing: Landing;
  /** Requests only enough rows for a preview; a source may send fewer than all. Undefined: all. */
  readonly sample?: true;
}

/**
 * Pieces, oldest first; none if nothing is new. The next one lands when it is requested.
 * @throws SourceFailure with the reason; pieces before it are complete.
 */
export type Pull<Definition extends SourceDefinition = SourceDefinition> = (
  order: PullOrder<Definition>,
) => AsyncIterable<Piece>;

export const changedSentence = (name: string): string => `${name} changed while it was read`;

export const goneSentence = (name: string): string => `${name} has gone while it was read`;

/** A source that did not return what was requested. */
export class SourceFailure extends Failure {
  /** A retry may succeed: a network failure, a fault of the server, a timeout. */
  readonly transient: boolean;

  constructor(detail: string, transient: boolean) {
    super('SourceFailed', detail);
    this.transient = transient;
  }
}
