// The seam behind which every kind of source stands: a pull lands what is new, one file after the
// other, and each tells where the next pull begins.
import { Failure } from '../../../store/base/failure.ts';

/** Where records come from, as its owner defined it (INTERFACE.md 3.7 "Sources"). */
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
  /** `$` with steps `.name` and `[*]`: where the records stand in the document. */
  readonly jsonPath?: string;
  readonly pages?: Pages;
}

/** How a list that comes in pages is read to its end. */
export type Pages =
  /** `parameter` counts pages up from `first`, until one has no records. */
  | { readonly kind: 'page'; readonly parameter: string; readonly first?: number }
  /** `parameter` is sent the value at `cursorPath` of the page before, until there is none. */
  | { readonly kind: 'cursor'; readonly parameter: string; readonly cursorPath: string };

/** A file, or every file that a pattern (`*`, `?`, `[…]`) names, below the folder of sources. */
export interface FileDefinition {
  readonly type: 'FILE';
  readonly path: string;
  readonly jsonPath?: string;
}

/** One object, or every object newer than the last pull that a pattern names. */
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
  /** Column whose greatest value of the last pull is where the next one begins. */
  readonly incrementalColumn?: string;
}

/** Another dataset, or a SELECT over datasets and views, of the same account. */
export interface DatasetDefinition {
  readonly type: 'DATASET';
  readonly dataset?: string;
  readonly query?: string;
}

/** Messages of others as they come, stored as they come. */
export interface FeedDefinition {
  readonly type: 'SSE' | 'WEBSOCKET';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Where the records stand in a message; without it a message is a record, or a list of them. */
  readonly jsonPath?: string;
  /** Of the same workspace. */
  readonly dataset: string;
  /** Texts that are sent to a WebSocket once it is open: what is wanted of it. */
  readonly messages?: readonly string[];
  /** Properties by the names of the messages; null leaves one out. */
  readonly columns?: Readonly<Record<string, string | null>>;
  /** Properties that every record has, where its message does not say otherwise. */
  readonly constants?: Readonly<Record<string, string | number | boolean>>;
  /** Records whose index value is stored already: ignored, where it does not say `replace`. */
  readonly duplicateKeyHandling?: 'ignore' | 'replace';
  /** `PAUSED` stops it. */
  readonly state?: 'ACTIVE' | 'PAUSED';
}

/** A recording of an exchange's feed, told again as it was told then. */
export interface CaptureDefinition extends Pick<
  FeedDefinition,
  'dataset' | 'columns' | 'constants' | 'duplicateKeyHandling' | 'state'
> {
  readonly type: 'CAPTURE';
  /** Below the folder of sources. */
  readonly path: string;
  /** Times the pace that it had, 1 where it does not say; `max`: as fast as it is stored. */
  readonly speed?: number | 'max';
}

/** What goes on by itself as long as it is there. */
export type FollowedDefinition = FeedDefinition | CaptureDefinition;

/** What opens a source; never returned to anyone. */
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
      /** TLS with a certificate that is checked; `off` for a server without it. */
      readonly tls?: 'on' | 'off';
    };

/** A page of the objects of a bucket. */
export interface BucketOrder {
  readonly bucket: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly credential: Credential | undefined;
  readonly prefix: string;
  /** Objects and folders below the prefix only, not what the folders contain. */
  readonly isFoldersOnly: boolean;
  /** At most 1,000. */
  readonly limit: number;
  /** `nextPage` of the page before. */
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
  /** Null at the end. */
  readonly nextPage: string | null;
}

export type ListBucket = (order: BucketOrder) => Promise<BucketPage>;

/** Where a pull ended, in the source's own terms: plain JSON, kept beside the records. */
export type Position = Readonly<Record<string, string | number | null>>;

/** A file of records that has landed. */
export interface Piece {
  /** Object, URL, path or table, as a person knows it. */
  readonly name: string;
  /** Written whole, in the landing's folder; who takes the piece removes it. */
  readonly path: string;
  readonly bytes: number;
  readonly jsonPath?: string;
  /** Of a list that is one thing: it is stored with its other pages, after the last of them. */
  readonly page?: true;
  /** Where the next pull begins once this piece is stored. */
  readonly position: Position;
}

/** Where pieces land, and within what. */
export interface Landing {
  readonly folder: string;
  /** Bytes of one piece. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** Bytes that have arrived of this pull, and of how many when that is known. */
  readonly onBytes: (bytes: number, ofBytes: number | undefined) => void;
  /** What was left out and why, for the log of the job. */
  readonly onNote?: (note: string) => void;
}

export interface PullOrder<Definition extends SourceDefinition = SourceDefinition> {
  /** Whose source it is: what it reads of this server, it reads as that account. */
  readonly owner: { readonly accountId: string; readonly workspace: string };
  readonly definition: Definition;
  readonly credential: Credential | undefined;
  /** Undefined: all there is. */
  readonly since: Position | undefined;
  readonly landing: Landing;
  /** Rows enough for a look; a source may send less than everything. Undefined: everything. */
  readonly sample?: true;
}

/**
 * Pieces, oldest first; none when nothing is new. The next one lands when it is asked for.
 * @throws SourceFailure with the reason; pieces before it are whole.
 */
export type Pull<Definition extends SourceDefinition = SourceDefinition> = (
  order: PullOrder<Definition>,
) => AsyncIterable<Piece>;

/** A source that did not give what it was asked for. */
export class SourceFailure extends Failure {
  /** Worth another try: the network, a server's fault, a time limit. */
  readonly transient: boolean;

  constructor(detail: string, transient: boolean) {
    super('SourceFailed', detail);
    this.transient = transient;
  }
}
