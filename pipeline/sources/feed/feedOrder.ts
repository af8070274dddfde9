// What a feed of others is opened with, and what comes of it.
import type { Credential, FeedDefinition } from '../base/source.ts';

export interface FeedMessage {
  readonly text: string;
  /** To go on from, where its server tells one. */
  readonly id: string | undefined;
}

export interface FeedOrder {
  readonly definition: FeedDefinition;
  readonly credential: Credential | undefined;
  /** The message that was read last. */
  readonly lastId: string | undefined;
  readonly signal: AbortSignal;
  /** It is connected. */
  readonly onOpen: () => void;
}

/** A message of more is left out. */
export const MESSAGE_BYTES_MAX = 1024 ** 2;
/** A feed that tells nothing for so long, not even that it lives, is begun again. */
export const SILENCE_MS = 300_000;

export function headersOf({ credential, definition }: FeedOrder): Record<string, string> {
  const secret = credential?.type === 'HTTP' ? credential.headers : {};
  return { ...definition.headers, ...secret };
}

/** A WebSocket's address with the scheme of the request that it begins with. */
export const httpOf = (url: string): string => url.replace(/^ws(s?):/i, 'http$1:');
