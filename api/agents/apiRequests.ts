// Requests of tools to the API with the agent's token, and their cost.
import type { Readable } from 'node:stream';

/** Bytes of one API answer that are read; an agent receives far less. */
const ANSWER_BYTES_MAX = 8 * 1024 ** 2;

export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Below `/v1`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Sends a request. @throws when there is no answer. */
export type SendRequest = (request: ApiRequest) => Promise<ApiResponse>;

/** Reads a stream until `enough` accepts the text, or time is up. */
export type ReadStream = (
  path: string,
  enough: (text: string) => boolean,
  timeMs: number,
) => Promise<ApiResponse>;

/** The path with its query, percent-encoded. */
export function buildRequestPath({ path, query = {} }: Pick<ApiRequest, 'path' | 'query'>): string {
  const entries = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [name, String(value)]);
  const text = new URLSearchParams(entries).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Reads messages and premium messages from an answer's headers; the prefix is the server's brand. */
export function readCost(headers: ApiResponse['headers']): { messages: number; premium: number } {
  // Both headers have this suffix.
  const names = Object.keys(headers).filter((one) => one.endsWith('-messages-used'));
  const readHeader = (isPremium: boolean): number => {
    const name = names.find((one) => one.endsWith('-premium-messages-used') === isPremium);
    return name === undefined ? 0 : Number(headers[name]) || 0;
  };
  return { messages: readHeader(false), premium: readHeader(true) };
}

/** Reads a body up to the maximum. Stopping counts as a disconnect: the answer ends and is charged. */
export async function readBoundedText(body: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes >= ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}
