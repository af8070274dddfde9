// Requests to DuckDB for rows, bodies, pages and columns, on behalf of an account or of the server.
import { ChildPool, type PoolLoad, type PoolOptions } from './children.ts';
import type { RemoteProcess, PoolRequest } from './slots.ts';
import type { FileDigest } from '../base/fileDigest.ts';
import { type Body, type BodyFormat, EMPTY_PAGE, type Page, type Row } from './protocol.ts';

type PoolQuestion = Omit<PoolRequest, 'account' | 'shared'>;

export class DuckDbPool {
  readonly #children: ChildPool;
  /** The account whose share of the pool its requests use; empty: the server's. */
  readonly account: string;
  readonly #shared: readonly string[] | undefined;

  /** @param account whose share of the pool the requests use; empty: the server's */
  constructor(children: PoolOptions | ChildPool, account = '', shared?: readonly string[]) {
    this.#children = children instanceof ChildPool ? children : new ChildPool(children);
    this.account = account;
    this.#shared = shared;
  }

  /** The same processes, on behalf of an account. */
  forAccount(account: string): DuckDbPool {
    return new DuckDbPool(this.#children, account, this.#shared);
  }

  /** The same processes, for jobs of the workspace that exclusively owns these folders. */
  forWorkspace(folders: readonly string[]): DuckDbPool {
    return new DuckDbPool(this.#children, this.account, folders);
  }

  /** The load of the pool, for the metrics. */
  load(): PoolLoad {
    return this.#children.load();
  }

  /** Starts the children ahead of the first request. */
  warm(): void {
    this.#children.warm();
  }

  /** Starts a child for an imminent request if none is free. */
  startOne(): void {
    this.#children.startOne();
  }

  /** Whether no child that was started ahead accepts requests yet. */
  get isStarting(): boolean {
    return this.#children.isStarting;
  }

  /** False while no process can be started. */
  ready(): boolean {
    return this.#children.ready();
  }

  /**
   * Returns the rows of each statement: for small results, because rows are copied between processes.
   * @throws Failure TimedOut, ChildLost, Busy; SystemError with DuckDB's message.
   */
  async rows(question: PoolQuestion): Promise<readonly (readonly Row[])[]> {
    const answer = await this.#run(question, 'rows');
    return answer.kind === 'rows' ? answer.rows : [];
  }

  /** Returns the rendered bytes and the row count of the last statement. */
  async body(question: PoolQuestion, format: BodyFormat): Promise<Body> {
    const answer = await this.#run(question, format);
    return answer.kind === 'body' ? answer.body : { objects: 0, bytes: new Uint8Array() };
  }

  /**
   * Returns the last statement's records as JSON in `count` pages: the first column is the page's
   * number, the second one the number that orders the records.
   */
  async pages(question: PoolQuestion, count: number): Promise<readonly Page[]> {
    const answer = await this.#run(question, 'pages');
    const pages = Array<Page>(count).fill(EMPTY_PAGE);
    if (answer.kind === 'pages') for (const page of answer.pages) pages[page.number] = page;
    return pages;
  }

  /** Returns the columns of the last statement, `name` and `type` of each. */
  async columns(question: PoolQuestion): Promise<readonly Row[]> {
    const answer = await this.#run(question, 'columns');
    return answer.kind === 'rows' ? (answer.rows[0] ?? []) : [];
  }

  /** Returns length and SHA-256 of each file: hashing many bytes would block the event loop. */
  async contents(files: readonly string[], deadlineMs: number): Promise<readonly FileDigest[]> {
    const answer = await this.#run({ files, statements: [], deadlineMs }, 'contents');
    const rows = answer.kind === 'rows' ? (answer.rows[0] ?? []) : [];
    return rows.map((row) => ({ bytes: Number(row['bytes']), sha256: String(row['sha256']) }));
  }

  /** Adds a process of another node to the pool, until it ends. */
  addRemote(child: RemoteProcess): void {
    this.#children.addRemote(child);
  }

  /** Stops using processes of other nodes. */
  removeRemotes(): void {
    this.#children.removeRemotes();
  }

  close(): Promise<void> {
    return this.#children.close();
  }

  #run(
    question: PoolQuestion,
    answer: Parameters<ChildPool['run']>[1],
  ): ReturnType<ChildPool['run']> {
    const owner = { account: this.account, shared: this.#shared };
    return this.#children.run({ ...question, ...owner }, answer);
  }
}
