// What is asked of the engine that keeps the catalog, whichever it is.

/** What a statement answered. */
export interface Ran {
  readonly rows: readonly unknown[];
  /** Rows that it changed, where it says so. */
  readonly changed?: { readonly count: number | bigint };
}

/** A statement, and the parameters of each of its runs. */
export interface Piece {
  readonly sql: string;
  readonly each: readonly (readonly unknown[])[];
}

/** Stands for a statement whose parameters are pieces: what goes to the catalog in one message. */
export const TOGETHER = '-- together';
