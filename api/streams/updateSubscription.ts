// Changes the subscription of an open stream, without a new connection.
import type { Static } from 'typebox';
import { Type } from '../../reads/request/schema.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Call } from '../request/endpoint.ts';
import type { Answer } from '../../reads/request/answer.ts';

import type { OpenStreamServices } from './streamServices.ts';

const LIST = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 });

export const CHANGE_STREAM = Type.Object(
  { symbols: Type.Optional(LIST), keys: Type.Optional(LIST), channels: Type.Optional(LIST) },
  { additionalProperties: false },
);

/** @throws Failure NotFound for a stream that is not open, or of another account; the failures of opening */
export async function changeStream(call: Call, services: OpenStreamServices): Promise<Answer> {
  const { clock, streams } = services;
  const { connection: id = '' } = call.path;
  const stream = streams.open.find(id, call.caller.accountId);
  if (stream === undefined) throw new Failure('NotFound');
  const body = call.json as Static<typeof CHANGE_STREAM>;
  await stream.change(body);
  const { connection } = stream;
  const value = {
    success: true,
    symbols: connection.subscription.symbols ?? 'all',
    messages: connection.messages,
    messagesPerHour: connection.hourly(clock()),
  };
  return { kind: 'json', value, metering: 'free' };
}
