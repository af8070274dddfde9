// Messages between parent and client process: the order to run, and its result.

export interface RequestSpec {
  readonly path: string;
  /** GET by default. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** File to send as the body. */
  readonly file?: string;
}

/**
 * Requests to send in turn, repeatedly: each connection sends the next one as soon as the previous one is
 * answered. It ends after `seconds` or with the `count`th request; the earlier limit applies.
 */
export interface Order {
  readonly port: number;
  readonly requests: readonly RequestSpec[];
  readonly connections: number;
  readonly seconds?: number;
  readonly count?: number;
}

export interface RunResult {
  /** From the first request to the last answer, without opening the connections. */
  readonly tookMs: number;
  /** Milliseconds of each answer with status 2xx. */
  readonly times: readonly number[];
  /** Answers with any other status, which are not timed. */
  readonly failures: number;
  /** Status and text of the first failure. */
  readonly failure: string;
  /** Received bytes. */
  readonly bytes: number;
  /** Processor time of the client process. */
  readonly cpuMs: number;
}

export const getRequests = (paths: readonly string[]): readonly RequestSpec[] =>
  paths.map((path) => ({ path }));
