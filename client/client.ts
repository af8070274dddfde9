// A typed client: operations by their names, pages and streams as iterators, and a count of spent messages.
import { type Operations, ROUTES } from './operations.ts';
import type { BatchQuery, StockAnswer, StockBatch, StockQuery } from './market.ts';
import { readCosts, RETRIES, type Retries, sendRequest } from './request.ts';
import { type StreamItem, streamMessages } from './streaming.ts';

type Id = keyof Operations;

/** Parameters of an operation. Members of the query are those of the reference. */
type CallOptions<I extends Id> = Members<'path', Operations[I]['path']> &
  (Operations[I]['body'] extends undefined
    ? { readonly body?: undefined }
    : { readonly body: Operations[I]['body'] }) & {
    readonly query?: Operations[I]['query'];
    readonly signal?: AbortSignal;
  };

type Members<N extends string, T> =
  Record<string, never> extends T ? { readonly [K in N]?: T } : { readonly [K in N]: T };

export interface Answered<T> {
  readonly value: T;
  readonly messages: number;
  readonly premiumMessages: number;
  /** The moment that was read: `asOf` with it returns the same data again. */
  readonly asOf: string | undefined;
}

export interface ClientOptions {
  /** `https://host:port`, without a version. */
  readonly base: string;
  readonly token: string;
  readonly fetch?: typeof globalThis.fetch;
  readonly retries?: Partial<Retries>;
}

export interface Spent {
  readonly messages: number;
  readonly premiumMessages: number;
  readonly calls: number;
}

type Query = Readonly<Record<string, unknown>>;
type NoQuery = Record<never, never>;

export class TapedeckClient {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof globalThis.fetch;
  readonly #retries: Retries;
  #spent: Spent = { messages: 0, premiumMessages: 0, calls: 0 };

