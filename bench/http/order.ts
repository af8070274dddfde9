// What the client process is told to ask, and what it tells of the answers.

export interface Wanted {
  readonly path: string;
  /** GET when there is none. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A file that is sent as the body. */
  readonly file?: string;
}

/**
 * Requests asked in turn, and again from the first one: on each connection the next as soon as the one
 * before is answered. It ends after `seconds` or with the `count`th request, whichever comes first.
 */
export interface Order {
  readonly port: number;
  readonly requests: readonly Wanted[];
  readonly connections: number;
  readonly seconds?: number;
  readonly count?: number;
}

export interface Told {
  /** From the first request to the last answer, with all connections open before. */
  readonly tookMs: number;
  /** Milliseconds of each answer with a status of 2xx. */
  readonly times: readonly number[];
  /** Answers with any other status, which have no time. */
  readonly failures: number;
  /** Status and text of the first of them. */
  readonly failure: string;
  /** Bytes that came. */
  readonly bytes: number;
  /** Processor time of the client process. */
  readonly cpuMs: number;
}

export const gets = (paths: readonly string[]): readonly Wanted[] =>
  paths.map((path) => ({ path }));
