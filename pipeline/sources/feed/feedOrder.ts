// The parameters and the messages of a feed.
import type { Credential, FeedDefinition } from '../base/source.ts';

export interface FeedMessage {
  readonly text: string;
  /** The id to resume from, if the server sends one. */
  readonly id: string | undefined;
}

export interface FeedOrder {
  readonly definition: FeedDefinition;
  readonly credential: Credential | undefined;
  /** The id of the last message that was read. */
  readonly lastId: string | undefined;
  readonly signal: AbortSignal;
  /** Called when the connection is open. */
  readonly onOpen: () => void;
}

/** A larger message is left out. */
export const MESSAGE_BYTES_MAX = 1024 ** 2;
/** A feed that is silent for this long, even without keep-alives, is restarted. */
export const SILENCE_MS = 300_000;

export function feedHeaders({ credential, definition }: FeedOrder): Record<string, string> {
  const secret = credential?.type === 'HTTP' ? credential.headers : {};
  return { ...definition.headers, ...secret };
}

/** A WebSocket's address with the scheme of its opening HTTP request. */
export const toHttpUrl = (url: string): string => url.replace(/^ws(s?):/i, 'http$1:');