  constructor({ base, fetch = globalThis.fetch, retries = {}, token }: ClientOptions) {
    this.#base = `${base.replace(/\/$/, '')}/v1`;
    this.#headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/problem+json, application/json',
    };
    // Browsers require it to be called without another receiver.
    this.#fetch = (input, init) => fetch(input, init);
    this.#retries = { ...RETRIES, ...retries };
  }

  /** Sum of all calls so far; streams are charged by the server, and not counted here. */
  get spent(): Spent {
    return this.#spent;
  }

  /** @throws TapedeckError */
  async call<I extends Id>(
    id: I,
    options: CallOptions<I>,
  ): Promise<Answered<Operations[I]['answer']>> {
    const [method, route] = ROUTES[id];
    const path = pathOf(route, options.path ?? {});
    const body = bodyOf(options.body);
    const answer = await sendRequest(
      this.#fetch,
      {
        method,
        url: `${this.#base}${path}${queryOf(options.query)}`,
        headers: { ...this.#headers, ...(body.type === '' ? {} : { 'content-type': body.type }) },
        ...(body.bytes === undefined ? {} : { body: body.bytes }),
        signal: options.signal,
      },
      this.#retries,
    );
    const { messages, premiumMessages } = readCosts(answer.headers);
    this.#spent = {
      messages: this.#spent.messages + messages,
      premiumMessages: this.#spent.premiumMessages + premiumMessages,
      calls: this.#spent.calls + 1,
    };
    const text = await answer.text();
    const isJson = (answer.headers.get('content-type') ?? '').includes('json');
    const value = (isJson ? JSON.parse(text) : text) as Operations[I]['answer'];
    const asOf = headerLike(answer.headers, '-as-of');
    return { value, messages, premiumMessages, asOf };
  }

  /** Returns a market type of a symbol, such as `quote` or `chart`. @throws TapedeckError */
  async stock<T extends string, const Q extends StockQuery = NoQuery>(
    symbol: string,
    type: T,
    parameters?: Q,
  ): Promise<StockAnswer<T, Q>> {
    const { part, ...query }: StockQuery = parameters ?? {};
    const { value } =
      part === undefined
        ? await this.call('getStockByType', { query, path: { symbol, type } })
        : await this.call('getStockByPart', { query, path: { symbol, type, part } });
    return value as StockAnswer<T, Q>;
  }

  /** Returns several types of several symbols in one call. @throws TapedeckError */
  async batch<const T extends string, const Q extends BatchQuery = NoQuery>(
    symbols: readonly string[],
    types: readonly T[],
    parameters?: Q,
  ): Promise<StockBatch<T, Q>> {
    const query = { ...parameters, symbols, types };
    const { value } = await this.call('getStockMarketBatch', { query });
    return value as StockBatch<T, Q>;
  }

  /** Returns the rows of a SELECT. @throws TapedeckError */
  async sql<Row = Readonly<Record<string, unknown>>>(
    workspace: string,
    text: string,
    query: Operations['postSqlQuery']['query'] = {},
  ): Promise<readonly Row[]> {
    const { value } = await this.call('postSqlQuery', { path: { workspace }, body: text, query });
    return value as unknown as readonly Row[];
  }

  /**
   * Yields records of a dataset page by page, all as of the first page's moment: later writes do not shift
   * them.
   */
  async *records<Row = Readonly<Record<string, unknown>>>(
    workspace: string,
    id: string,
    {
      key,
      pageSize = 1_000,
      ...query
    }: { readonly key?: string; readonly pageSize?: number } & Query = {},
  ): AsyncGenerator<Row, void, undefined> {
    let asOf = query['asOf'] as string | undefined;
    for (let offset = 0; ; offset += pageSize) {
      const page = {
        ...query,
        limit: pageSize,
        offset,
        ...(asOf === undefined ? {} : { asOf }),
      } as Operations['queryDataById']['query'];
      const answered =
        key === undefined
          ? await this.call('queryDataById', { path: { workspace, id }, query: page })
          : await this.call('queryDataByKey', { path: { workspace, id, key }, query: page });
      asOf ??= answered.asOf;
      const rows = answered.value as unknown as readonly Row[];
      yield* rows;
      if (rows.length < pageSize) return;
    }
  }

  /** Yields messages of a stream, such as `last` or `stocksUS1Second`; none is charged twice. */
  stream<T = Readonly<Record<string, unknown>>>(
    name: string,
    { after, signal, symbols = [], ...query }: StreamOptions = {},
  ): AsyncGenerator<StreamItem<T>, void, undefined> {
    const all = { ...query, ...(symbols.length === 0 ? {} : { symbols }), ids: true, events: true };
    const url = `${this.#base}/${encodeURIComponent(name)}${queryOf(all)}`;
    return this.#openStream<T>(url, after, signal);
  }

  /** Yields changes of a dataset as they are committed or pushed. */
  changes<T = Readonly<Record<string, unknown>>>(
    workspace: string,
    id: string,
    { after, keys = [], signal, ...query }: ChangeOptions = {},
  ): AsyncGenerator<StreamItem<T>, void, undefined> {
    const all = { ...query, ...(keys.length === 0 ? {} : { keys }), ids: true, events: true };
    const place = [workspace, id].map(encodeURIComponent).join('/');
    return this.#openStream<T>(`${this.#base}/stream/${place}${queryOf(all)}`, after, signal);
  }

  #openStream<T>(
    url: string,
    after: string | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<StreamItem<T>, void, undefined> {
    const request = { url, headers: this.#headers, signal, after, retries: this.#retries };
    return streamMessages<T>(this.#fetch, request);
  }
}

export interface StreamOptions extends Query {
  readonly symbols?: readonly string[];
  readonly after?: string;
  readonly signal?: AbortSignal;
}

export interface ChangeOptions extends Query {
  readonly keys?: readonly string[];
  readonly after?: string;
  readonly signal?: AbortSignal;
}

const pathOf = (route: string, segments: Query): string =>
  route.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(segments[name])));

/** Lists are joined with commas; undefined members are left out. */
function queryOf(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(',') : String(value)]],
  );
  const text = new URLSearchParams(pairs).toString();
  return text === '' ? '' : `?${text}`;
}

function bodyOf(body: unknown): { readonly bytes?: string | Uint8Array; readonly type: string } {
  if (body === undefined) return { type: '' };
  if (typeof body === 'string') return { bytes: body, type: 'text/plain' };
  if (body instanceof Uint8Array) return { bytes: body, type: 'application/octet-stream' };
  return { bytes: JSON.stringify(body), type: 'application/json' };
}

function headerLike(headers: Headers, ending: string): string | undefined {
  for (const [name, value] of headers) if (name.endsWith(ending)) return value;
  return undefined;
}
