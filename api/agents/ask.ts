// How tools ask: a request below the version, with the agent's token, and what it cost.
import type { Readable } from 'node:stream';

/** Bytes of one answer of the API that are read; an agent is shown far less. */
const ANSWER_BYTES_MAX = 8 * 1024 ** 2;

export interface Asked {
  readonly method: 'GET' | 'POST';
  /** Below `/v1`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** @throws when nothing answers. */
export type Ask = (asked: Asked) => Promise<Answered>;

/** Reads a stream until it has told enough, or time is up. */
export type Listen = (
  path: string,
  enough: (text: string) => boolean,
  timeMs: number,
) => Promise<Answered>;

/** With its query, percent-encoded. */
export function pathOf({ path, query = {} }: Pick<Asked, 'path' | 'query'>): string {
  const given = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [name, String(value)]);
  const text = new URLSearchParams(given).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Messages, and premium messages, that an answer's headers tell; the prefix is the server's brand. */
export function costOf(headers: Answered['headers']): { messages: number; premium: number } {
  // Both end alike.
  const names = Object.keys(headers).filter((one) => one.endsWith('-messages-used'));
  const told = (isPremium: boolean): number => {
    const name = names.find((one) => one.endsWith('-premium-messages-used') === isPremium);
    return name === undefined ? 0 : Number(headers[name]) || 0;
  };
  return { messages: told(false), premium: told(true) };
}

/** What of a body is read. Whoever stops reading has left: the answer ends, and is paid. */
export async function boundedText(body: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes >= ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}
