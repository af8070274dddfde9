// Server-sent events of others.
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { openOutgoing, type OutgoingRules } from '../http/outgoing.ts';
import { SourceFailure } from '../base/source.ts';
import {
  type FeedMessage,
  type FeedOrder,
  headersOf,
  MESSAGE_BYTES_MAX,
  SILENCE_MS,
} from './feedOrder.ts';

/** A connection is as old as a day at most. */
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
    headers: headersOf(order),
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
  const found: EventSourceMessage[] = [];
  const parser = createParser({
    maxBufferSize: MESSAGE_BYTES_MAX,
    onEvent: (event) => void found.push(event),
  });
  const decoder = new TextDecoder();
  for await (const chunk of answer.body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const { data, id } of found.splice(0)) yield { text: data, id };
  }
}

/** Whoever is refused may be let in later: only what is sent to the wrong place is not tried again soon. */
const refused = (what: string, status: number): SourceFailure =>
  new SourceFailure(`${what}, not text/event-stream`, status >= 500 || status === 429);
