// Yields the messages of a feed as they arrive, until the feed ends or its signal aborts.
import type { OutgoingRules } from '../http/outgoing.ts';
import { checkHeaders } from '../http/headers.ts';
import { checkUrl } from '../base/guard.ts';
import { isPattern } from '../base/pattern.ts';
import { type CaptureDefinition, type FeedDefinition, SourceFailure } from '../base/source.ts';
import { eventMessages } from './eventMessages.ts';
import { type FeedMessage, type FeedOrder, toHttpUrl } from './feedOrder.ts';
import { socketMessages } from './socketMessages.ts';

/** @throws SourceFailure with the reason why it ended; the signal's reason. */
export const feedMessages = (
  order: FeedOrder,
  rules: OutgoingRules,
): AsyncGenerator<FeedMessage, void> =>
  order.definition.type === 'SSE' ? eventMessages(order, rules) : socketMessages(order, rules);

/** @throws SourceFailure naming the broken rule. */
export function checkFeed(definition: FeedDefinition, allowPrivateAddresses: boolean): void {
  const { headers = {}, type, url } = definition;
  const scheme = type === 'SSE' ? /^https?:/i : /^wss?:/i;
  if (!scheme.test(url)) {
    const rule = type === 'SSE' ? 'http:// or https://' : 'ws:// or wss://';
    throw new SourceFailure(`the URL of a source of type ${type} begins with ${rule}`, false);
  }
  checkUrl(toHttpUrl(url), allowPrivateAddresses);
  checkHeaders(headers);
}

/** Datasets that a recording can feed: their names select the kind of its records. */
const CAPTURED: readonly string[] = ['TRADES', 'QUOTES', 'BOOK'];

/** @throws SourceFailure naming the broken rule. */
export function checkCapture({ dataset, path }: CaptureDefinition): void {
  if (isPattern(path)) throw new SourceFailure('path names one recording, and no pattern', false);
  if (CAPTURED.includes(dataset)) return;
  const rule = `dataset is one of ${CAPTURED.join(', ')}, which selects the records of the recording`;
  throw new SourceFailure(rule, false);
}
