// The seam behind which every kind of target stands: it takes parts, one after the other, and last the
// manifest that names them.

/** Where an export goes, as its owner defined it. */
export type TargetDefinition = FolderTarget | S3Target;

interface FolderTarget {
  readonly type: 'FILE';
  /** Below the folder of exports. */
  readonly path: string;
}

export interface S3Target {
  readonly type: 'AWS-S3';
  readonly awsbucketName: string;
  /** Before the name of each part; empty: none. */
  readonly prefix: string;
  readonly credentialId: string;
  readonly region?: string;
  /** URL of a compatible server. */
  readonly endpoint?: string;
}

/** A part by its name, and what its bytes are. */
export interface Part {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** The store's own mark of these bytes, where it has one. */
  readonly etag?: string;
}

/** An upload in pieces that has begun: its id, and the store's mark of each piece that has arrived. */
export interface Upload {
  readonly id: string;
  readonly pieces: readonly string[];
}

/** How a part is delivered. */
export interface Delivery {
  /** The whole part, synced; a target may move it away. */
  readonly path: string;
  /** What has arrived of it before; undefined: nothing. */
  readonly upload: Upload | undefined;
  /** Told before more is sent: an upload goes on from what was told last. */
  readonly onUpload: (upload: Upload) => Promise<void>;
}

/** The name of the manifest beside its parts. */
export const MANIFEST = 'manifest.json';

/** Where the manifest will be, as a person reads it. */
export const manifestPlace = (target: TargetDefinition): string =>
  target.type === 'FILE'
    ? `${target.path}/${MANIFEST}`
    : `s3://${target.awsbucketName}/${target.prefix}${MANIFEST}`;

export interface Target extends AsyncDisposable {
  /** The manifest that is there; undefined: none. @throws SourceFailure. */
  manifest(): Promise<string | undefined>;
  /** The part as it is there; undefined when it is missing or is not this one. @throws SourceFailure. */
  find(part: Part): Promise<Part | undefined>;
  /** The part as it then is there. @throws SourceFailure. */
  deliver(part: Part, delivery: Delivery): Promise<Part>;
  /** Leaves nothing of a delivery that did not end, and as much as it can. */
  drop(part: Part, upload: Upload | undefined): Promise<void>;
  /** Writes the manifest; then the export is whole. @throws SourceFailure. */
  finish(manifest: string): Promise<void>;
}
