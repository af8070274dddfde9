// What DuckDB is asked for: rows, bodies, pages, columns; for an account, or for the server itself.
import { Children, type PoolLoad, type PoolOptions } from './children.ts';
import type { LentProcess, Question } from './slots.ts';
import type { Content } from '../base/contents.ts';
import { type Body, type BodyFormat, EMPTY_PAGE, type Page, type Row } from './protocol.ts';

type PoolQuestion = Omit<Question, 'account' | 'shared'>;

export class DuckDbPool {
  readonly #children: Children;
  /** Whose turn its questions take; the server's own when empty. */
  readonly account: string;
  readonly #shared: readonly string[] | undefined;

  /** @param account whose turn its questions take; the server's own when empty */
  constructor(children: PoolOptions | Children, account = '', shared?: readonly string[]) {
    this.#children = children instanceof Children ? children : new Children(children);
    this.account = account;
    this.#shared = shared;
  }

  /** The same processes, asked for an account. */
  of(account: string): DuckDbPool {
    return new DuckDbPool(this.#children, account, this.#shared);
  }

  /** The same, for jobs of a workspace whose files are below these folders, as are those of no other one. */
  sharing(folders: readonly string[]): DuckDbPool {
    return new DuckDbPool(this.#children, this.account, folders);
  }

  /** How busy the pool is, for the metrics. */
  load(): PoolLoad {
    return this.#children.load();
  }

  /** Starts the children ahead of the first request. */
  warm(): void {
    this.#children.warm();
  }

  /** Starts a child for a question that comes soon, where none is free. */
  expect(): void {
    this.#children.expect();
  }

  /** True until the first of those that were started ahead reads requests. */
  get isStarting(): boolean {
    return this.#children.isStarting;
  }

  /** False while no process can be started. */
  ready(): boolean {
    return this.#children.ready();
  }

  /**
   * Answers the rows of each statement: for small results, since these rows cross the process.
   * @throws Failure TimedOut, ChildLost, Busy; SystemError with DuckDB's sentence.
   */
  async rows(question: PoolQuestion): Promise<readonly (readonly Row[])[]> {
    const answer = await this.#ask(question, 'rows');
    return answer.kind === 'rows' ? answer.rows : [];
  }

  /** Answers the last statement's rendered bytes and its count of rows. */
  async body(question: PoolQuestion, format: BodyFormat): Promise<Body> {
    const answer = await this.#ask(question, format);
    return answer.kind === 'body' ? answer.body : { objects: 0, bytes: new Uint8Array() };
  }

  /**
   * Answers the last statement's records as JSON, in `count` pages: its first column is the page's
   * number, its second one the number that orders the records.
   */
  async pages(question: PoolQuestion, count: number): Promise<readonly Page[]> {
    const answer = await this.#ask(question, 'pages');
    const pages = Array<Page>(count).fill(EMPTY_PAGE);
    if (answer.kind === 'pages') for (const page of answer.pages) pages[page.number] = page;
    return pages;
  }

  /** Answers the columns of the last statement, `name` and `type` of each. */
  async columns(question: PoolQuestion): Promise<readonly Row[]> {
    const answer = await this.#ask(question, 'columns');
    return answer.kind === 'rows' ? (answer.rows[0] ?? []) : [];
  }

  /** Answers length and SHA-256 of each file: a hash of many bytes would keep the event loop. */
  async contents(files: readonly string[], deadlineMs: number): Promise<readonly Content[]> {
    const answer = await this.#ask({ files, statements: [], deadlineMs }, 'contents');
    const rows = answer.kind === 'rows' ? (answer.rows[0] ?? []) : [];
    return rows.map((row) => ({ bytes: Number(row['bytes']), sha256: String(row['sha256']) }));
  }

  /** A process of another node answers too, until it ends. */
  lend(child: LentProcess): void {
    this.#children.lend(child);
  }

  /** Those of other nodes are asked nothing from here on. */
  dismiss(): void {
    this.#children.dismiss();
  }

  close(): Promise<void> {
    return this.#children.close();
  }

  #ask(
    question: PoolQuestion,
    answer: Parameters<Children['ask']>[1],
  ): ReturnType<Children['ask']> {
    const asker = { account: this.account, shared: this.#shared };
    return this.#children.ask({ ...question, ...asker }, answer);
  }
}
