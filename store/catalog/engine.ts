// Kysely's single connection over an engine that runs statements. A transaction begins with its first write:
// its earlier reads see committed data, because there is no other writer.
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { SelectQueryNode } from 'kysely';
import { type BatchStatement, type StatementResult, BATCH_MARKER, NOT_OPEN } from './statements.ts';

/** Runs statements. */
export interface Engine {
  /** Runs statements in order. @returns the result of the last one */
  readonly write: (pieces: readonly BatchStatement[]) => Promise<StatementResult>;
  /** Reads committed data. */
  readonly read: (
    sql: string,
    parameters: readonly unknown[],
  ) => StatementResult | Promise<StatementResult>;
  readonly close: () => Promise<void>;
}

export class EngineDriver implements Driver {
  readonly #open: () => Promise<Engine>;
  #engine: Engine | undefined;
  #connection: EngineConnection | undefined;

  constructor(open: () => Promise<Engine>) {
    this.#open = open;
  }

  async init(): Promise<void> {
    this.#engine = await this.#open();
    this.#connection = new EngineConnection(this.#engine);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#connection === undefined) throw new Error(NOT_OPEN);
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    this.#connection?.begin();
  }

  async commitTransaction(): Promise<void> {
    await this.#connection?.end('commit');
  }

  async rollbackTransaction(): Promise<void> {
    await this.#connection?.end('rollback');
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    await this.#engine?.close();
  }
}

const toPieces = ({ parameters, sql }: CompiledQuery): readonly BatchStatement[] =>
  sql === BATCH_MARKER ? (parameters as readonly BatchStatement[]) : [{ sql, each: [parameters] }];

const BEGIN: BatchStatement = { sql: 'begin', each: [[]] };

class EngineConnection implements DatabaseConnection {
  readonly #engine: Engine;
  /** `requested`: nothing was written yet. */
  #transaction: 'none' | 'requested' | 'open' = 'none';

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  begin(): void {
    this.#transaction = 'requested';
  }

  /** Ends the transaction. After a failed commit it is still open for the rollback that follows. */
  async end(how: 'commit' | 'rollback'): Promise<void> {
    if (this.#transaction === 'open') await this.#engine.write([{ sql: how, each: [[]] }]);
    this.#transaction = 'none';
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const isRead = this.#transaction !== 'open' && SelectQueryNode.is(query.query);
    const { changed, rows } = isRead
      ? await this.#engine.read(query.sql, query.parameters)
      : await this.#write(toPieces(query));
    return {
      rows: rows as R[],
      ...(changed === undefined ? {} : { numAffectedRows: BigInt(changed.count) }),
    };
  }

  #write(pieces: readonly BatchStatement[]): Promise<StatementResult> {
    if (this.#transaction !== 'requested') return this.#engine.write(pieces);
    this.#transaction = 'open';
    return this.#engine.write([BEGIN, ...pieces]);
  }

  /** Not supported: the catalog returns complete results. */
  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('the catalog streams nothing');
  }
}
