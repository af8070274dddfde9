// What a check of files found.

export interface DamagedFile {
  /** Of the data folder. */
  readonly folder: 'lake' | 'published';
  /** Relative to that. */
  readonly path: string;
  /** A sentence without a subject. */
  readonly what: string;
  /** Of what was written. */
  readonly sha256: string;
}

export interface FilesVerdict {
  readonly files: number;
  readonly bytes: number;
  readonly damaged: readonly DamagedFile[];
}
