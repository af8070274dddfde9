// The statements that any catalog engine runs, and their results.

export const NOT_OPEN = 'the catalog is not open';

/** The result of a statement. */
export interface StatementResult {
  readonly rows: readonly unknown[];
  /** Number of changed rows, if the engine reports it. */
  readonly changed?: { readonly count: number | bigint };
}

/** A statement, and the parameters of each execution. */
export interface BatchStatement {
  readonly sql: string;
  readonly each: readonly (readonly unknown[])[];
}

/** Marks a query whose parameters are statements that are sent to the catalog in one message. */
export const BATCH_MARKER = '-- together';
