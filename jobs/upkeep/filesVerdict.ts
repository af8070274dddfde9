// Result of a check of files.

export interface DamagedFile {
  /** In the data folder. */
  readonly folder: 'lake' | 'published';
  /** Relative to `folder`. */
  readonly path: string;
  /** A sentence without a subject. */
  readonly what: string;
  /** Of the original content. */
  readonly sha256: string;
}

export interface FilesVerdict {
  readonly files: number;
  readonly bytes: number;
  readonly damaged: readonly DamagedFile[];
}
