// Reads server-sent events.
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { openOutgoing, type OutgoingRules } from '../http/outgoing.ts';
import { SourceFailure } from '../base/source.ts';
import {
  type FeedMessage,
  type FeedOrder,
  feedHeaders,
  MESSAGE_BYTES_MAX,
  SILENCE_MS,
} from './feedOrder.ts';

/** Maximum age of a connection. */
const DAY_MS = 86_400_000;

export async function* eventMessages(
  order: FeedOrder,
  rules: OutgoingRules,
): AsyncGenerator<FeedMessage, void> {
  const { definition, lastId, onOpen, signal } = order;
  await using outgoing = openOutgoing({ ...rules, deadlineMs: DAY_MS, idleMs: SILENCE_MS });
  const answer = await outgoing.send({
    method: 'GET',
    url: definition.url,
    headers: feedHeaders(order),
    signal,
    ownHeaders: {
      accept: 'text/event-stream',
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    },
    bytesMax: Number.MAX_SAFE_INTEGER,
  });
  const kind = answer.headers.get('content-type') ?? 'nothing';
  if (answer.status !== 200) throw refused(`it answered ${answer.status}`, answer.status);
  if (!kind.startsWith('text/event-stream')) throw refused(`it answered ${kind}`, 200);
  onOpen();
  const events: EventSourceMessage[] = [];
  const parser = createParser({
    maxBufferSize: MESSAGE_BYTES_MAX,
    onEvent: (event) => void events.push(event),
  });
  const decoder = new TextDecoder();
  for await (const chunk of answer.body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const { data, id } of events.splice(0)) yield { text: data, id };
  }
}

/** A refused connection may succeed later, except after a client error, which is not retried soon. */
const refused = (what: string, status: number): SourceFailure =>
  new SourceFailure(`${what}, not text/event-stream`, status >= 500 || status === 429);
