// Creates the Node server of a port. Its limits apply to HTTP and HTTPS alike.
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { parse } from 'node:querystring';
import type { Accounts } from '../../store/accounts/accounts.ts';
import { http, loadHttps } from '../../store/base/http.ts';
import {
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  TIMEOUT_CHECK_MS,
  REQUEST_TIMEOUT_MS,
} from '../forward/connections.ts';
import { RequestTurns } from './requestTurns.ts';
import { readToken } from './token.ts';

interface ListenerOptions {
  readonly accounts: Pick<Accounts, 'identify'>;
  /** Certificate and key of HTTPS. */
  readonly https?: { readonly cert: Buffer; readonly key: Buffer };
  readonly shouldUpgradeCallback?: (request: IncomingMessage) => boolean;
}

export function createListener(
  listener: RequestListener,
  { accounts, https, shouldUpgradeCallback }: ListenerOptions,
): Server {
  const options = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    ...(shouldUpgradeCallback === undefined ? {} : { shouldUpgradeCallback }),
  };
  const turns = new RequestTurns();
  const start: RequestListener = (request, response) =>
    turns.enter(
      () => listener(request, response),
      () => findAccount(request, accounts),
    );
  return https === undefined
    ? http.createServer(options, start)
    : loadHttps().createServer({ ...options, ...https }, start);
}

/** The account of a token in the query or a header; all other requests share one queue. */
function findAccount(
  { headers, url = '' }: IncomingMessage,
  accounts: ListenerOptions['accounts'],
): string {
  const token = readToken(parse(url.slice(url.indexOf('?') + 1)), headers, undefined);
  if (token === undefined) return '';
  try {
    return accounts.identify(token).accountId;
  } catch {
    // Admission refuses it with its reason.
    return '';
  }
}
