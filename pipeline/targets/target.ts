// The interface of all targets: a target takes parts, one after the other, and finally the manifest that
// lists them.

/** The destination of an export, as its owner defined it. */
export type TargetDefinition = FolderTarget | S3Target;

interface FolderTarget {
  readonly type: 'FILE';
  /** Below the folder of exports. */
  readonly path: string;
}

export interface S3Target {
  readonly type: 'AWS-S3';
  readonly awsbucketName: string;
  /** Precedes the name of each part; may be empty. */
  readonly prefix: string;
  readonly credentialId: string;
  readonly region?: string;
  /** URL of a compatible server. */
  readonly endpoint?: string;
}

/** A part: its name, and the size and hash of its bytes. */
export interface Part {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** The store's own tag of these bytes, if it has one. */
  readonly etag?: string;
}

/** A started upload in pieces: its id, and the store's tag of each piece that has arrived. */
export interface Upload {
  readonly id: string;
  readonly pieces: readonly string[];
}

/** The delivery of a part. */
export interface Delivery {
  /** The complete part, synced; a target may move the file. */
  readonly path: string;
  /** The state of an earlier attempt; undefined if there was none. */
  readonly upload: Upload | undefined;
  /** Called before more is sent: an upload resumes from the last reported state. */
  readonly onUpload: (upload: Upload) => Promise<void>;
}

/** The name of the manifest beside its parts. */
export const MANIFEST = 'manifest.json';

/** The location of the manifest, for display. */
export const manifestLocation = (target: TargetDefinition): string =>
  target.type === 'FILE'
    ? `${target.path}/${MANIFEST}`
    : `s3://${target.awsbucketName}/${target.prefix}${MANIFEST}`;

export interface Target extends AsyncDisposable {
  /** The existing manifest; undefined if there is none. @throws SourceFailure. */
  manifest(): Promise<string | undefined>;
  /** The delivered part; undefined if it is missing or has other bytes. @throws SourceFailure. */
  find(part: Part): Promise<Part | undefined>;
  /** Delivers a part; returns it with the store's tag. @throws SourceFailure. */
  deliver(part: Part, delivery: Delivery): Promise<Part>;
  /** Cleans up a failed delivery, as far as possible. */
  drop(part: Part, upload: Upload | undefined): Promise<void>;
  /** Writes the manifest, which completes the export. @throws SourceFailure. */
  finish(manifest: string): Promise<void>;
}
